"""The laws away from the defaults: settings that take another path through the code of a built-in stage."""

import pytest

from clusterkit.contracts.featuremap import Chain
from clusterkit.families.factors.nmf import Nmf
from clusterkit.families.margins.ridge import Ridge
from clusterkit.families.means.starts import Seeded
from clusterkit.families.shared.band import Band
from clusterkit.families.shared.codecs import Interval
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.precomputed import Precomputed
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import MinMax
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.testing import laws_of
from clusterkit.testing.contract import LAWS as CONTRACT

SETTINGS = [
    Elm(activation="sigmoid"),
    Elm(centers="uniform"),
    Elm(scale=None),
    Rbf(sigma_fraction=0.2),
    Precomputed(matrix="kernel"),
    MinMax(limits=(-1.0, 1.0)),
    Chain((MinMax(), Elm(n_hidden=5))),
    Chain((MinMax(), Rbf())),
    Ridge(C=1e-6),
    Ridge(C=1e6),
    Ridge(df=1e6),
    Nmf(normalize=True),
    Nmf(delta=0.0),
    Nmf(update="hals"),
    Svdd(nu=0.3),
    Interval(rule="midpoint"),
    Interval(rule="signed"),
    Interval(rule="paper"),
    CompleteGraph(outliers="nearest"),
    CompleteGraph(outliers="singleton"),
    CompleteGraph(min_cluster_size=2, n_segment_points=3),
    Band(priority="confidence"),
    Band(slack=0),
    Band(slack=7),
    Seeded(weighting="kmeans++"),
]
ABOUT_CLASSES = {law.name for law in CONTRACT}


def _name(stage) -> str:
    default = type(stage)() if not isinstance(stage, Chain) else stage
    changed = {key: value for key, value in stage.parameters().items() if value != getattr(default, key)}
    return f"{stage.name}-{'-'.join(f'{key}={value}' for key, value in changed.items())}"


LAWS = {
    f"{_name(stage)}-{name}": check for stage in SETTINGS for name, check in laws_of(stage) if name not in ABOUT_CLASSES
}


@pytest.mark.deep
@pytest.mark.hypothesis
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_setting_keeps_the_law(law):
    law()


def test_storage_does_not_matter_where_cholesky_fails():
    """At this C ridge falls back to eigenvectors."""
    dict(laws_of(Ridge(C=1e12)))["streamed_equals_dense"]()
