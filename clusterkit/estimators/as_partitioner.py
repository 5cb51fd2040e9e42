"""Adapter that uses any recipe as the start of another one."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.contracts import Partitioner, Task, params
from clusterkit.samples import FeatureSpace


def _recipe_name(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "the name of a recipe"


@final
@attrs.frozen
class ByRecipe(Partitioner[FeatureSpace]):
    """Labels of a recipe fitted to the rows as the feature map scales them.

    The slot ``init`` also takes the name of a recipe alone, which means this partitioner.

    Parameters
    ----------
    recipe : str, default "kmeans"
        One of `clusterkit.recipes`. It has to give as many clusters as asked for, without noise.
    """

    name: ClassVar[str] = "recipe"
    sees: ClassVar[Literal["input", "space"]] = "input"
    recipe: str = params.free("kmeans", _recipe_name, invalid=("", 3))

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels:
        """Labels of the rows."""
        # imported here, because scikit-learn is not to be loaded where stages are only listed
        from clusterkit.estimators.build import recipe

        estimator = recipe(self.recipe, n_clusters=task.k, random_state=int(rng.integers(2**31 - 1)))
        labels: Labels = estimator.fit(samples.points).labels_
        return labels
