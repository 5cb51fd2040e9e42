"""Support vector clustering: a contour around the samples in the space of a kernel, and its components.

Recipes: ``svc``, ``edsvc``, ``psvc``, ``fsvc``, ``sgd-lmsvc``, ``sgd-lmsvc-strip``.

- Domains: ``svdd.py`` (`Svdd`, the smallest ball; the loop in ``_working_sets.py``, its steps in ``_steps_jit.py``),
  ``psvdd.py``, ``lmsvc.py`` (stochastic gradients), ``subsampled.py``.
- Labels: ``complete_graph.py``, clusters are the components of a graph whose edges are segments inside the domain.
  Ben-Hur, Horn, Siegelmann, Vapnik (2001), JMLR 2. ``basins.py``, clusters are the basins of the maxima. Lee, Lee
  (2005), IEEE Trans. PAMI 27. ``_outliers.py``: numbering, outliers, small components, new rows.
- ``level_sets``: the geometry of the region ``g(x) >= level``: segments in it, its components, ascents.
- Tuners of the width: ``svc_auto.py``, whose scores are in ``_svc_search.py``; ``edsvc.py``. ``tuning.py`` has what
  both share.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "lmsvc": "clusterkit.families.support_vectors.lmsvc:Lmsvc",
        "psvdd": "clusterkit.families.support_vectors.psvdd:Psvdd",
        "subsampled": "clusterkit.families.support_vectors.subsampled:Subsampled",
        "svdd": "clusterkit.families.support_vectors.svdd:Svdd",
    }


@hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""
    return {
        "complete_graph": "clusterkit.families.support_vectors.complete_graph:CompleteGraph",
        "equilibrium": "clusterkit.families.support_vectors.basins:Equilibrium",
    }


@hookimpl
def clusterkit_tuners() -> dict[str, str]:
    """Tuners by name."""
    return {
        "edsvc": "clusterkit.families.support_vectors.edsvc:EdSvc",
        "svc_auto": "clusterkit.families.support_vectors.svc_auto:SvcAuto",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "edsvc": "clusterkit.families.support_vectors.recipes:EDSVC",
        "fsvc": "clusterkit.families.support_vectors.recipes:FSVC",
        "psvc": "clusterkit.families.support_vectors.recipes:PSVC",
        "sgd-lmsvc": "clusterkit.families.support_vectors.recipes:SGD_LMSVC",
        "sgd-lmsvc-strip": "clusterkit.families.support_vectors.recipes:SGD_LMSVC_STRIP",
        "svc": "clusterkit.families.support_vectors.recipes:SVC",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "Ascent": "clusterkit.families.support_vectors.level_sets.equilibria:Ascent",
        "Balls": "clusterkit.families.support_vectors.level_sets.equilibria:Balls",
        "BasinPredictor": "clusterkit.families.support_vectors.basins:BasinPredictor",
        "Basins": "clusterkit.families.support_vectors.level_sets.equilibria:Basins",
        "DomainPredictor": "clusterkit.families.support_vectors._outliers:DomainPredictor",
    }
