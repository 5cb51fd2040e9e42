"""Checks of what a stage returns, once a call, where that is cheap: shapes, types, finite numbers, range of the labels.

The laws of `clusterkit.testing` are the thorough check. This one keeps the answer of a stage that breaks its contract
from becoming a wrong result of a fit, and says which stage of which distribution it was. A check looks at what is in
memory already and costs O(n) or one sum over an array that a product has just written; features that are computed
block by block are not looked at. Of the library's own stages, which the laws hold, less is looked at where a whole pass
would be felt in a fast fit: the first `LOOKED_AT` features of a map, and the shape of a codec's costs.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit import errors
from clusterkit._typing import Array
from clusterkit.contracts.outcomes import Domain, Embedding, KernelDomain, MergeTrees, Outcome, Scores, Tree
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import DenseSpace, EmbeddedSpace, Space, SparseSpace
from clusterkit.samples.coding import Coded
from clusterkit.samples.transform import IdentityMap

if TYPE_CHECKING:
    from clusterkit.contracts.labeler import Labeling
    from clusterkit.contracts.stage import Stage

LOOKED_AT = 2**20
"""Features of a map of the library's own that are checked: half a millisecond. Values that overflow by extreme
parameters do so in nearly every row."""

PREFIX = "raised in "
"""Beginning of the note that an exception inside a stage gets; one that has it keeps the innermost."""


def named(stage: Stage) -> str:
    """Kind, name and distribution of a stage, for messages.

    Examples
    --------
    >>> from clusterkit.families.margins.ridge import Ridge
    >>> named(Ridge())
    "solver 'ridge' of clusterkit-toolkit"
    """
    from clusterkit.contracts.registry import registry

    return f"{stage.kind} '{stage.name}' of {registry.provider(type(stage))}"


class NamingStage:
    """While a stage runs: an exception keeps its type and gets a note with the names of stage and distribution.

    A StopIteration becomes a RuntimeError, as in generators: a loop around the stage would take it for its own end. An
    error that a built-in stage raises on purpose names the stage already and gets none.

    Parameters
    ----------
    stage : Stage or None
        None where the caller does not know the stage; exceptions are then left alone.
    """

    __slots__ = ("stage",)

    def __init__(self, stage: Stage | None) -> None:
        self.stage = stage

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Add the note."""
        if self.stage is None or not isinstance(error, Exception | SystemExit):
            return
        if any(note.startswith(PREFIX) for note in getattr(error, "__notes__", ())):
            return
        if isinstance(error, StopIteration):
            broken = RuntimeError("a StopIteration left the stage")
            broken.add_note(PREFIX + named(self.stage))
            raise broken from error
        if not (_built_in(type(self.stage)) and type(error).__module__ == errors.__name__):
            error.add_note(PREFIX + named(self.stage))


def check_instance(stage: Stage | None, method: str, value: object, wanted: type) -> None:
    """Refuse a value of another type than the method must return."""
    if not isinstance(value, wanted):
        raise _broken(stage, f"{method} must return a {wanted.__name__}, got {_shown(value)}")


def check_space(stage: Stage, space: object, wanted: type[Space], X: Array | None) -> None:
    """Refuse a space of another type or number of samples, or with features or points in memory that are not finite."""
    check_instance(stage, "fit", space, wanted)
    assert isinstance(space, Space)
    if X is None:  # the samples are not in memory
        return
    if space.n != len(X):
        raise _broken(stage, f"its space has {space.n} samples instead of {len(X)}")
    points = space.points
    plain = type(points) is np.ndarray and points.ndim == 2 and points.dtype.kind == "f"
    if not (plain or isinstance(points, SparseRows)):
        raise _broken(stage, f"its points must be a table of floats, got {_shown(points)}")
    sound = not np.isinf(points).any() if space.has_gaps else points is X or _finite(points)
    if not sound:  # the samples themselves were checked when they came in
        raise _broken(stage, "its points have values that are not finite numbers")
    if not isinstance(space, DenseSpace | EmbeddedSpace | SparseSpace) or isinstance(space.mapping, IdentityMap):
        return
    trusted = all(_built_in(type(part)) for part in (stage, *getattr(stage, "maps", ())))
    left = LOOKED_AT // max(1, space.width) if trusted else space.n
    for _, H in space.blocks():
        if H.shape[1] != space.width:
            raise _broken(stage, f"its features have {H.shape[1]} columns instead of {space.width}")
        if not _finite(H[: max(1, left)]):
            raise _broken(stage, "its features have values that are not finite numbers")
        left -= H.shape[0]
        if left <= 0:
            return


def _built_in(stage: type[Stage]) -> bool:
    """Whether a class is the library's own."""
    return stage.__module__.startswith("clusterkit.")


def check_outcome(stage: Stage | None, outcome: object, wanted: type[Outcome], n: int, targets: Coded | None) -> None:
    """Refuse an outcome of another type or shape, or with numbers that are not finite."""
    check_instance(stage, "solve", outcome, wanted)
    if isinstance(outcome, Embedding):
        rows = outcome.rows
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or len(rows) != n or rows.dtype.kind != "f":
            raise _broken(stage, f"its rows must be {n} rows of floats, got {_shown(rows)}")
        if targets is not None and isinstance(outcome, Scores):
            columns = targets.starts * targets.codebook.shape[1]
            if rows.shape[1] != columns or outcome.starts != targets.starts:
                raise _broken(
                    stage,
                    f"its scores must have {columns} columns of {targets.starts} starts, "
                    f"got {rows.shape[1]} of {outcome.starts}",
                )
        if not _finite(rows):
            raise _broken(stage, f"its {'scores' if isinstance(outcome, Scores) else 'rows'} are not all finite")
    elif isinstance(outcome, Domain):
        if not np.isfinite(outcome.level):
            raise _broken(stage, f"the level of its domain is {outcome.level}")
        if isinstance(outcome, KernelDomain) and not (_finite(outcome.weights) and _finite(outcome.centres)):
            raise _broken(stage, "the weights or centres of its domain are not all finite")
    elif isinstance(outcome, Tree):
        shapes = {"merges": (n - 1, 2), "heights": (n - 1,), "core_distances": (n,)}
        for name, shape in shapes.items():
            if np.shape(getattr(outcome, name)) != shape:
                raise _broken(
                    stage, f"the {name} of its tree must have shape {shape}, got {_shown(getattr(outcome, name))}"
                )
        if not (_finite(outcome.heights) and _finite(outcome.core_distances) and len(outcome.rows) == n):
            raise _broken(stage, f"its tree must have {n} rows, and heights and core distances that are finite")
        if (outcome.heights[1:] < outcome.heights[:-1]).any():
            raise _broken(stage, "the heights of its tree do not ascend")
    elif isinstance(outcome, MergeTrees):
        vertices = outcome.graph.n
        if not (len(outcome.rows) == n and all(len(tree.community) == vertices for tree in outcome.trees)):
            raise _broken(stage, f"its trees must have {n} rows and the {vertices} vertices of the graph")
        if not all(_finite(tree.similarity) for tree in outcome.trees):
            raise _broken(stage, "the similarities of its trees are not all finite")


def check_objective(stage: Stage | None, values: Array | None, starts: int) -> None:
    """Refuse objectives that are not one number a start."""
    if values is not None and np.shape(values) != (starts,):
        raise _broken(stage, f"objective must give {starts} values, got {_shown(values)}")


def check_labeling(stage: Stage, labeling: Labeling, n: int, low: int, high: int) -> None:
    """Refuse a labelling with wrong labels, or with costs, memberships or outlier scores of another number of rows."""
    from clusterkit.contracts.labeler import Labeling

    check_instance(stage, "label", labeling, Labeling)
    if _built_in(type(stage)) and labeling.costs is not None:  # labels computed as argmin of the costs
        if labeling.costs.shape != (n, high):
            raise _broken(stage, f"its costs must have shape ({n}, {high}), got {_shown(labeling.costs)}")
        return
    check_labels(stage, labeling.labels, n, low, high)
    for name, dims in (("costs", 2), ("memberships", 2), ("outlier_scores", 1), ("probabilities", 1)):
        array = getattr(labeling, name)
        if array is None:
            continue
        if np.ndim(array) != dims or len(array) != n:
            raise _broken(stage, f"its {name} must have {n} rows, got {_shown(array)}")
        if not _finite(array) and np.isnan(array).any():
            raise _broken(stage, f"its {name} have values that are no numbers (nan)")


def check_labels(stage: Stage, labels: object, n: int, low: int, high: int | None) -> None:
    """Refuse labels of another shape or type, or outside low..high - 1; those of `high` None may be any from `low`."""
    if not isinstance(labels, np.ndarray) or labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise _broken(stage, f"it must give {n} integer labels, got {_shown(labels)}")
    least, most = int(labels.min()), int(labels.max())
    if least < low or (high is not None and most >= high):
        wrong = least if least < low else most
        raise _broken(stage, f"it gave the label {wrong}, outside {low}..{'' if high is None else high - 1}")


def _finite(array: Any) -> bool:
    """Whether all values are finite. One sum settles it for nearly all arrays, without one of n x L booleans."""
    values = array.csr.data if isinstance(array, SparseRows) else np.asarray(array)
    if values.dtype.kind != "f":
        return True
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _shown(value: object) -> str:
    """Short description of a returned value."""
    if isinstance(value, np.ndarray):
        return f"shape {value.shape} of {value.dtype}"
    return f"{type(value).__name__} {value!r:.80}"


def _broken(stage: Stage | None, what: str) -> errors.BrokenStage:
    name = "a solver" if stage is None else named(stage)
    return errors.BrokenStage(f"{name} breaks its contract: {what}")
