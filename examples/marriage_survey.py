"""What can a published profile disclose? A survey of 6,366 women about their marriages, 1974.

Data: ``statsmodels.datasets.fair`` (R. C. Fair, "A Theory of Extramarital Affairs", Journal of
Political Economy 86, 1978; the Redbook survey). A row is one respondent; the columns ``affair``,
``rating`` of the marriage and ``religious`` are attributes of her by name. Two releases about her:

``profile``  whether she rates her marriage 4 or 5 and is religious (3 or 4 of 4), as it is, where
             she is a row of the table drawn at random;
``noisy``    the same answer through randomised response, about somebody else: what is known of her
             is a sample of 600 rows, at confidence 95 %.

Run the audit with ``borel audit examples/marriage_survey.py``: its reports have a section "What
this release can disclose". Run this file with Python for the statements that it ends in.
"""

import math

import numpy as np
import statsmodels.api as sm

import borel as bl
from borel.checker import verify

SEED = 1974
COLUMNS = ["affair", "rating", "religious"]

# -- the data ----------------------------------------------------------------------------------

survey = sm.datasets.fair.load_pandas().data
survey = survey.assign(
    affair=np.where(survey["affairs"] > 0, "yes", "no"),
    rating=survey["rate_marriage"].astype(int),
    religious=survey["religious"].astype(int),
)
sample = survey.sample(600, random_state=SEED)
respondent = bl.table(survey, COLUMNS)
somebody = bl.table(sample, COLUMNS, confidence=0.95)

# -- the releases ------------------------------------------------------------------------------


def answer(row):
    """Say whether a respondent is religious and content."""
    _, rating, religious = row
    return "yes" if rating >= 4 and religious >= 3 else "no"


exact_answer = bl.mechanisms.function(answer, secret=respondent.on, outcome=["no", "yes"])
noise = bl.mechanisms.randomized_response(secret=["no", "yes"], ratio=2)
attributes = {name: name for name in COLUMNS} | {
    "content": lambda row: row[1] >= 4,
    "the respondent": None,
}
about = "Secret: a row of the survey (affair, rating of the marriage, religious). Release: "
profile = bl.Study(
    title="A profile as it is",
    about=about + "whether she rates her marriage 4 or 5 and is religious (3 or 4 of 4).",
    mechanism=exact_answer,
    prior=respondent,
    attributes=attributes,
    guarantees=(bl.guarantees.DisclosurePrevention(ratio=4), bl.guarantees.PML(1.25)),
)
noisy = bl.Study(
    title="A profile through randomised response",
    about=about + "the same answer through randomised response, true with probability 2/3.",
    mechanism=noise @ exact_answer,
    prior=somebody,
    attributes=attributes,
    report=("pml", "pmc", "ldp"),
    guarantees=(bl.guarantees.PML(math.log(2)), bl.guarantees.DisclosurePrevention(0.7)),
)
studies = {"profile": profile, "noisy": noisy}


def main():
    """Say of each attribute what can be disclosed; check it, and a certificate."""
    verdicts = {}
    for name, study in studies.items():
        joint = study.joint()
        found = bl.disclosure(joint, attributes)
        verdicts[name] = dict(zip(attributes, found["verdict"].values.tolist(), strict=True))
        for what, attribute in attributes.items():
            print(f"{name}, {what}: {verdicts[name][what]}; min-entropy")
            print(f"    before {bl.min_entropy(joint, attribute)}")
            print(f"    after {bl.remaining_entropy(joint, attribute)}")
        # (A.2): no less is left than the min-entropy less the largest PML
        bounds = (found[part].sel(end=end) for part, end in
                  (("remaining", "upper"), ("entropy", "lower"), ("line", "upper")))  # fmt: skip
        left, before, line = bounds
        assert (left >= before - line - 1e-12).all()
    assert [n for n, said in verdicts["profile"].items() if said == "disclosed"] == ["content"]
    assert set(verdicts["noisy"].values()) == {"not disclosed"}
    # who is religious and content may have had an affair or not: neither is given away, whatever
    # else an adversary believes, as long as she holds both to be possible
    assert bl.discloses(exact_answer, "affair").holds is False
    # the statement, checked: Theorem 3.5, from a rational min-entropy and a certificate of PML
    line = bl.pml(profile.joint()).sup().certify()
    entropy = bl.min_entropy(respondent)
    assert entropy.ratio.lower > line.ratio.upper
    print(f"no outcome of the profile singles out the respondent: PML {line}")
    print(f"    is below her min-entropy {entropy}; borel.checker says:")
    print(f"    {verify(line.certificate).words}")


if __name__ == "__main__":
    main()
