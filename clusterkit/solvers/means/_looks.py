"""Which centre is nearest, for the samples whose gap is used up: by compiled loops, or by products with the centres.

A gap is a lower bound of how much farther the second nearest centre is than the nearest. A turn lowers it by the
movement of the centres, and looks only at the samples for which it is used up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, final

import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.core.block_threads import one_above_a_group
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.transform import BLOCK_ROWS
from clusterkit.numerics.threads import Crew
from clusterkit.solvers.means._geometry import FeatureMeans, blocks_of
from clusterkit.solvers.means._moving_sums import MovingSums
from clusterkit.solvers.means._nearness import minus_distances

__all__ = ["Look", "LooksByLoops", "LooksByProducts"]

GATHERED_BYTES = 4 * 1024**2
"""Bytes of the rows gathered for one product: enough for a fast product, few enough to stay in the cache."""


class Look(Protocol):
    """The samples in doubt of a turn."""

    def renew(self) -> None:
        """Have the next turn look at all samples."""

    def __call__(self, centres: Array, shrinkage: Array, labels: Labels, new: Labels) -> tuple[float, float]:
        """Lower the gaps (n,) by the shrinkage (k,) of their labels, and write new labels into a copy of the labels.

        The class sums take note of the samples that change their class. Returns the sum of the squared distances of the
        samples looked at to the centres of their labels, and what it falls by.
        """


def safe_gap(rounding_error: float) -> float:
    """A gap above it is also a gap between computed scores, and the second distance is above the rounding error."""
    return float(np.sqrt(3.0 * rounding_error))


@final
class LooksByLoops:
    """By compiled loops on several threads, for many samples of few features.

    Parameters
    ----------
    geometry : FeatureMeans
    sums : MovingSums
    over : callable
        Makes a pass over rows.
    as_in_blocks : bool
        Whether samples with two nearest centres up to rounding get the labels that the scores of their block give them.
    """

    def __init__(self, geometry: FeatureMeans, sums: MovingSums, over: Crew, as_in_blocks: bool) -> None:
        self.geometry, self.sums, self.over, self.as_in_blocks = geometry, sums, over, as_in_blocks
        n = geometry.space.n
        self.gap, self.distances, self.gains = np.empty(n), np.empty(n), np.empty(n)
        self.movers, self.nearest, self.ties = (np.empty(n, dtype=np.intp) for _ in range(3))
        self.fresh = True

    def renew(self) -> None:
        """As of `Look`."""
        self.gap[:] = -np.inf
        self.fresh = True

    def __call__(self, centres: Array, shrinkage: Array, labels: Labels, new: Labels) -> tuple[float, float]:
        """As of `Look`; the first number is nan unless all samples are looked at."""
        geometry = self.geometry
        means = (centres + geometry.origin[:, None]).T
        falls: list[Array] = []
        for rows, H in geometry.space.pieces():
            movers, nearest, gains, ties = self._settled(rows, H, means, shrinkage, labels)
            falls.append(gains)
            if len(ties) and self.as_in_blocks:
                decided = self._in_blocks(rows, H, centres, ties)
                sure = ~np.isin(movers, ties, assume_unique=True)
                others = decided != labels[ties]
                movers = np.concatenate([movers[sure], ties[others]])
                nearest = np.concatenate([nearest[sure], decided[others]])
            self.sums.move(H, movers - rows.start, labels[movers], nearest)
            new[movers] = nearest
        total = float(self.distances.sum()) if self.fresh else float("nan")
        self.fresh = False
        return total, float(np.concatenate(falls).sum())

    def _settled(
        self, rows: slice, H: Array, means: Array, shrinkage: Array, labels: Labels
    ) -> tuple[Indices, Labels, Array, Indices]:
        """The samples of a piece with another nearest centre, its number, their gains, and the samples between two."""
        from clusterkit.numerics.nearest_jit import settle

        H, means = np.ascontiguousarray(H), np.ascontiguousarray(means, dtype=H.dtype)
        rounding_error = self.geometry.rounding_error
        error: Any = H.dtype.type(rounding_error)
        safe = safe_gap(rounding_error)
        counts: dict[int, tuple[int, int]] = {}

        def part(start: int, stop: int) -> None:
            counts[start] = settle(
                H, rows.start, start, stop, means, shrinkage, labels, error, safe,
                self.gap, self.distances, self.movers, self.nearest, self.gains, self.ties,
            )  # fmt: skip

        self.over(part, rows.start, rows.stop, means.size)
        order = sorted(counts)
        n_movers = np.array([counts[start][0] for start in order])
        of_movers = _places(order, n_movers)
        of_ties = _places(order, np.array([counts[start][1] for start in order]))
        return self.movers[of_movers], self.nearest[of_movers], self.gains[of_movers], self.ties[of_ties]

    def _in_blocks(self, rows: slice, H: Array, centres: Array, ties: Indices) -> Labels:
        """The labels of some samples by the scores of the blocks of the block plan that they are in."""
        geometry, constants = self.geometry, self.geometry.constants(centres)
        decided = np.empty(len(ties), dtype=np.intp)
        blocks = blocks_of(geometry.space, rows)
        borders = np.searchsorted(ties, [rows.start, *(block.stop for block in blocks)])
        mixed = np.flatnonzero(np.diff(borders))  # the blocks that have some

        def part(first: int, last: int) -> None:
            for number in mixed[first:last]:
                block, some = blocks[number], slice(borders[number], borders[number + 1])
                inside = H[block.start - rows.start : block.stop - rows.start]
                scores = geometry.block_scores(inside, block, centres, constants)
                decided[some] = np.argmax(scores[ties[some] - block.start], axis=1)

        self.over(part, 0, len(mixed), (blocks[0].stop - blocks[0].start) * centres.size)
        return decided


def _places(starts: list[int], counts: Indices) -> Indices:
    """The first `counts` places from each start on, behind each other."""
    skipped = np.repeat(np.array(starts, dtype=np.intp) - np.cumsum(counts) + counts, counts)
    return skipped + np.arange(len(skipped))


@final
class LooksByProducts:
    """By products of the samples with the centres.

    Parameters
    ----------
    geometry : FeatureMeans
    sums : MovingSums
    as_in_blocks : bool
        As of `LooksByLoops`.
    """

    def __init__(self, geometry: FeatureMeans, sums: MovingSums, as_in_blocks: bool) -> None:
        self.geometry, self.sums, self.as_in_blocks = geometry, sums, as_in_blocks
        self.gap = np.empty(geometry.space.n)

    def renew(self) -> None:
        """As of `Look`."""
        self.gap[:] = -np.inf

    def __call__(self, centres: Array, shrinkage: Array, labels: Labels, new: Labels) -> tuple[float, float]:
        """As of `Look`."""
        geometry, total, decrease = self.geometry, 0.0, 0.0
        constants, rounding_error = geometry.constants(centres), geometry.rounding_error
        self.gap -= shrinkage[labels]
        doubtful = np.flatnonzero(self.gap <= safe_gap(rounding_error))
        for index, H, block in self._batches(doubtful):
            rows = minus_distances(H @ centres, constants, geometry.radii[index], rounding_error)
            old = labels[index]
            nearest, current, best, self.gap[index] = _nearest(rows, old, rounding_error)
            total -= float(current.sum(dtype=np.float64))
            ties = np.flatnonzero(self.gap[index] <= 0.0) if block is not None else ()
            if block is not None and len(ties):
                inside, whole = block
                with one_above_a_group(geometry.space.n):
                    scores = geometry.block_scores(whole, inside, centres, constants)
                nearest[ties] = np.argmax(scores[index[ties] - inside.start], axis=1)
            movers = np.flatnonzero(nearest != old)
            if len(movers):
                new[index[movers]] = nearest[movers]
                decrease += float((best - current).sum(dtype=np.float64))
                self.sums.move(H, movers, old[movers], nearest[movers])
        return total, decrease

    def _batches(self, doubtful: Indices) -> Iterator[tuple[Indices, Array, tuple[slice, Array] | None]]:
        """Samples in doubt with their rows; where it matters, also the block that they are in, with its rows."""
        space = self.geometry.space
        if not self.as_in_blocks:
            for index, H in gathered(space, doubtful):
                yield index, H, None
            return
        begin = 0
        for rows, H in space.blocks():
            end = begin + int(np.searchsorted(doubtful[begin:], rows.stop))
            if begin < end:
                index = doubtful[begin:end]
                yield index, H if len(index) == len(H) else H[index - rows.start], (rows, H)
            begin = end


def gathered(space: FeatureSpace, index: Indices) -> Iterator[tuple[Indices, Array]]:
    """Some rows of H with their indices, gathered from the blocks: the same batches whether H is stored or streamed.

    The rows of a batch are overwritten by the next batch.
    """
    if not len(index):
        return
    most = max(64, min(BLOCK_ROWS, GATHERED_BYTES // (space.width * space.dtype.itemsize)))
    batch = np.empty((min(most, len(index)), space.width), dtype=space.dtype)
    begin = end = 0  # the rows index[begin:end] are in the batch
    for rows, H in space.blocks():
        last = end + int(np.searchsorted(index[end:], rows.stop))
        if last - end == len(H):
            if begin < end:
                yield index[begin:end], batch[: end - begin]
            yield index[end:last], H
            begin = end = last
        while end < last:
            stop = min(last, begin + len(batch))
            # "clip" because the default mode would copy once more
            np.take(H, index[end:stop] - rows.start, axis=0, out=batch[end - begin : stop - begin], mode="clip")
            end = stop
            if end - begin == len(batch):
                yield index[begin:end], batch
                begin = end
        if end == len(index):
            break
    if begin < end:
        yield index[begin:end], batch[: end - begin]


def _nearest(rows: Array, labels: Labels, rounding_error: float) -> tuple[Labels, Array, Array, Array]:
    """Columns of the largest scores, the scores of the labels, the largest scores, and the gap to the second largest.

    Overwrites entries of `rows`.
    """
    samples = np.arange(len(rows))
    nearest = np.argmax(rows, axis=1)
    current, best = rows[samples, labels], rows[samples, nearest]
    rows[samples, nearest] = -np.inf
    second = rows.max(axis=1).astype(np.float64)
    gap = np.sqrt(np.maximum(-second - rounding_error, 0.0)) - np.sqrt(rounding_error - best.astype(np.float64))
    return nearest, current, best, gap
