"""The most probable component of a mixture, which may have chosen the number of components itself."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Rng
from clusterkit.contracts import Decoder, Labeler, Labeling, Task
from clusterkit.contracts.outcomes import MixtureScores, Outcome
from clusterkit.families.shared.codecs import Argmax
from clusterkit.samples import Space

__all__ = ["MostProbable"]


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
        """Largest of the posteriors, (n, k), or with links the cheapest of their logarithms that keep these."""
        labels = np.argmax(outcome.rows, axis=1)
        if task.links is not None:
            costs = -np.log(np.maximum(outcome.rows, np.finfo(outcome.rows.dtype).tiny))
            labels, _ = task.links.cheapest("labeler 'most_probable'", costs, labels)
        predict = None if outcome.extend is None else Decoder(Argmax(), outcome.extend, None, outcome.q)
        exact = outcome.exact_on_training and task.links is None
        return Labeling(labels, predict, exact=exact, memberships=outcome.rows if outcome.are_memberships else None)
