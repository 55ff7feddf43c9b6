r"""What holds for every prior of a set, or every post-processing, by given multipliers.

Both are optima of convex programmes. A feasible point of the dual bounds an optimum from outside,
a feasible point of the programme itself (a member, a post-processing) from inside; both are in the
certificate, and the checker only verifies that they are feasible, and how much they prove.

Sets of priors on finitely many secrets. All are convex, and enter figures of a fixed kernel through
the lower expectation of a function v of the secret. Each row says what E_Q v is at least, for every
member Q, by a number t (or l > 0, or a weight for each constraint) of one's choice:

=======================  =========================================================================
full_support             min v
box, l <= q <= u         t + sum of the least of l (v - t) and u (v - t), as q (v - t) is no less
tv, TV(P, Q) <= r        E_P min(v, t) - r (t - min v), t >= min v: a function of that range moves
                         by r times the range at most
contamination, weight w  (1 - w) E_P v + w min v
hull                     the least of E_P v over the listed members P
linear                   min over x of (v + A'y + E'z) - b.y - e.z, y >= 0, and less what auxiliary
                         variables in [0, 1] add: weak duality of A q <= b, E q = e, sum q = 1
kl_to_centre             -(log E_P e^(-l v) + r) / l: Donsker and Varadhan
kl_from_centre           e^(E_P log(v + t) - r) - t, v + t >= 0: Jensen
chi_square_to_centre     t - sqrt((1 + r) E_P ((t - v)^+)^2): Cauchy and Schwarz
chi_square_from_centre   (E_P sqrt(v + t))^2 / (1 + r) - t, v + t >= 0: Cauchy and Schwarz
=======================  =========================================================================

Without a multiplier (null) it is at least the least v of a secret that some member charges. A
centre, or a listed member, that is given in floats means every normalised law within their
rounding (`tables`), and what is claimed holds for each of them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from borel.checker.reading import (
    Refused,
    Verified,
    extended,
    flag,
    items,
    rational,
    record,
    text,
    whole,
)
from borel.checker.tables import (
    INF,
    ONE,
    TRUST,
    ZERO,
    Table,
    above,
    at_most,
    ball,
    evaluated,
    kernel,
    law,
    level_of,
    log,
    place,
    quotient,
    words,
)

PROOF = "proof"


def numbers(data, where, count):
    """Read a list of so many numbers, exactly."""
    return [rational(v, where) for v in items(data, where, count, count)]


def total(weights, values):
    """Return the sum of products."""
    return sum((w * v for w, v in zip(weights, values, strict=True) if w), ZERO)


# -- lower expectations ---------------------------------------------------------------------------


class FullSupport:
    """All priors that charge every secret."""

    keys, multiplier = (), None

    def __init__(self, data, count):
        self.count, self.possible = count, range(count)

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by a multiplier."""
        return min(v)

    def holds(self, q, closed):
        """Return whether a law is a member; if ``closed``, whether it is a limit of members."""
        return closed or min(q) > 0

    def member(self, data, where, closed):
        """Read a member: its probabilities, and their ends, which are the same here."""
        q = numbers(data, where, self.count)
        if min(q) < 0 or sum(q) != 1 or not self.holds(q, closed):
            raise Refused(where, "no member of the set")
        return q, q


class Box(FullSupport):
    """All priors with l <= q <= u, or l < q < u if ``open``."""

    keys, multiplier = ("lower", "upper", "open"), "t"

    def __init__(self, data, count):
        super().__init__(data, count)
        self.low, self.high = (numbers(data[end], f"priors.{end}", count) for end in self.keys[:2])
        self.open = flag(data["open"], "priors.open")
        if min(self.low) < 0:
            raise Refused("priors", "a box needs 0 <= lower <= upper")
        room, more = 1 - sum(self.low), sum(self.high) - 1
        inside = (a < b if self.open else a <= b for a, b in zip(self.low, self.high, strict=True))
        if not (all(inside) and (min(room, more) > 0 if self.open else min(room, more) >= 0)):
            raise Refused("priors", "the box has no members")
        self.possible = [x for x in range(count) if self.high[x] > 0 and self.low[x] + room > 0]

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        gaps = [(a, b, value - t) for a, b, value in zip(self.low, self.high, v, strict=True)]
        return t + sum(min(a * gap, b * gap) for a, b, gap in gaps)

    def holds(self, q, closed):
        """Return whether a law is a member, or a limit of members."""
        if self.open and not closed:
            return all(a < value < b for a, value, b in zip(self.low, q, self.high, strict=True))
        return all(a <= value <= b for a, value, b in zip(self.low, q, self.high, strict=True))


class Around(FullSupport):
    """A set around a centre P, of a size r."""

    keys, most = ("centre", "size"), None

    def __init__(self, data, count):
        super().__init__(data, count)
        self.p = law(data["centre"], "priors.centre", count)
        self.size = rational(data["size"], "priors.size")
        self.charged = [x for x in range(count) if self.p[1][x] > 0]
        if self.size < 0 or (self.most is not None and self.size > self.most):
            raise Refused("priors.size", "a size below 0, or above what it can be")

    def mean(self, g) -> Any:
        """Bound E_P g from below, where g is given on the secrets that P charges.

        As P is a law, that is the least of g, and what g is more than that, weighted.
        """
        least: Any = g[0]
        for value in g[1:]:
            least = min(least, value) if isinstance(value, Fraction) else least.min(value)
        low = [self.p[0][x] for x in self.charged]
        if isinstance(least, Fraction):
            return least + total(low, [value - least for value in g])
        return least + sum((ball(w) * (v - least) for w, v in zip(low, g, strict=True)), arb(0))


class TotalVariation(Around):
    """All Q with TV(P, Q) <= r."""

    multiplier, most = "t", 1

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        if t < min(v):
            raise Refused(PROOF, "a multiplier below the least value")
        return self.mean([min(v[x], t) for x in self.charged]) - self.size * (t - min(v))

    def holds(self, q, closed):
        """Return whether a law is a member, whatever the centre means."""
        return sum(max(a - p, ZERO) for a, p in zip(q, self.p[0], strict=True)) <= self.size


class Contamination(Around):
    """All (1 - w) P + w Q, with any Q."""

    most = 1

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        return (1 - self.size) * self.mean([v[x] for x in self.charged]) + self.size * min(v)

    def holds(self, q, closed):
        """Return whether a law is a member, whatever the centre means."""
        return all(a >= (1 - self.size) * p for a, p in zip(q, self.p[1], strict=True))


class KLToCentre(Around):
    """All Q with KL(Q || P) <= r, which charge nothing that P does not."""

    multiplier = "l"

    def __init__(self, data, count):
        super().__init__(data, count)
        self.possible = self.charged

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        if t <= 0:
            raise Refused(PROOF, "a multiplier that is not positive")

        def bound():
            tilted = self.mean([-(-ball(t * v[x])).exp() for x in self.charged])
            return -((-tilted).log() + ball(self.size)) / ball(t)

        return bound

    def holds(self, q, closed):
        """Return whether a law is a member, whatever the centre means."""
        pairs = [(a, p) for a, p in zip(q, self.p[0], strict=True) if a]
        inside = all(self.p[1][x] > 0 for x, a in enumerate(q) if a)
        return inside and at_most(
            lambda: sum((ball(a) * ball(a / p).log() for a, p in pairs), arb(0)), self.size
        )


class ChiSquareToCentre(KLToCentre):
    """All Q with chi2(Q || P) = sum q^2 / p - 1 <= r."""

    multiplier = "t"

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        squares = -self.mean([-(max(t - v[x], ZERO) ** 2) for x in self.charged])
        return lambda: ball(t) - ball((1 + self.size) * squares).sqrt()

    def holds(self, q, closed):
        """Return whether a law is a member, whatever the centre means."""
        inside = all(self.p[1][x] > 0 for x, a in enumerate(q) if a)
        return (
            inside
            and sum(a * a / p for a, p in zip(q, self.p[0], strict=True) if a) - 1 <= self.size
        )


class KLFromCentre(Around):
    """All Q with KL(P || Q) <= r."""

    multiplier = "t"

    def shifted(self, v, t):
        """Return v + t on the secrets that P charges."""
        if not (min(v) + t >= 0 and all(v[x] + t > 0 for x in self.charged)):
            raise Refused(PROOF, "a multiplier at which a value may be negative")
        return [v[x] + t for x in self.charged]

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        g = self.shifted(v, t)
        return lambda: (self.mean([ball(a).log() for a in g]) - ball(self.size)).exp() - ball(t)

    def divergence(self, pairs):
        """Bound KL(P || Q) from above: p log p / q is convex in p, and largest at an end."""
        each = (((ball(p) * ball(p / a).log() for p in ends), a) for ends, a in pairs)
        return sum((low.max(high) for (low, high), _ in each), arb(0))

    def holds(self, q, closed):
        """Return whether a law is a member, whatever the centre means."""
        pairs = [((self.p[0][x], self.p[1][x]), q[x]) for x in self.charged]
        return all(a > 0 for _, a in pairs) and at_most(lambda: self.divergence(pairs), self.size)


class ChiSquareFromCentre(KLFromCentre):
    """All Q with chi2(P || Q) = sum p^2 / q - 1 <= r."""

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        g = self.shifted(v, t)
        return lambda: self.mean([ball(a).sqrt() for a in g]) ** 2 / ball(1 + self.size) - ball(t)

    def holds(self, q, closed):
        """Return whether a law is a member, whatever the centre means."""
        pairs = [(self.p[1][x], q[x]) for x in self.charged]
        return all(a > 0 for _, a in pairs) and sum(p * p / a for p, a in pairs) - 1 <= self.size


class Hull(FullSupport):
    """All mixtures of the listed members."""

    keys = ("members",)

    def __init__(self, data, count):
        super().__init__(data, count)
        laws = items(data["members"], "priors.members", 1)
        self.laws = [Around({"centre": one, "size": "0/1"}, count) for one in laws]
        self.possible = sorted({x for one in self.laws for x in one.charged})

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        return min(one.mean([v[x] for x in one.charged]) for one in self.laws)

    def member(self, data, where, closed):
        """Read a member, by shares of the listed ones: the ends of its probabilities."""
        shares = numbers(data, where, len(self.laws))
        if min(shares) < 0 or sum(shares) != 1:
            raise Refused(where, "no shares of the listed members")
        return [[total(shares, [one.p[e][x] for one in self.laws]) for x in range(self.count)]
                for e in (0, 1)]  # fmt: skip


class Linear(FullSupport):
    """All q with A q <= b and E q = e, for some auxiliary variables in [0, 1] beside q."""

    keys, multiplier = ("width", "at_most", "equal"), "weights"

    def __init__(self, data, count):
        super().__init__(data, count)
        self.width = whole(data["width"], "priors.width", count, count + 10**4)
        self.rows = []
        for name in ("at_most", "equal"):
            for pair in items(data[name], f"priors.{name}"):
                entries, end = items(pair, f"priors.{name}", 2, 2)
                entries = numbers(entries, f"priors.{name}", self.width)
                self.rows.append((entries, rational(end, f"priors.{name}"), name == "at_most"))

    def least(self, v, t):
        """Bound E_Q v from below for all members Q, by the row of the table above."""
        reduced = [*v, *[ZERO] * (self.width - self.count)]
        value = ZERO
        for weight, (row, end, below) in zip(t, self.rows, strict=True):
            if below and weight < 0:
                raise Refused(PROOF, "a negative weight of an inequality")
            if weight:
                reduced = [r + weight * a for r, a in zip(reduced, row, strict=True)]
                value -= weight * end
        aside = sum((min(r, ZERO) for r in reduced[self.count :]), ZERO)
        return value + min(reduced[: self.count]) + aside

    def member(self, data, where, closed):
        """Read a member, with its auxiliary variables."""
        q = numbers(data, where, self.width)
        inside = all(0 <= v <= 1 for v in q) and sum(q[: self.count]) == 1
        over = [(total(row, q) - end, below) for row, end, below in self.rows]
        if not (inside and all(v <= 0 if below else v == 0 for v, below in over)):
            raise Refused(where, "no member of the set")
        return q[: self.count], q[: self.count]


SETS = {
    "full_support": FullSupport,
    "box": Box,
    "tv": TotalVariation,
    "contamination": Contamination,
    "hull": Hull,
    "linear": Linear,
    "kl_to_centre": KLToCentre,
    "kl_from_centre": KLFromCentre,
    "chi_square_to_centre": ChiSquareToCentre,
    "chi_square_from_centre": ChiSquareFromCentre,
}


def priors(data, count):
    """Read a set of priors."""
    kind = SETS[text(data.get("kind") if type(data) is dict else None, "priors", tuple(SETS))]
    return kind(record(data, "priors", ("kind", *kind.keys)), count)


def lower_expectation(of, v, given, where):
    """Bound E_Q v from below for all members Q, by the multiplier that is given."""
    if given is None:
        return min(v[x] for x in of.possible)
    if of.multiplier is None:
        return of.least(v, record(given, where, ()))
    t = record(given, where, (of.multiplier,))[of.multiplier]
    if of.multiplier == "weights":
        return of.least(v, numbers(t, where, len(of.rows)))
    return of.least(v, rational(t, where))


# -- figures over a set ---------------------------------------------------------------------------


class Figures:
    """Suprema over a set of priors, at one outcome or over all of them."""

    def __init__(self, data):
        joint = record(data["joint"], "joint", ("secret", "outcome", "matrix", "priors"))
        self.secrets, self.outcomes, self.k = kernel(joint, "joint")
        self.set = priors(joint["priors"], len(self.secrets))
        self.figure, self.arguments = data["figure"], data["arguments"]
        self.low, self.high = (extended(data[end], end) for end in ("lower", "upper"))
        self.proof = record(data["proof"], PROOF, ("rows", "witness"), ("never",))
        self.never = set()
        for pair in items(self.proof.get("never", []), "proof.never"):
            label, given = items(pair, "proof.never", 2, 2)
            self.never.add(self.charges_never(label, given))
        self.possible = [x for x in self.set.possible if x not in self.never]

    def charges_never(self, label, given):
        """Return a secret that no member charges: the lower expectation of -[x] is 0."""
        x = place(label, self.secrets, "proof.never")
        values = [-ONE if j == x else ZERO for j in range(len(self.secrets))]
        if not at_most(ZERO, lower_expectation(self.set, values, given, "proof.never")):
            raise Refused("proof.never", f"a member may charge {label}")
        return x

    def verify(self):
        """Verify the claim."""
        at = self.figure.endswith(".at")
        record(self.arguments, "arguments", ("y",) if at else ())
        every = range(len(self.outcomes))
        chosen = [place(self.arguments["y"], self.outcomes, "arguments.y")] if at else every
        kinds = ("pml", "pmc") if self.figure == "lip" else (self.figure.partition(".")[0],)
        rows = self.proof["rows"]
        if self.high < INF:
            rows = record(rows, "proof.rows", kinds)
            for kind in kinds:
                each = items(rows[kind], "proof.rows", len(chosen), len(chosen))
                for y, given in zip(chosen, each, strict=True):
                    self.at_most_high(kind, y, given)
        elif rows is not None:
            raise Refused("proof.rows", "expected null: an infinite end needs none")
        if self.low > 0:
            self.at_least_low(kinds, chosen)
        elif self.proof["witness"] is not None:
            raise Refused("proof.witness", "expected null: no leakage is negative")

    def at_most_high(self, kind, y, given):
        """Prove that no member leaks more at an outcome.

        Of any member PML is at most log max f(y|x) / E_Q f(y|X), and PMC at most
        log E_Q f(y|X) / min f(y|x), with x among all the secrets that some member may charge.
        """
        where = f"proof.rows: {kind}, {self.outcomes[y]}"
        low, high = ([row[e][y] for row in self.k] for e in (0, 1))
        top = max(high[x] for x in self.possible)
        bottom = min(low[x] for x in self.possible)
        if top == 0:  # no member allows the outcome: its leakage is 0
            found = ZERO
        elif kind == "ldp":
            found = log(max(quotient(top, bottom), ONE))
        else:
            # what secrets that nobody charges are worth is free
            free = set(range(len(self.secrets))) - set(self.possible)
            if kind == "pml":
                values = [top if x in free else v for x, v in enumerate(low)]
                over, under = top, lower_expectation(self.set, values, given, where)
            else:
                values = [-bottom if x in free else -v for x, v in enumerate(high)]
                over, under = negated(lower_expectation(self.set, values, given, where)), bottom
            found = logarithm_of_quotient(over, under)
        if self.high < 0 or not at_most(found, self.high):
            raise Refused(where, "the multipliers do not prove the upper end")

    def at_least_low(self, kinds, chosen):
        """Prove that members leak as much, or come as near to it as one likes.

        If Q is a member, or a limit of members, and R a member that charges x, then mixtures of Q
        with a little of R are members that charge x; their E f(y|X) tend to that of Q.
        """
        where = "proof.witness"
        keys = ("kind", "y", "x", "member", "charging")
        given = record(self.proof["witness"], where, keys)
        kind, y = text(given["kind"], where, kinds), place(given["y"], self.outcomes, where)
        xs = [place(x, self.secrets, where) for x in items(given["x"], where, 1, 2)]
        if y not in chosen or len(xs) != (2 if kind == "ldp" else 1):
            raise Refused(where, "another outcome, or not so many secrets")
        charging = items(given["charging"], where)
        q = self.set.member(given["member"], where, closed=bool(charging))
        members = [self.set.member(one, where, closed=False) for one in charging] or [q]
        if not all(any(low[x] > 0 for low, _ in members) for x in xs):
            raise Refused(where, "the members do not charge the secret")
        low, high = ([row[e][y] for row in self.k] for e in (0, 1))
        if kind == "pmc":
            found = quotient(total(q[0], low), high[xs[0]])
        elif kind == "pml":
            found = quotient(low[xs[0]], total(q[1], high))
        else:
            found = quotient(low[xs[0]], high[xs[1]])
        if not at_most(self.low, log(found)):
            raise Refused(where, "it does not reach the lower end")


def negated(value):
    """Return -value, a Fraction or a function that gives a ball."""
    return (lambda: -evaluated(value)) if callable(value) else -value


def logarithm_of_quotient(over, under):
    """Return log over / under from above: what may be 0 or less below makes it infinite."""
    if not (callable(over) or callable(under)):
        return log(max(over, ZERO) / under) if under > 0 else INF if over > 0 else ZERO
    if not callable(under) and under <= 0:
        return INF
    return lambda: (evaluated(over) / evaluated(under)).log()


def expectation(data, sign):
    """Verify the lower (sign 1) or the upper (-1) expectation of a function of the secret."""
    joint = record(data["joint"], "joint", ("secret", "outcome", "matrix", "priors"))
    secrets = kernel(joint, "joint")[0]
    of = priors(joint["priors"], len(secrets))
    given = record(data["arguments"], "arguments", ("f",))
    v = [sign * value for value in numbers(given["f"], "arguments.f", len(secrets))]
    proof = record(data["proof"], PROOF, ("multiplier", "member"))
    ends = [extended(data[end], end) for end in ("lower", "upper")]
    low, high = ends if sign > 0 else (-ends[1], -ends[0])
    if not at_most(low, lower_expectation(of, v, proof["multiplier"], "proof.multiplier")):
        raise Refused("proof.multiplier", "it does not prove the outer end")
    least, most = of.member(proof["member"], "proof.member", closed=True)
    reached = sum(max(a * value, b * value) for a, b, value in zip(least, most, v, strict=True))
    if not at_most(reached, high):
        raise Refused("proof.member", "it does not prove the inner end")


# -- envelopes ------------------------------------------------------------------------------------


class Envelope:
    r"""The envelope of a finite joint: what post-processing makes of its leakage.

    With q = P_Y, g_x = f(.|x) and theta = e^t for PML, g_x = -f(.|x) and theta = -e^-t for PMC, let
    D(theta) be the largest probability, over all post-processings, of outcomes of leakage >= t.
    (a) Shares w_x(y) >= 0, of at most 1 in sum for each y, with sum_y w_x (g_x - theta q) >= 0 for
    each x, are a post-processing: D(theta) >= sum w_x q. (b) For all prices lambda_x >= 0,
    D(theta) <= sum_y max(0, max_x q + lambda_x (g_x - theta q)). (c) D does not increase, and where
    it is below 1 it falls strictly until it is 0. (d) For a level above theta secrets with
    g_x <= theta q everywhere have no shares, and (b) holds without them.

    The proofs are those of the linear programme for envelopes: its dual is (b); by (c) and (d),
    D(theta) >= delta proves that the envelope at delta is at least t, and a bound of at most
    delta < 1 on D just above theta that it is at most t.
    """

    def __init__(self, data):
        joint = record(data["joint"], "joint", ("secret", "outcome", "matrix", "prior"))
        self.table, self.kind = Table(joint), data["figure"].partition(".")[0]
        self.rows = [[(r[0][y], r[1][y]) if self.kind == "pml" else (-r[1][y], -r[0][y])
                      for y in range(len(self.table.outcomes))] for r in self.table.k]  # fmt: skip
        self.low, self.high = (extended(data[end], end) for end in ("lower", "upper"))
        self.proof = record(data["proof"], PROOF, ("shares", "prices"))
        self.arguments = data["arguments"]

    def level(self, theta):
        """Return the level e^t of a theta, as a ratio."""
        if theta <= 0 if self.kind == "pml" else theta > 0:
            raise Refused(PROOF, "a theta that belongs to no level")
        return theta if self.kind == "pml" else quotient(ONE, -theta)

    def mass_of_shares(self):
        """Return the level that shares make, and the probability of it, from below."""
        where = "proof.shares"
        given = record(self.proof["shares"], where, ("theta", "shares"))
        theta = rational(given["theta"], where)
        n, m = len(self.rows), len(self.table.outcomes)
        left, gains, mass = [ONE] * m, [ZERO] * n, ZERO
        for entry in items(given["shares"], where):
            x, y, share = items(entry, where, 3, 3)
            x, y = whole(x, where, 0, n - 1), whole(y, where, 0, m - 1)
            share, q = rational(share, where), self.table.q[y]
            if share < 0:
                raise Refused(where, "a negative share")
            left[y] -= share
            gains[x] += share * (self.rows[x][y][0] - max(theta * q[0], theta * q[1]))
            mass += share * q[0]
        if min(left) < 0 or min(gains) < 0:
            raise Refused(where, "more than an outcome has, or outcomes that leak less")
        unused = sum(v * q[1] for v, q in zip(left, self.table.q, strict=True))
        return self.level(theta), max(mass, 1 - unused)

    def mass_of_prices(self, *, beyond):
        """Return the level of the prices, what D is at most there, and whether that falls beyond.

        As theta grows a term q + lambda (g - theta q) falls, and strictly where lambda > 0.
        """
        where = "proof.prices"
        given = record(self.proof["prices"], where, ("theta", "prices"))
        theta = rational(given["theta"], where)
        prices = numbers(given["prices"], where, len(self.rows))
        if min(prices) < 0:
            raise Refused(where, "a negative price")
        drop = [min(theta * q[0], theta * q[1]) for q in self.table.q]
        needed = [
            not beyond or any(g[1] > v for g, v in zip(row, drop, strict=True)) for row in self.rows
        ]
        kept = [(prices[x], row) for x, row in enumerate(self.rows) if needed[x]]
        mass, falls = ZERO, False
        for y, q in enumerate(self.table.q):
            if q[1] > 0 and kept:
                terms = [
                    (max(v * (1 - price * theta) for v in q) + price * row[y][1], price)
                    for price, row in kept
                ]
                best = max(term for term, _ in terms)
                mass += max(best, ZERO)
                falls |= best > 0 and all(price > 0 for term, price in terms if term == best)
        return self.level(theta), mass, falls

    def epsilon(self):
        """Verify the envelope at delta: the largest t with D >= delta; a leakage is at least 0."""
        delta = rational(
            record(self.arguments, "arguments", ("delta",))["delta"], "arguments.delta"
        )
        if not 0 < delta <= 1:
            raise Refused("arguments.delta", "a probability above 0, at most 1")
        if self.low > 0:
            ratio, mass = self.mass_of_shares()
            if not (mass >= delta and at_most(self.low, log(ratio))):
                raise Refused("proof.shares", "they do not prove the lower end")
        if self.high < INF:
            ratio, mass, falls = self.mass_of_prices(beyond=True)
            falls = falls or mass < 1
            if not (ratio >= 1 and mass <= delta and falls and at_most(log(ratio), self.high)):
                raise Refused("proof.prices", "they do not prove the upper end")
        self.no_more()

    def delta(self):
        """Verify D at a level t >= 0: a probability."""
        given = record(self.arguments, "arguments", ("t",))
        level = level_of(given["t"], "arguments.t")
        if level[1] < (1 if level[0] == "ratio" else 0):
            raise Refused("arguments.t", "no leakage is negative")
        if self.low > 0:
            ratio, mass = self.mass_of_shares()
            if not (self.low <= mass and above(ratio, level, closed=True)):
                raise Refused("proof.shares", "they do not prove the lower end")
        if self.high < 1:
            ratio, mass, _ = self.mass_of_prices(beyond=False)
            if mass > self.high or above(ratio, level):
                raise Refused("proof.prices", "they do not prove the upper end")
        self.no_more()

    def no_more(self):
        """Refuse what no end needs."""
        ends = self.low > 0, self.high < (INF if "t" not in self.arguments else 1)
        for name, needed in zip(("shares", "prices"), ends, strict=True):
            if not needed and self.proof[name] is not None:
                raise Refused(f"proof.{name}", "expected null: the end needs none")


SUPREMA = ("pml.at", "pml.sup", "pmc.at", "pmc.sup", "ldp", "lip")
OTHERS = {
    "pml.envelope": lambda data: Envelope(data).epsilon(),
    "pmc.envelope": lambda data: Envelope(data).epsilon(),
    "pml.envelope_delta": lambda data: Envelope(data).delta(),
    "pmc.envelope_delta": lambda data: Envelope(data).delta(),
    "expectation.lower": lambda data: expectation(data, 1),
    "expectation.upper": lambda data: expectation(data, -1),
}


def verify(data):
    """Verify a certificate about a set of priors, or about an envelope."""
    figure = text(data["figure"], "figure", (*SUPREMA, *OTHERS))
    if figure in SUPREMA:
        Figures(data).verify()
    else:
        OTHERS[figure](data)
    kind = data["joint"]["priors"]["kind"] if "priors" in data["joint"] else ""
    over = f"over the set of priors {kind}" if kind else "over all post-processings"
    member = "that the set of priors is not empty, as no member is shown"
    return Verified(figure, words(data, over), TRUST if shows_a_member(data) else (*TRUST, member))


def shows_a_member(data):
    """Return whether it is plain that a set has members: only linear constraints may have none."""
    if data["joint"].get("priors", {}).get("kind") != "linear":
        return True
    return data["figure"] not in SUPREMA or data["proof"]["witness"] is not None
