"""What does a released party leak, when of the prior only counts are known? 944 voters, 1996.

Data: ``statsmodels.datasets.anes96`` (a subset of the American National Election Studies of 1996;
``PID`` is the party identification on seven steps, here three parties). A pollster asked 300 of the
voters in confidence, and releases the party of a further one through randomised response.

No prior of a prior is assumed: the parties of the 300 are counts, and with confidence 95 % over
the sample the true shares lie in the box of Clopper and Pearson's intervals. The audit gives the
supremum of every figure over that box, with the worst prior, beside the figure under the shares of
the 300, the nominal prior: the difference is what not knowing the prior costs.

Run the audit with ``borel audit examples/party_1996.py``; run this file with Python for the
statements that it ends in.
"""

import numpy as np
import statsmodels.api as sm

import borel as bl

SEED = 1996
PARTIES = ["democrat", "independent", "republican"]

# -- the data ----------------------------------------------------------------------------------

steps = sm.datasets.anes96.load_pandas().data["PID"].to_numpy()
party = np.select([steps <= 1, steps <= 4], PARTIES[:2], PARTIES[2])
asked = np.random.default_rng(SEED).choice(party, size=300, replace=False)
counts = {name: int((asked == name).sum()) for name in PARTIES}

# -- the release -------------------------------------------------------------------------------

study = bl.Study(
    title="One party through randomised response, the prior known from counts",
    about=(
        "Secret: the party of a voter. Prior: any that agrees with the counts of 300 of the 944 "
        "voters, at confidence 95 %. Release: the party through randomised response with epsilon = "
        "1.5."
    ),
    mechanism=bl.mechanisms.randomized_response(secret=PARTIES, epsilon=1.5),
    prior=bl.priors.from_counts(counts, confidence=0.95, method="box"),
    report=("pml", "pmc", "ldp", "lip", "mutual_information", "maximal_leakage"),
    guarantees=(bl.guarantees.PML(1.0), bl.guarantees.PMC(1.0)),
    seed=SEED,
)


def main():
    """Check the audit against the shares of all 944 voters, which the pollster did not have."""
    audit = bl.load(bl.audit(study))
    everyone = bl.pmf(
        [bl.const(f"{(party == name).sum()}/{len(party)}") for name in PARTIES],
        on=bl.Finite(PARTIES),
    )
    assert study.prior.contains(everyone, tol=0.0)
    level = bl.ldp(everyone * study.mechanism)
    for leakage, kind in ((bl.pml, "pml"), (bl.pmc, "pmc")):
        name, worst, nominal = kind.upper(), audit[kind], audit[f"{kind}/nominal"]
        truth = leakage(everyone * study.mechanism).sup()
        print(f"{name}: over the box {worst};")
        print(f"    under the shares of the 300 {nominal};")
        print(f"    under the shares of all {truth}")
        # the box holds the shares of all, whose figure the nominal prior does not bound
        assert truth.upper <= worst.upper
        # a context-free guarantee must allow for every prior: it is far larger
        assert worst.upper < 1.0 < level.lower
        # the worst prior is a member, and leaks as much as is said
        prior = worst.witness["prior"]
        assert study.prior.contains(prior)
        again = leakage(prior * study.mechanism).sup()
        assert again.lower - 1e-9 <= worst.lower and worst.upper <= again.upper + 1e-9
    assert audit["pml/nominal"].upper < bl.pml(everyone * study.mechanism).sup().lower
    held = [study.joint().satisfies(g).at(confidence=0.95).holds for g in study.guarantees]
    assert held == [True, True]
    print("1.0-PML and 1.0-PMC hold at confidence 95 % over the sample; LDP, for every prior, is")
    print(f"    {level}")


if __name__ == "__main__":
    main()
