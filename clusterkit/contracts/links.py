"""What is known about rows before the fit: pairs that belong together or apart, and the clusters of some rows.

`Links` are the pairs as the user has them; they travel with the rows, so that cross-validation takes the right ones. A
fit gets `LinkedGroups`: rows that belong together are one group, and pairs of groups are apart. Seeds, the known
clusters of some rows, are links too (rows of one seed together, rows of different seeds apart) and moreover fix the
numbers of these clusters.

Contradictions are one error, which names the links that have a part in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Counts, Indices, Labels, Mask
from clusterkit.errors import ClusterkitWarning, Infeasible, InvalidData, counted

LinksLike: TypeAlias = "Links | ArrayLike | Sequence[Sequence[object]]"
"""Pairs of rows that belong together or apart: rows of (i, j, sign), or `clusterkit.Links`."""

UNKNOWN = -1
"""The seed of a row whose cluster is not known."""

COLOURING_BUDGET = 20_000_000
"""Steps after which the question whether all links can be kept is left to the fit: about a tenth of a second."""

NAMED = 12
"""Largest number of links that an error names."""

FORM = (
    "links are rows of (i, j, sign): numbers of two rows, or labels of the index of a data frame, and +1 if both "
    "belong together or -1 if they are apart"
)


@final
@attrs.frozen(eq=False)
class Links:
    """Pairs of rows that belong together or apart, which are taken along when rows are taken.

    An array of pairs holds numbers of rows, which are others in the folds of a cross-validation. An object of this
    class has the length of the data, so that scikit-learn takes its rows with those of X, and renumbers the pairs. A
    link whose rows are not both taken is left out.

    Parameters
    ----------
    pairs : ndarray of int, shape (L, 2)
        Numbers of two rows.
    signs : ndarray of int, shape (L,)
        +1: the rows belong together, -1: they are apart.
    n_rows : int
    names : sequence of length n_rows, or None
        What errors call the rows, such as the index of a data frame; None: their numbers, from 0.

    Examples
    --------
    >>> links = Links.of([(0, 2, 1), (1, 2, -1)], n_rows=4)
    >>> part = links[np.array([1, 2])]
    >>> part.pairs.tolist(), part.signs.tolist(), len(part)
    ([[0, 1]], [-1], 2)
    """

    pairs: Indices
    signs: Labels
    n_rows: int
    names: Sequence[object] | None = None

    @classmethod
    def of(cls, links: LinksLike, n_rows: int, index: object = None) -> Links:
        """Links of n rows from rows of (i, j, sign); with the `index` of a data frame i and j are labels of it.

        Raises
        ------
        InvalidData
            If they are no such rows, or name rows that there are not.
        """
        return checked_links(links, n_rows, index)

    @property
    def shape(self) -> tuple[int]:
        """Length, as scikit-learn asks for it."""
        return (self.n_rows,)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, key: object) -> Links:
        """The links among some of the rows, a mask or their indices, numbered anew."""
        chosen: Any = key[0] if isinstance(key, tuple) else key
        rows = np.arange(self.n_rows)[chosen]
        number = np.full(self.n_rows, -1)
        number[rows] = np.arange(len(rows))
        pairs = number[self.pairs]
        inside = (pairs >= 0).all(axis=1)
        names = None if self.names is None else [self.names[row] for row in rows.tolist()]
        return Links(pairs[inside], self.signs[inside], len(rows), names)


@final
@attrs.frozen(eq=False)
class LinkedGroups:
    """Rows that belong together as groups, and pairs of groups that are apart; only rows that links or seeds name.

    Parameters
    ----------
    n : int
        Number of rows of the data.
    rows : ndarray of shape (r,)
        The rows, ascending.
    groups : ndarray of shape (r,)
        Group of each of these rows, 0..m-1, numbered by first appearance.
    apart : ndarray of shape (c, 2)
        Pairs of groups in different clusters, each once, the lower number first.
    seeds : ndarray of shape (m,)
        The number of the cluster of each group, -1 where it is not known. Groups of one seed are one group.
    """

    n: int
    rows: Indices
    groups: Labels
    apart: Indices
    seeds: Labels

    @property
    def m(self) -> int:
        """Number of groups."""
        return len(self.seeds)

    @property
    def sizes(self) -> Counts:
        """Number of rows of each group, (m,)."""
        return np.bincount(self.groups, minlength=self.m)

    def fewest_clusters(self) -> int:
        """The least number of clusters that may keep the links, as far as the budget of colourings decides it."""
        from clusterkit.numerics.linked.apart_jit import colouring, dense_core

        k = max(1, int(self.seeds.max(initial=-1)) + 1)
        if not len(self.apart):
            return k
        k = max(2, k)
        while dense_core(self.apart, self.m, k)[0].any() and (
            colouring(self.apart, self.m, k, COLOURING_BUDGET)[0] == 0
        ):
            k += 1
        return k

    def sums(self, values: Array, weights: Array | None = None) -> Array:
        """Sums over the rows of each group, (m, k), float64, of values (n, k), with the weights (n,) of the rows."""
        of_rows = values[self.rows].astype(np.float64)
        if weights is not None:
            with np.errstate(invalid="ignore"):
                of_rows *= weights[self.rows, None]
            of_rows[np.isnan(of_rows)] = np.inf  # a label that is forbidden, of a row of weight 0
        order = np.argsort(self.groups, kind="stable")
        begins = np.searchsorted(self.groups[order], np.arange(self.m))
        sums: Array = np.add.reduceat(of_rows[order], begins, axis=0) if self.m else of_rows
        return sums

    def take(self, rows: Indices) -> LinkedGroups:
        """Links and seeds of some of the rows, numbered by their positions among these."""
        number = np.full(self.n, -1)
        number[rows] = np.arange(len(rows))
        inside = number[self.rows] >= 0
        return _numbered(len(rows), number[self.rows[inside]], self.groups[inside], self.apart, self.seeds)

    def broken(self, labels: Labels) -> tuple[int, int]:
        """How many rows have another label than the first row of their group, and how many pairs are not apart."""
        first = np.full(self.m, len(self.rows))
        np.minimum.at(first, self.groups, np.arange(len(self.rows)))
        of_rows = labels[self.rows]
        of_groups = of_rows[first] if self.m else of_rows
        shared = self.sizes[self.groups] > 1
        together = int((shared & (of_rows != of_groups[self.groups])).sum())
        one, other = (of_groups[self.apart[:, end]] for end in (0, 1))
        return together, int(((one == other) & (one >= 0)).sum())

    def report(self, labels: Labels) -> Mapping[str, object]:
        """Facts about the links and seeds, and whether the labels satisfy them, for `resolved_`."""
        together, apart = self.broken(labels)
        facts = {
            "rows": len(self.rows),
            "groups": self.m,
            "pairs_apart": len(self.apart),
            "seeded": int((self.seeds >= 0).sum()),
        }
        noise = int((labels[self.rows[self.seeds[self.groups] >= 0]] < 0).sum())
        broken = {"rows_not_together": together, "pairs_not_apart": apart, "seeded_noise": noise}
        return {**facts, **{name: count for name, count in broken.items() if count}}

    def numbers(self, labels: Labels, k: int) -> Labels | None:
        """New labels of k clusters, so that clusters with seeds get the labels of these; None if they have them."""
        seeded = self.seeds[self.groups] >= 0
        clusters, seeds = labels[self.rows[seeded]], self.seeds[self.groups[seeded]]
        inside = clusters >= 0
        clusters, seeds = clusters[inside], seeds[inside]
        if (clusters == seeds).all():
            return None
        return _numbers(clusters, seeds, max(k, int(seeds.max(initial=-1)) + 1))

    def cheapest(self, name: str, costs: Array, labels: Labels, weights: Array | None = None) -> tuple[Labels, float]:
        """Labels of least cost under the links, from costs (n, k) and the cheapest labels (n,), and the gap.

        The gap bounds the distance of the cost from the optimum, relative to the difference between random labels of
        the groups and their cheapest ones. `name` is the stage that asks, for errors.

        Raises
        ------
        Infeasible
            If no labels keep the links, or none were found within the work budget.
        """
        from clusterkit.numerics.linked.apart_jit import BUDGET_OVER, IMPOSSIBLE
        from clusterkit.numerics.linked.labels import cheapest_labels

        D, _ = self.columns(self.sums(costs, weights))
        solved = cheapest_labels(D, self.apart)
        row = int(self.rows[np.argmax(self.groups == solved.where)]) if self.m else 0
        around = f"the links around row {row} with {costs.shape[1]} clusters"
        advice = "Take more clusters, or leave some of its links out"
        if solved.state == IMPOSSIBLE:
            raise Infeasible(f"{name}: no labels keep {around} at a finite cost. {advice}")
        if solved.state == BUDGET_OVER:
            raise Infeasible(
                f"{name}: the work budget is over without labels that keep {around}; whether there are any is not "
                f"known. {advice}"
            )
        labels = labels.copy()
        labels[self.rows] = solved.labels[self.groups]
        finite = np.isfinite(D)
        random = np.where(finite, D, 0.0).sum(axis=1) / finite.sum(axis=1)
        scale, gap = float((random - D.min(axis=1)).sum()), max(0.0, solved.cost - solved.lower)
        return labels, gap / scale if scale > 0 else float(gap > 0)

    def columns(self, D: Array) -> tuple[Array, Labels]:
        """Costs of the groups (m, k), inf for labels that the seeds exclude, and the number of each column.

        Which column belongs to which seed is what is cheapest for the rows with seeds: solvers number clusters as they
        like.
        """
        k, sown = D.shape[1], np.flatnonzero(self.seeds >= 0)
        if not len(sown):
            return D, np.arange(k)
        from scipy.optimize import linear_sum_assignment

        dearest = float(np.abs(D[np.isfinite(D)]).sum()) + 1.0
        which, columns = linear_sum_assignment(np.where(np.isfinite(D[sown]), D[sown], dearest))
        D, least = D.copy(), D[sown[which], columns]
        D[sown] = np.inf
        D[sown[which], columns] = least
        return D, _numbers(columns, self.seeds[sown[which]], k)


def _numbers(clusters: Labels, seeds: Labels, width: int) -> Labels:
    """The label of each cluster under which most seeds agree; clusters without seeds keep theirs if it is free."""
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((width, width))
    np.add.at(shared, (clusters, seeds), 1.0)
    numbers: Labels = linear_sum_assignment(shared + np.eye(width) / (4.0 * width), maximize=True)[1].astype(np.intp)
    return numbers


def checked_links(links: LinksLike, n: int, index: object = None) -> Links:
    """Links of n rows in the form of `Links`; see `Links.of`."""
    if isinstance(links, Links):
        if links.n_rows != n:
            raise InvalidData(f"links are of {links.n_rows} rows, and the data have {n}")
        return links
    table = _table(links)
    names, marks = table[:, :2], table[:, 2]
    signs = np.zeros(len(table), dtype=np.int64)
    for position, mark in enumerate(marks):
        try:
            sign = float(mark)
        except (TypeError, ValueError):
            sign = 0.0
        if sign not in (1.0, -1.0):
            raise InvalidData(f"links: the sign of link {position} is {_plain(mark)!r}; {FORM}")
        signs[position] = int(sign)
    pairs = _row_numbers(names, n) if index is None else _of_index(names, index)
    known: Mask = np.all(pairs >= 0, axis=1)
    if not known.all():
        missing, position = int((~known).sum()), int(np.argmin(known))
        strange = _plain(names[position, int(np.argmin(pairs[position]))])
        example = _plain(cast("Any", index)[0])
        if not (pairs >= 0).any() and isinstance(strange, str) != isinstance(example, str):
            raise InvalidData(
                f"links: none of the {counted(missing, 'link')} names labels of the index of the data, such as "
                f"{example!r}; link {position} names {strange!r}"
            )
        warnings.warn(
            f"{counted(missing, 'link')} of {len(known)} name labels that are not in the index of these {n} rows, such "
            f"as {strange!r}, and are left out, as in a fold of a cross-validation",
            ClusterkitWarning,
            stacklevel=4,
        )
        pairs, signs = pairs[known], signs[known]
    return Links(pairs, signs, n, cast("Sequence[object] | None", index))


def _table(links: Any) -> Any:
    """The links as an array of objects, (L, 3)."""
    if hasattr(links, "to_numpy"):
        links = links.to_numpy()
    if isinstance(links, str | Mapping):
        raise InvalidData(f"{FORM}; got {links!r:.80}")
    try:
        rows = [tuple(row) for row in links]
    except TypeError:
        raise InvalidData(f"{FORM}; got {links!r:.80}") from None
    for position, row in enumerate(rows):
        if len(row) != 3:
            raise InvalidData(f"{FORM}; link {position} has {len(row)} entries")
    table = np.empty((len(rows), 3), dtype=object)
    for position, row in enumerate(rows):
        for column in range(3):
            table[position, column] = row[column]
    return table


def _row_numbers(names: Any, n: int) -> Indices:
    pairs = np.empty(names.shape, dtype=np.int64)
    for position, pair in enumerate(names):
        for end, name in enumerate(pair):
            try:
                whole = float(name) == int(name)
            except (TypeError, ValueError, OverflowError):
                whole = False
            if not whole or not 0 <= int(name) < n:
                raise InvalidData(
                    f"links: link {position} names row {_plain(name)!r}, and rows are numbered 0..{n - 1}. In a "
                    "cross-validation pass clusterkit.Links.of(links, n_rows=len(X)), which is cut with the rows, or a "
                    "data frame and labels of its index"
                )
            pairs[position, end] = int(name)
    return pairs


def _of_index(names: Any, index: Any) -> Indices:
    """Positions of labels in the index of a data frame, -1 for those that are not there."""
    if not index.is_unique:
        twice = _plain(index[index.duplicated()][0])
        raise InvalidData(
            f"links name rows by the index of the data frame, which has {twice!r} more than once; after "
            "X.reset_index(drop=True) they name rows by their numbers, from 0"
        )
    pairs: Indices = np.asarray(index.get_indexer(list(names.ravel())), dtype=np.int64).reshape(names.shape)
    return pairs


def _plain(value: Any) -> Any:
    """A value of numpy as one of Python, for messages."""
    return value.item() if isinstance(value, np.generic) else value


def checked_seeds(
    seeds: ArrayLike,
    n: int,
    k: int | None,
    index: object = None,
    *,
    title: str = "seeds",
    row: Callable[[int], str] | None = None,
) -> Labels:
    """Seeds (n,) as whole numbers, -1 where the cluster of a row is not known; title and rows are for errors.

    Raises
    ------
    InvalidData
        If they are no n numbers of clusters, or there is no cluster with this number; or if they are a series whose
        index is not that of the data frame, `index`: seeds belong to rows by position.
    """
    its: Any = getattr(seeds, "index", None)
    if index is not None and hasattr(its, "equals") and len(its) == n and not its.equals(index):
        same_rows = "seeds.reindex(X.index), or " if its.is_unique else ""
        raise InvalidData(
            "seeds have another index than the data frame, or another order of it, and are read by position: pass "
            f"{same_rows}seeds.to_numpy() if the positions are right"
        )
    cells: Any = np.asarray(seeds, dtype=None if hasattr(seeds, "dtype") else object)
    if cells.shape != (n,):
        raise InvalidData(
            f"{title}.shape == {cells.shape}, expected {(n,)}: one number for each row, -1 where not known"
        )
    most = n if k is None else k
    values = cells.astype(np.float64) if cells.dtype.kind in "biuf" else np.array([_seed(cell) for cell in cells])
    values[np.isnan(values)] = UNKNOWN
    wrong = np.flatnonzero((values != np.floor(values)) | (values < UNKNOWN) | (values >= most))
    if len(wrong):
        i, cell = int(wrong[0]), _plain(cells[wrong[0]])
        label = i if index is None else _plain(cast("Any", index)[i])
        where = f"row {label!r}" if row is None else row(i)
        names = ". pandas.factorize(seeds)[0] makes numbers of names, and -1 of gaps" if isinstance(cell, str) else ""
        raise InvalidData(
            f"{title}: {where} has {f'{cell:g}' if isinstance(cell, float) else repr(cell)}; seeds are numbers of "
            f"clusters, 0..{most - 1}, or -1 where the cluster is not known{names}"
        )
    return values.astype(np.int64)


def _seed(cell: Any) -> float:
    """A seed as a number, nan for gaps; infinite if it is none."""
    try:
        return float(cell)
    except (TypeError, ValueError):
        return np.nan if cell is None or type(cell).__name__ in ("NAType", "NaTType") else np.inf


def linked_groups(links: Links | None, seeds: Labels | None, n: int, k: int | None) -> LinkedGroups:
    """The groups of n rows, for k clusters or a number that is not known.

    Raises
    ------
    Infeasible
        If not all links can be kept; names the links that contradict each other.
    """
    no_pairs, names = np.empty((0, 2), np.int64), None if links is None else links.names
    together = no_pairs if links is None else links.pairs[links.signs > 0]
    apart = no_pairs if links is None else links.pairs[links.signs < 0]
    named = np.unique(np.concatenate([together.ravel(), apart.ravel()]))
    if seeds is not None:
        sown = np.flatnonzero(seeds >= 0)
        if k is not None and (most := int(seeds.max(initial=-1))) >= k:
            raise Infeasible(f"a row has the seed {most}, so that there are at least {most + 1} clusters, not {k}")
        named = np.union1d(named, sown)
        first = np.full(int(seeds.max(initial=-1)) + 1, n)
        np.minimum.at(first, seeds[sown], sown)
        hubs = first[seeds[sown]]
        together = np.concatenate([together, np.stack([hubs, sown], axis=1)[hubs != sown]])
        present = first[first < n]
        one, other = np.triu_indices(len(present), 1)
        apart = np.concatenate([apart, np.stack([present[one], present[other]], axis=1)])
    groups = _closure(np.searchsorted(named, together), len(named))
    ends = groups[np.searchsorted(named, apart)]
    clash: Indices = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(clash):
        path = _shortest_path(together, int(apart[clash[0], 0]), int(apart[clash[0], 1]))
        why = "rows that belong together are apart"
        raise Infeasible(_contradiction(path, apart[clash[:1]], seeds, why, names))
    of_groups = np.full(int(groups.max(initial=-1)) + 1, UNKNOWN)
    if seeds is not None:
        of_groups[groups[np.searchsorted(named, sown)]] = seeds[sown]
    linked = _numbered(n, named, groups, ends, of_groups)
    if k is not None:
        _refuse_too_many(linked, together, apart, seeds, k, names)
    return linked


def _closure(pairs: Indices, size: int) -> Labels:
    """The group of each of `size` elements, numbered by first appearance."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    groups: Labels = connected_components(graph, directed=False)[1].astype(np.int64)
    return groups


def _numbered(n: int, rows: Indices, groups: Labels, apart: Indices, seeds: Labels) -> LinkedGroups:
    """Groups numbered by first appearance among `rows`, without those that have no row."""
    order = np.argsort(rows)
    rows, groups = rows[order], groups[order]
    present, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(present), np.int64)
    rank[np.argsort(first)] = np.arange(len(present))
    number = np.full(len(seeds), -1)
    number[present] = rank
    pairs = np.sort(number[apart], axis=1).reshape(-1, 2)
    pairs = np.unique(pairs[pairs[:, 0] >= 0], axis=0)
    known = np.empty(len(present), np.int64)
    known[rank] = seeds[present]
    return LinkedGroups(n, rows, rank[inverse], pairs, known)


def _shortest_path(together: Indices, begin: int, end: int) -> list[Indices]:
    """The fewest pairs that join two rows, in their order."""
    near: dict[int, list[int]] = {}
    for a, b in together.tolist():
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    before, queue = {begin: begin}, [begin]
    for v in queue:
        if v == end:
            break
        for u in near.get(v, ()):
            if u not in before:
                before[u] = v
                queue.append(u)
    path, v = [], end
    while v != begin:
        path.append(np.array([before[v], v]))
        v = before[v]
    return path[::-1]


def _refuse_too_many(
    links: LinkedGroups, together: Indices, apart: Indices, seeds: Labels | None, k: int, names: Sequence[object] | None
) -> None:
    """Raise `Infeasible` if the groups that are apart need more than k clusters."""
    if not len(links.apart):
        return
    from clusterkit.numerics.linked.apart_jit import colouring, dense_core

    # only a group that is apart from at least k others can take part in the contradiction
    core = dense_core(links.apart, links.m, k)[0]
    if not core.any() or colouring(links.apart, links.m, k, COLOURING_BUDGET)[0] != 0:
        return
    of_row = np.full(links.n, -1)
    of_row[links.rows] = links.groups
    inside = core[of_row[apart]].all(axis=1)
    joining = together[core[of_row[together[:, 0]]]]
    why = f"they need more than {counted(k, 'cluster')}"
    raise Infeasible(_contradiction(joining, apart[inside], seeds, why, names))


def _contradiction(
    together: Iterable[Indices],
    apart: Iterable[Indices],
    seeds: Labels | None,
    why: str,
    names: Sequence[object] | None,
) -> str:
    """The error about links that cannot all be kept."""

    def named(pair: Indices, word: str) -> str:
        i, j = int(pair[0]), int(pair[1])
        one, other = (i, j) if names is None else (names[i], names[j])
        if seeds is not None and seeds[i] >= 0 and seeds[j] >= 0 and (seeds[i] == seeds[j]) == (word == "together"):
            return f"{one} and {other} {word} by their seeds {seeds[i]} and {seeds[j]}"
        return f"{one} and {other} {word}"

    words = [named(pair, "together") for pair in together] + [named(pair, "apart") for pair in apart]
    shown = "; ".join(words[:NAMED]) + (f"; and {len(words) - NAMED} more" if len(words) > NAMED else "")
    return f"links contradict each other, {why}: rows {shown}"
