"""Parts of nearly equal size by the original rule of GeoClust."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.core import params
from clusterkit.core.stages import Partitioner, Task
from clusterkit.numerics.equal_size.drift import Rule
from clusterkit.partitioners._even import split

__all__ = ["GeoClust"]


@final
@attrs.frozen
class GeoClust(Partitioner):
    """Nearest-centre parts of the raw rows by the solver `geoclust`, for comparisons with `equal`.

    Parameters
    ----------
    alpha : float or None, default None
    eps : int or None, default None
    max_iter : int, default 6000
    restarts : int, default 0
    repair : bool, default False
        All as of the solver `geoclust`.

    Notes
    -----
    A part left empty takes the row farthest from its centre, of the partsof more than one row.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing.
    """

    name: ClassVar[str] = "geoclust"
    sees: ClassVar[Literal["input", "space"]] = "input"

    alpha: float | None = params.real(None, above=0.0, optional=True)
    eps: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1)
    restarts: int = params.integer(0, at_least=0)
    repair: bool = params.flag(False)

    def partition(self, samples: Any, task: Task, rng: Rng) -> Labels:
        """Labels of the raw rows, (n, d) to (n,); a feature space serves too."""
        rule = Rule(True, self.alpha, 3.0, self.eps, self.max_iter, self.restarts, self.repair)
        return split(self, rule, samples, task.k, rng)
