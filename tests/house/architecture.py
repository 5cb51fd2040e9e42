"""What docs/architecture.md says, for comparison with the code: the table of parts and the map of a fit."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache

import attrs

from .source import ROOT, Source

PAGE = ROOT / "docs" / "architecture.md"


@attrs.frozen
class Part:
    """A package as the page or the contracts describe it.

    Parameters
    ----------
    below : frozenset of str
        The packages of the next row below, which it may import together with everything under them.
    optional : bool
        Whether it may be absent.
    """

    below: frozenset[str]
    optional: bool


def section(title: str) -> str:
    """The text under a heading of the page."""
    text = PAGE.read_text(encoding="utf-8")
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def parts_of_the_page() -> dict[str, Part]:
    """The table of parts, by package; "the same" repeats the cell above."""
    parts: dict[str, Part] = {}
    below: frozenset[str] = frozenset()
    for name, star, _, cell in re.findall(r"^\| `(\w+)`(\*?) \| (.+) \| (.+) \|$", section("The parts"), re.M):
        if cell != "the same":
            below = frozenset(re.findall(r"`(\w+)`", cell))
        parts[name] = Part(below, star == "*")
    return parts


def parts_of_the_contracts() -> dict[str, Part]:
    """The layers of import-linter, by package."""
    layers = [_members(layer) for layer in contract("layers point one way")["layers"]]
    following = [*(frozenset(layer) for layer in layers[1:]), frozenset()]
    return {
        name: Part(below, optional)
        for layer, below in zip(layers, following, strict=True)
        for name, optional in layer.items()
    }


def contract(name: str) -> Mapping[str, list[str]]:
    """A contract of import-linter in pyproject.toml."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return next(entry for entry in tables["tool"]["importlinter"]["contracts"] if entry["name"] == name)


def _members(layer: str) -> dict[str, bool]:
    """Packages of one layer, and whether each may be absent."""
    words = [word.strip() for word in re.split(r"[|:]", layer)]
    return {word.strip("()"): word.startswith("(") for word in words}


def jumps() -> Iterator[tuple[str, int, str, str]]:
    """Title of a list of the map, number of the jump, file below clusterkit/, and the name in it."""
    for block in re.split(r"^(?=\*\*)", section("The map of a fit"), flags=re.M)[1:]:
        title = block[2:].partition("**")[0].replace("`", "").rstrip(",")
        for number, path, name in re.findall(r"^(\d+)\. `([\w/]+\.py)`, `([\w.]+)`", block, re.M):
            yield title, int(number), path, name


def defines(path: str, dotted: str) -> bool:
    """Whether a file below clusterkit/ defines a function, a class, a method or a module variable."""
    body = _statements(path)
    for name in dotted.split("."):
        nodes = [node for node in body if name in _names(node)]
        if not nodes:
            return False
        body = getattr(nodes[0], "body", [])
    return True


@cache
def _statements(path: str) -> list[ast.stmt]:
    """The statements of a file below clusterkit/, which many questions about the same files parse once."""
    return Source.of(ROOT / "clusterkit" / path).tree.body


def names_next(path: str, dotted: str, next_path: str, next_dotted: str) -> bool:
    """Whether the file of a jump leads on: it names the next file, and the definition or the docstring the next name.

    The first jump is a recipe: it names the stage by the name that its class has.
    """
    text, stem = (ROOT / "clusterkit" / path).read_text(encoding="utf-8"), next_path.rpartition("/")[2][:-3]
    if path.endswith("/recipes.py"):
        return any(f'"{name}"' in text for name in registered_names(next_path, next_dotted))
    source = Source.of(ROOT / "clusterkit" / path)
    [node] = [node for node in source.tree.body if dotted.partition(".")[0] in _names(node)]
    leads = f"{ast.get_docstring(source.tree)}\n{ast.get_source_segment(text, node)}"
    here = re.search(rf"\b{stem}\b", text) is not None or path == next_path
    return here and re.search(rf"\b{next_dotted.rpartition('.')[2]}\b", leads) is not None


def registered_names(path: str, class_name: str) -> list[str]:
    """The class variable `name` of a class in a file below clusterkit/."""
    return [
        ast.literal_eval(line.value)
        for node in Source.of(ROOT / "clusterkit" / path).tree.body
        if isinstance(node, ast.ClassDef) and node.name == class_name
        for line in node.body
        if isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == "name" and line.value is not None
    ]


def places(path: str, docstring: str) -> set[tuple[str, str]]:
    """Definitions that a docstring names, as file below clusterkit/ and name: in its own file, or in files it names."""
    folder = path.rpartition("/")[0]
    files = {path} | {
        candidate
        for named in re.findall(r"[\w/]+\.py", docstring)
        for candidate in (named, f"{folder}/{named}")
        if (ROOT / "clusterkit" / candidate).exists()
    }
    names = set(re.findall(r"[`(,]\s*([A-Za-z_]\w*(?:\.\w+)*)\b", docstring))
    return {(file, name) for file in files for name in names if defines(file, name)}


def _names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []
