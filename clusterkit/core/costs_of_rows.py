"""The costs of all rows outside memory by the function of a turn, as a balancer reads them in several passes.

The first pass maps the rows. Where its scores are kept, the others read them, with the same bits in the same blocks.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core import memory
from clusterkit.core.device_engine import DeviceEngine
from clusterkit.core.device_paths import few_rows
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.label_turns import balanced_by
from clusterkit.core.local_engine import LocalEngine
from clusterkit.core.namespaces import BlockFunction, block_for
from clusterkit.core.rows_file import RowsFile, missing_room
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import Balancer, Codec, Costs, CostTable, GivenLabels, Task
from clusterkit.core.sums import Addable

if TYPE_CHECKING:
    from clusterkit.core.rows_loop import Decide

__all__ = ["CostsOfRows", "TurnCosts", "room_for_scores"]

Part = TypeVar("Part", bound=Addable)


def room_for_scores(n: int, d: int, dtype: np.dtype) -> RowsFile | None:
    """A file for scores in the folder of `tempfile.gettempdir` (``TMPDIR``); None where the disk has no room for it.

    Warns
    -----
    ClusterkitWarning
        If there is no room.
    """
    folder, n_bytes = tempfile.gettempdir(), n * d * dtype.itemsize
    if (free := missing_room(n_bytes, folder)) is not None:
        warnings.warn(
            f"the scores of {n:,} rows take {memory.human(n_bytes)} in {folder}, where only {free} are free: the "
            "balancer maps the rows anew in each of its passes, which takes longer. Choose more room by TMPDIR",
            ClusterkitWarning,
            stacklevel=2,
        )
        return None
    return RowsFile(n, d, dtype, f"the scores of {n:,} rows", folder)


@final
@attrs.define(eq=False)
class TurnCosts:
    """The costs of the turns of a start. One file holds the scores of one turn after the other, until the context ends.

    Scores are kept where this process computes the blocks on the host, and where they have the type of the rows: those
    of another type have other blocks.

    Parameters
    ----------
    space : RowsSpace
    """

    space: RowsSpace
    _file: RowsFile | None = attrs.field(init=False, default=None)
    _begun: bool = attrs.field(init=False, default=False)

    def __enter__(self) -> TurnCosts:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def balanced(self, balancer: Balancer, decide: Decide, task: Task) -> Decide:
        """The labels of a turn, balanced."""
        costs: Costs = self.by(decide)
        if isinstance(self.space.engine, DeviceEngine) and few_rows(self.space.n):
            costs = CostTable(costs.table())  # few rows that a device computes are balanced as in memory
        decision = balanced_by(balancer, costs, task)
        if isinstance(decision.labels, np.ndarray):
            decision = attrs.evolve(decision, labels=GivenLabels(decision.labels))
        return attrs.evolve(decide, decision=decision)

    def by(self, decide: Decide) -> CostsOfRows:
        """The costs by the function of a turn; those of the turn before are then read no more."""
        if not self._begun and isinstance(self.space.engine, LocalEngine):
            first = slice(0, 1)
            scores = decide.scores(first, self.space.source.read(first))
            if scores.dtype == self.space.source.dtype:
                self._file = room_for_scores(self.space.n, scores.shape[1], scores.dtype)
        self._begun = True
        return CostsOfRows(self.space, decide, self._file)


@final
@attrs.define(eq=False)
class CostsOfRows(Costs):
    """The costs of all rows by the function of a turn.

    Parameters
    ----------
    space : RowsSpace
    decide : Decide
        How scores follow from the rows.
    file : RowsFile or None
        Where the first pass writes the scores.
    """

    space: RowsSpace
    decide: Decide
    file: RowsFile | None = None
    _written: bool = attrs.field(init=False, default=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.space.n

    @property
    def k(self) -> int:
        """Number of clusters."""
        return self.decide.k

    def reduce(self, part: Callable[[slice, Array], Part]) -> Part:
        """One pass of the engine."""
        engine, width, file = self.space.engine, self.space.width, self.file if self._written else None
        whole: Part
        if file is not None:
            read = _OfScores(self.decide.codec, self.decide.k, part)
            whole = engine.reduce(read, file, width)  # type: ignore[assignment] # its type is that of `part`
        else:
            mapped = _OfRows(self.decide, part, self.file)
            whole = engine.reduce(mapped, self.space.source, width)  # type: ignore[assignment] # as above
            self._written = True
        return whole


@final
@attrs.frozen(eq=False)
class _OfRows(BlockFunction):
    """A part of costs, as a part of the raw rows, whose scores it may write to a file."""

    decide: Decide
    part: Callable[[slice, Array], Addable]
    file: RowsFile | None

    @property
    def array_api(self) -> bool:
        """That of the labels: a part without the mark gets the costs on the host."""
        return self.decide.array_api

    def __call__(self, rows: slice, X: Array) -> Addable:
        scores = self.decide.scores(rows, X)
        if self.file is not None:
            self.file.write(rows, scores)
        costs = self.decide.codec.costs(scores, self.decide.k)
        return self.part(rows, block_for(self.part, costs))


@final
@attrs.frozen(eq=False)
class _OfScores:
    """A part of costs, as a part of the scores."""

    codec: Codec
    k: int
    part: Callable[[slice, Array], Addable]

    def __call__(self, rows: slice, scores: Array) -> Addable:
        return self.part(rows, self.codec.costs(scores, self.k))
