r"""What holds for every prior of a set, or every post-processing, by given multipliers.

Both are optima of convex programmes. A feasible point of the dual bounds an optimum from outside,
a feasible point of the programme itself (a member, a post-processing) from inside; both are in the
certificate, and the checker only verifies that they are feasible, and how much they prove.

Sets of priors on finitely many secrets. All are convex, and enter figures of a fixed kernel through
the lower expectation of a function v of the secret. Each row says what E_Q v is at least, for every
member Q, by a number t (or a weight for each constraint) of one's choice:

=======================  =========================================================================
box, l <= q <= u         t + sum of the least of l (v - t) and u (v - t), as q (v - t) is no less
full_support             the same for 0 < q
contamination, weight w  the same for q >= (1 - w) P
tv, TV(P, Q) <= r        E_P min(v, t) - r (t - min v), t >= min v: a function of that range moves
                         by r times the range at most
hull                     the least of E_P v over the listed members P
linear                   min over x of (v + A'y + E'z) - b.y - e.z, y >= 0, and less what auxiliary
                         variables in [0, 1] add: weak duality of A q <= b, E q = e, sum q = 1
=======================  =========================================================================

Without a multiplier (null) it is at least the least v of a secret that some member charges. A
centre, or a listed member, that is given in floats means every normalised law within their
rounding (`tables`), and what is claimed holds for each of them.
"""

from __future__ import annotations

from typing import Any

from borel.checker import reading as read
from borel.checker import tables
from borel.checker.reading import Verified, require
from borel.checker.tables import INF, ONE, TRUST, ZERO, Table, at_most, kernel, log, place, quotient


def numbers(data, where, count):
    """Read a list of so many numbers, exactly."""
    return [read.rational(v, where) for v in read.items(data, where, count, count)]


def total(weights, values):
    """Return the sum of products."""
    return sum((w * v for w, v in zip(weights, values, strict=True) if w), ZERO)


# -- lower expectations ---------------------------------------------------------------------------


class PriorSet:
    """Priors on so many secrets; ``possible`` are those that some member may charge."""

    keys, multiplier = (), None

    def __init__(self, data, count):
        self.count, self.possible = count, list(range(count))

    def least(self, v, t: Any = None):
        """Bound E_Q v from below for all members Q, by a multiplier, as in the table above."""
        raise NotImplementedError

    def holds(self, q, closed):
        """Return whether a law is a member, whatever a centre means; or, if closed, a limit."""
        raise NotImplementedError

    def member(self, data, where, closed):
        """Read a member: its probabilities, and their ends, which are the same here."""
        q = numbers(data, where, self.count)
        inside = min(q) >= 0 and sum(q) == 1 and self.holds(q, closed)
        require(inside, where, "no member of the set")
        return q, q


class Box(PriorSet):
    """All priors with l <= q <= u, or l < q < u if ``open``; l is known between two ends."""

    keys, multiplier = ("lower", "upper", "open"), "t"

    def __init__(self, data, count):
        super().__init__(data, count)
        self.low, self.high, self.open = self.ends(data)
        low = self.low[0]
        require(min(low) >= 0, "priors", "a box needs 0 <= lower <= upper")
        room, more = 1 - sum(low), sum(self.high) - 1
        inside = (a < b if self.open else a <= b for a, b in zip(low, self.high, strict=True))
        members = all(inside) and (min(room, more) > 0 if self.open else min(room, more) >= 0)
        require(members, "priors", "the box has no members")
        self.possible = [x for x in range(count) if self.high[x] > 0 and low[x] + room > 0]

    def ends(self, data):
        """Read both ends of l, then u, and whether the box is open."""
        low, high = (numbers(data[end], f"priors.{end}", self.count) for end in self.keys[:2])
        return (low, low), high, read.flag(data["open"], "priors.open")

    def least(self, v, t: Any = None):
        """Bound E_Q v from below; without t by the least value."""
        t = min(v) if t is None else t
        gaps = [(a, b, value - t) for a, b, value in zip(self.low[0], self.high, v, strict=True)]
        return t + sum(min(a * gap, b * gap) for a, b, gap in gaps)

    def holds(self, q, closed):
        """Return whether a law is a member, or a limit of members."""
        ends = list(zip(self.low[1], q, self.high, strict=True))
        if self.open and not closed:
            return all(a < value < b for a, value, b in ends)
        return all(a <= value <= b for a, value, b in ends)


class FullSupport(Box):
    """All priors that charge every secret: 0 < q."""

    keys, multiplier = (), None

    def ends(self, data):
        """Return the ends of such a box; no q reaches 2."""
        zeros = [ZERO] * self.count
        return (zeros, zeros), [2 * ONE] * self.count, True


class Contamination(Box):
    """All (1 - w) P + w Q, with any Q: all q >= (1 - w) P."""

    keys, multiplier = ("centre", "size"), None

    def ends(self, data):
        """Return the ends of such a box."""
        p, size = centre(data, self.count)
        low, high = ([(1 - size) * v for v in end] for end in p)
        return (low, high), [ONE] * self.count, False


def centre(data, count):
    """Read the ends of a centre P, and a size r in [0, 1]."""
    size = read.rational(data["size"], "priors.size")
    require(0 <= size <= 1, "priors.size", "a size below 0, or above what it can be")
    return tables.law(data["centre"], "priors.centre", count), size


def mean(p, v):
    """Bound E_P v from below, for all laws P between two ends."""
    charged = [((a, b), (value, value)) for a, b, value in zip(*p, v, strict=True) if b > 0]
    return tables.mean_of(*zip(*charged, strict=True))[0]


class TotalVariation(PriorSet):
    """All Q with TV(P, Q) <= r."""

    keys, multiplier = ("centre", "size"), "t"

    def __init__(self, data, count):
        super().__init__(data, count)
        self.p, self.size = centre(data, count)

    def least(self, v, t: Any = None):
        """Bound E_Q v from below."""
        require(t >= min(v), "proof", "a multiplier below the least value")
        return mean(self.p, [min(a, t) for a in v]) - self.size * (t - min(v))

    def holds(self, q, closed):
        """Return whether a law is a member, whatever the centre means."""
        return sum(max(a - p, ZERO) for a, p in zip(q, self.p[0], strict=True)) <= self.size


class Hull(PriorSet):
    """All mixtures of the listed members."""

    keys = ("members",)

    def __init__(self, data, count):
        super().__init__(data, count)
        laws = read.items(data["members"], "priors.members", 1)
        self.laws = [tables.law(one, "priors.members", count) for one in laws]
        self.possible = [x for x in range(count) if any(high[x] > 0 for _, high in self.laws)]

    def least(self, v, t: Any = None):
        """Bound E_Q v from below."""
        return min(mean(p, v) for p in self.laws)

    def member(self, data, where, closed):
        """Read a member, by shares of the listed ones: the ends of its probabilities."""
        shares = numbers(data, where, len(self.laws))
        require(min(shares) >= 0 and sum(shares) == 1, where, "no shares of the listed members")
        return [[total(shares, column) for column in zip(*ends, strict=True)]
                for ends in zip(*self.laws, strict=True)]  # fmt: skip


class Linear(PriorSet):
    """All q with A q <= b and E q = e, for some auxiliary variables in [0, 1] beside q."""

    keys, multiplier = ("width", "at_most", "equal"), "weights"

    def __init__(self, data, count):
        super().__init__(data, count)
        self.width = read.whole(data["width"], "priors.width", count, count + 10**4)
        self.rows = []
        for name in ("at_most", "equal"):
            for pair in read.items(data[name], f"priors.{name}"):
                entries, end = read.items(pair, f"priors.{name}", 2, 2)
                entries = numbers(entries, f"priors.{name}", self.width)
                self.rows.append((entries, read.rational(end, f"priors.{name}"), name == "at_most"))

    def least(self, v, t: Any = None):
        """Bound E_Q v from below."""
        reduced, value = [*v, *[ZERO] * (self.width - self.count)], ZERO
        for weight, (row, end, below) in zip(t, self.rows, strict=True):
            require(weight >= 0 or not below, "proof", "a negative weight of an inequality")
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
        held = inside and all(v <= 0 if below else v == 0 for v, below in over)
        require(held, where, "no member of the set")
        return q[: self.count], q[: self.count]


SETS = {
    "full_support": FullSupport,
    "box": Box,
    "tv": TotalVariation,
    "contamination": Contamination,
    "hull": Hull,
    "linear": Linear,
}


def priors(data, count):
    """Read a set of priors."""
    kind = SETS[read.text(data.get("kind") if type(data) is dict else None, "priors", tuple(SETS))]
    return kind(read.record(data, "priors", ("kind", *kind.keys)), count)


def lower_expectation(of, v, given, where):
    """Bound E_Q v from below for all members Q, by the multiplier that is given."""
    if given is None:
        return min(v[x] for x in of.possible)
    given = read.record(given, where, (of.multiplier,) if of.multiplier else ())
    if of.multiplier == "weights":
        return of.least(v, numbers(given["weights"], where, len(of.rows)))
    return of.least(v, read.rational(given["t"], where) if of.multiplier else None)


# -- figures over a set ---------------------------------------------------------------------------


class Figures:
    """Suprema over a set of priors, at one outcome or over all of them."""

    def __init__(self, data):
        joint = read.record(data["joint"], "joint", ("secret", "outcome", "matrix", "priors"))
        self.secrets, self.outcomes, self.k = kernel(joint, "joint")
        self.set = priors(joint["priors"], len(self.secrets))
        self.figure, self.arguments = data["figure"], data["arguments"]
        self.low, self.high = (read.extended(data[end], end) for end in ("lower", "upper"))
        self.proof = read.record(data["proof"], "proof", ("rows", "witness"), ("never",))
        self.never = set()
        for pair in read.items(self.proof.get("never", []), "proof.never"):
            label, given = read.items(pair, "proof.never", 2, 2)
            self.never.add(self.charges_never(label, given))
        self.possible = [x for x in self.set.possible if x not in self.never]

    def charges_never(self, label, given):
        """Return a secret that no member charges: the lower expectation of -[x] is 0."""
        x = place(label, self.secrets, "proof.never")
        values = [-ONE if j == x else ZERO for j in range(len(self.secrets))]
        never = at_most(ZERO, lower_expectation(self.set, values, given, "proof.never"))
        require(never, "proof.never", f"a member may charge {label}")
        return x

    def verify(self):
        """Verify the claim."""
        at = self.figure.endswith(".at")
        read.record(self.arguments, "arguments", ("y",) if at else ())
        every = range(len(self.outcomes))
        chosen = [place(self.arguments["y"], self.outcomes, "arguments.y")] if at else every
        kinds = ("pml", "pmc") if self.figure == "lip" else (self.figure.partition(".")[0],)
        rows = self.proof["rows"]
        if self.high < INF:
            rows = read.record(rows, "proof.rows", kinds)
            for kind in kinds:
                each = read.items(rows[kind], "proof.rows", len(chosen), len(chosen))
                for y, given in zip(chosen, each, strict=True):
                    self.at_most_high(kind, y, given)
        else:
            require(rows is None, "proof.rows", "expected null: an infinite end needs none")
        if self.low > 0:
            self.at_least_low(kinds, chosen)
        else:
            none = self.proof["witness"] is None
            require(none, "proof.witness", "expected null: no leakage is negative")

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
                over, under = -lower_expectation(self.set, values, given, where), bottom
            # what may be 0 or less below makes it infinite
            found = log(max(over, ZERO) / under if under > 0 else INF if over > 0 else ONE)
        proved = self.high >= 0 and at_most(found, self.high)
        require(proved, where, "the multipliers do not prove the upper end")

    def at_least_low(self, kinds, chosen):
        """Prove that members leak as much, or come as near to it as one likes.

        If Q is a member, or a limit of members, and R a member that charges x, then mixtures of Q
        with a little of R are members that charge x; their E f(y|X) tend to that of Q.
        """
        where = "proof.witness"
        keys = ("kind", "y", "x", "member", "charging")
        given = read.record(self.proof["witness"], where, keys)
        kind, y = read.text(given["kind"], where, kinds), place(given["y"], self.outcomes, where)
        xs = [place(x, self.secrets, where) for x in read.items(given["x"], where, 1, 2)]
        known = y in chosen and len(xs) == (2 if kind == "ldp" else 1)
        require(known, where, "another outcome, or not so many secrets")
        charging = read.items(given["charging"], where)
        q = self.set.member(given["member"], where, closed=bool(charging))
        members = [self.set.member(one, where, closed=False) for one in charging] or [q]
        charged = all(any(low[x] > 0 for low, _ in members) for x in xs)
        require(charged, where, "the members do not charge the secret")
        low, high = ([row[e][y] for row in self.k] for e in (0, 1))
        if kind == "pmc":
            found = quotient(total(q[0], low), high[xs[0]])
        elif kind == "pml":
            found = quotient(low[xs[0]], total(q[1], high))
        else:
            found = quotient(low[xs[0]], high[xs[1]])
        require(at_most(self.low, log(found)), where, "it does not reach the lower end")


def expectation(data):
    """Verify the lower expectation of a function f of the secret, or the upper: -f has less."""
    joint = read.record(data["joint"], "joint", ("secret", "outcome", "matrix", "priors"))
    of = priors(joint["priors"], len(kernel(joint, "joint")[0]))
    sign = 1 if data["figure"].endswith("lower") else -1
    given = read.record(data["arguments"], "arguments", ("f",))
    v = [sign * value for value in numbers(given["f"], "arguments.f", of.count)]
    low, high = sorted(sign * read.extended(data[end], end) for end in ("lower", "upper"))
    proof = read.record(data["proof"], "proof", ("multiplier", "member"))
    proved = at_most(low, lower_expectation(of, v, proof["multiplier"], "proof.multiplier"))
    require(proved, "proof.multiplier", "it does not prove the outer end")
    ends = of.member(proof["member"], "proof.member", closed=True)
    reached = sum(max(a * value, b * value) for a, b, value in zip(*ends, v, strict=True))
    require(at_most(reached, high), "proof.member", "it does not prove the inner end")


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
        joint = read.record(data["joint"], "joint", ("secret", "outcome", "matrix", "prior"))
        self.table, self.figure = Table(joint), data["figure"]
        self.kind = self.figure.partition(".")[0]
        self.rows = [[(r[0][y], r[1][y]) if self.kind == "pml" else (-r[1][y], -r[0][y])
                      for y in range(len(self.table.outcomes))] for r in self.table.k]  # fmt: skip
        self.low, self.high = (read.extended(data[end], end) for end in ("lower", "upper"))
        self.proof = read.record(data["proof"], "proof", ("shares", "prices"))
        self.arguments = data["arguments"]

    def level(self, theta):
        """Return the level e^t of a theta, as a ratio."""
        known = theta > 0 if self.kind == "pml" else theta <= 0
        require(known, "proof", "a theta that belongs to no level")
        return theta if self.kind == "pml" else quotient(ONE, -theta)

    def mass_of_shares(self):
        """Return the level that shares make, and the probability of it, from below."""
        where = "proof.shares"
        given = read.record(self.proof["shares"], where, ("theta", "shares"))
        theta = read.rational(given["theta"], where)
        n, m = len(self.rows), len(self.table.outcomes)
        left, gains, mass = [ONE] * m, [ZERO] * n, ZERO
        for entry in read.items(given["shares"], where):
            x, y, share = read.items(entry, where, 3, 3)
            x, y = read.whole(x, where, 0, n - 1), read.whole(y, where, 0, m - 1)
            share, q = read.rational(share, where), self.table.q[y]
            require(share >= 0, where, "a negative share")
            left[y] -= share
            gains[x] += share * (self.rows[x][y][0] - max(theta * q[0], theta * q[1]))
            mass += share * q[0]
        held = min(left) >= 0 and min(gains) >= 0
        require(held, where, "more than an outcome has, or outcomes that leak less")
        unused = sum(v * q[1] for v, q in zip(left, self.table.q, strict=True))
        return self.level(theta), max(mass, 1 - unused)

    def mass_of_prices(self, *, beyond):
        """Return the level of the prices, what D is at most there, and whether that falls beyond.

        As theta grows a term q + lambda (g - theta q) falls, and strictly where lambda > 0.
        """
        where = "proof.prices"
        given = read.record(self.proof["prices"], where, ("theta", "prices"))
        theta = read.rational(given["theta"], where)
        prices = numbers(given["prices"], where, len(self.rows))
        require(min(prices) >= 0, where, "a negative price")
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

    def verify(self):
        """Verify the claim."""
        return self.delta() if self.figure.endswith("delta") else self.epsilon()

    def epsilon(self):
        """Verify the envelope at delta: the largest t with D >= delta; a leakage is at least 0."""
        given = read.record(self.arguments, "arguments", ("delta",))
        delta = read.rational(given["delta"], "arguments.delta")
        require(0 < delta <= 1, "arguments.delta", "a probability above 0, at most 1")
        if self.needs("shares", self.low > 0):
            ratio, mass = self.mass_of_shares()
            proved = mass >= delta and at_most(self.low, log(ratio))
            require(proved, "proof.shares", "they do not prove the lower end")
        if self.needs("prices", self.high < INF):
            ratio, mass, falls = self.mass_of_prices(beyond=True)
            proved = ratio >= 1 and mass <= delta and (falls or mass < 1)
            proved = proved and at_most(log(ratio), self.high)
            require(proved, "proof.prices", "they do not prove the upper end")

    def delta(self):
        """Verify D at a level t >= 0: a probability."""
        given = read.record(self.arguments, "arguments", ("t",))
        level = tables.level_of(given["t"], "arguments.t")
        known = level[1] >= (1 if level[0] == "ratio" else 0)
        require(known, "arguments.t", "no leakage is negative")
        if self.needs("shares", self.low > 0):
            ratio, mass = self.mass_of_shares()
            proved = self.low <= mass and tables.above(ratio, level, closed=True)
            require(proved, "proof.shares", "they do not prove the lower end")
        if self.needs("prices", self.high < 1):
            ratio, mass, _ = self.mass_of_prices(beyond=False)
            proved = mass <= self.high and not tables.above(ratio, level)
            require(proved, "proof.prices", "they do not prove the upper end")

    def needs(self, name, needed):
        """Return whether an end needs a part of the proof, which is null where it does not."""
        empty = needed or self.proof[name] is None
        require(empty, f"proof.{name}", "expected null: the end needs none")
        return needed


SUPREMA = ("pml.at", "pml.sup", "pmc.at", "pmc.sup", "ldp", "lip")
EXPECTATIONS = ("expectation.lower", "expectation.upper")
ENVELOPES = ("pml.envelope", "pmc.envelope", "pml.envelope_delta", "pmc.envelope_delta")


def verify(data):
    """Verify a certificate about a set of priors, or about an envelope."""
    tables.not_too_long(data)
    figure = read.text(data["figure"], "figure", (*SUPREMA, *EXPECTATIONS, *ENVELOPES))
    if figure in ENVELOPES:
        Envelope(data).verify()
        return Verified(figure, tables.words(data, "over all post-processings"), TRUST)
    expectation(data) if figure in EXPECTATIONS else Figures(data).verify()
    member = data["proof"]["member" if figure in EXPECTATIONS else "witness"]
    kind, trust = data["joint"]["priors"]["kind"], TRUST
    if kind == "linear" and member is None:  # all others have members, or are refused
        trust = (*TRUST, "that the set of priors is not empty, as no member is shown")
    return Verified(figure, tables.words(data, f"over the set of priors {kind}"), trust)
