"""Writes the pages of the Python reference: one for each public module, and one for each public name.

The modules are those that the table in docs/stability.md calls public, the names those of their `__all__`, and the
classes of the built-in stages. Their text is their docstrings, read by Sphinx (autosummary with numpydoc).
"""

from __future__ import annotations

import importlib
import re
import types
from pathlib import Path

STABILITY = Path(__file__).parents[1] / "stability.md"
"""The page whose table says which modules are public."""
PACKAGE = Path(__file__).parents[2] / "clusterkit"
"""The package, to tell modules from other names in that table."""
FOLDED = {"clusterkit.cli.app"}
"""Public modules whose page is the list of commands."""

RECORDS = {
    "clusterkit": ["estimators.search.SearchResult"],
}
"""Classes that public functions return, named from the module."""


def write_api(target: Path) -> None:
    """The folder `api`: an index, a page for each module, and one for the stages."""
    import clusterkit

    target.mkdir(parents=True, exist_ok=True)
    (target / "index.rst").write_text(index(), encoding="utf-8")
    for name in public_modules():
        (target / f"{name}.rst").write_text(module_page(name), encoding="utf-8")
    (target / "stages.rst").write_text(stages_page(clusterkit.stages()), encoding="utf-8")


def public_modules() -> dict[str, str]:
    """The public modules in the order of the table, each with those who need it."""
    table = STABILITY.read_text(encoding="utf-8").split("## Private")[0]
    readers: dict[str, str] = {}
    for names, who in re.findall(r"^\| (.+) \| (.+) \|$", table, re.M):
        for name in re.findall(r"`(clusterkit(?:\.[a-z]\w*)*)", names):
            place = PACKAGE.joinpath(*name.split(".")[1:])
            if name not in FOLDED and (place.is_dir() or place.with_suffix(".py").is_file()):
                readers.setdefault(name, who)
    return readers


def index() -> str:
    """The first page: the modules in two groups."""
    modules = public_modules()
    users = [name for name, who in modules.items() if who == "users"]
    groups = {
        "For users": [*users, "stages"],
        "For authors of stages and plugins": [name for name in modules if name not in users],
    }
    parts = [heading("Python reference", "="), "Every public name. Others may change in any version.\n"]
    for title, names in groups.items():
        pages = "\n".join(f"   {name}" for name in names)
        parts.append(f"{heading(title, '-')}\n.. toctree::\n   :maxdepth: 1\n\n{pages}\n")
    return "\n".join(parts)


def module_page(name: str) -> str:
    """A table of the public names of a module; autosummary writes a page for each."""
    module = importlib.import_module(name)
    names = [each for each in module.__all__ if not isinstance(getattr(module, each), types.ModuleType)]
    elsewhere = {each: page for each in names if (page := earlier_page(name, each))}
    described = [
        each
        for each in names
        if each not in elsewhere and callable(getattr(module, each)) and not alias(getattr(module, each))
    ]
    rows = "\n".join(f"   {each}" for each in described)
    parts = [heading(name, "="), first_line(module), f".. currentmodule:: {name}\n"]
    parts.append(f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{rows}\n")
    if name in RECORDS:
        rows = "\n".join(f"   {each}" for each in RECORDS[name])
        parts.append(f"What functions return:\n\n.. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{rows}\n")
    parts += [f"On another page:\n\n   {each}\n      :doc:`{page}`\n" for each, page in elsewhere.items()]
    for each in names:
        if each not in described and each not in elsewhere:
            value = getattr(module, each)
            parts.append(f".. py:data:: {each}\n\n   {constant(value)}\n")
    return "\n".join(parts)


def earlier_page(name: str, each: str) -> str:
    """The page of a class that a module before this one offers too, where neither defines it: Sphinx wants one page."""
    value = getattr(importlib.import_module(name), each)
    for other in public_modules():
        if other == name or not isinstance(value, type):
            return ""
        offers = each in importlib.import_module(other).__all__
        if offers and value.__module__ not in (name, other) and getattr(importlib.import_module(other), each) is value:
            return f"names/{other}.{each}"
    return ""


def first_line(module: types.ModuleType) -> str:
    """What the module is, from its docstring."""
    return (module.__doc__ or "").strip().split("\n\n")[0] + "\n"


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
