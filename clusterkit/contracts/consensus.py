"""The abstract consensus: what is the same for every way to make one labelling of several."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, final

from clusterkit._typing import Labels, Rng
from clusterkit.contracts.labelings import Labelings
from clusterkit.contracts.params import check_count
from clusterkit.contracts.stage import Stage
from clusterkit.errors import InvalidParameter


class Consensus(Stage):
    """Makes one labelling of several labellings of the same samples."""

    kind: ClassVar[str] = "consensus"
    finds_k: ClassVar[bool] = False
    """True if the number of clusters may be left out, because the method finds it."""
    takes_k: ClassVar[bool] = False
    """True if a number of clusters may be asked for."""
    varies: ClassVar[bool] = False
    """True if another random stream may give another labelling."""
    ordered: ClassVar[bool] = False
    """True if ties are so common that the order of members and samples matters; read by the laws only."""

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

    @abstractmethod
    def merge(self, labelings: Labelings, k: int | None, rng: Rng) -> Labels:
        """Labels (n,) of all samples, numbered anyhow, none of them -1.

        `labelings` has at least two distinct columns and labels every sample somewhere; its members are not all equal,
        unless another number of clusters than theirs is asked for. ``1 < k < u`` where k is given.
        """
