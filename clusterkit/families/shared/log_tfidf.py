"""Term counts weighted by how rare a term is, rows of unit length."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, FittedMap, Task
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.numerics.shapes import array
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import FeatureSpace


@final
@attrs.frozen
class LogTfIdf(FeatureMap):
    """Term counts to ``(1 + ln tf) ln(n / df)``, with each row scaled to length 1; fitted on the clustered data.

    For counts of words in documents. The features of sparse samples are sparse: O(stored entries).

    Raises
    ------
    InvalidData
        If a count is negative.

    Notes
    -----
    ``df`` is the number of samples that contain the term; logarithms are natural. A term contained in all samples or in
    none has weight 0; a row without any other term stays 0. Values between 0 and 1 are not counts: a warning is
    issued, and their damped value lies between 0 and 1. scikit-learn's `TfidfTransformer(sublinear_tf=True)` adds 1 to
    the inverse document frequency; the formula here is the published one.

    References
    ----------
    He, Jin, Du, Zhuang, Shi (2014), Clustering in extreme learning machine feature space, Neurocomputing 128,
    section 4.1. Salton, Buckley (1988), Term-weighting approaches in automatic text retrieval, Information Processing
    and Management 24(5).
    """

    name: ClassVar[str] = "log_tfidf"
    nonnegative: ClassVar[bool | None] = True
    takes_negative: ClassVar[bool] = False
    sparse: ClassVar[bool] = True
    keeps_sparse: ClassVar[bool] = True

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The weights from the numbers of documents that have each term."""
        X = samples.points
        smallest = float(X.min())
        if smallest < 0:
            raise InvalidData(f"featuremap 'log_tfidf' needs counts, the smallest value is {smallest:.6g}")
        values = X.csr.data if isinstance(X, SparseRows) else X
        fractions = int(np.count_nonzero((values > 0) & (values < 1)))
        if fractions:
            warnings.warn(
                f"featuremap 'log_tfidf' is for counts: {fractions} values are between 0 and 1, and values below "
                "exp(-1) count as 0. Pass counts, not shares",
                ClusterkitWarning,
                stacklevel=2,
            )
        if isinstance(X, SparseRows):
            frequency = np.bincount(X.csr.indices, minlength=X.shape[1])
        else:
            frequency = np.count_nonzero(X, axis=0)
        with np.errstate(divide="ignore"):
            idf = np.where(frequency > 0, np.log(len(X) / np.maximum(frequency, 1)), 0.0)
        return FittedMap(_TfIdfWeights(idf))


@final
@attrs.frozen(eq=False)
class _TfIdfWeights:
    """Row map: counts to weights.

    Parameters
    ----------
    idf : ndarray of shape (d,)
        Inverse document frequencies ``ln(n / df)``.
    """

    idf: Array = attrs.field(validator=array("d"))

    @property
    def width(self) -> int:
        """Number of terms."""
        return len(self.idf)

    def __call__(self, Y: Any) -> Any:
        """Weighted rows, (m, d), in the type and form of Y; negative counts of new rows count as 0."""
        if isinstance(Y, SparseRows):
            csr = Y.csr.copy()
            csr.data = (_damped(csr.data) * self.idf[csr.indices]).astype(Y.dtype)
            lengths = np.sqrt(SparseRows(csr).squares())
            factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            csr.data *= np.repeat(factors, np.diff(csr.indptr)).astype(Y.dtype)
            csr.eliminate_zeros()
            return SparseRows(csr)
        H = _damped(Y) * self.idf
        lengths = np.sqrt(np.einsum("ij,ij->i", H, H))[:, None]
        return np.divide(H, lengths, out=np.zeros_like(H), where=lengths > 0).astype(Y.dtype, copy=False)


def _damped(counts: Array) -> Array:
    """``1 + ln tf``, and 0 where that is negative or the count is 0; float64."""
    counts = counts.astype(np.float64, copy=False)
    return np.maximum(0.0, 1.0 + np.log(counts, out=np.full_like(counts, -np.inf), where=counts > 0))
