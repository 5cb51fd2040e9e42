"""Parts of data sets that papers use, made from the whole by a fixed rule each."""

from __future__ import annotations

import re

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import AnyArray
from clusterkit.datasets.dataset import Dataset


@attrs.frozen
class DatasetVariant:
    """A rule that selects rows of a data set; their order stays the same.

    Attributes
    ----------
    base : str
        The whole data set.
    classes : tuple, optional
        Classes to keep; None keeps all.
    per_class : int, optional
        Most rows of a class, chosen at random; None keeps all.
    """

    base: str
    classes: tuple[int | str, ...] | None = None
    per_class: int | None = None

    def apply(self, whole: Dataset, name: str, seed: int) -> Dataset:
        """Select the rows.

        Parameters
        ----------
        whole : Dataset
            The whole data set.
        name : str
            Name of the part.
        seed : int
            Seed of the random choice, if there is one.

        Returns
        -------
        Dataset
            The part.
        """
        rows = np.arange(whole.target.size)
        rules = []
        if self.classes is not None:
            rows = rows[np.isin(whole.target, self.classes)]
            rules.append(f"classes {', '.join(map(str, self.classes))}")
        if self.per_class is not None:
            rows = rows[at_most_per_class(whole.target[rows], self.per_class, seed)]
            rules.append(f"at most {self.per_class} rows a class, chosen with seed {seed}")
        return attrs.evolve(
            whole,
            name=name,
            data=whole.data[rows],
            target=whole.target[rows],
            description=f"Part of {whole.name}: {'; '.join(rules)}. {whole.description}",
        )


NAMED = {
    "digits-0689": DatasetVariant("digits", (0, 6, 8, 9)),
    "digits-1279": DatasetVariant("digits", (1, 2, 7, 9)),
    "digits-1-7": DatasetVariant("digits", (1, 7)),
    "digits-3-9": DatasetVariant("digits", (3, 9)),
    "digits-8-9": DatasetVariant("digits", (8, 9)),
    "letter-ab": DatasetVariant("letter", ("A", "B")),
    "letter-abcd": DatasetVariant("letter", ("A", "B", "C", "D")),
    "satellite-c1-c2": DatasetVariant("satimage", (1, 2)),
    "tdt2-2651": DatasetVariant("tdt2", per_class=100),
}
"""The variants with fixed names; ``digits-a-b`` is made by `find_variant`."""


def find_variant(name: str) -> DatasetVariant | None:
    """The rule of a name.

    Parameters
    ----------
    name : str
        One of `NAMED`, or ``digits-a-b`` for two different digits.

    Returns
    -------
    DatasetVariant or None
        None if no rule has this name.

    Examples
    --------
    >>> find_variant("digits-2-7")
    DatasetVariant(base='digits', classes=(2, 7), per_class=None)
    >>> find_variant("digits-2-2") is None
    True
    """
    pair = re.fullmatch(r"digits-([0-9])-([0-9])", name)
    if pair and pair[1] != pair[2]:
        return DatasetVariant("digits", (int(pair[1]), int(pair[2])))
    return NAMED.get(name)


def at_most_per_class(target: AnyArray, most: int, seed: int) -> NDArray[np.intp]:
    """Choose rows at random until no class has more than `most`.

    Parameters
    ----------
    target : ndarray of shape (n,)
        Classes.
    most : int
        Limit per class; smaller classes stay whole.
    seed : int
        Seed of the generator, which serves the classes in sorted order.

    Returns
    -------
    ndarray of int
        Chosen rows, ascending.

    Examples
    --------
    >>> at_most_per_class(np.array([0, 0, 0, 1]), 1, seed=0).tolist()
    [2, 3]
    """
    rng = np.random.default_rng(seed)
    chosen = []
    for label in np.unique(target):
        rows = np.flatnonzero(target == label)
        chosen.append(rows if rows.size <= most else rng.choice(rows, most, replace=False))
    return np.sort(np.concatenate(chosen))
