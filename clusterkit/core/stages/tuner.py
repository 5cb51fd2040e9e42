"""The abstract tuner and what it decides."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

import attrs

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core.stages.stage import Stage

__all__ = ["Tuned", "Tuner"]


@attrs.frozen(eq=False)
class Tuned:
    """What a tuner decided.

    Parameters
    ----------
    stages : mapping
        Slot to stage: the slots that were given, parameters left at None replaced.
    facts : mapping
        How the decision was made, for `resolved_`: the rule, rows used, runs, seconds.
    interrupted : bool, default False
        Whether Ctrl-C ended the search early, so that the values are the best of the candidates tried by then.
    rows : ndarray of int or None, default None
        Rows to fit, where a fit of all rows costs too much; the others are labelled from the outcome on these.
    """

    stages: Mapping[str, Stage]
    facts: Mapping[str, object] = attrs.field(factory=dict)
    interrupted: bool = False
    rows: Indices | None = None


class Tuner(Stage):
    """Turns parameters left at None into values, without labels, before the fit."""

    kind: ClassVar[str] = "tuner"

    def for_clusters(self, n_clusters: int | None) -> Self:
        """The tuner for a fit with `n_clusters`, None where the fit finds the number; itself unless overridden."""
        return self

    @abstractmethod
    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """Replace tunable parameters that are None, and report how they were chosen.

        Parameters with a value stay as they are, and so do stages that the tuner does not know. If the data allow no
        decision, for example a single row, every parameter may stay None.

        Parameters
        ----------
        stages : mapping
            The stages under "featuremap", "solver" and "labeler". Of a chain of feature maps it is the last one.
        X : ndarray or SparseRows of shape (n, d)
            What enters the feature map: the data, or of a chain the features that its first maps make of them.
        rng : Generator
            The only source of randomness.
        """
