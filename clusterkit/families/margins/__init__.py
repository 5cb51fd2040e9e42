"""Maximum margin clustering: EMMC, IterSVM and IterSVR, CPMMC, CPM3C and GMMC.

Recipes: ``emmc``, ``emmc-single``, ``emmc-multi``, ``emmc-graph``, ``emmc-paper``,
``itersvm``, ``itersvr``, ``cpmmc``, ``cpm3c``, ``gmmc``.

- ``ridge.py``: `Ridge`, EMMC: ``min ‖B‖² + C ‖H B - T‖²`` on random features, repeated with the labels that the scores
  give. Zhang, Xia, Liu, Lei (2013) and the paper named in the recipe.
- ``support_vector.py``: `Svm`, `Svr`, the machines of IterSVM and IterSVR. Zhang, Tsang, Kwok (2009). ``_libsvm.py``
  calls the solver.
- ``cutting_plane.py``: `Cpmmc`, `Cpm3c`, constraints added one by one. Zhao, Wang, Zhang (2008). The programs are in
  ``_cuts.py``.
- ``gmmc.py``: `Gmmc`, a maximum cut relaxed to a semidefinite program, solved in ``_programs.py``. Valizadegan, Jin
  (2007).
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "cpm3c": "clusterkit.families.margins.cutting_plane:Cpm3c",
        "cpmmc": "clusterkit.families.margins.cutting_plane:Cpmmc",
        "gmmc": "clusterkit.families.margins.gmmc:Gmmc",
        "ridge": "clusterkit.families.margins.ridge:Ridge",
        "svm": "clusterkit.families.margins.support_vector:Svm",
        "svr": "clusterkit.families.margins.support_vector:Svr",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "cpm3c": "clusterkit.families.margins.recipes:CPM3C",
        "cpmmc": "clusterkit.families.margins.recipes:CPMMC",
        "emmc": "clusterkit.families.margins.recipes:EMMC",
        "emmc-graph": "clusterkit.families.margins.recipes:EMMC_GRAPH",
        "emmc-multi": "clusterkit.families.margins.recipes:EMMC_MULTI",
        "emmc-paper": "clusterkit.families.margins.recipes:EMMC_PAPER",
        "emmc-single": "clusterkit.families.margins.recipes:EMMC_SINGLE",
        "gmmc": "clusterkit.families.margins.recipes:GMMC",
        "itersvm": "clusterkit.families.margins.recipes:ITERSVM",
        "itersvr": "clusterkit.families.margins.recipes:ITERSVR",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "CentredKernelRows": "clusterkit.families.margins._libsvm:CentredKernelRows",
        "CentredRows": "clusterkit.families.margins._libsvm:CentredRows",
        "MarginFunction": "clusterkit.families.margins.gmmc:MarginFunction",
        "OffsetExtension": "clusterkit.families.margins._cuts:OffsetExtension",
        "SquaredNorm": "clusterkit.families.margins._libsvm:SquaredNorm",
    }
