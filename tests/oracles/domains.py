"""Random Gaussian kernel domains, samples around them, and the ascent on them."""

import attrs
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clusterkit.contracts.outcomes import KernelDomain
from clusterkit.families.support_vectors.level_sets.equilibria import Ascent
from clusterkit.samples.kernels import Gaussian

WIDTHS = st.sampled_from([1e-6, 0.03, 0.3, 1.0, 4.0, 1e4])


def point_tables(max_n, least=1, distinct=False, d=6):
    """Tables of points, duplicates likely."""
    shape = st.tuples(st.integers(least, max_n), st.integers(1, d))
    return hnp.arrays(float, shape, elements=st.floats(-3, 3, width=16), unique=distinct)


@st.composite
def domains(draw, max_n=12, max_d=4):
    """Centres (equal ones likely) with weights that need not sum to 1, and a level among the values at the centres."""
    centres = draw(point_tables(max_n, d=max_d))
    weights = draw(hnp.arrays(float, len(centres), elements=st.floats(0.125, 4, width=16)))
    domain = KernelDomain(centres, weights, Gaussian(draw(st.sampled_from([1e-6, 0.1, 0.5, 2.0, 32.0]))), level=0.0)
    values = np.sort(domain.value(centres))
    return attrs.evolve(
        domain, level=float(values[draw(st.integers(0, len(centres) - 1))]) * draw(st.sampled_from([0.5, 1.001]))
    )


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
