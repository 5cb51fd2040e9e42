"""The min-max modular support vector machine, ``max_i min_j S_ij(x)`` (Lu, Ito 1999).

===============  ======================================================================================================
svc              `MinMaxModularSVC`, a classifier of scikit-learn: it cuts classes into parts and trains the modules.
training         How the modules are trained: each part is cut out once, here or where the rows lie.
modules          How classes are read from the modules; `min_max_jit` searches them for minima and maxima.
plugin           What clusterkit is told about it: the classes that a saved model may contain.
===============  ======================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterkit_min_max.svc import MinMaxModularSVC

__all__ = ["MinMaxModularSVC"]


def __getattr__(name: str) -> object:  # on first use: clusterkit imports this package to read its hooks
    if name in __all__:
        from clusterkit_min_max import svc

        return getattr(svc, name)
    raise AttributeError(f"module 'clusterkit_min_max' has no attribute {name!r}")
