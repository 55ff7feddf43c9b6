"""What the papers state: none is missing, and every verdict is read from figures."""

import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import pytest

import borel as bl
from borel.claims import PAPERS, papers, report, statements
from borel.claims.cases import JOINTS, PRIVATE, Case, Cases, product
from borel.claims.drawings import drawings
from borel.claims.judging import VERDICTS, Paper, Sharper
from borel.claims.pmc_paper import attained, attaining, figure_2_levels, to_cost
from borel.claims.spans import Fact, Span, at_most, below, same, up_to

LIST = Path(__file__).parents[1] / "data" / "claims" / "statements.txt"
ERRATA = range(1, 25)
"""Rows of the page of errata."""

UNNUMBERED = ("Section", "Equation", "Definition", "Footnote", "Appendix")
"""Kinds of records of what the papers state outside of their numbered statements."""

SLOW = ("Example-8", "Example-9", "Figure-1", "Example-6")


def fewer(statement, count=10):
    """Return the statement, tried on fewer random joints, and none moved."""
    if statement.cases is None:
        return statement
    return replace(statement, cases=replace(statement.cases, count=count, starts=0))


@pytest.fixture(scope="module")
def judged():
    quick = [fewer(s) for s in statements() if f"{s.kind}-{s.number}" not in SLOW]
    quick = [s for s in quick if s.paper != "preprint" or s.number in "56"]  # the rest is shared
    return {s.id: (s, s.judge()) for s in quick}


def test_no_numbered_statement_of_the_papers_is_missing():
    listed = [tuple(line.split()) for line in LIST.read_text().splitlines() if line[0] != "#"]
    have = {(s.paper, s.kind, s.number) for s in statements()}
    numbered = [one for one in listed if one[1] not in UNNUMBERED]
    assert len(numbered) == 135 and len(listed) == len(set(listed)) == 135 + 31
    assert set(listed) == {one for one in have if one[0] != "readings"}


def test_ids_are_unique_and_records_say_what_is_computed():
    every = statements()
    assert len({s.id for s in every}) == len(every)
    for s in every:
        assert s.says and s.computed and (s.why or s.cases or s.scope), s.id


def test_every_erratum_is_a_claim():
    assert {e for s in statements() for e in s.errata} == set(ERRATA)
    for s in statements():
        assert s.errata or not s.reads, s.id


@pytest.mark.slow
def test_what_is_refuted_are_the_errors_and_nothing_else(judged):
    assert {s.id for s, j in judged.values() if not s.expects(j.verdict)} == set()
    for s, j in judged.values():
        assert j.verdict in VERDICTS
        assert j.evidence or j.verdict == "confirmed", s.id
    silent = {name for name, (_, j) in judged.items() if not j.facts}
    assert silent == {s.id for s, j in judged.values() if j.verdict == "not computable"}


@pytest.mark.slow
def test_every_statement_in_full_and_none_is_vacuous():
    found = [(s, s.judge()) for s in statements()]
    assert [s.id for s, j in found if not s.expects(j.verdict)] == []
    drawn = {s.id: (s, fewer(s, s.cases.count).judge().facts) for s, _ in found if s.cases}
    few = {name: facts for name, (s, facts) in drawn.items() if facts < s.cases.count}
    rare = {"pml:Remark-3", "pml:Proposition-4", "disclosure:Corollary-3.10"}  # their premises are
    assert set(few) == rare | {"disclosure:Proposition-3.6"} and min(few.values()) >= 15


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("pmc:Corollary-2-chain", "not 1 = 3/2"),
        ("pml:Lemma-1-5", "not 1 = 9"),  # log 9 at crossover 1/10; the truth is 0
        ("envelopes:Algorithm-1-binary", "not 2 = 10/9"),  # log(1/0.9) against log 2
        ("disclosure:Remark-B.1", "not 1 < 1"),
        ("preprint:Theorem-5", "not inf < inf"),
        ("pmc:Figure-2-boundary", "not 6/5 < 6/5"),  # 0.2/(1 - 0.8 * 25/24)
        ("pml:Equation-11", "not 0.693147 = 2"),
        ("disclosure:Example-3.1-ends", "not 1/2 < 1/2"),  # fair bits, an odd number of them
        ("envelopes:Theorem-5-proof-equality", "not 1.53846 = 41/26"),  # W has 20/13, Z has 41/26
        ("envelopes:Theorem-5-proof-bar", "not 20/13 <= 1.12179"),  # (1/2 + 9/52)/(3/5)
        ("readings:Reading-14-interior", "not 6/5 <= 1"),
    ],
)
def test_refutations_show_the_figures(name, shown):
    statement = next(s for s in statements() if s.id == name)
    assert fewer(statement).judge().evidence.startswith(shown)


@pytest.mark.slow
def test_what_is_sharper(judged):
    sharper = {s.id for s, j in judged.values() if j.verdict == "sharper"}
    assert sharper == {
        "disclosure:Proposition-4.6",
        "disclosure:Section-4.1-half",
        "envelopes:Corollary-1",
        "envelopes:Figure-2",
        "envelopes:Theorem-3",
        "envelopes:Theorem-5-iii",
    }


def test_the_countable_counterexample_is_confirmed():
    (example,) = statements("pmc:Example-8")
    assert example.judge().verdict == "confirmed"


def test_names_select_papers_statements_and_parts():
    assert {s.paper for s in statements("pml")} == {"pml"}
    assert [s.id for s in statements("pmc:Theorem-6-i")] == ["pmc:Theorem-6-i"]
    assert len(statements("pmc:Lemma-1")) == 7
    assert [p.key for p in papers()] == list(PAPERS)
    with pytest.raises(bl.InvalidInput, match="pmc, pml"):
        statements("pmc:Theorem-66")


# -- judging -------------------------------------------------------------------------------------


def judge(*facts, cases=None, **about):
    paper = Paper("p", "a paper")
    check = (lambda c: iter(facts)) if cases else (lambda: iter(facts))
    check.__doc__ = "Facts."
    paper.says("Theorem 1", "so it is", cases=cases, **about)(check)
    return paper.statements[0].judge()


def test_verdicts_follow_from_facts():
    assert judge(True, same(1, 1)).verdict == "confirmed"
    assert judge(True, at_most(2, 1), True).verdict == "refuted"
    assert judge(True, None).verdict == "not computable"
    assert judge(True, Sharper(True, "more")).verdict == "sharper"
    assert judge(True, Sharper(False, "more")).verdict == "confirmed"
    assert judge(bl.Bound.exact(1, 1) <= 2).verdict == "confirmed"
    assert judge(bl.Bound.estimate(5, 0.1) <= 2).verdict == "not computable"
    assert judge(False, None).verdict == "refuted"


def test_a_judgement_has_the_weakest_status_of_its_figures():
    conditional = bl.Bound.conditional(1, 1, assumptions=("a",))
    assert judge(same(1, 1)).status == "exact"
    assert judge(same(1, 1), at_most(conditional, 5)).status == "conditional"
    assert judge(conditional <= 2).status == "conditional"
    assert at_most(conditional, 5).large.status == "exact"


def test_what_is_sharper_always_must_be_so_each_time():
    always, some = Sharper(True, "a"), Sharper(True, "a", always=False)
    assert judge(True, always, Sharper(False, "a")).verdict == "confirmed"
    assert judge(True, some, Sharper(False, "a", always=False)).verdict == "sharper"


def test_few_unsettled_comparisons_are_told_and_many_settle_nothing():
    one = Cases(1)
    few = judge(*[True] * 10, None, cases=one)
    assert few.verdict == "confirmed" and "1 of 11 comparisons are not settled" in few.evidence
    assert judge(True, None, cases=one).verdict == "not computable"


def test_unsettled_comparisons_are_in_the_table_and_beside_what_is_sharper():
    found = judge(*[True] * 20, None, Sharper(True, "more"), cases=Cases(1))
    assert found.verdict == "sharper" and found.evidence.startswith("more; 1 of 22 comparisons")
    assert report.comparisons(found) == "22 comparisons, 1 of them not settled, exact"


def negated(fact):
    """Return the contrary of a fact; of an equality, with a number off by 1e-6."""
    if isinstance(fact, Fact):
        if fact.sign == "=":
            b = fact.large
            finite = 0 < b.upper < math.inf
            return same(fact.small, b * (1 + F(1, 10**6)) if finite else 1 + F(1, 10**6))
        if fact.holds and same(fact.small, fact.large).holds:  # told apart by no enclosure
            return at_most(fact.small, fact.large * (1 - F(1, 10**6)))
        return (below if fact.sign == "<=" else at_most)(fact.large, fact.small)
    holds = fact if isinstance(fact, bool) or fact is None else fact.holds
    return None if holds is None else not holds


def facts_of(statement):
    """Return the facts of a statement, of all its cases."""
    asked = [(c,) for c in statement.cases] if statement.cases else [()]
    return [fact for case in asked for fact in statement.check(*case)]


@pytest.mark.slow
def test_every_claim_can_fail(judged):
    """With its inequalities turned round, or its equalities off by 1e-6, it is refuted."""
    for statement, judgement in judged.values():
        if judgement.verdict not in ("confirmed", "sharper"):
            continue
        facts = [f for f in facts_of(fewer(statement, 12)) if not isinstance(f, Sharper)]
        equal = [isinstance(f, Fact) and f.sign == "=" for f in facts]
        for kind in set(equal):
            turned = [negated(f) for f, e in zip(facts, equal, strict=True) if e == kind]
            assert judge(*turned).verdict == "refuted", (statement.id, kind)


def test_a_universal_claim_says_how_far_it_was_searched():
    """Statements about every mechanism; the others are about the figures that they name."""
    named = ("Example", "Figure", "Algorithm", "Reading", "Section", "Remark", "Appendix")
    for s in statements():
        if s.scope == "the stated figures" and not s.cases and not s.reads and not s.why:
            assert s.kind in named or s.id in {"envelopes:Theorem-1-i", "envelopes:Theorem-2-left"}


def test_a_remark_of_the_preprint_is_its_own():
    """Its Remark 6 is about its figure; the Remark 6 of the journal came later."""
    (remark,) = statements("preprint:Remark-6")
    assert remark.part == "" and "neither implies the other" in remark.says
    assert remark.judge().verdict == "confirmed"
    assert [s.part for s in statements("preprint:Figure-1")] == [""]
    (strict,) = statements("preprint:Equation-24-strict")  # wrong in words, which are not lost
    assert strict.errata == (5,) and strict.judge().verdict == "refuted"


def test_mechanisms_attain_both_translations():
    for p, leak in figure_2_levels():
        joint, least = attained(p, attaining(leak, min(p))), min(p)
        assert bl.pml(joint).sup().ratio.upper == leak == bl.pml(joint).sup().ratio.lower
        assert bl.pmc(joint).sup().ratio.upper == attaining(leak, least) <= to_cost(leak, least)


def test_an_error_is_not_laid_to_a_text_that_lost_its_formula():
    for s in statements("preprint:Corollary-2", "preprint:Example-6", "preprint:Footnote-5"):
        assert not s.reads
    (chain,) = statements("preprint:Corollary-2-chain")
    assert chain.judge().verdict == "not computable" and "lost" in chain.why


def test_a_claim_whose_premises_no_case_meets_is_not_confirmed():
    assert judge(cases=Cases(2)).verdict == "not computable"


def test_a_wrong_claim_is_refuted_with_its_joint():
    paper = Paper("p", "a paper")

    @paper.says("Theorem 1", "PMC is at most PML", cases=JOINTS)
    def wrong(c):
        """Both suprema."""
        yield at_most(bl.pmc(c.joint).sup(), bl.pml(c.joint).sup())

    found = paper.statements[0].judge()
    assert found.verdict == "refuted" and "prior (" in found.evidence


def test_optimisation_refutes_what_random_joints_do_not():
    paper = Paper("p", "a paper")
    few, none = Cases(20, sizes=(2, 2)), Cases(20, sizes=(2, 2), starts=0)

    def rare(c):
        """PML of e^5 needs a prior that is not among the random ones."""
        yield at_most(bl.pml(c.joint).sup(), 20)

    paper.says("Theorem 1", "PML is at most log 20", cases=none)(rare)
    paper.says("Theorem 2", "PML is at most log 20", cases=few)(rare)
    by_chance, by_search = (s.judge() for s in paper.statements)
    assert by_chance.verdict == "confirmed" and by_chance.scope.startswith("20 random joints")
    assert by_search.verdict == "refuted" and by_search.evidence.startswith("not ")


def test_a_moved_joint_keeps_its_zeros_and_its_regime():
    seen = []
    start = Case([F(1, 2)] * 2, [[F(0), F(1)], [F(1, 2), F(1, 2)]])
    Cases().search(start, lambda c: seen.append(c) or sum(map(float, c.p[:1])))
    assert 3 < len(seen) <= 60 + 7 and len({tuple(c.p) for c in seen}) > 3
    for c in seen:
        assert sum(c.p) == 1 and min(c.p) > 0 and all(sum(r) == 1 for r in c.rows)
        assert [[v == 0 for v in r] for r in c.rows] == [[True, False], [False, False]]
    seen.clear()
    PRIVATE.search(next(iter(PRIVATE)), lambda c: seen.append(c) or float(c.least))
    for c in seen:
        top = max(c.density(x, y) for x in c.secrets for y in c.outcomes)
        assert top < 1 / (1 - c.least)


def test_a_universal_claim_that_holds_says_how_many_joints_were_moved():
    (one,) = statements("pmc:Proposition-3")
    found = replace(one, cases=replace(one.cases, count=5)).judge()
    assert found.verdict == "confirmed"
    assert re.fullmatch(r"5 random joints, \d+ by optimisation", found.scope)
    (equal,) = statements("pml:Remark-7")  # equalities only: nothing to come nearer to
    assert replace(equal, cases=replace(equal.cases, count=5)).judge().scope == "5 random joints"


def test_joints_where_an_inequality_is_met_do_not_keep_others_from_the_search():
    """Post-processing often keeps the supremum of PMC: those joints are nearest, and useless."""
    (one,) = statements("pmc:Lemma-1-vi")
    tried = replace(one, cases=replace(one.cases, count=20)).judge()
    assert tried.verdict == "confirmed" and tried.facts > 20 + 60
    assert re.fullmatch(r"20 random joints, \d+ by optimisation", tried.scope)


def test_counts_add_up():
    found = [(s, s.judge()) for s in statements("disclosure:Theorem-2.8", "pmc:Remark-3")]
    assert report.counts(found)["all"] == Counter(confirmed=2)


# -- enclosures -------------------------------------------------------------------------------


def test_spans_compare_as_far_as_their_ends_go():
    wide = Span(F(1), F(2))
    assert at_most(1, 1).holds is True and at_most(2, 1).holds is False
    assert at_most(wide, 2).holds is True and at_most(wide, F(3, 2)).holds is None
    assert below(1, 1).holds is False and below(1, 2).holds is True
    assert same(wide, 2).holds is None and same(wide, 3).holds is False
    assert same(wide, Span(F(1), math.inf)).holds is None
    assert at_most(bl.Bound.estimate(1, 0.1), 5).holds is None
    assert same(bl.Bound.undecided(0, 9, reason="r"), 5).holds is None
    assert same(bl.Bound.undecided(0, 9, reason="r"), 5).holds is None


def test_only_narrow_enclosures_are_equal_by_meeting():
    inf, tiny = math.inf, F(1, 10**9)
    near = Span(1 - tiny, 1 + tiny)
    assert same(near, 1).holds is True and same(near, 1 + F(1, 10**6)).holds is False
    assert same(Span(F(1), inf), inf).holds is None, "an upper end of infinity is ignorance"
    assert same(Span(inf, inf), inf).holds is True and same(Span(inf, inf), 1).holds is False
    assert up_to(near, 1).holds is True and up_to(Span(F(0), F(2)), 1).holds is None
    assert up_to(1 + F(1, 10**6), near).holds is False and up_to(F(1, 2), near).holds is True
    assert up_to(bl.Bound.estimate(1, 0.1), 5).holds is None


def test_span_arithmetic_encloses():
    a, b = Span(F(1), F(2)), Span(F(3), F(4))
    assert (a * b) == Span(F(3), F(8)) and (a + b) == Span(F(4), F(6))
    assert (b - a) == Span(F(1), F(3)) and (a / b) == Span(F(1, 4), F(2, 3))
    assert (1 / a) == Span(F(1, 2), F(1))
    assert (0 * Span(float("inf"), float("inf"))).upper == 0
    (half,) = [bl.pml(bl.pmf([F(1, 2)] * 2) * bl.Mechanism.from_matrix([[1, 0], [0, 1]]))(0)]
    assert same(half, 2).holds and not same(half, 3).holds  # in nats: by e^figure


# -- random joints ------------------------------------------------------------------------------


def test_cases_are_the_same_whenever_asked_and_exact():
    for one, other in zip(JOINTS, JOINTS, strict=True):
        assert one.p == other.p and one.rows == other.rows
        assert one.post.matrix.tolist() == other.post.matrix.tolist()
        assert sum(one.p) == 1 and all(sum(row) == 1 for row in one.rows)
    assert any(0 in row for c in JOINTS for row in c.rows)


def test_tables_of_gains_and_costs_have_zeros_and_infinite_leakage_of_some():
    tables = [c.priced() for c in Cases()]
    assert any(0 in row for table in tables for row in table)
    assert all(any(column) for table in tables for column in zip(*table, strict=True))
    cost = bl.adversaries.cost.table
    leaks = (
        bl.adversaries.cost_leakage(c.joint, cost(c.priced()), y).lower
        for c in Cases()
        for y in c.outcomes
    )
    assert math.inf in leaks


def test_private_cases_are_in_the_high_privacy_regime():
    for c in PRIVATE:
        top = max(c.density(x, y) for x in c.secrets for y in c.outcomes)
        assert top < 1 / (1 - c.least)


def test_a_chain_has_the_right_laws():
    third = [F(1, 3)] * 3
    assert product([[F(1, 2), F(1, 2)]], [third, third]) == [third]
    c = Case([F(1, 2)] * 2, [third, third])
    about_z, about_x = c.before
    assert about_z.marginal.probabilities.tolist() == about_x.marginal.probabilities.tolist()


@pytest.mark.slow
def test_the_page_of_errata_is_a_table_of_what_is_wrong(judged):
    wrong = [pair for pair in judged.values() if pair[0].reads]
    lines = report.errata(wrong).splitlines()
    assert len(lines) == 2 + len(wrong)
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in lines), "cells are escaped"
    (row,) = [line for line in lines if "`pml:Lemma-1-5`" in line]
    assert row.startswith("| 3 |") and "*refuted*: not 1 = 9 |" in row
    more = report.sharper(list(judged.values()))
    assert "the bound is the supremum" in more and len(more.splitlines()) == 2 + 6


@pytest.mark.slow
def test_the_page_holds_every_verdict_and_needs_nothing_else(judged):
    text = report.page(list(judged.values()), [next(drawings())])
    for s, j in judged.values():
        assert f"<code>{s.id}</code>" in text and j.verdict in text
    assert text.count("<svg") == 1 and "http://" not in text.replace("http://www.w3.org", "")
    assert "src=" not in text and "<script" not in text and "var(--blue)" in text


@pytest.mark.slow
def test_every_figure_with_numbers_is_drawn_again():
    made = list(drawings())
    assert [d.name for d in made] == [
        *(f"pmc, Figure 1({c})" for c in "abcdef"),
        *(f"pmc, Figure 2({c})" for c in "ab"),
        "disclosure, Figure 1",
        "envelopes, Figure 1",
        *(f"envelopes, Figure 2({c})" for c in "abcd"),
    ]
    first, law = made[0].axes.lines, made[9].axes.lines[0]
    pmc, _, ldp = (line.get_ydata() for line in first)
    assert (pmc >= ldp).all(), "tuned to PMC the response is the more useful one"
    assert [law.get_ydata()[k] for k in (0, 50, 150)] == pytest.approx([0, 0.9, 1])
