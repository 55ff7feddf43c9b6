"""The table of figures: of each what it is called, means, is measured in, and how it is checked.

A figure that is added here can be asked for by name wherever figures are listed: in the report of
an audit (if it has words), its table and its verification, in certificates (if it has a rule).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

LEAKAGES = ("pml", "pmc")
"""The leakages, each a random variable: a function of the outcome, with a law."""
DELTA = Fraction(1, 100)
"""The level at which a report gives the envelope."""
ONE, DRAWS, SET = "one prior", "draws", "set"
"""Over what a figure may be: one prior, the draws of a posterior over priors, a set of priors."""


class Rule(NamedTuple):
    """A figure as the checker names it.

    Attributes
    ----------
    figure : str
        Its name; a leakage's kind, pml or pmc, stands for ``{}``.
    arguments : tuple of str
        The names of its arguments, in the order in which they are asked.
    """

    figure: str
    arguments: tuple[str, ...] = ()

    def named(self, arguments: tuple) -> tuple[str, dict[str, Any]]:
        """Return the checker's name of a figure with these arguments, and the arguments by name."""
        kind, given = "", arguments
        if "{}" in self.figure:
            kind, *given = arguments
        return self.figure.format(kind), dict(zip(self.arguments, given, strict=True))


@dataclass(frozen=True)
class MeasureWords:
    """What a report calls a measure, and what a bound on it says.

    ``{f}`` stands for the factor e^bound, ``{v}`` for the bound itself and ``{b}`` for bits.

    Attributes
    ----------
    label : str
        The name in the table.
    holds, about : str
        What an upper bound says, and what an estimate says.
    infinite : str
        What an infinite figure says; empty if it is always finite.
    worst_case : bool
        Whether a level of 0, but for rounding, means that no outcome tells anything. A mean may be
        tiny although some outcomes, rare ones, tell much.
    """

    label: str
    holds: str
    about: str
    infinite: str = ""
    worst_case: bool = True


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure that borel gives.

    Attributes
    ----------
    name : str
        As ``bl`` spells it; of what a method computes, as `borel.engine.certificates.Question`
        does: "sup", "tail", ...
    title : str
        The standard term.
    units : str
        Of its Bounds; empty if they are those of its first argument.
    definition : str
        One line of LaTeX.
    source : str
        Paper and number.
    of : str
        What it is a figure of.
    over : tuple of str
        Of a figure of a joint: what the prior may be, of `ONE`, `DRAWS` and `SET`, on finite
        alphabets.
    module : str
        The module of `borel.figures` with the public function; empty for what a method computes.
    question : tuple
        What is asked for it, if that is not its name alone: another figure, or itself, and the
        first arguments. A report gives it at these.
    rule : Rule, optional
        The rule by which the checker verifies it; None if there is none. For a figure that is
        another one's, see that one.
    words : MeasureWords, optional
        What a report says; None if it cannot hold the figure.
    discrete : bool
        Whether the secret has to be finite or countable.
    """

    name: str
    title: str
    units: str = "nats"
    definition: str
    source: str = ""
    of: str = "joint"
    over: tuple[str, ...] = (ONE,)
    module: str = ""
    question: tuple[Any, ...] = ()
    rule: Rule | None = None
    words: MeasureWords | None = None
    discrete: bool = False

    @property
    def asked(self) -> str:
        """The figure that is asked for it."""
        return self.question[0] if self.question else self.name

    @property
    def given(self) -> tuple:
        """The arguments of that figure."""
        return self.question[1:]


_PML, _PMC = '"Pointwise Maximal Leakage"', '"Information Density Bounds for Privacy"'
_DISCLOSURE = '"Rethinking Disclosure Prevention with Pointwise Maximal Leakage"'
_ENVELOPES = '"Information Leakage Envelopes"'
_EXCESS = (
    r"\delta^*(\varepsilon) = \max_{x, x'} \sup_E "
    r"\big(P_{Y|X=x}(E) - e^\varepsilon P_{Y|X=x'}(E)\big)"
)

_TABLE = (
    # -- leakages, and what is asked of one -------------------------------------------------------
    Figure(
        name="pml",
        title="pointwise maximal leakage",
        definition=r"\ell(X \to y) = D_\infty(P_{X|Y=y} \| P_X)",
        source=f"{_PML}, Definitions 1 and 3, Theorem 1",
        over=(ONE, DRAWS, SET),
        module="leakage",
        question=("sup", "pml"),
        words=MeasureWords(
            "PML",
            "no event about the secret becomes more than {f} times as probable once the outcome "
            "is seen",
            "the largest factor by which an outcome makes an event about the secret more probable "
            "is about {f}",
            "some outcomes make an event about the secret more probable by more than any factor",
        ),
    ),
    Figure(
        name="pmc",
        title="pointwise maximal cost",
        definition=r"\Lambda(X \to y) = D_\infty(P_X \| P_{X|Y=y})",
        source=f"{_PMC}, Definitions 11 and 12, Theorem 4, Corollary 2",
        over=(ONE, DRAWS, SET),
        module="leakage",
        question=("sup", "pmc"),
        words=MeasureWords(
            "PMC",
            "no event about the secret becomes more than {f} times less probable once the outcome "
            "is seen",
            "the largest factor by which an outcome makes an event about the secret less probable "
            "is about {f}",
            "some outcomes make an event about the secret less probable by more than any factor: "
            "they rule secrets out, or nearly so",
        ),
    ),
    Figure(
        name="at",
        title="leakage at an outcome",
        definition=r"\ell(X \to y)",
        over=(ONE, DRAWS, SET),
        rule=Rule("{}.at", ("y",)),
    ),
    Figure(
        name="sup",
        title="essential supremum of a leakage",
        definition=r"\operatorname{ess\,sup}_y \ell(X \to y)",
        over=(ONE, DRAWS, SET),
        rule=Rule("{}.sup"),
    ),
    Figure(
        name="tail",
        title="tail probability of a leakage",
        units="probability",
        definition=r"P_Y\{\ell(X \to Y) > t\}",
        over=(ONE, DRAWS),
        rule=Rule("{}.tail", ("t", "closed")),
    ),
    Figure(
        name="cdf",
        title="distribution function of a leakage",
        units="probability",
        definition=r"P_Y\{\ell(X \to Y) \le t\}",
        over=(ONE, DRAWS),
        rule=Rule("{}.cdf", ("t",)),
    ),
    Figure(
        name="quantile",
        title="quantile of a leakage",
        definition=r"\inf\{t : P_Y\{\ell(X \to Y) \le t\} \ge s\}",
        over=(ONE, DRAWS),
        rule=Rule("{}.quantile", ("s", "side")),
    ),
    Figure(
        name="mean",
        title="mean of a leakage",
        definition=r"E_{P_Y}\, \ell(X \to Y)",
        over=(ONE, DRAWS),
        rule=Rule("{}.mean"),
    ),
    Figure(
        name="exp_mean",
        title="mean of e^leakage",
        units="ratio",
        definition=r"E_{P_Y}\, e^{\ell(X \to Y)}",
        over=(ONE, DRAWS),
        rule=Rule("{}.exp_mean"),
    ),
    Figure(
        name="information_density",
        title="information density",
        definition=r"i(x; y) = \log f(y|x) / f_Y(y)",
        source=f"{_PMC}, Section II-A",
        module="information_densities",
        rule=Rule("information_density", ("x", "y")),
    ),
    # -- levels for every outcome and secret ------------------------------------------------------
    Figure(
        name="ldp",
        title="local differential privacy",
        definition=r"\sup_y \log \operatorname{ess\,sup}_x f(y|x) / "
        r"\operatorname{ess\,inf}_{x'} f(y|x')",
        source=f"{_PMC}, Definition 6 and Remark 1",
        over=(ONE, DRAWS, SET),
        module="levels",
        rule=Rule("ldp"),
        words=MeasureWords(
            "LDP",
            "no outcome is more than {f} times as likely under one secret as under another",
            "the largest factor between the likelihoods of an outcome under two secrets is about "
            "{f}",
            "some outcomes are more likely under one secret than under another by more than any "
            "factor",
        ),
    ),
    Figure(
        name="lip",
        title="local information privacy",
        definition=r"\operatorname{ess\,sup} |i(X;Y)|",
        source=f"{_PMC}, Definition 4",
        over=(ONE, DRAWS, SET),
        module="levels",
        rule=Rule("lip"),
        words=MeasureWords(
            "LIP",
            "seeing the outcome changes the probability of any event about the secret by a factor "
            "of {f} at most, up or down",
            "the largest factor by which an outcome changes the probability of an event about the "
            "secret, up or down, is about {f}",
            "some outcomes change the probability of an event about the secret by more than any "
            "factor",
        ),
    ),
    Figure(
        name="mutual_information",
        title="mutual information",
        definition=r"I(X;Y) = E\, i(X;Y)",
        over=(ONE, DRAWS, SET),
        module="averages",
        rule=Rule("mutual_information"),
        words=MeasureWords(
            "Mutual information",
            "on average the outcome tells {v} nats ({b} bits) about the secret, or less",
            "what the outcome tells of the secret on average is about {v} nats ({b} bits)",
            "on average the outcome tells more about the secret than any number of bits",
            worst_case=False,
        ),
    ),
    Figure(
        name="alip",
        title="asymmetric local information privacy",
        definition=r"-\varepsilon_l \le i(x;y) \le \varepsilon_u \quad P_X \times P_Y\text{-a.s.}",
        source=f"{_PMC}, Definition 5",
        over=(ONE, DRAWS, SET),
        module="levels",
    ),
    Figure(
        name="ldi",
        title="local differential identifiability",
        definition=r"\sup_y \log \max_{x, x'} \frac{P_{X|Y=y}(x)}{P_{X|Y=y}(x')}",
        source=f"{_PML}, Definition 16",
        over=(ONE, DRAWS),
        module="levels",
        discrete=True,
        words=MeasureWords(
            "LDI",
            "once the outcome is seen, no possible secret is more than {f} times as probable as "
            "another one",
            "the largest factor between the probabilities of two possible secrets, once an outcome "
            "is seen, is about {f}",
            "once some outcomes are seen, one possible secret is more probable than another one by "
            "more than any factor",
        ),
    ),
    Figure(
        name="leakage_capacity",
        title="leakage capacity",
        definition=r"C(P_{Y|X}) = \log \sup_y \sup_{x, x'} \frac{f(y|x)}{f(y|x')}",
        source='"Rethinking Disclosure Prevention with Pointwise Maximal Leakage", Definition 2.7 '
        "and Theorem 2.8",
        of="mechanism",
        over=(),
        module="levels",
    ),
    # -- averages over the outcomes ---------------------------------------------------------------
    Figure(
        name="maximal_leakage",
        title="maximal leakage",
        definition=r"\log \sum_y \operatorname{ess\,sup}_x f(y|x)",
        source=f"{_PML}, Section II",
        over=(ONE, DRAWS, SET),
        module="averages",
        rule=Rule("maximal_leakage"),
        words=MeasureWords(
            "Maximal leakage",
            "guessing any function of the secret succeeds no more than {f} times as often once the "
            "outcome is seen",
            "the largest factor by which the outcome helps to guess a function of the secret is "
            "about {f}",
            "guessing some function of the secret succeeds more often by more than any factor",
            worst_case=False,
        ),
    ),
    Figure(
        name="maximal_cost_leakage",
        title="maximal cost leakage",
        definition=r"-\log \sum_y \operatorname{ess\,inf}_x f(y|x)",
        source=f"{_PMC}, Definition 8 and after",
        over=(ONE, DRAWS),
        module="averages",
        rule=Rule("maximal_cost_leakage"),
        words=MeasureWords(
            "Maximal cost leakage",
            "whatever wrong guesses cost, guessing any function of the secret becomes no more than "
            "{f} times cheaper on average once the outcome is seen",
            "the largest factor by which the outcome makes guessing a function of the secret "
            "cheaper on average is about {f}",
            "guessing some function of the secret becomes cheaper on average by more than any "
            "factor once the outcome is seen",
            worst_case=False,
        ),
    ),
    Figure(
        name="tail_leakage",
        title="tail leakage",
        definition=r"\log V(\delta), \quad V(\delta) = \frac{1}{\delta} "
        r"\max_{0 \le W \le 1,\ E W = \delta} E\big[W e^{\ell(X \to Y)}\big]",
        source="Expected shortfall (Rockafellar, Uryasev, 2000) of e^PML",
        over=(ONE, DRAWS, SET),
        module="averages",
        question=("tail_leakage", "pml", DELTA),
        words=MeasureWords(
            f"Tail leakage, delta = {float(DELTA):g}",
            f"an adversary who answers on outcomes of probability {float(DELTA):g} in all and may "
            "abstain on the rest gains, whatever the gain is, no more than {f} times as much per "
            "answer as the best blind guess",
            f"an adversary who answers on outcomes of probability {float(DELTA):g} in all and may "
            "abstain on the rest gains, for the worst of gains, about {f} times as much per answer "
            "as the best blind guess",
            f"an adversary who answers on outcomes of probability {float(DELTA):g} in all gains, "
            "for some gain, more per answer than the best blind guess by more than any factor",
            worst_case=False,
        ),
    ),
    Figure(
        name="maximal_guesswork_leakage",
        title="maximal guesswork leakage",
        definition=r"\sup_{U - X - Y} \log \frac{\min_G E\, G(U)}"
        r"{\min_{\hat G} E\, \hat G(U, Y)}",
        source='Kurri, Managoli, Prabhakaran, "Maximal Guesswork Leakage" (2024)',
        over=(ONE, DRAWS),
        module="averages",
        words=MeasureWords(
            "Maximal guesswork leakage",
            "finding out any function of the secret, guess by guess, takes no more than {f} times "
            "fewer guesses on average once the outcome is seen",
            "the largest factor by which the outcome lowers the number of guesses that finding out "
            "a function of the secret takes on average is about {f}",
            "finding out some function of the secret, guess by guess, takes fewer guesses on "
            "average by more than any factor once the outcome is seen",
            worst_case=False,
        ),
    ),
    Figure(
        name="min_entropy_leakage",
        title="min-entropy leakage",
        definition=r"\log \frac{\sum_y \max_x P_X(x) P_{Y|X=x}(y)}{\max_x P_X(x)}",
        source="Braun, Chatzikokolakis, Palamidessi, "
        '"Quantitative Notions of Leakage for One-try Attacks" (2009)',
        over=(ONE, DRAWS),
        module="averages",
        words=MeasureWords(
            "Min-entropy leakage",
            "the best guess of the secret, in one try, succeeds no more than {f} times as often "
            "once the outcome is seen",
            "the factor by which the outcome helps to guess the secret in one try is about {f}",
            worst_case=False,
        ),
    ),
    Figure(
        name="f_information",
        title="f-information",
        units="",
        definition=r"I_f(X;Y) = E_{P_X \times P_Y}\, f\!\left(\frac{f(y|x)}{f_Y(y)}\right)",
        source=f"{_PML}, Definitions 17 and 18",
        over=(ONE, DRAWS),
        module="averages",
        rule=Rule("f_information", ("f",)),
    ),
    Figure(
        name="total_variation",
        title="total variation privacy",
        units="probability",
        definition=r"T(X;Y) = E_{P_Y}\, \mathrm{TV}(P_{X|Y}, P_X)",
        source=f"{_PML}, equation (24)",
        over=(ONE, DRAWS),
        module="averages",
        question=("f_information", "total_variation"),
        words=MeasureWords(
            "Total variation",
            "on average over the outcomes, seeing the outcome changes the probability of any event "
            "about the secret by {v} or less",
            "the largest change of the probability of an event about the secret that seeing the "
            "outcome makes, on average over the outcomes, is about {v}",
            worst_case=False,
        ),
    ),
    Figure(
        name="sibson_information",
        title="Sibson's mutual information",
        definition=r"I_\alpha(X;Y) = \frac{\alpha}{\alpha - 1} "
        r"\log \sum_y \Big(\sum_x P_X(x) P_{Y|X=x}(y)^\alpha\Big)^{1/\alpha}",
        source='Sibson, "Information Radius" (1969)',
        module="sibson",
    ),
    # -- of one outcome, of an event, or of the worst of them -------------------------------------
    Figure(
        name="maximal_realizable_leakage",
        title="maximal realizable leakage",
        definition=r"D_\infty(P_{XY} \| P_X \times P_Y)",
        source=f"{_PML}, equation (13) and after",
        over=(ONE, DRAWS, SET),
        module="worst_cases",
        question=("sup", "pml"),
    ),
    Figure(
        name="maximal_realizable_cost",
        title="maximal realizable cost",
        definition=r"D_\infty(P_X \times P_Y \| P_{XY})",
        source=f"{_PMC}, Definition 9 and after",
        over=(ONE, DRAWS, SET),
        module="worst_cases",
        question=("sup", "pmc"),
    ),
    Figure(
        name="max_information",
        title="max-information",
        definition=r"I_\infty^\delta(X;Y) = D_\infty^\delta(P_{XY} \| P_X P_Y)",
        source=f"{_PML}, Definitions 12 and 13",
        over=(ONE, DRAWS),
        module="worst_cases",
    ),
    Figure(
        name="event_maximal_leakage",
        title="event maximal leakage",
        definition=r"\max_{P_Z(z) \ge \delta} \ell(X \to z)",
        source=f"{_PML}, Definitions 10 and 11, Theorem 3 and equation (19)",
        over=(ONE, DRAWS),
        module="worst_cases",
    ),
    Figure(
        name="event_leakage",
        title="leakage of an event of outcomes",
        definition=r"\ell(X \to E) = \log \max_x \frac{P_{Y|X=x}(E)}{P_Y(E)}",
        source=f"{_PML}, Definitions 10 and 11, Theorem 3 and equation (19)",
        over=(ONE, DRAWS),
    ),
    Figure(
        name="dynamic_min_entropy_leakage",
        title="dynamic min-entropy leakage",
        definition=r"\log \frac{\max_x P_{X|Y=y}(x)}{\max_x P_X(x)}",
        source='Espinoza, Smith, "Min-entropy as a Resource" (2013), Definition 3',
        over=(ONE, DRAWS),
        module="worst_cases",
    ),
    Figure(
        name="pointwise_maximal_guesswork_leakage",
        title="pointwise maximal guesswork leakage",
        definition=r"\sup_{U - X - Y} \log \frac{\min_G E\, G(U)}"
        r"{\min_{\hat G} E[\hat G(U) | Y = y]}",
        source=f"{_PMC}, Definition 10 and after",
        over=(ONE, DRAWS, SET),
        module="worst_cases",
        question=("sup", "pmc"),
    ),
    # -- attributes of the secret -----------------------------------------------------------------
    Figure(
        name="min_entropy",
        title="min-entropy",
        definition=r"H_\infty(P_U) = -\log \max_u P_U(u)",
        source=f"{_DISCLOSURE}, Definition 2.1",
        of="law of the secret",
        over=(),
    ),
    Figure(
        name="remaining_entropy",
        title="least min-entropy that is left after an outcome",
        definition=r"\inf_y H_\infty(P_{U|Y=y})",
        source=f"{_DISCLOSURE}, Definition 3.3, equations (A.2) and (A.3)",
        over=(ONE, SET),
    ),
    # -- envelopes --------------------------------------------------------------------------------
    Figure(
        name="envelope",
        title="PML envelope",
        definition=r"\varepsilon_c(\delta) = \sup\{t : \delta_c(t) \ge \delta\}",
        source=f"{_ENVELOPES} (a draft), Section IV",
        module="envelopes",
        question=("envelope", "pml", DELTA),
        rule=Rule("{}.envelope", ("delta",)),
        words=MeasureWords(
            f"PML envelope, delta = {float(DELTA):g}",
            f"whatever is made of the outcome, but for a probability of {float(DELTA):g} or less "
            "no event about the secret becomes more than {f} times as probable once it is seen",
            f"whatever is made of the outcome, but for a probability of about {float(DELTA):g} the "
            "largest factor by which it makes an event about the secret more probable is about {f}",
            "something can be made of the outcome that makes an event about the secret more "
            f"probable by more than any factor, with probability {float(DELTA):g}",
            worst_case=False,
        ),
    ),
    Figure(
        name="envelope_delta",
        title="largest tail probability of a leakage after post-processing",
        units="probability",
        definition=r"\delta_c(t) = \sup_{X - Y - Z} P\{\ell(X \to Z) \ge t\}",
        source=f"{_ENVELOPES} (a draft), Section IV",
        rule=Rule("{}.envelope_delta", ("t", "closed")),
    ),
    Figure(
        name="binary_envelope",
        title="binary envelope of PML",
        definition=r"\varepsilon_b(\delta) = \sup_{Z \in \{0, 1\}, X - Y - Z} "
        r"\bar\varepsilon_Z(\delta)",
        source=f"{_ENVELOPES}, equations (13) and (22), Algorithm 1",
        module="binary_envelopes",
    ),
    Figure(
        name="both_halves",
        title="largest leakage that both outcomes of a binary post-processing have",
        definition=r"\max_a \min\{\ell(a), \ell(1 - a)\}",
        source=f"{_ENVELOPES}, equations (13) and (22), Algorithm 1",
    ),
    # -- profiles ---------------------------------------------------------------------------------
    Figure(
        name="psi_1",
        title="psi_1, the mean penalty of outcomes whose leakage exceeds a level",
        units="probability",
        definition=r"\psi_1(\varepsilon) = "
        r"E_{Y \sim P_Y}\big[(1 - e^{\varepsilon - \ell(X \to Y)})^+\big]",
        source=f"{_ENVELOPES}, Section III and Theorem 1(i)",
        module="profiles",
    ),
    Figure(
        name="psi_2",
        title="psi_2, the profile of the information density",
        units="probability",
        definition=r"\psi_2(\varepsilon) = \max_x \sup_E "
        r"\big(P_{Y|X=x}(E) - e^\varepsilon P_Y(E)\big)",
        source=f"{_ENVELOPES}, Section III and Theorem 1(ii)",
        module="profiles",
    ),
    Figure(
        name="privacy_profile",
        title="privacy profile",
        units="probability",
        definition=_EXCESS,
        source=f"{_ENVELOPES}, equation (3); Balle, Barthe, Gaboardi (2018)",
        module="profiles",
        question=("profile_excess",),
    ),
    Figure(
        name="profile_excess",
        title="delta of approximate differential privacy",
        units="probability",
        definition=_EXCESS,
        source=f"{_ENVELOPES}, equation (3); Balle, Barthe, Gaboardi (2018)",
    ),
    Figure(
        name="profile_beyond",
        title="delta of probabilistic differential privacy",
        units="probability",
        definition=r"\max_{x, x'} P_{Y|X=x}\{L_{x,x'}(Y) > \varepsilon\}",
        source=f"{_ENVELOPES}, Definition 3",
    ),
    # -- divergences of two measures, and expectations over a set ---------------------------------
    Figure(
        name="hockey_stick",
        title="hockey-stick divergence",
        units="probability",
        definition=r"D_{e^\varepsilon}(P \| Q) = \sup_E \ P(E) - e^\varepsilon Q(E)",
        source=f"{_ENVELOPES}, equations (1) to (3)",
        of="pair of measures",
        over=(),
        module="profiles",
    ),
    Figure(
        name="renyi",
        title="Renyi divergence",
        definition=r"D_\alpha(P \| Q) = "
        r"\frac{1}{\alpha - 1} \log \int p^\alpha q^{1 - \alpha}",
        source='"Renyi Divergence and Kullback-Leibler Divergence" (2014), Definitions 2 and 3',
        of="pair of measures",
        over=(),
        module="divergences",
    ),
    Figure(
        name="max_divergence",
        title="approximate max-divergence",
        definition=r"D_\infty^\delta(P \| Q) = "
        r"\log \max_{E : P(E) \ge \delta} \frac{P(E) - \delta}{Q(E)}",
        source=f"{_PML}, Definition 12",
        of="pair of measures",
        over=(),
        module="divergences",
    ),
    Figure(
        name="f_divergence",
        title="f-divergence",
        units="",
        definition=r"D_f(P \| Q) = E_Q f(p / q)",
        source=f"{_PML}, Definition 17",
        of="pair of measures",
        over=(),
        module="divergences",
    ),
    Figure(
        name="lower",
        title="lower expectation",
        units="number",
        definition=r"\inf_{P \in \mathcal P} E_P f(X)",
        of="set of priors",
        over=(),
        rule=Rule("expectation.lower", ("f",)),
    ),
    Figure(
        name="upper",
        title="upper expectation",
        units="number",
        definition=r"\sup_{P \in \mathcal P} E_P f(X)",
        of="set of priors",
        over=(),
        rule=Rule("expectation.upper", ("f",)),
    ),
)
FIGURES = {figure.name: figure for figure in _TABLE}
"""Every figure of a joint, of a mechanism, of two measures or of a set of priors, by name. What the
words of a report say is what the measure means operationally (for PML and PMC: "Information Density
Bounds for Privacy", Definition 11 and Theorem 4); an event is one of positive prior probability."""


def in_reports() -> dict[str, MeasureWords]:
    """Return the words of the figures that a report can hold, by name."""
    return {name: figure.words for name, figure in FIGURES.items() if figure.words is not None}


def units_of(name: str, arguments: tuple, otherwise: str) -> str:
    """Return the units of a figure that is asked for with these arguments, if it has a record."""
    if name not in FIGURES:
        return otherwise
    return FIGURES[name].units or arguments[0].units
