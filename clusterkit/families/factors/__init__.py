"""Nonnegative matrix factorisation of the data, of random features or of a kernel matrix.

Recipes: ``nmf``, ``elm-nmf``, ``kernel-nmf``.

- ``nmf.py``: `Nmf`, ``min ‖H - A W‖²`` with nonnegative A and W. Lee, Seung (1999). One pass over the rows is in
  ``updates.py``, the update of a row in ``_updates_jit.py``.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_solvers() -> dict[str, str]:
    """Solvers by name."""
    return {
        "nmf": "clusterkit.families.factors.nmf:Nmf",
    }


@hookimpl
def clusterkit_recipes() -> dict[str, str]:
    """Recipes by name."""
    return {
        "elm-nmf": "clusterkit.families.factors.recipes:ELM_NMF",
        "kernel-nmf": "clusterkit.families.factors.recipes:KERNEL_NMF",
        "nmf": "clusterkit.families.factors.recipes:NMF",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "FoldIn": "clusterkit.families.factors.updates:FoldIn",
        "RowUpdate": "clusterkit.families.factors.updates:RowUpdate",
    }
