"""EMMC as the paper describes it: what its text leaves open, read in every way that we run.

Section 5.3 says "the radial basis function" of the hidden nodes, which may be that of ELM programs or the Gaussian
function of equation 7, and one output for two and for more clusters, which tables 5 and 6 compare with an output each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

__all__ = ["READINGS", "RECIPE", "Reading", "readings_of"]

RECIPE = "emmc-paper"
"""The recipe; its docstring says why it has this reading."""

GAUSSIAN: Mapping[str, object] = {"featuremap__activation": "gaussian", "featuremap__centers": "uniform"}
"""Changes of the recipe: the nodes of equation 7, with random centres and widths."""

SEVERAL: Mapping[str, object] = {"labeler": "argmax", "balancer__priority": "confidence"}
"""Changes of the recipe: an output for each cluster, with the repair of the sizes that is printed for it."""


@attrs.frozen
class Reading:
    """A way to read the text.

    Parameters
    ----------
    words : str
        What it is called in rows.
    changes : mapping
        Parameters of `RECIPE` that differ from it.
    outputs : {"single", "multi"}
        The printed name of the outputs in tables 5 and 6.
    """

    words: str
    changes: Mapping[str, object]
    outputs: str = "single"


READINGS = (
    Reading(RECIPE, {}),
    Reading(f"{RECIPE}, Gaussian nodes", GAUSSIAN),
    Reading(f"{RECIPE}, an output each", SEVERAL, "multi"),
    Reading(f"{RECIPE}, Gaussian nodes, an output each", {**GAUSSIAN, **SEVERAL}, "multi"),
)
"""Both kinds of nodes with both kinds of outputs; the first is the one that the text supports best."""


def readings_of(classes: int) -> Sequence[Reading]:
    """The readings for so many classes: two have one output, whatever the paper leaves open."""
    return [reading for reading in READINGS if classes > 2 or reading.outputs == "single"]
