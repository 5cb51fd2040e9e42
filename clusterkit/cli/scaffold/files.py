"""The templates filled in, and written to a folder that did not exist."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template

from clusterkit.cli.failures import BadInput
from clusterkit.cli.scaffold.kinds import Kind
from clusterkit.cli.scaffold.names import Names
from clusterkit.core import hookspecs

__all__ = ["files_of", "write"]

TEMPLATES = "templates"
"""Folder of the templates beside this module. Each is a `string.Template` whose words are those of `_words`."""


def files_of(names: Names, kind: Kind) -> dict[str, str]:
    """Path from the folder of the plugin to text, of every file.

    Parameters
    ----------
    names : Names
    kind : Kind
    """
    words = _words(names, kind)
    parts = _parts(kind, words)
    source, tests = f"src/{names.package}", "tests"
    files = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{source}/__init__.py": "__init__.py",
        f"{source}/plugin.py": "plugin.py",
        f"{tests}/test_plugin.py": "test_plugin.py",
        f"{tests}/test_{kind.kind}.py": f"test_{kind.kind}.py",
    }
    if kind.kind != "recipe":
        files[f"{source}/{kind.kind}.py"] = f"{kind.kind}.py"
    return {path: _filled(template, {**words, **parts}) for path, template in sorted(files.items())}


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a new plugin.

    Parameters
    ----------
    folder : Path
        Is made, with the folders above it.
    files : mapping of str to str

    Raises
    ------
    BadInput
        If there is something at the place of the folder; nothing is written then.
    """
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise BadInput(f"{folder} exists already; nothing is written. Choose another folder with -o.") from error
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _words(names: Names, kind: Kind) -> dict[str, str]:
    """What the templates say for a name and a kind."""
    bare = names.name.lstrip(".").replace("-", "_")
    attribute = {"command": bare, "reader": f"read_{bare}"}.get(kind.kind, names.cls)
    return {
        "distribution": names.distribution,
        "package": names.package,
        "name": names.name,
        "kebab": names.name.replace("_", "-"),
        "cls": names.cls,
        "attribute": attribute,
        "savable": f"{names.cls}{kind.savable}",
        "kind": kind.kind,
        "module": kind.kind,
        "word": kind.word,
        "title": kind.title,
        "hook": hookspecs.HOOKS[kind.kind],
        "api_version": str(hookspecs.API_VERSION),
    }


def _parts(kind: Kind, words: Mapping[str, str]) -> dict[str, str]:
    """What depends on the kind, made of templates of its own."""
    hooks = _filled("recipe_hook" if kind.kind == "recipe" else "hook", words)
    hooks += _filled("savable", words) if kind.savable else ""
    rows = f"| `tests/` | {'the laws of the conformance kit, and ' if kind.is_stage else ''}what is special about it |"
    if kind.kind != "recipe":
        rows = f"| `src/{words['package']}/{kind.kind}.py` | the {kind.word} `{words['name']}` |\n{rows}"
    return {
        "hooks": hooks.rstrip("\n"),
        "rows": rows,
        "steps": "\n".join(f"- {step}" for step in kind.steps),
        "and_laws": ", and the laws of the conformance kit" if kind.is_stage else "",
        "imports": "from clusterkit.testing import parametrize_with_laws\n" if kind.is_stage else "",
        "laws": _filled("laws", words).rstrip("\n") if kind.is_stage else "",
    }


def _filled(template: str, words: Mapping[str, str]) -> str:
    """A template with its words filled in; one line end at the end."""
    place = resources.files("clusterkit.cli.scaffold") / TEMPLATES / f"{template}.template"
    text = Template(place.read_text(encoding="utf-8")).substitute(words)
    return text.rstrip("\n") + "\n"
