"""Pictures of fits; matplotlib (the extra ``plots``) is imported only when one is drawn.

Every function takes matplotlib axes or makes some, draws on them, and returns them.

>>> from clusterkit import plots
>>> plots.__all__
['clusters', 'connectivity', 'contours', 'edsvc_curves', 'search_curve', 'trajectories', 'width_path']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# The modules are named otherwise: importing one would hide the function of the same name.
_HOME = {
    "clusters": "clusterkit.plots.scatter",
    "connectivity": "clusterkit.plots.lines",
    "contours": "clusterkit.plots.domains",
    "edsvc_curves": "clusterkit.plots.agreements",
    "search_curve": "clusterkit.plots.searches",
    "trajectories": "clusterkit.plots.ascents",
    "width_path": "clusterkit.plots.widths",
}

__all__ = ["clusters", "connectivity", "contours", "edsvc_curves", "search_curve", "trajectories", "width_path"]

if TYPE_CHECKING:
    from clusterkit.plots.agreements import edsvc_curves
    from clusterkit.plots.ascents import trajectories
    from clusterkit.plots.domains import contours
    from clusterkit.plots.lines import connectivity
    from clusterkit.plots.scatter import clusters
    from clusterkit.plots.searches import search_curve
    from clusterkit.plots.widths import width_path


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'clusterkit.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
