"""The smallest sphere in whole fits: what a fit reports, what an import costs."""

import subprocess
import sys

import numpy as np
import pytest

from clusterkit.contracts.composition import Composition
from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.contracts.seeds import Seeds
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.fitting.fit import fit


def test_a_fit_reports():
    X = np.random.default_rng(0).normal(size=(50, 2))
    run = fit(Composition(Rbf(gamma=1.0), Svdd(nu=0.2), CompleteGraph()), X, Seeds(0))
    assert isinstance(run.outcome, KernelDomain)
    assert run.resolved["solver"] == {"C": pytest.approx(1 / (50 * 0.2))}
    assert set(run.outcome.status.facts) == {"gap", "radius2", "degenerate", "rounds"}
    assert run.objective == run.history[0]


def test_listing_the_stages_costs_no_compiler():
    code = (
        "import sys; from clusterkit.families.support_vectors import svdd as s, complete_graph as c;"
        "s.Svdd(); c.CompleteGraph(); sys.exit(', '.join({'numba', 'scipy', 'sklearn'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
