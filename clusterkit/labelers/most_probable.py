"""The most probable component of a mixture, which may have chosen the number of components itself."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.outcomes import Extension, MixtureScores, Outcome
from clusterkit.numerics.shapes import array
from clusterkit.samples import Space
from clusterkit.samples.array_libraries import array_namespace, has_array_api, is_device_array, to_device_of
from clusterkit.samples.row_graph import Node

__all__ = ["MostProbable", "MostProbableComponent"]


@final
@attrs.frozen
class MostProbable(Labeler[MixtureScores]):
    """Cluster of the most probable component, ties to the first; as many clusters as components that are it anywhere.

    Choose it for `mixed_mixture` where the number of clusters is not given; the posteriors are the memberships. O(n k).
    """

    name: ClassVar[str] = "most_probable"
    synonyms: ClassVar[tuple[str, ...]] = ("posterior", "component")
    consumes: ClassVar[type[Outcome]] = MixtureScores
    linked: ClassVar[bool] = True
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    def label(self, outcome: MixtureScores, space: Space, task: Task, rng: Rng) -> Labeling:
        """Largest of the posteriors, (n, k), numbered by first appearance, or with links as components are."""
        largest = np.argmax(outcome.rows, axis=1)
        if task.links is not None:
            costs = -np.log(np.maximum(outcome.rows, np.finfo(outcome.rows.dtype).tiny))
            largest, _ = task.links.cheapest("labeler 'most_probable'", costs, largest)
        present, first, which = np.unique(largest, return_index=True, return_inverse=True)
        if task.links is not None:  # links move rows: the numbers stay those of the columns of the posteriors
            present = first = np.arange(outcome.q)
            which = largest
        numbers = np.argsort(np.argsort(first)).astype(np.intp)
        labels = numbers[which]
        components = present[np.argsort(first)]
        extend = None if outcome.extend is None else MostProbableComponent(outcome.extend, present, numbers)
        memberships = outcome.rows[:, components] if outcome.are_memberships else None
        if memberships is not None and len(components) < outcome.q:
            memberships = memberships / memberships.sum(axis=1, keepdims=True)
        return Labeling(labels, extend, exact=outcome.exact_on_training and task.links is None, memberships=memberships)


@final
@attrs.frozen(eq=False)
class MostProbableComponent:
    """Labels of raw rows by their posteriors.

    Parameters
    ----------
    extend : Extension
        Raw rows (m, d) to posteriors (m, k).
    components : ndarray of int
        The components that are the most probable of some sample, ascending.
    numbers : ndarray of int
        The label of each.
    """

    extend: Extension
    components: Indices = attrs.field(validator=array("q", least=0, distinct=True))
    numbers: Labels = attrs.field(validator=array("q", least=0))

    @property
    def array_api(self) -> bool:
        """Whether the posteriors are computed where the rows lie."""
        return has_array_api(self.extend)

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (m,), where these lie."""
        if is_device_array(shares := self.extend(Y)):
            xp = array_namespace(shares)
            of_components = xp.take(shares, to_device_of(self.components, shares), axis=1)
            labels: Labels = xp.take(to_device_of(self.numbers, shares), xp.argmax(of_components, axis=1), axis=0)
            return labels
        return self.numbers[np.argmax(shares[:, self.components], axis=1)]

    def onnx(self, rows: Node) -> Node:
        """Labels of raw rows."""
        scores = rows.through(self.extend, "solver")
        scores.graph.report("scores", scores)
        return scores.columns(self.components).argmax().entries(self.numbers)
