r"""Certificates of finite joints: each figure of a table is computed again in exact arithmetic.

What a certificate of a table claims is `lower <= figure <= upper` **for every prior and every
kernel that the table means**, which is

* the one that is written, where its entries are Fractions "p/q" (each row sums to 1);
* where they are floats v, written in hex, with a relative rounding r: every normalised row with
  entries within max(r v, 2^-1075) of v, an exact 0 staying 0. The checker asks for
  r >= 2^-53 (the rounding of an entry) and r >= |s - 1| / s for each row's sum s, so that the row
  divided by its sum is always among those meant;
* for {"randomized_response": epsilon}, the kernel of k-ary randomised response: e^epsilon at the
  truth and 1 at each lie, divided by k - 1 + e^epsilon.

So each entry lies between two Fractions, and so does each figure, by the theorem in the docstring
of the function that computes it. Logarithms are left to the end and to Arb, with as many bits as
the comparison with the claim takes. Nothing is searched. Secrets of prior probability 0 count
nowhere, and an outcome that none of the others allows has leakage 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from borel.checker import reading as read
from borel.checker.reading import Refused, Verified, require, shown

INF = float("inf")
ZERO, ONE, HALF_TINY = Fraction(0), Fraction(1), Fraction(1, 2**1075)
LONGEST = 50_000
"""Digits of all the different denominators of a certificate."""
BITS = (128, 512, 2048, 8192)
"""Precisions at which a comparison is tried, in turn; what the last leaves open is refused."""

# -- exact ends, and their logarithms -------------------------------------------------------------


def quick(value):
    """Return a Fraction as flint's rational number, whose arithmetic is as exact, and faster."""
    return fmpq(value.numerator, value.denominator)


def ball(value) -> Any:
    """Return a Fraction as a ball of Arb at the current precision."""
    return arb(quick(value))


def evaluated(value: Any) -> Any:
    """Return a ball around a finite number, or the number, or ball, that a function gives."""
    return value() if callable(value) else ball(Fraction(value))


def decided(test):
    """Return whether a test holds that says True, False, or None for: not at this precision."""
    for bits in BITS:
        with ctx.workprec(bits):
            found = test()
        if found is not None:
            return found
    raise Refused("the claim", "more than 8192 bits are needed to compare two numbers")


def at_most(first: Any, second: Any) -> bool:
    """Return whether first <= second, each a Fraction, +-inf, or a function that gives a ball."""
    if not (callable(first) or callable(second)):
        return first <= second
    if first == -INF or second == INF:
        return True
    if first == INF or second == -INF:
        return False

    def test():
        a, b = evaluated(first), evaluated(second)
        return True if a <= b else False if a > b else None

    return decided(test)


def log(ratio):
    """Return log ratio as `at_most` takes it, of a Fraction >= 0 or inf."""
    if ratio in (0, INF):
        return -INF if ratio == 0 else INF
    return ZERO if ratio == 1 else lambda: ball(ratio).log()


def logs(ends):
    """Return the logarithms of both ends."""
    return log(ends[0]), log(ends[1])


def quotient(a, b):
    """Return a / b for a, b >= 0: inf where b = 0 < a, and 0 where a = 0."""
    return ZERO if a == 0 else a / b if b else INF


def above(ratio, level, *, closed=False):
    """Return whether log ratio > t (>= t if closed), for a level {"nats": t} or {"ratio": e^t}."""
    kind, value = level
    if kind == "ratio":
        return ratio >= value if closed else ratio > value
    # log of a rational other than 1 is irrational, so that equality is met at 1 and inf only
    return at_most(value, log(ratio)) if closed else not at_most(log(ratio), value)


def level_of(argument, where):
    """Read a level, exactly: {"nats": t}, or {"ratio": e^t} with 0 < e^t < inf."""
    kind = "ratio" if isinstance(argument, dict) and "ratio" in argument else "nats"
    value = read.extended(read.record(argument, where, (kind,))[kind], where)
    value = value if abs(value) == INF else Fraction(value)
    positive = kind == "nats" or 0 < value < INF
    require(positive, where, "expected a ratio e^t that is positive and finite")
    return kind, value


def labels(data, where):
    """Read the labels of an alphabet: strings, each once."""
    found = [read.text(v, where) for v in read.items(data, where, 1)]
    require(len(set(found)) == len(found), where, "a label occurs twice")
    return found


def place(label, among, where):
    """Return the position of a label."""
    return among.index(read.text(label, where, tuple(among)))


# -- what a table means ---------------------------------------------------------------------------


def entries(data, where):
    """Read the entries of a law or of a kernel, and their rounding; None if they are Fractions."""
    read.record(data, where, ("entries",), ("rounding",))
    return data["entries"], read.number(data["rounding"], where) if "rounding" in data else None


def law(data, where, count):
    """Return the lower and the upper ends of the probabilities of a law."""
    return row(*entries(data, where), where, count)


def row(data, error, where, count):
    """Return the ends of the probabilities of a law, of Fractions if there is no rounding."""
    of = read.fraction if error is None else read.number
    found = [Fraction(of(v, where)) for v in read.items(data, where, count, count)]
    within = all(0 <= v <= 2 for v in found)
    require(within, where, "a probability is negative, or far above 1")
    if error is None:
        require(sum(found) == 1, where, "Fractions that do not sum to 1")
        return found, found
    known = 2.0**-53 <= error <= 1e-3
    require(known, where, "expected a rounding of at least 2^-53 and at most 1/1000")
    return rounded(found, Fraction(error), where)


def rounded(floats, error, where):
    """Return the ends of all normalised rows within a relative rounding of a row of floats.

    An entry of a normalised row is also 1 less the others, which may say more than its own ends.
    """
    total = sum(floats)
    near = abs(total - 1) <= error * total
    require(near, where, "floats that miss the sum 1 by more than their rounding")
    slack = [max(error * v, HALF_TINY) if v else ZERO for v in floats]
    low = [v - s for v, s in zip(floats, slack, strict=True)]
    high = [v + s for v, s in zip(floats, slack, strict=True)]
    return complemented(low, high)


def complemented(low, high):
    """Return the ends of the entries of a law, each also bounded by 1 less those of the others."""
    least, most = sum(low), sum(high)
    return ([max(a, 1 - (most - b)) for a, b in zip(low, high, strict=True)],
            [min(b, 1 - (least - a)) for a, b in zip(low, high, strict=True)])  # fmt: skip


def mean_of(law_, values):
    """Return the ends of the mean of values, pairs of ends, under all laws between pairs of ends.

    As a law p sums to 1, the mean is c + sum of p (v - c) for every c: with c the least value all
    terms are >= 0, with c the largest one all are <= 0.
    """
    low, high = ([v[e] for v in values] for e in (0, 1))

    def about(c, side, v):
        return c + sum(p[side] * (value - c) for p, value in zip(law_, v, strict=True))

    return (
        max(about(min(low), 0, low), about(max(low), 1, low)),
        min(about(min(high), 1, high), about(max(high), 0, high)),
    )


def response(argument, count, where):
    """Return the ends of the kernel of randomised response, from e^epsilon between Fractions."""
    kind, value = level_of(argument, where)
    known = 1 <= value if kind == "ratio" else 0 <= value <= 1000
    require(known, where, "an epsilon of randomised response, from 0 to 1000 nats")
    low = high = value
    if kind == "nats":
        with ctx.workprec(256):
            found = ball(value).exp()
            low, high = (exact(end) for end in (found.lower(), found.upper()))
    truth = [r / (count - 1 + r) for r in (low, high)]
    lie = [1 / (count - 1 + r) for r in (high, low)]
    ends = list(zip(truth, lie, strict=True))
    every = range(count)
    return [tuple([t if x == y else v for y in every] for t, v in ends) for x in every]


def exact(end):
    """Return a ball of radius 0 as a Fraction."""
    mantissa, exponent = (int(v) for v in end.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def kernel(joint, where) -> Any:
    """Read the alphabets and the kernel of a joint: labels, labels, and the ends of each row."""
    secrets, outcomes = (labels(joint[name], f"{where}.{name}") for name in ("secret", "outcome"))
    data, at = joint["matrix"], f"{where}.matrix"
    if type(data) is dict and "randomized_response" in data:
        known = secrets == outcomes and 2 <= len(secrets) <= 1000
        require(known, at, "randomised response has the secrets, 2 to 1000, for outcomes")
        level = read.record(data, at, ("randomized_response",))["randomized_response"]
        return secrets, outcomes, response(level, len(secrets), at)
    table, error = entries(data, at)
    rows = read.items(table, at, len(secrets), len(secrets))
    return secrets, outcomes, [row(values, error, at, len(outcomes)) for values in rows]


class Table:
    r"""A finite joint, on the secrets of positive prior probability, between exact ends.

    Attributes
    ----------
    p : list of pairs
        The prior.
    k : list of pairs of lists
        The rows of the kernel.
    columns : list of lists of pairs
        f(y|x) for each y and x.
    q : list of pairs
        P_Y.
    posterior : list of lists of pairs
        For each y and x, t := f(y|x) / f_Y(y). It rises in f(y|x) and falls in all else, as
        :math:`f_Y = p_x f(y|x) + \sum_{x' \ne x} p_{x'} f(y|x')`. No pairs for an outcome that
        nothing allows.
    """

    def __init__(self, joint):
        self.secrets, self.outcomes, table = kernel(joint, "joint")
        low, high = law(joint["prior"], "joint.prior", len(self.secrets))
        self.charged = [i for i, v in enumerate(high) if v > 0]
        self.p = [(low[i], high[i]) for i in self.charged]
        self.k = [table[i] for i in self.charged]
        every = range(len(self.outcomes))
        self.columns = [[(row[0][y], row[1][y]) for row in self.k] for y in every]
        means = (mean_of(self.p, column) for column in self.columns)
        law_of_y = complemented(*zip(*means, strict=True))
        self.q = list(zip(*law_of_y, strict=True))
        self.posterior = [self._posterior(*pair) for pair in zip(self.columns, self.q, strict=True)]

    def _posterior(self, column, q):
        if q[1] == 0:
            return []
        joint = [[p[e] * v[e] for p, v in zip(self.p, column, strict=True)] for e in (0, 1)]
        sums = [sum(masses) for masses in joint]
        return [
            (
                quotient(v[0], min(p[1] * v[0] + (sums[1] - high), q[1])),
                quotient(v[1], max(p[0] * v[1] + (sums[0] - low), q[0])),
            )
            for p, v, low, high in zip(self.p, column, *joint, strict=True)
        ]

    def ratio(self, kind, y):
        """Return the ends of e^PML = max t, or of e^PMC = max 1 / t, which is at least 1."""
        own = self.posterior[y]
        if not own:
            return ONE, ONE
        if kind == "pml":
            ends = max(t[0] for t in own), max(t[1] for t in own)
        else:
            ends = quotient(ONE, min(t[1] for t in own)), quotient(ONE, min(t[0] for t in own))
        return max(ends[0], ONE), max(ends[1], ONE)

    def ratios(self, kind):
        """Return the ends of e^leakage at each outcome."""
        return [self.ratio(kind, y) for y in range(len(self.outcomes))]


# -- figures: from the table and the arguments to the two ends ------------------------------------


def point(table, kind, of):
    """Return PML or PMC at an outcome: log max f(y|x) / f_Y(y), log f_Y(y) / min f(y|x)."""
    return logs(table.ratio(kind, place(of["y"], table.outcomes, "arguments.y")))


def supremum(table, kind, of):
    """Return the largest over the outcomes: both ends of a maximum are maxima of ends."""
    return logs(tuple(map(max, zip(*table.ratios(kind), strict=True))))


def density(table, kind, of):
    """Return the information density log f(y|x) / f_Y(y) at a pair of labels."""
    y = place(of["y"], table.outcomes, "arguments.y")
    x = place(of["x"], table.secrets, "arguments.x")
    possible = x in table.charged and bool(table.posterior[y])
    require(possible, "arguments", "a pair whose secret or outcome has probability 0")
    return logs(table.posterior[y][table.charged.index(x)])


def masses(table, sure, possible):
    """Return the ends of the probability of an event that holds `sure`, and is in `possible`."""
    sums = [sum(q[e] for q, keep in zip(table.q, which, strict=True) if keep == kept)
            for e, which, kept in ((0, sure, True), (1, sure, False),
                                   (1, possible, True), (0, possible, False))]  # fmt: skip
    return max(sums[0], 1 - sums[1], ZERO), min(sums[2], 1 - sums[3], ONE)


def tail(table, kind, of):
    """Return P{leakage > t}, or P{leakage >= t} if closed: the sum of f_Y over those outcomes."""
    level, closed = level_of(of["t"], "arguments.t"), read.flag(of["closed"], "arguments.closed")
    ends = zip(*table.ratios(kind), strict=True)
    return masses(table, *([above(r, level, closed=closed) for r in side] for side in ends))


def cdf(table, kind, of):
    """Return P{leakage <= t}."""
    low, high = tail(table, kind, {"t": of["t"], "closed": False})
    return 1 - high, 1 - low


def quantile(table, kind, of):
    r"""Return inf{t : cdf(t) >= s}, or inf{t : cdf(t) > s} on the right side.

    With leakages in [a, b]: where the outcomes with b <= t certainly have enough mass, the quantile
    is at most t; where those with a <= t certainly have too little, it is above t. Enough comes
    last at the largest end, as all masses sum to 1.
    """
    s = read.rational(of["s"], "arguments.s")
    left = read.text(of["side"], "arguments.side", ("left", "right")) == "left"
    known = 0 < s <= 1 if left else 0 <= s < 1
    require(known, "arguments.s", "a level in (0, 1] on the left, in [0, 1) on the right")
    ratios, found = table.ratios(kind), []
    for end in (0, 1):
        order = sorted({r[end] for r in ratios})
        for t in order:
            below = [r[end] <= t for r in ratios]
            mass = masses(table, below, below)[1 - end]
            if mass >= s if left else mass > s:
                found.append(t)
                break
    return logs(found)


def mean(table, kind, of):
    """Return the mean of the leakage, which is nowhere negative: the sum of f_Y times it."""
    pairs = list(zip(table.q, table.ratios(kind), strict=True))
    return tuple(weighted([(q[e], r[e]) for q, r in pairs if q[e] > 0]) for e in (0, 1))


def weighted(terms):
    """Return the sum of weights > 0 times logarithms of ratios, as `at_most` takes it."""
    if any(ratio == INF for _, ratio in terms):
        return INF
    terms = [(weight, ratio) for weight, ratio in terms if ratio != 1]
    return (lambda: sum((ball(w) * ball(r).log() for w, r in terms), arb(0))) if terms else ZERO


def exp_mean(table, kind, of):
    """Return the mean of e^leakage."""
    pairs = list(zip(table.q, table.ratios(kind), strict=True))
    return tuple(sum((q[e] * r[e] for q, r in pairs if q[e] > 0), ZERO) for e in (0, 1))


def ldp(table, kind, of):
    """Return the largest log f(y|x) / f(y|x') over outcomes and pairs of secrets, which is >= 0."""
    if len(table.p) == 1:
        return ZERO, ZERO

    def largest(e):
        each = ((max(v[e] for v in c), min(v[1 - e] for v in c)) for c in table.columns)
        return max(ONE, *(quotient(*pair) for pair in each))

    return logs((largest(0), largest(1)))


def lip(table, kind, of):
    """Return the largest |i(x;y)| over P_X x P_Y: the larger of the suprema of PML and PMC."""
    sides = [r for of_kind in ("pml", "pmc") for r in table.ratios(of_kind)]
    return logs(tuple(map(max, zip(*sides, strict=True))))


def sums_of(table, pick):
    """Return the ends of the sum over y of the largest, or the smallest, f(y|x)."""
    return tuple(sum(pick(v[e] for v in column) for column in table.columns) for e in (0, 1))


def maximal_leakage(table, kind, of):
    """Return log of the sum over y of max f(y|x), which is at least 1."""
    return logs(tuple(max(v, ONE) for v in sums_of(table, max)))


def maximal_cost_leakage(table, kind, of):
    """Return -log of the sum over y of min f(y|x), which is at most 1."""
    low, high = sums_of(table, min)
    return logs((quotient(ONE, min(high, ONE)), quotient(ONE, min(low, ONE))))


def cells(table):
    """Return for each pair of positive P_X x P_Y its ends, those of f(y|x), and of f(y|x) / f_Y."""
    for q, column, own in zip(table.q, table.columns, table.posterior, strict=True):
        for p, v, t in zip(table.p, column, own, strict=True) if own else ():
            yield (p[0] * q[0], p[1] * q[1]), (p[0] * v[0], p[1] * v[1]), t


GENERATORS = {
    "kl": lambda t: ball(t) * ball(t).log() + ball(1 - t) if t else arb(1),
    "total_variation": lambda t: quick(abs(t - 1) / 2),
    "chi_square": lambda t: quick(t - 1) ** 2,
    "squared_hellinger": lambda t: ball(t + 1) / 2 - ball(t).sqrt(),
}
"""Each f less its tangent at 1: t log t - t + 1; |t - 1| / 2; (t - 1)^2; (sqrt t - 1)^2 / 2. They
are 0 at 1, fall up to there and rise from there. Rational numbers, or balls."""


def f_information(table, kind, of):
    """Return E f(f(y|x) / f_Y(y)) under P_X x P_Y, to which a tangent of f at 1 adds nothing."""
    return information(table, GENERATORS[read.text(of["f"], "arguments.f", tuple(GENERATORS))])


def total_variation(table, kind, of):
    """Return the f-information of |t - 1| / 2."""
    return f_information(table, kind, {"f": "total_variation"})


def information(table, f) -> Any:
    """Return the ends of the sum over cells of their mass times f, which is monotone up to 1."""
    found = list(cells(table))

    def low():
        far = ((w[0], min(t, key=lambda end: abs(end - 1))) for w, _, t in found
               if not t[0] <= 1 <= t[1])  # fmt: skip
        return sum((quick(w) * f(t) for w, t in far), quick(ZERO))

    def high():
        each = ((w[1], larger(f(t[0]), f(t[1]))) for w, _, t in found)
        return sum((quick(w) * v for w, v in each), quick(ZERO))

    return low, high


def larger(a: Any, b: Any):
    """Return the larger of two rational numbers, or of two balls."""
    return a.max(b) if isinstance(a, arb) else max(a, b)


def mutual_information(table, kind, of):
    """Return E log f(y|x) / f_Y(y): the f-information of t log t, and also the sum as it stands.

    Both are enclosures; the first is the better one where little leaks, the second where t is 0.
    """
    low, high = information(table, GENERATORS["kl"])
    found = [(w, t) for _, w, t in cells(table)]

    def direct(end, pick):
        return sum((ball(pick(v * (1 if t[end] > 1 else -1) for v in w)) * abs(ball(t[end]).log())
                    for w, t in found if t[1]), arb(0))  # fmt: skip

    return lambda: arb(low()).max(direct(0, min)), lambda: arb(high()).min(direct(1, max))


FIGURES = {
    "ldp": (ldp, ()),
    "lip": (lip, ()),
    "maximal_leakage": (maximal_leakage, ()),
    "maximal_cost_leakage": (maximal_cost_leakage, ()),
    "mutual_information": (mutual_information, ()),
    "total_variation": (total_variation, ()),
    "f_information": (f_information, ("f",)),
    "information_density": (density, ("x", "y")),
}
"""The figures: how each is computed, and its arguments."""
for _kind in ("pml", "pmc"):
    FIGURES |= {
        f"{_kind}.at": (point, ("y",)),
        f"{_kind}.sup": (supremum, ()),
        f"{_kind}.tail": (tail, ("t", "closed")),
        f"{_kind}.cdf": (cdf, ("t",)),
        f"{_kind}.quantile": (quantile, ("s", "side")),
        f"{_kind}.mean": (mean, ()),
        f"{_kind}.exp_mean": (exp_mean, ()),
    }

MEANT = "laws in floats mean every normalised one within the rounding that is stated with them"
TRUST = ("python-flint: balls of Arb hold what they should",)


def not_too_long(data):
    """Refuse fractions of so many different denominators that their sums would take for ever."""
    left, seen, denominators = [data], set(), set()
    while left:
        part = left.pop()
        if type(part) in (dict, list) and id(part) not in seen:  # data may hold itself
            seen.add(id(part))
            left += part.values() if type(part) is dict else part
        elif type(part) is str and part.partition("/")[2].isdigit():
            denominators.add(part.partition("/")[2])
    few = sum(map(len, denominators)) <= LONGEST
    require(few, "the certificate", f"its denominators have more than {LONGEST} digits")


def verify(data):
    """Verify a certificate whose joint has a matrix; its other keys have been read."""
    not_too_long(data)
    figure = read.text(data["figure"], "figure", tuple(FIGURES))
    read.record(data["proof"], "proof", ())
    read.record(data["joint"], "joint", ("secret", "outcome", "matrix", "prior"))
    compute, names = FIGURES[figure]
    arguments = read.record(data["arguments"], "arguments", names)
    low, high = compute(Table(data["joint"]), figure.partition(".")[0], arguments)
    above_lower = at_most(read.extended(data["lower"], "lower"), low)
    require(above_lower, "lower", f"the figure may be below {data['lower']}")
    below_upper = at_most(high, read.extended(data["upper"], "upper"))
    require(below_upper, "upper", f"the figure may be above {data['upper']}")
    return Verified(figure, words(data, "of a finite joint"), TRUST)


def words(data, about):
    """Say what was verified."""
    arguments = ", ".join(f"{key} = {value}" for key, value in data["arguments"].items())
    given = f" at {arguments}" if arguments else ""
    ends = shown(read.extended(data["lower"], "lower"), read.extended(data["upper"], "upper"))
    return f"{data['figure']}{given} is between {ends[0]} and {ends[1]} {about}; {MEANT}"
