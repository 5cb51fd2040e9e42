"""One labelled data set in memory, and the errors of loading one by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from clusterkit._typing import AnyArray, Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@attrs.frozen(eq=False, repr=False)
class Dataset:
    """Samples, their known classes, and where both come from.

    Attributes
    ----------
    name : str
        Name under which it was loaded.
    data : ndarray or scipy.sparse.csr_matrix of shape (n, d), float64
        Features as in the source: not scaled, in the row order of the source, NaN for missing values.
    target : ndarray of shape (n,)
        Class of each sample, int64 or strings, as in the source.
    description : str
        Origin and licence in words.
    feature_names : tuple of str
        One name per column.

    Examples
    --------
    >>> import numpy as np
    >>> tiny = Dataset("tiny", np.eye(3), np.array([0, 1, 1]), "made up", ("a", "b", "c"))
    >>> tiny.n_classes
    2
    >>> tiny
    Dataset('tiny', 3 x 3, 2 classes)
    """

    name: str
    data: Array | csr_array
    target: AnyArray
    description: str
    feature_names: tuple[str, ...]

    def __attrs_post_init__(self) -> None:
        n, d = self.data.shape
        if self.target.shape != (n,) or len(self.feature_names) != d:
            raise ValueError(
                f"{self.name}: data of shape {(n, d)} with a target of shape {self.target.shape} "
                f"and {len(self.feature_names)} feature names"
            )

    @property
    def n_classes(self) -> int:
        """Number of distinct values of the target."""
        return np.unique(self.target).size

    def __repr__(self) -> str:
        """Name and size without the arrays."""
        n, d = self.data.shape
        return f"Dataset({self.name!r}, {n} x {d}, {self.n_classes} classes)"


class DatasetNotFound(LookupError):
    """No available source has the data set; the message says how to provide it."""


class DatasetCorrupt(ValueError):
    """A file does not match the checksum in its manifest."""


class MirrorError(OSError):
    """The mirror did not answer, or its answer is no file."""
