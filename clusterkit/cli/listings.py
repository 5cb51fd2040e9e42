"""``clusterkit stages | recipes | plugins``: lists of what there is."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import click

from clusterkit.cli import console
from clusterkit.errors import with_title

if TYPE_CHECKING:
    from clusterkit.contracts import Stage
    from clusterkit.contracts.providers import Plugin

SHORT = 3
"""A search word of at most this many letters matches whole words only: "em" is not found in "elements"."""

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
"""The option that all three commands have."""


@click.command(short_help="List stages with their parameters.")
@click.argument("kind", required=False)
@click.option("--search", "word", metavar="WORD", help="Only stages with WORD in a name, a parameter or the summary.")
@AS_JSON
def stages(kind: str | None, word: str | None, as_json: bool) -> None:
    """List stages with their parameters.

    KIND is featuremap, solver, labeler, balancer, partitioner (for the slot init), consensus, tuner or driver.
    Without KIND, stages of all kinds are listed. With --search also names are found that papers and other libraries
    use: sgd, k-means++.
    """
    from clusterkit.contracts.registry import ABSTRACT_NAMES, registry
    from clusterkit.errors import UnknownName, nearest_names

    if kind is not None and kind not in ABSTRACT_NAMES:
        raise UnknownName(f"no kind of stage named {kind!r}. {nearest_names(kind, ABSTRACT_NAMES)}")
    rows = [
        _stage(entry.kind, entry.name, entry.distribution)
        for each in (ABSTRACT_NAMES if kind is None else [kind])
        for entry in registry.entries(each)
    ]
    if word is not None:
        rows = [row for row in rows if _has(row, word)]
    if as_json:
        console.as_json(rows)
        return
    if word is not None and not rows:
        console.text(
            f"no stage has {word!r} in its names, parameters or summary; clusterkit recipes lists whole methods"
        )
        return
    console.table(
        ["kind", "name", "parameters", "what it is"],
        [
            [
                row["kind"],
                row["name"],
                " ".join(f"{p}={_short(v)}" for p, v in row["parameters"].items()),
                row["summary"],
            ]
            for row in rows
        ],
    )
    _mention_broken()


@click.command(short_help="List the recipes, or describe one.")
@click.argument("name", required=False)
@AS_JSON
def recipes(name: str | None, as_json: bool) -> None:
    """List the recipes: published algorithms as compositions of stages. With NAME, describe that recipe."""
    from clusterkit.contracts.registry import registry

    if name is not None:
        _recipe(name, as_json)
        return
    by_name = registry.available("recipe")
    if as_json:
        console.as_json([_described(recipe) for recipe in by_name.values()])
        return
    console.table(
        ["recipe", "clusters", "what it is", "use it for"],
        [
            *([recipe.name, recipe.clusters, recipe.title, recipe.use_when] for recipe in by_name.values()),
            *_broken_recipes(),
        ],
    )
    console.text("Details and citation: clusterkit recipes NAME")
    _mention_broken()


@click.command(short_help="List or check the installed plugins.")
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Run the laws of what the plugins provide (extra 'testing').")
@click.option(
    "--examples",
    type=click.IntRange(min=1),
    default=25,
    show_default=True,
    help="Number of examples that --check tries of each law.",
)
@AS_JSON
def plugins(name: str | None, check: bool, examples: int, as_json: bool) -> None:
    """List the installed plugins: what each provides, or why it is not used. With NAME, only that plugin.

    With --check, the conformance kit runs on all stages that they provide, recipes are fitted to a few rows, and
    commands are loaded. The exit code is 1 if a plugin is not used or something breaks a law.
    """
    from clusterkit import catalogue
    from clusterkit.cli import app, plugin_tools

    installed = plugin_tools.chosen(catalogue.plugins(), name)
    if check:
        plugin_tools.check(installed, examples, as_json)
        return
    if as_json:
        console.as_json(
            [
                {
                    "name": plugin.name,
                    "distribution": plugin.distribution,
                    "version": plugin.version,
                    "used": plugin.problem is None,
                    "problem": plugin.problem,
                    "provides": [
                        {"kind": kind, "name": name, "shadowed": _is_shadowed(plugin, kind, name, app.builtin)}
                        for kind, name in plugin.provides
                    ],
                }
                for plugin in installed
            ]
        )
        return
    if not installed:
        from clusterkit.contracts.providers import VARIABLE

        switched_off = os.environ.get(VARIABLE) == ""
        console.text(
            f"No plugins are used: {VARIABLE} is empty. Unset it to use the installed ones."
            if switched_off
            else "No plugins are installed (entry points of the group clusterkit)."
        )
        return
    console.table(
        ["plugin", "distribution", "version", "status", "provides, or what is wrong"],
        [
            [
                plugin.name,
                plugin.distribution,
                plugin.version,
                "not used" if plugin.problem else "used",
                plugin.problem
                or ", ".join(_provided(plugin, kind, name, app.builtin) for kind, name in plugin.provides)
                or "nothing",
            ]
            for plugin in installed
        ],
    )


def _is_shadowed(plugin: Plugin, kind: str, name: str, commands: Mapping[str, str]) -> bool:
    """Whether a built-in stage, recipe or command has the name of what a plugin provides."""
    return (kind, name) in plugin.shadowed or (kind == "command" and name in commands)


def _provided(plugin: Plugin, kind: str, name: str, commands: Mapping[str, str]) -> str:
    """Stage of a plugin in words, and whether a built-in of the same name is used instead."""
    shadowed = _is_shadowed(plugin, kind, name, commands)
    return f"{kind} {name}" + (" (shadowed by the built-in)" if shadowed else "")


def _recipe(name: str, as_json: bool) -> None:
    """Print all about a recipe."""
    from clusterkit.contracts.registry import registry

    recipe = registry.get("recipe", name)  # a name that does not exist is reported before the slow import
    from clusterkit.estimators.build import recipe as build

    described = _described(recipe)
    estimator: Any = build(name)
    if recipe.clusters == "given":
        estimator.set_params(n_clusters=2)
    reason = estimator._why_not_inductive()
    described |= {"predicts": reason is None, "why_not": reason, "parameters": estimator.get_params()}
    described["parameters"] = {
        key: value for key, value in described["parameters"].items() if isinstance(value, str | int | float | None)
    }
    if as_json:
        console.as_json(described)
        return
    count = "" if recipe.clusters != "given" else " -k 3"
    console.heading(with_title(recipe.name, recipe.title))
    console.facts(
        {
            "use it for": recipe.use_when,
            "clusters": {
                "given": "the number is needed (-k)",
                "two": "always two",
                "found": "the method finds the number",
            }[recipe.clusters],
            "new rows": "yes, by `clusterkit predict`" if reason is None else f"no: {reason}",
            "driver": recipe.driver,
            "citation": recipe.citation,
            "differs in": " ".join(
                f"{key.replace('__', '.')}={_short(value)}" for key, value in recipe.parameters.items()
            ),
            "example": f"clusterkit fit data.csv --recipe {recipe.name}{count} -o labels.csv",
        }
    )
    console.text()
    console.table(
        ["parameter for --set", "value"],
        [
            [key.replace("__", "."), _short(value)]
            for key, value in sorted(described["parameters"].items())
            if key not in ("n_clusters", "random_state", "verbose")
        ],
    )


def _described(recipe: Any) -> dict[str, Any]:
    fields = ("name", "title", "clusters", "use_when", "driver", "citation")
    return {field: getattr(recipe, field) for field in fields} | {"changes": dict(recipe.parameters)}


def _stage(kind: str, name: str, distribution: str) -> dict[str, Any]:
    """All facts about a stage; one that cannot be imported or made has its line too, with the problem in it."""
    import attrs

    from clusterkit.contracts.declared import capabilities, plain
    from clusterkit.contracts.registry import registry
    from clusterkit.errors import BrokenPlugin

    described = {
        "kind": kind,
        "name": name,
        "summary": "",
        "parameters": {},
        "options": {},
        "capabilities": {},
        "provided_by": distribution,
    }
    try:
        stage = cast("type[Stage]", registry.get(kind, name))
        specimen = stage()
        parameters = {p: getattr(specimen, p) for p in specimen.parameters()}
        fields = {field.name: field.metadata.get("options", ()) for field in attrs.fields(stage)}
        values = {each.name: (getattr(specimen, each.name), each.default) for each in capabilities(stage).values()}
    except BrokenPlugin as error:
        return described | {"summary": f"not usable: {error}", "problem": str(error)}
    except (Exception, SystemExit) as error:  # whatever a stage raises, the others are listed
        problem = f"{type(error).__name__}: {error}"
        return described | {"summary": f"not usable: {problem}", "problem": problem}
    options = {name: [word for word in words if isinstance(word, str)] for name, words in fields.items() if words}
    declared = {name: plain(value) for name, (value, default) in values.items() if value != default}
    return described | {
        "summary": _first_line(stage),
        "parameters": parameters,
        "options": options,
        "capabilities": declared,
        "problem": None,
    }


def _has(row: Mapping[str, Any], words: str) -> bool:
    """Whether a stage has a text in its names, or all of its words somewhere; short ones as whole words only."""
    from clusterkit.contracts.registry import plain_word

    texts = list(_texts(row))
    if any(plain_word(words) == plain_word(text) for text in texts):
        return True
    whole = " ".join(texts).lower().replace("_", " ")
    return all(
        each in whole if len(each) > SHORT else re.search(rf"\b{re.escape(each)}\b", whole)
        for each in words.lower().replace("_", " ").split()
    )


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    """The texts of a stage in which a word is looked for."""
    yield from (row["name"], row["summary"], *row["capabilities"].get("synonyms", ()))
    for name in row["parameters"]:
        yield from (name, *row["options"].get(name, ()))


def _broken_recipes() -> list[list[str]]:
    """A line for each recipe that cannot be loaded."""
    from clusterkit.contracts.registry import registry
    from clusterkit.errors import BrokenPlugin

    lines = []
    for name in registry.names("recipe"):
        try:
            registry.get("recipe", name)
        except BrokenPlugin as error:
            lines.append([name, "", f"not usable: {error}", ""])
    return lines


def _first_line(stage: type) -> str:
    line = (inspect.getdoc(stage) or "").split("\n\n")[0]
    return line.replace("\n", " ").replace("`", "")


def _short(value: Any) -> str:
    """A parameter in few characters: a stage by its name, floats with six digits."""
    if isinstance(value, Mapping):
        return str(value.get("name", value))
    return f"{value:g}" if isinstance(value, float) else str(getattr(value, "name", value))


def _mention_broken() -> None:
    """Say on standard error that some plugins are not used, if there are any."""
    from clusterkit import catalogue

    broken = [plugin for plugin in catalogue.plugins() if plugin.problem]
    if broken:
        subject = "1 plugin is" if len(broken) == 1 else f"{len(broken)} plugins are"
        console.text(f"{subject} not used; see: clusterkit plugins", err=True)
