"""The kinds of things that `clusterkit new-plugin` writes: all that a hook answers for, but those in `LEFT_OUT`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

__all__ = ["KINDS", "LEFT_OUT", "Kind"]


@attrs.frozen
class Kind:
    """What `clusterkit new-plugin --kind` takes.

    Parameters
    ----------
    kind : str
        As the registry calls it.
    word : str
        What a reader calls it.
    title : str
        First line of the docstring of its hook.
    steps : tuple of str
        What the author does next, for the README.
    savable : str
        What the name of the stage's helper class ends in, which fitted models hold; empty if there is none.
    """

    kind: str
    word: str
    title: str
    steps: tuple[str, ...]
    savable: str = ""

    @property
    def is_stage(self) -> bool:
        """Whether it is a class with laws."""
        from clusterkit.core.registry import ABSTRACT_NAMES

        return self.kind in ABSTRACT_NAMES


_STAGE = (
    "The fields of the class are its parameters, each with a default. Arrays live in what its methods return.",
    "Every random number comes from the argument `rng`.",
    "The section `Parameters` of the docstring names every parameter; the laws read it.",
    "Heavy imports (scipy, scikit-learn, numba) stand inside the methods.",
)
"""What holds for every stage."""

_SAVED = "Every class whose objects stand in fitted models is named by the hook `clusterkit_savables`."
"""What holds for stages with a helper class."""

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.kind: kind
        for kind in (
            Kind("featuremap", "feature map", "Feature maps by name", (*_STAGE, _SAVED), "Map"),
            Kind("solver", "solver", "Solvers by name", (*_STAGE, _SAVED), "Scores"),
            Kind("labeler", "labeler", "Labelers by name", (*_STAGE, _SAVED), "Labels"),
            Kind("balancer", "balancer", "Balancers by name", _STAGE),
            Kind("partitioner", "partitioner", "Partitioners by name", _STAGE),
            Kind("consensus", "consensus function", "Consensus functions by name", _STAGE),
            Kind("tuner", "tuner", "Tuners by name", _STAGE),
            Kind(
                "driver",
                "driver",
                "Drivers by name",
                (*(step.replace("`rng`", "`seeds`") for step in _STAGE), "A recipe names it: `driver=...`."),
            ),
            Kind(
                "recipe",
                "recipe",
                "Recipes by name",
                (
                    "`parameters` names the stage of each slot, and `slot__parameter` sets a parameter of a stage.",
                    "`clusterkit stages` lists the stages with their parameters, `clusterkit compositions` what fits.",
                    "`citation` begins with the authors and the year in parentheses.",
                ),
            ),
            Kind(
                "command",
                "command",
                "Commands of the command line by name",
                (
                    "Raise `click.UsageError` for wrong input: it ends the command with one line and exit code 2.",
                    "Heavy imports (numpy, clusterkit) stand inside the function.",
                ),
            ),
            Kind(
                "reader",
                "reader of files that end in",
                "Readers of data files by ending",
                (
                    "The key in the hook is the ending of the files, in lower case with its dot.",
                    "Return a mapping of column names to arrays (n,); raise `ValueError` for a file that is none.",
                ),
            ),
        )
    }
)
"""Every kind with a template, by the registry's name of the kind."""

LEFT_OUT: Mapping[str, str] = MappingProxyType(
    {
        "engine": "it takes the collections of a package that no template can know; clusterkit-dask is one to read",
        "savable": "what can be saved comes with the stage that returns it: choose the kind of the stage",
    }
)
"""Kinds of names without a template, and why."""
