"""Any recipe as the start of another one."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import attrs

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core import params
from clusterkit.core.stages import Partitioner, Task

__all__ = ["ByRecipe"]


def _name(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "the name of a recipe"


@final
@attrs.frozen
class ByRecipe(Partitioner):
    """Labels of a recipe fitted to the raw data.

    Parameters
    ----------
    recipe : str
    """

    name: ClassVar[str] = "recipe"
    sees: ClassVar[Literal["input", "space"]] = "input"
    recipe: str = params.free("kmeans", _name, invalid=("", 3))

    def partition(self, samples: Array, task: Task, rng: Rng) -> Labels:
        """Labels of the raw rows (n, d)."""
        from clusterkit.estimators.build import recipe

        estimator = recipe(self.recipe, n_clusters=task.k, random_state=int(rng.integers(2**31 - 1)))
        labels: Labels = estimator.fit(samples).labels_
        return labels
