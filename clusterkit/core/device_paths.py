"""Which stages can be computed on a device: what they make of a few rows carries the mark, or it does not.

Nothing is listed by hand: a stage of a plugin whose row maps, parts and functions are marked
(`clusterkit.core.namespaces.has_array_api`) is found like the built-in ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.chain import Chain
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.compat import Composition, Problem
from clusterkit.core.iterating import Iterating, Storing
from clusterkit.core.namespaces import has_array_api
from clusterkit.core.registry import registry
from clusterkit.core.spaces import FeatureSpace, build_space
from clusterkit.core.stages import Codec, FeatureMap, Labeler, MapsByPasses, Solver, Stage, Task
from clusterkit.core.summing import adder_of, solve_by_sums
from clusterkit.core.transform import IdentityMap

__all__ = ["device_problems", "has_device_path", "with_device_path"]

ROWS, COLUMNS, CLUSTERS = 12, 3, 2
"""Size of the data on which a stage is tried: enough for every stage that has a path at all."""

SLOTS = ("featuremap", "solver", "labeler")
"""Slots whose stages run on the device; starts and balancers look at what comes back."""


def device_problems(c: Composition) -> Iterator[Problem]:
    """Why a composition that runs by passes cannot run on a device."""
    maps = c.featuremap.maps if isinstance(c.featuremap, Chain) else (c.featuremap,)
    stages: tuple[tuple[str, Stage], ...] = (
        *(("featuremap", part) for part in maps), ("solver", c.solver), ("labeler", c.labeler),
    )  # fmt: skip
    for slot, stage in stages:
        if not has_device_path(stage) and not (slot == "featuremap" and c.featuremap.made_on_host):
            yield Problem(slot, f"'{stage.name}' is computed by numpy only")


def with_device_path() -> str:
    """The registered stages that have a path on a device, in words."""
    by_slot = []
    for slot in SLOTS:
        named = [_named_if_it_has(stage) for stage in registry.specimens(slot).values()]
        if any(named):
            by_slot.append(f"{slot}: {', '.join(filter(None, named))}")
    return "; ".join(by_slot)


def has_device_path(stage: Stage) -> bool:
    """Whether a feature map, a solver or a labeler can be computed on a device, with its parameters."""
    try:
        return _tried(stage)
    except TypeError:  # parameters that have no hash
        return _tried.__wrapped__(stage)


@lru_cache(maxsize=256)
def _tried(stage: Stage) -> bool:
    if isinstance(stage, Codec):
        return stage.rowwise and has_array_api(stage)
    if isinstance(stage, Labeler):
        return stage.scores_alone  # it works on the host, on the rows of an embedding that come from the device
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(stage, FeatureMap):
                return stage.made_on_host or _map_has_array_api(stage)
            return isinstance(stage, Solver) and _solver_has_array_api(stage)
    except Exception:  # whatever a stage says of these few rows, it has no path that is known
        return False


def _named_if_it_has(stage: Stage) -> str:
    """The name of a stage that has a path, with the word of a parameter that gives it one; empty without a path."""
    if has_device_path(stage):
        return stage.name
    for field in attrs.fields(type(stage)):
        for word in field.metadata.get("options", ()):
            if has_device_path(stage.with_parameters(**{field.name: word})):
                return f"{stage.name} ({field.name}={word!r})"
    return ""


def _samples() -> Array:
    """A few rows of numbers from 0 to 1, no two alike."""
    return np.random.default_rng(0).random((ROWS, COLUMNS))


def _map_has_array_api(stage: FeatureMap) -> bool:
    if not isinstance(stage, MapsByPasses):
        return False
    X = _samples()
    space = cast("FeatureSpace", build_space(X, IdentityMap(COLUMNS)))
    fitted = stage.row_map(space, Task(ROWS, CLUSTERS), np.random.default_rng(0))
    return has_array_api(fitted.mapping)


def _solver_has_array_api(stage: Solver) -> bool:
    path = stage.path(FeatureSpace)
    if path is None or (turns_on := path.by_passes(held=True)) is None:
        return False
    space = cast("FeatureSpace", build_space(_samples(), IdentityMap(COLUMNS)))
    turns = turns_on(stage, space, Task(ROWS, CLUSTERS))
    if isinstance(turns, Storing):
        return has_array_api(turns)  # to begin would make files
    if isinstance(turns, Iterating):
        return has_array_api(turns) and has_array_api(turns.begin(space, np.random.default_rng(0)))
    coding = Coding.ONEHOT if Coding.ONEHOT in stage.codings else Coding.SIGNED
    codebook = np.eye(CLUSTERS) if coding is Coding.ONEHOT else np.array([[-1.0], [1.0]])
    labels = np.arange(ROWS)[None] % CLUSTERS
    finished = solve_by_sums(turns, space, Coded(labels, coding, CLUSTERS, codebook))
    return has_array_api(adder_of(turns)) and has_array_api(finished.extend)
