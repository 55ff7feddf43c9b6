"""Both builds of a joint: from Fractions, and from the floats nearest to them."""

import oracles as o
import pytest

import borel as bl


def _measure(p, exact, **about):
    return bl.pmf(p if exact else o.floats(p), **about)


def _mechanism(K, exact, **about):
    return bl.Mechanism.from_matrix(K if exact else o.floats(K), **about)


@pytest.fixture(params=[True, False], ids=["fractions", "floats"], scope="module")
def build(request):
    """``build.prior(p)``, ``build.mech(K)``, ``build.joint(p, K)``, ``build.exact``."""

    class Build:
        exact = request.param

        @staticmethod
        def prior(p, **about):
            return _measure(p, request.param, **about)

        @staticmethod
        def mech(K, **about):
            return _mechanism(K, request.param, **about)

        @staticmethod
        def joint(p, K):
            return _measure(p, request.param) * _mechanism(K, request.param)

    return Build
