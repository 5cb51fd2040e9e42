"""``clusterkit stages | recipes | plugins``: what there is."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

import click

from clusterkit.cli import console

__all__ = ["plugins", "recipes", "stages"]

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command(short_help="List stages with their parameters.")
@click.argument("kind", required=False)
@AS_JSON
def stages(kind: str | None, as_json: bool) -> None:
    """List stages with their parameters.

    KIND is featuremap, solver, labeler, balancer, partitioner (for the slot init), consensus or tuner; all of
    them if it is left out.
    """
    import clusterkit
    from clusterkit.core.registry import registry

    found = clusterkit.stages() if kind is None else {kind: clusterkit.stages(kind)}
    rows = [
        {
            "kind": each,
            "name": name,
            "summary": _first_line(stage),
            "parameters": {p: getattr(stage(), p) for p in stage().parameters()},
            "provided_by": getattr(registry.find(each, name), "distribution", ""),
        }
        for each, stages in found.items()
        for name, stage in sorted(stages.items())
    ]
    if as_json:
        console.as_json(rows)
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


@click.command(short_help="List recipes; with a name all about one.")
@click.argument("name", required=False)
@AS_JSON
def recipes(name: str | None, as_json: bool) -> None:
    """List recipes: published algorithms as compositions of stages. With NAME all about one."""
    import clusterkit

    if name is not None:
        _recipe(name, as_json)
        return
    found = clusterkit.recipes()
    if as_json:
        console.as_json([_described(recipe) for recipe in found.values()])
        return
    console.table(
        ["recipe", "clusters", "what it is", "use it for"],
        [[recipe.name, recipe.clusters, recipe.title, recipe.use_when] for recipe in found.values()],
    )
    console.text("Details and citation: clusterkit recipes NAME", dim=True)
    _mention_broken()


@click.command(short_help="List installed plugins and what they provide.")
@AS_JSON
def plugins(as_json: bool) -> None:
    """List installed plugins, what they provide, and why some are not used."""
    import clusterkit

    found = clusterkit.plugins()
    if as_json:
        console.as_json(
            [
                {
                    "name": plugin.name,
                    "distribution": plugin.distribution,
                    "version": plugin.version,
                    "used": plugin.problem is None,
                    "problem": plugin.problem,
                    "provides": [{"kind": kind, "name": name} for kind, name in plugin.provides],
                }
                for plugin in found
            ]
        )
        return
    if not found:
        from clusterkit.core.registry import VARIABLE

        none = os.environ.get(VARIABLE) == ""
        console.text(
            f"No plugins are used: {VARIABLE} is empty. Unset it to use those installed."
            if none
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
                plugin.problem or ", ".join(f"{kind} {name}" for kind, name in plugin.provides) or "nothing",
            ]
            for plugin in found
        ],
    )


def _recipe(name: str, as_json: bool) -> None:
    from clusterkit.core.registry import registry
    from clusterkit.estimators.build import recipe as build

    found = registry.get("recipe", name)
    described = _described(found)
    estimator: Any = build(name)
    if found.clusters == "given":
        estimator.set_params(n_clusters=2)
    reason = estimator.why_not_inductive()
    described |= {"predicts": reason is None, "why_not": reason, "parameters": estimator.get_params()}
    described["parameters"] = {
        key: value for key, value in described["parameters"].items() if isinstance(value, str | int | float | None)
    }
    if as_json:
        console.as_json(described)
        return
    count = "" if found.clusters != "given" else " -k 3"
    console.heading(f"{found.name}: {found.title}")
    console.facts(
        {
            "use it for": found.use_when,
            "clusters": {"given": "you give the number (-k)", "two": "always two", "found": "found by the method"}[
                found.clusters
            ],
            "new rows": "yes, by `clusterkit predict`" if reason is None else f"no: {reason}",
            "driver": found.driver,
            "citation": found.citation,
            "changes": " ".join(f"{key.replace('__', '.')}={_short(value)}" for key, value in found.parameters.items()),
            "example": f"clusterkit fit data.csv --recipe {found.name}{count} -o labels.csv",
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
    return {
        "name": recipe.name,
        "title": recipe.title,
        "clusters": recipe.clusters,
        "use_when": recipe.use_when,
        "driver": recipe.driver,
        "citation": recipe.citation,
        "changes": dict(recipe.parameters),
    }


def _first_line(stage: type) -> str:
    line = (inspect.getdoc(stage) or "").split("\n\n")[0]
    return line.replace("\n", " ").replace("`", "")


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value.get("name", value))
    return f"{value:g}" if isinstance(value, float) else str(getattr(value, "name", value))


def _mention_broken() -> None:
    import clusterkit

    broken = [plugin for plugin in clusterkit.plugins() if plugin.problem]
    if broken:
        many = f"{len(broken)} plugin is" if len(broken) == 1 else f"{len(broken)} plugins are"
        console.text(f"{many} not used; see: clusterkit plugins", err=True, dim=True)
