"""What the library amounts to, in numbers: ``python -m tests.house.count``, with ``--all`` every place.

Files and lines of the wheel, circles of imports, imports against the order of the rooms (the layers of import-linter in
pyproject.toml), modules with one importer, places that construct the result of a fit and that catch Ctrl-C. Nothing
here passes or fails: the rules are in ``rules.py``.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from .architecture import contract
from .arrows import circles, module_name, targets
from .source import ROOT, Place, Source, code_tokens, imports, sources

SMALL = 60
"""Lines below which a file needs a reason to be one."""

SHOWN = 8
"""Lines of a list that are shown without ``--all``."""

RESULT = "FitResult"
"""The class of what a fit gives."""

Arrows = Mapping[tuple[str, str], Place]
"""Importer and imported module to where the import stands; of several the one that runs first."""


@attrs.frozen
class Rooms:
    """The order of the packages, from the contract of import-linter.

    Parameters
    ----------
    container : str
        The package that has the rooms.
    depth : mapping
        Room to the number of its layer, 0 at the top.
    free : frozenset of str
        Rooms that may import the others of their layer.
    ignored : frozenset of (str, str)
        Arrows that the contract allows.
    """

    container: str
    depth: Mapping[str, int]
    free: frozenset[str] = frozenset()
    ignored: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of_the_contract(cls) -> Rooms:
        """The layers in pyproject.toml."""
        entry = contract("layers point one way")
        layers = entry["layers"]
        names = [[word.strip(" ()") for word in re.split("[|:]", layer)] for layer in layers]
        depth = {name: number for number, row in enumerate(names) for name in row}
        free = {name for layer, row in zip(layers, names, strict=True) if ":" in layer for name in row}
        ignored = {tuple(line.split(" -> ")) for line in entry.get("ignore_imports", [])}
        return cls(entry["containers"][0], depth, frozenset(free), frozenset(ignored))

    def of(self, module: str) -> str | None:
        """The room of a module; None for the container itself and outside it."""
        inner = module.removeprefix(f"{self.container}.")
        return None if inner == module else inner.partition(".")[0]

    def is_upward(self, importer: str, module: str) -> bool:
        """Whether an import goes against the order: to a higher room, to another one of the layer, to the container."""
        here, there = self.of(importer), self.of(module)
        if here is None or here == there or (importer, module) in self.ignored:
            return False
        if there is None:
            return module == self.container
        if here not in self.depth or there not in self.depth:
            return True
        if self.depth[here] == self.depth[there]:
            return here not in self.free
        return self.depth[there] < self.depth[here]


def arrows_of(modules: Mapping[str, Source]) -> Arrows:
    """Every import of one module by another, imports for type checkers too."""
    order: tuple[Place, ...] = ("top", "inside", "types")
    places: dict[tuple[str, str], Place] = {}
    for name, source in modules.items():
        for node, place in imports(source.tree):
            for module in targets(name, source, node, modules):
                if module != name:
                    places[name, module] = min(place, places.get((name, module), place), key=order.index)
    return places


def circles_of(arrows: Arrows, places: Sequence[Place]) -> list[list[str]]:
    """One shortest circle for each set of modules that import each other, by imports at these places."""
    graph: dict[str, dict[str, int]] = defaultdict(dict)
    for (importer, module), place in arrows.items():
        if place in places:
            graph[importer][module] = 1
    return list(circles(graph))


def code_lines(text: str) -> int:
    """Lines with code: no blank ones, no comments, and no texts that stand alone, as docstrings do."""
    tokens = code_tokens(text, ast.parse(text))
    return len({line for token in tokens for line in range(token.start[0], token.end[0] + 1)})


def reason_to_be_small(name: str, source: Source, arrows: Arrows) -> str:
    """Why a small file is one: a package, compiled, below all rooms, registered, or imported late; else nothing."""
    if source.path.stem in ("__init__", "__main__"):
        return source.path.stem
    if source.path.stem.endswith("_jit"):
        return "compiled"
    if name.startswith("clusterkit._"):
        return "below all rooms"
    if any(_is_registered(node) for node in source.tree.body):
        return "registered"
    places = {place for (_, module), place in arrows.items() if module == name}
    if places == {"types"}:
        return "for type checkers"
    return "imported late" if places and "top" not in places else ""


def _is_registered(node: ast.stmt) -> bool:
    """Whether a statement defines a stage, by its class variable `name`, or a recipe."""
    if isinstance(node, ast.ClassDef):
        return any(
            isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == "name" and line.value is not None
            for line in node.body
        )
    value = getattr(node, "value", None)
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "Recipe"


def constructions(modules: Mapping[str, Source], name: str) -> Iterator[str]:
    """Where a class is constructed outside the module that defines it."""
    for module, source in modules.items():
        defined = any(isinstance(node, ast.ClassDef) and node.name == name for node in source.tree.body)
        for node in ast.walk(source.tree):
            if not defined and isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name:
                yield f"{module}:{node.lineno}"


def interrupt_handlers(modules: Mapping[str, Source]) -> Iterator[str]:
    """Where Ctrl-C is caught."""
    for module, source in modules.items():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ExceptHandler) and node.type and "KeyboardInterrupt" in ast.unparse(node.type):
                yield f"{module}:{node.lineno}"


def single_importers(arrows: Arrows) -> Iterator[str]:
    """Modules that exactly one other imports, with it and the place of the import."""
    importers: dict[str, list[str]] = defaultdict(list)
    for importer, module in arrows:
        importers[module].append(importer)
    for module, names in sorted(importers.items()):
        if len(names) == 1:
            yield f"{module} <- {names[0]} ({arrows[names[0], module]})"


def packages_of_the_wheel() -> list[str]:
    """Folders that are packed, relative to the root."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages: list[str] = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    return packages


def counts_of(modules: Mapping[str, Source], rooms: Rooms) -> Iterator[tuple[str, list[str]]]:
    """Each number in a sentence, and the places that it counts."""
    size = {name: source.text.count("\n") for name, source in modules.items()}
    by_size = sorted(size, key=lambda name: (-size[name], name))
    arrows = arrows_of(modules)
    yield f"{len(modules)} Python files", _sizes_of_rooms(modules, rooms)
    code = sum(code_lines(source.text) for source in modules.values())
    yield f"{sum(size.values())} lines, {code} of them code", []
    yield f"largest: {size[by_size[0]]} lines", [f"{name} ({size[name]})" for name in by_size[:SHOWN]]
    small = {name: reason_to_be_small(name, modules[name], arrows) for name in reversed(by_size) if size[name] < SMALL}
    bare = [f"{name} ({size[name]})" for name, reason in small.items() if not reason]
    yield f"{len(small)} files below {SMALL} lines, {len(bare)} of them without a reason to be files", bare
    for reason in sorted(set(small.values()) - {""}):
        names = [f"{name} ({size[name]})" for name, why in small.items() if why == reason]
        yield f"  {len(names)} small files: {reason}", names
    for words, places in (
        ("at the top of modules", ("top",)),
        ("inside functions too", ("top", "inside")),
        ("for type checkers too", ("top", "inside", "types")),
    ):
        rings = circles_of(arrows, places)
        yield f"{len(rings)} circles of imports {words}", [" -> ".join([*ring, ring[0]]) for ring in rings]
    upward = [f"{a} -> {b} ({place})" for (a, b), place in sorted(arrows.items()) if rooms.is_upward(a, b)]
    yield f"{len(upward)} imports against the order of {len(rooms.depth)} rooms", upward
    single = list(single_importers(arrows))
    at_top = sum(line.endswith("(top)") for line in single)
    yield f"{len(single)} modules with one importer, {at_top} of them at its top", single
    results = list(constructions(modules, RESULT))
    yield f"{len(results)} constructions of {RESULT} outside its module", results
    handlers = list(interrupt_handlers(modules))
    yield f"{len(handlers)} places that catch Ctrl-C", handlers


def _sizes_of_rooms(modules: Mapping[str, Source], rooms: Rooms) -> list[str]:
    counts: dict[str, list[int]] = defaultdict(list)
    for name, source in modules.items():
        counts[rooms.of(name) or rooms.container].append(source.text.count("\n"))
    return [f"{room}: {len(sizes)} files, {sum(sizes)} lines" for room, sizes in sorted(counts.items())]


def show(counts: Iterable[tuple[str, list[str]]], most: int | None) -> None:
    """Print each number with the first of its places."""
    for sentence, places in counts:
        print(sentence)
        for place in places[:most]:
            print(f"      {place}")
        if most is not None and len(places) > most:
            print(f"      and {len(places) - most} more (--all)")


def main() -> None:
    """Count the wheel and print the numbers."""
    parser = argparse.ArgumentParser(prog="python -m tests.house.count", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every place of each number")
    options = parser.parse_args()
    packages = packages_of_the_wheel()
    show(
        counts_of({module_name(source): source for source in sources(*packages)}, Rooms.of_the_contract()),
        None if options.all else SHOWN,
    )
    every = (path for package in packages for path in (ROOT / package).rglob("*") if path.is_file())
    others = [path for path in every if path.suffix != ".py" and "__pycache__" not in path.parts]
    show([(f"{len(others)} files that are not Python", sorted(str(path.relative_to(ROOT)) for path in others))], SHOWN)


if __name__ == "__main__":
    main()
