"""Random Gaussian kernel domains, samples around them, and the ascent on them."""

from __future__ import annotations

import attrs
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.level_sets.equilibria import Ascent
from clusterkit.samples.kernels import Gaussian


@st.composite
def domains(draw, max_n=12, max_d=4):
    """Centres (equal ones likely) with weights that need not sum to 1, and a level among the values at the centres."""
    s, d = draw(st.integers(1, max_n)), draw(st.integers(1, max_d))
    centres = draw(hnp.arrays(float, (s, d), elements=st.floats(-3, 3, width=16)))
    weights = draw(hnp.arrays(float, s, elements=st.floats(0.125, 4, width=16)))
    domain = KernelDomain(centres, weights, Gaussian(draw(st.sampled_from([1e-6, 0.1, 0.5, 2.0, 32.0]))), level=0.0)
    values = np.sort(domain.value(centres))
    return attrs.evolve(domain, level=float(values[draw(st.integers(0, s - 1))]) * draw(st.sampled_from([0.5, 1.001])))


@st.composite
def labeled(draw):
    """A domain and samples around it, its centres among them."""
    domain = draw(domains())
    more = draw(
        hnp.arrays(float, (draw(st.integers(0, 6)), domain.centres.shape[1]), elements=st.floats(-4, 4, width=16))
    )
    return domain, np.concatenate([domain.centres, more])


def ascent_of(domain):
    return Ascent.of(domain, "equilibrium", tol=1e-7, merge=1e-3, max_iter=10_000)
