"""Check certificates of the law of a leakage over finitely or countably many outcomes.

At each outcome of a head the mass f_Y and the leakage are proved as for a figure at one outcome
(`check`). From them come P{leakage > t} and means. What is beyond the head has the mass that the
head leaves: f(.|x) and p sum to 1, which is on trust.

The leakage there is not known, but that PML is at most log 1 / p_min for finitely many secrets. Nor
is that needed where S, the sum of the ess sup of f(y|x) over these outcomes, can be bounded (by
`check_tails`): E e^PML has at most S from them, and E PML at most q log S / q if their mass is q,
by the log-sum inequality; that rises with q up to S / e.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial, reduce
from itertools import islice, pairwise, product
from typing import Any, ClassVar

from flint import arb, ctx, fmpq

from borel.engine.certificates.checks.counts import _Counts
from borel.engine.certificates.checks.counts import _run as run_at_integers
from borel.engine.certificates.checks.far_means import Far
from borel.engine.certificates.checks.in_logs import _InLogs
from borel.engine.certificates.checks.rays import INF, Z, _ray
from borel.engine.certificates.checks.reading import density, integers, parsed
from borel.engine.certificates.checks.reduced_secrets import on_a_line
from borel.engine.certificates.checks.several_points import WORK, _Dimensions
from borel.engine.certificates.checks.tails import MASSES, beyond, in_y, log_along, ray, tail
from borel.engine.certificates.checks.verifier import BITS, Report, check

MOST, CELLS, POWERS, ROUNDING = 1024, 8, (1.0, 0.25, 0.0625), arb(2) ** -30


class _DiscreteLaw(_InLogs):
    """A certificate of a tail, of a value of the distribution function, a quantile or a mean."""

    point: ClassVar[Any] = _InLogs
    infinite = "infinite"

    def is_discrete_law(self):
        """Prove the masses and leakages of a head, and what follows from them."""
        claim, outcome = self.claim, self.data["outcome"]
        ys, alphabet = [part["y"] for part in claim["parts"]], outcome["points"]
        if alphabet == "integers":
            inside = all(y % 1 == 0 and outcome["lower"] <= y <= outcome["upper"] for y in ys)
        else:
            inside = {*ys} <= {*alphabet}
        self.leaf("outcomes", lambda: inside and len({*ys}) == len(ys) and 0 < len(ys) <= MOST)
        self.leaf("figure", lambda: claim["figure"] in self.figures)
        if self.failures:
            return {"box": (math.nan, math.nan)}, (math.nan, math.nan), Z, INF
        self.scope = f"the {claim['figure'].replace('_', ' ')} of the law"
        self.rows = []
        for part in claim["parts"]:
            masses, leakage = self.row(part)
            leakage = self.endless(part) if "proof" in part else leakage
            self.rows.append((*masses, *(v.max(Z) for v in leakage)))
        known = sum((row[0] for row in self.rows), Z)
        self.every = alphabet != "integers" and len(ys) == len({*alphabet})
        most = sum((row[1] for row in self.rows), Z)
        whole = not self.every or most > 1 - ROUNDING
        self.leaf("masses", lambda: bool(known < 1 + ROUNDING and whole))
        # the laws meant sum to 1: what their floats miss may all be beyond the head
        self.left = Z if self.every else abs(1 - known).upper()
        low, high = self.found = self.figures[claim["figure"]](self)
        self.leaf("bound", lambda: self.data["lower"] <= low and high <= self.data["upper"])
        # the outcomes are as they are to be, and the bound is proved
        return {"box": (ys[0], ys[0])}, (ys[0], ys[0]), arb(self.data["lower"]), Z

    def row(self, part):
        """Prove bounds of f_Y at an outcome, and of the leakage."""
        f_y, leakage = self.at_outcome(part)
        return [v.exp() for v in f_y], leakage

    def endless(self, part):
        """Prove that the leakage is infinite at an outcome."""
        y, proof = part["y"], part["proof"]
        claim = {"type": self.infinite, "proof": proof}
        one = self.point({**self.data, "claim": claim, "lower": math.inf, "upper": math.inf})
        self.failures += [f"at y = {y}: {line}" for line in one.failures]
        self.checked += one.checked
        self.leaf("outcome", lambda: proof["y"] == {"box": [y, y]})
        return INF, INF

    def beyond(self, t, closed):
        """Bound P{leakage > t}, or P{leakage >= t} if closed."""
        least = most = Z
        for low, high, least_of, most_of in self.rows:
            sure = least_of >= t if closed else least_of > t
            never = most_of < t if closed else most_of <= t
            least += low if sure else Z
            most += Z if never else high
        return least.lower(), (most + self.left).min(arb(1)).upper()

    def tail(self):
        """Bound a tail."""
        t, closed = self.threshold(), self.claim["closed"]
        self.scope = f"the tail of the law at {self.claim['t']}"
        self.leaf("closed", lambda: closed in (True, False))
        return self.beyond(t, closed)

    def threshold(self):
        """Return the threshold: a string would be a number to Arb, not the same as the float."""
        self.leaf("t", lambda: type(self.claim["t"]) in (int, float))
        return arb(self.claim["t"])

    def cdf(self):
        """Bound a value of the distribution function."""
        low, high = self.beyond(self.threshold(), False)
        self.scope = f"the cdf of the law at {self.claim['t']}"
        self.leaf("closed", lambda: self.claim["closed"] is False)
        return 1 - high, 1 - low

    def quantile(self):
        """Say whether the ends are bounds of a quantile: what they are, or nothing."""
        rest, side = 1 - arb(fmpq(*self.claim["s"])), self.claim["side"]
        left = side == "left"
        self.scope = f"the quantile of the law at {self.claim['s'][0] / self.claim['s'][1]}"
        self.leaf("level", lambda: side in ("left", "right") and (0 <= rest < 1 if left else
                                                                 0 < rest <= 1))  # fmt: skip
        low, high = arb(self.data["lower"]), arb(self.data["upper"])
        above, over = self.beyond(low, True)[0], self.beyond(high, False)[1]
        least = above > rest if left else above >= rest
        most = over <= rest if left else over < rest
        return low if least or low <= 0 else -INF, high if most else INF

    def mean(self):
        """Bound the mean."""
        least = sum((low * v for low, _, v, _ in self.rows), Z)
        most = sum((high * w for _, high, _, w in self.rows), Z)
        return least, most + self.rest(lambda ratio: ratio.log(), self.of_mean)

    def exp_mean(self):
        """Bound the mean of the exponential; beyond the head it is at least 1."""
        least = sum((low * v.exp() for low, _, v, _ in self.rows), Z)
        most = sum((high * w.exp() for _, high, _, w in self.rows), Z)
        others = (1 - sum((row[1] for row in self.rows), Z) - ROUNDING).max(Z)
        return least + others, most + self.rest(lambda ratio: ratio, self.of_exp_mean)

    def maximal_leakage(self):
        """Bound the logarithm of the mean of e^PML."""
        self.leaf("quantity", lambda: self.data["quantity"] == "pml")
        low, high = self.exp_mean()
        return low.log(), high.log()

    def maximal_cost_leakage(self):
        """Bound -log E e^-PMC; beyond the head that adds at most the mass."""
        self.leaf("quantity", lambda: self.data["quantity"] == "pmc")
        least = sum((low * (-w).exp() for low, _, _, w in self.rows), Z)
        most = sum((high * (-v).exp() for _, high, v, _ in self.rows), self.left)
        low, high = least.lower().max(Z), most.upper().min(arb(1))
        return INF if high == 0 else -high.log(), -low.log() if low > 0 else INF

    def rest(self, of_ratio, of_sums):
        """Bound what is beyond the head: PML by log 1 / p_min, or either by the kernel."""
        best, weights = INF, [arb(low) for _, low, _ in self.atoms]
        if not self.p and self.data["quantity"] == "pml" and all(w > 0 for w in weights):
            best = self.left * of_ratio(1 / min(weights))
        with suppress(ValueError, ZeroDivisionError, KeyError):  # an operation not known
            other = of_sums()
            best = best if other.is_nan() else best.min(other)
        return Z if self.every else best.upper()

    def of_mean(self):
        """Bound the mean beyond the head by the kernel."""
        if self.data["quantity"] == "pmc":  # log z <= z^power / power
            return reduce(arb.min, [self.suprema(power) / power for power in POWERS])
        total = self.suprema(0)
        mass = self.left.min((total / arb(1).exp()).upper())
        return Z if mass == 0 else mass * (total / mass).log() if mass > 0 else INF

    def of_exp_mean(self):
        """Bound the mean of the exponential beyond the head by the kernel."""
        return self.suprema(0 if self.data["quantity"] == "pml" else 1)

    def suprema(self, power):
        """Bound the sum of s (s / i)^power over outcomes beyond the head; f(y|x) is in [i, s]."""
        line, ys = self.data["outcome"], sorted(int(part["y"]) for part in self.claim["parts"])
        known, secrets, total = {*ys}, [_ray(x) for x, *_ in self.atoms], Z
        if line["points"] != "integers" or not integers(line["lower"], line["upper"], *ys):
            return INF
        if self.p:
            a, b = map(arb, self.ends)
            cuts = [a + (b - a) * k / CELLS for k in range(CELLS + 1)]
            secrets += [_ray(u.union(v)) for u, v in pairwise(cuts)]
        first = ys[0] if math.isinf(line["lower"]) else int(line["lower"])
        for y in islice((y for y in range(first, ys[-1]) if y not in known), MOST + 1):
            ends = [run_at_integers(self.f, False, x, _ray(y)).bounds() for x in secrets]
            # NaN is neither, and max and min pass over it
            if not all((low > 0 or not power) and 0 <= high < INF for low, high in ends):
                return INF
            least, most = min(low for low, _ in ends), max(high for _, high in ends)
            total += most * (most / least) ** power if power else most
            if len(known) >= MOST:
                return INF
            known.add(y)
        for sign, next_, end in ((1, ys[-1] + 1, line["upper"]), (-1, 1 - first, -line["lower"])):
            if end < next_:
                continue
            if next_ <= 0:  # 0 is among them
                return INF
            logs = [log_along(self.f, x, ray(sign, next_), MASSES) for x in secrets]
            for u, v in product(logs, logs if power else [_ray(0)]):
                value = (u * (1 + power) + v * -power).exp()
                total += beyond(value, next_, "masses")[0]
        return total.upper() if total.is_finite() else INF

    _all = tail, cdf, quantile, mean, exp_mean, maximal_leakage, maximal_cost_leakage
    figures: ClassVar = {function.__name__: function for function in _all}


class _LawByOutcomes(_DiscreteLaw):
    """A certificate about another kind of secret: each outcome is checked on its own."""

    def __init__(self, data):
        self.data, self.claim, self.scope = data, data["claim"], "a figure of the law"
        self.failures, self.checked = [], 0
        self.conclusion(*self.is_discrete_law())

    def row(self, part):
        """Prove bounds of f_Y at an outcome, and of the leakage."""
        known = {"lower": 0.0, "upper": 2.0**1000, "quantity": self.data["quantity"]}
        if "proof" in part:  # its leakage is another matter: f_Y is bounded as for PML
            known["quantity"] = "pml"
        one = self.point({**self.data, **known, "claim": part})
        self.failures += [f"at y = {part['y']}: {line}" for line in one.failures]
        self.checked += one.checked
        return one.proved

    def rest(self, of_ratio, of_sums):
        """Bound what is beyond the head: nothing, or it is not known."""
        return Z if self.every else INF


class _LawInBoxes(_LawByOutcomes):
    """A certificate about secrets of several dimensions."""

    point = _Dimensions


class _LawOfCounts(_LawByOutcomes):
    """A certificate about secrets that are integers."""

    infinite = "count_infinite"

    def __init__(self, data):
        self.weights = {}
        super().__init__(data)

    def point(self, data):
        """Check one outcome; the masses of the secrets are known from the others."""
        return _Counts(data, self.weights)

    def rest(self, of_ratio, of_sums):
        """Bound what is beyond the head: of E PML for noise, by mean distances."""
        known = self.claim["figure"] == "mean" and self.data["quantity"] == "pml"
        known &= self.data["outcome"]["points"] == "integers"
        line, ys = self.data["outcome"], sorted(int(part["y"]) for part in self.claim["parts"])
        if self.every or not (known and integers(line["lower"], line["upper"], *ys)):
            return super().rest(of_ratio, of_sums)
        prior, (lower, upper) = self.data["prior"], (line["lower"], line["upper"])
        p, ends = density(prior["masses"]), (prior["lower"], prior["upper"])
        of_secrets = partial(tail, in_y(p), kind="masses")
        far = Far(density(self.data["kernel"]), ends, {}, of_secrets, "masses")
        first = ys[0] if math.isinf(lower) else int(lower)
        last = ys[-1] if math.isinf(upper) else int(upper)
        total = far.share(lower, first, self.left) if first > lower else Z
        total += far.share(last, upper, self.left) if last < upper else Z
        missing = last - first + 1 - len(ys)
        mass = self.left.min((missing / arb(1).exp()).upper())
        return (total + mass * (missing / mass).log() if mass > 0 else total).upper()


class _OnTrust:
    """What would follow from a certificate, if its leaves held."""

    def leaf(self, name, proof, *args):
        """Take it on trust."""


class _Unproved(_OnTrust, _DiscreteLaw):
    """What would follow for secrets on a line."""


class _UnprovedInBoxes(_OnTrust, _LawInBoxes):
    """What would follow for secrets of several dimensions."""

    point = type("_UnprovedPoint", (_OnTrust, _Dimensions), {})


def check_discrete_laws(certificate: dict | str, work: int = WORK) -> Report:
    """Verify a certificate; where secrets are in boxes, with so much work at each outcome."""
    limited = type("_Limited", (_Dimensions,), {"work": work})
    kinds = {5: type("_LimitedLaw", (_LawInBoxes,), {"point": limited}), 4: _LawOfCounts}
    return check(certificate, lambda data: kinds.get(data["format"], _DiscreteLaw)(data))


def ends_of(certificate: dict) -> tuple[float, float]:
    """Return the bounds that would follow from the parts of a certificate; nothing is proved.

    Of counts it is, as that takes no longer: without a proof there are no bounds.
    """
    with ctx.workprec(BITS):
        data = on_a_line(parsed(certificate))
        kinds = {5: _UnprovedInBoxes, 4: _LawOfCounts}
        done = kinds.get(data["format"], _Unproved)(data)
        if any(not line.startswith("bound") for line in done.failures):
            return -math.inf, math.inf
        low, high = done.found
        low, high = float(low.lower()), float(high.upper())
        # floats beside them; those beside an infinity are not numbers
        low = low if math.isinf(low) else low - 2.0**-50 * abs(low)
        return low, high if math.isinf(high) else high + 2.0**-50 * abs(high)
