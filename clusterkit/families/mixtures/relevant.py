"""The columns on which the clusters of a mixture depend, chosen without labels before another map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import FeatureMap, FittedMap, Task, params
from clusterkit.families.mixtures.columns import mixed_columns
from clusterkit.samples import FeatureSpace
from clusterkit.samples.transform import ChosenColumns

if TYPE_CHECKING:
    from clusterkit.families.mixtures.mixed_table import MixedTable
    from clusterkit.samples.mixed_space import MixedColumns


@final
@attrs.frozen
class Relevant(FeatureMap):
    """Keeps the columns on which clusters depend, and leaves out irrelevant, redundant and covariate ones.

    Put it before any other map where many columns may be noise: ``featuremap=["relevant", "zscore"]``. The roles are
    those of the solver `mixed_mixture`, for `n_components` clusters whatever the number of clusters of the fit:
    clusters of any shape are covered by several components, and a column that none of them depends on tells nothing.
    Where no column gets a role that matters, all are kept. The search is in search.py; about O(n k p²)
    an iteration.

    Parameters
    ----------
    n_components : int, default 6
        Components of the mixture; lowered to the number of samples.

    Notes
    -----
    The roles are ``resolved_["featuremap"]["roles"]``. Up to 300 columns roles are solution given all other columns, so
    that copies and correlated noise are left out; above, each column is judged by itself.

    References
    ----------
    Raftery, Dean (2006), Variable selection for model-based clustering, Journal of the American Statistical Association
    101. Maugis, Celeux, Martin-Magniette (2009), Variable selection for clustering with Gaussian mixture models,
    Biometrics 65.
    """

    name: ClassVar[str] = "relevant"
    synonyms: ClassVar[tuple[str, ...]] = ("variable_selection", "feature_selection", "select")

    n_components: int = params.integer(6, at_least=2)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The choice of the columns."""
        X = samples.points
        roles = roles_of(X, (), (), self.n_components, rng)
        index = np.flatnonzero([role == "cluster-dependent" for role in roles.values()])
        if not len(index):
            index = np.arange(samples.width)
        return FittedMap(ChosenColumns(index), {"roles": roles, "n_relevant": len(index)})


def roles_of(X: Array, kinds: tuple[str, ...], names: tuple[str, ...], n_components: int, rng: Rng) -> dict[str, str]:
    """The role of each column of X, (n, d), in a mixture of so many components.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Columns as they are, NaN in gaps.
    kinds, names : tuple of str
        Of each column, as the feature map `columns` takes them; () for "auto" and x1, x2, ...
    n_components : int
        Lowered to the number of rows.
    rng : Generator
    """
    from clusterkit.families.mixtures.roles import roles_of_columns
    from clusterkit.families.mixtures.search import Search

    columns, table = _table_of(X, kinds, names)
    solution = Search.of(table, rng).known(min(n_components, len(X)))
    return roles_of_columns(table, solution).of_columns(columns.all_names, [part.column for part in columns.parts])


@final
@attrs.frozen
class LabelEvidence:
    """What the columns of a table say about labels.

    Parameters
    ----------
    roles : mapping of str to str
        The role of each column, as `column_roles_` of a fit has it.
    gains : mapping of str to float
        How much more likely a row of the column is with the clusters than without, by itself: a logarithm, below 0
        where the clusters say nothing of it.
    total : float
        The same of all columns together, with their roles, and with the price of the labels themselves.
    """

    roles: Mapping[str, str]
    gains: Mapping[str, float]
    total: float


def evidence_of(labels: Labels, X: Array, kinds: tuple[str, ...], names: tuple[str, ...]) -> LabelEvidence:
    """What columns say about labels that were found in whatever way.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        From 0 on.
    X, kinds, names
        As those of `roles_of`.
    """
    from clusterkit.families.mixtures.roles import roles_of_columns
    from clusterkit.families.mixtures.search import Search

    columns, table = _table_of(X, kinds, names)
    solution, gain = Search.of(table, np.random.default_rng(0)).of_labels(labels)
    parts, at = roles_of_columns(table, solution), [part.column for part in columns.parts]
    roles, gains = parts.of_columns(columns.all_names, at), parts.gains_of_columns(columns.all_names, at)
    return LabelEvidence(roles, gains, gain / max(1, table.n))


def _table_of(X: Array, kinds: tuple[str, ...], names: tuple[str, ...]) -> tuple[MixedColumns, MixedTable]:
    """The parts of columns, and the table of their values."""
    from clusterkit.families.mixtures.mixed_table import MixedTable
    from clusterkit.samples.mixed_space import MixedSpace

    columns = mixed_columns(X, kinds, names)
    space = MixedSpace(columns(X), columns=columns, before=(columns,))
    numbers, codes = space.parts(space.points)
    return columns, MixedTable.of(numbers, space.grid, codes, space.n_levels, space.level_forms)
