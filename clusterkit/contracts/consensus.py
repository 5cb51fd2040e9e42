"""The abstract consensus: what is the same for every way to make one labeling of several."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, final

import numpy as np

from clusterkit._typing import ArrayLike, Labels, Rng
from clusterkit.contracts.checks import During, check_labels
from clusterkit.contracts.labelings import NOISE, Labelings, by_appearance, checked
from clusterkit.contracts.params import check_count
from clusterkit.contracts.stage import Stage
from clusterkit.errors import ClusterkitWarning, InvalidParameter

__all__ = ["Consensus"]


class Consensus(Stage):
    """Makes one labeling of several labelings of the same samples."""

    kind: ClassVar[str] = "consensus"
    finds_k: ClassVar[bool] = False
    """True if the number of clusters may be left out, because the method finds it."""
    takes_k: ClassVar[bool] = False
    """True if a number of clusters may be asked for."""
    varies: ClassVar[bool] = False
    """True if another random stream may give another labeling."""
    ordered: ClassVar[bool] = False
    """True if ties are so common that the order of members and samples matters; read by the laws only."""

    @final
    def combine(self, members: ArrayLike | Sequence[ArrayLike], k: int | None, rng: Rng) -> Labels:
        """One labeling of M labelings, numbered by first appearance.

        Three rules hold for every consensus: a sample that no member labels is noise, a member that labels no sample is
        left out, and equal members are the answer if they have the number of clusters that is wanted.

        Parameters
        ----------
        members : array-like of shape (M, n), int
            Labels from 0; -1 where a member says nothing about a sample. The names of clusters do not matter.
        k : int or None
            Clusters wanted; None if the method finds the number. If there are fewer distinct label columns, each is a
            cluster, with a warning.
        rng : Generator

        Returns
        -------
        ndarray of shape (n,), int64
            Labels from 0; -1 exactly where all members say -1.

        Raises
        ------
        InvalidData
            If the members are no labelings of the same samples.
        InvalidParameter
            If k is missing, or given to a method that takes none.
        """
        self.check_k(k)
        labelings = checked(members)
        known, speaks = ((labelings != NOISE).any(axis=axis) for axis in (0, 1))
        labels = np.full(len(known), NOISE, dtype=np.int64)
        if known.any():
            labels[known] = self._combine_known(labelings[np.ix_(speaks, known)], k, rng)
        return labels

    @final
    def check_k(self, k: int | None) -> None:
        """Refuse a number of clusters that is missing, or that the method does not take."""
        if k is None and not self.finds_k:
            raise InvalidParameter(f"consensus '{self.name}' needs the number of clusters (n_clusters)")
        if k is not None and not self.takes_k:
            raise InvalidParameter(
                f"consensus '{self.name}' finds the number of clusters itself; leave n_clusters out, got {k!r}"
            )
        check_count("n_clusters", k, optional=True)

    @final
    def _combine_known(self, members: Labels, k: int | None, rng: Rng) -> Labels:
        labelings = Labelings.of(members)
        u, columns = len(labelings.counts), labelings.column_of
        if k == 1 or u == 1:
            return np.zeros(members.shape[1], dtype=np.int64)
        if labelings.unanimous and k in (None, u):
            return labelings.members[0]
        if k is not None and k >= u:
            if k > u:
                warnings.warn(
                    f"consensus '{self.name}': {k} clusters were asked for, but the members tell only {u} groups of "
                    "samples apart; these are the clusters",
                    ClusterkitWarning,
                    stacklevel=4,
                )
            return columns
        with During(self):
            labels = np.asarray(self.merge(labelings, k, rng))
        check_labels(self, labels, members.shape[1], 0, None)
        return by_appearance(labels)

    @abstractmethod
    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Labels (n,) of all samples, numbered anyhow, none of them -1.

        `labelings` has at least two distinct columns and labels every sample somewhere; its members are not all equal,
        unless another number of clusters than theirs is asked for. ``1 < k < u`` where k is given.
        """
