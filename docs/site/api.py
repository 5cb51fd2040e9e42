"""Writes the pages of the Python reference: one for each public module, and one for each public name.

The names are those of `__all__` in the modules that docs/stability.md calls public, and the classes of the built-in
stages. Their text is their docstrings, read by Sphinx (autosummary with numpydoc).
"""

from __future__ import annotations

import importlib
import types
from pathlib import Path

USERS = {
    "clusterkit": "Estimators, functions and the lists of what there is",
    "clusterkit.profiles": "What is in the clusters",
    "clusterkit.plots": "Pictures of fits",
    "clusterkit.metrics": "Quality of a clustering",
    "clusterkit.consensus": "One clustering made of several",
    "clusterkit.datasets": "Labelled data sets by name",
    "clusterkit.benchmarking": "Methods compared over a folder of data sets",
}
"""Modules for users, with the headings of their pages."""

RECORDS = {
    "clusterkit": ["estimators.search.SearchResult", "drivers.width_path.WidthPath"],
}
"""Classes that public functions return, named from the module."""

AUTHORS = {
    "clusterkit.core.stages": "What a stage has to do",
    "clusterkit.core.outcomes": "What a solver gives to a labeler",
    "clusterkit.core.spaces": "What a feature map gives to a solver",
    "clusterkit.core.params": "Fields of stages",
    "clusterkit.core.kernel": "Kernels",
    "clusterkit.core.coding": "Labels as numbers",
    "clusterkit.core.transform": "Row maps",
    "clusterkit.core.errors": "Errors and warnings",
    "clusterkit.core.run": "One fit",
    "clusterkit.core.seeds": "Random numbers",
    "clusterkit.core.compat": "What fits together",
    "clusterkit.core.progress": "Progress of a fit",
    "clusterkit.core.hookspecs": "Hooks of plugins",
    "clusterkit.testing": "The conformance kit",
}
"""Modules for authors of stages, drivers and plugins."""


def write_api(target: Path) -> None:
    """The folder `api`: an index, a page for each module, and one for the stages."""
    import clusterkit

    target.mkdir(parents=True, exist_ok=True)
    (target / "index.rst").write_text(index(), encoding="utf-8")
    for name, title in {**USERS, **AUTHORS}.items():
        (target / f"{name}.rst").write_text(module_page(name, title), encoding="utf-8")
    (target / "stages.rst").write_text(stages_page(clusterkit.stages()), encoding="utf-8")


def index() -> str:
    """The first page: the modules in two groups."""
    parts = [
        heading("Python reference", "="),
        "Every public name. Names that are not here may change in any version.\n",
    ]
    for title, modules in (("For users", USERS), ("For authors of stages and plugins", AUTHORS)):
        extra = ["stages"] if modules is USERS else []
        pages = "\n".join(f"   {name}" for name in [*modules, *extra])
        parts.append(f"{heading(title, '-')}\n.. toctree::\n   :maxdepth: 1\n\n{pages}\n")
    return "\n".join(parts)


def module_page(name: str, title: str) -> str:
    """A table of the public names of a module; autosummary writes a page for each."""
    module = importlib.import_module(name)
    names = [each for each in module.__all__ if not isinstance(getattr(module, each), types.ModuleType)]
    described = [each for each in names if callable(getattr(module, each)) and not alias(getattr(module, each))]
    rows = "\n".join(f"   {each}" for each in described)
    parts = [heading(name, "="), f"{title}.\n", f".. currentmodule:: {name}\n"]
    parts.append(f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{rows}\n")
    if name in RECORDS:
        rows = "\n".join(f"   {each}" for each in RECORDS[name])
        parts.append(f"What functions return:\n\n.. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{rows}\n")
    for each in names:
        if each not in described:
            value = getattr(module, each)
            parts.append(f".. py:data:: {each}\n\n   {constant(value)}\n")
    return "\n".join(parts)


def alias(value: object) -> bool:
    """Whether a name stands for a type made of others, which has no docstring of its own."""
    return not isinstance(value, type | types.FunctionType | types.BuiltinFunctionType) and not hasattr(
        value, "__wrapped__"
    )


def constant(value: object) -> str:
    """How the page shows a name that is no class and no function."""
    text = repr(value)
    return f"``{text}``" if len(text) < 120 else f"A constant of type ``{type(value).__name__}``."


def stages_page(stages: dict[str, dict[str, type]]) -> str:
    """The classes of the built-in stages, kind by kind."""
    parts = [
        heading("Stages", "="),
        "The classes behind the names of the built-in stages. Compositions name them by their short names "
        '(``solver="ridge"``), and ``clusterkit.stages()`` returns the classes; the modules they are defined in may '
        "change. All with their defaults in one table: :doc:`/reference/stages`.\n",
    ]
    for kind, classes in sorted(stages.items()):
        rows = "\n".join(f"   {stage.__module__}.{stage.__qualname__}" for _, stage in sorted(classes.items()))
        parts.append(f"{heading(kind, '-')}\n.. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{rows}\n")
    return "\n".join(parts)


def heading(text: str, mark: str) -> str:
    """Underlined."""
    return f"{text}\n{mark * len(text)}\n"
