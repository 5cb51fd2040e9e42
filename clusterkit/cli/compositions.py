"""``clusterkit compositions``: which stages fit together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from clusterkit.cli import console

__all__ = ["compositions"]

SLOTS = ("featuremap", "solver", "labeler", "balancer", "init")
"""The slots of a composition, in the order of the columns. (`compat.SLOTS` has the kind of stage of each.)"""

NONE = "none"
"""The word for a slot that a composition leaves empty."""


def _option(slot: str) -> Any:
    return click.option(
        f"--{slot}",
        slot,
        multiple=True,
        metavar="NAME",
        help=f"Show only compositions with this {slot}; may be repeated.",
    )


@click.command(short_help="List which stages fit together.")
@_option("featuremap")
@_option("solver")
@_option("labeler")
@_option("balancer")
@_option("init")
@click.option("--json", "as_json", is_flag=True, help="Print every composition as JSON.")
def compositions(as_json: bool, **filters: tuple[str, ...]) -> None:
    """List the compositions of stages that fit together, with default parameters.

    Each line stands for every combination of the stages it lists.
    """
    import clusterkit

    _check_names(filters)
    numbers: dict[tuple[str, ...], set[str]] = {}  # of clusters that each composition can have
    for composition in clusterkit.compositions():
        names = tuple(_name(getattr(composition, slot)) for slot in SLOTS)
        if all(not filters[slot] or name in filters[slot] for slot, name in zip(SLOTS, names, strict=True)):
            k = composition.n_clusters
            numbers.setdefault(names, set()).add("found" if k is None else "two" if k == 2 else "more")
    if as_json:
        console.as_json(
            [
                {slot: None if name == NONE else name for slot, name in zip(SLOTS, names, strict=True)}
                | {"clusters": _clusters(kinds)}
                for names, kinds in numbers.items()
            ]
        )
        return
    if numbers:
        console.table([*SLOTS, "clusters", "combinations"], _merged(numbers))
    console.text(f"{len(numbers)} combination{'' if len(numbers) == 1 else 's'}")


def _check_names(filters: dict[str, tuple[str, ...]]) -> None:
    """Raise `UnknownName` for a name in a filter that no stage has."""
    from clusterkit.core.compat import SLOTS as KINDS
    from clusterkit.core.registry import registry

    for slot, names in filters.items():
        for name in names:
            if name != NONE or slot not in ("balancer", "init"):
                registry.get(KINDS[slot], name)


def _name(stage: Any) -> str:
    return NONE if stage is None else str(stage.name)


def _clusters(kinds: Iterable[str]) -> str:
    """The possible numbers of clusters, in words."""
    return {("found",): "found", ("two",): "2", ("more",): "3 or more", ("more", "two"): "any"}.get(
        tuple(sorted(kinds)), ", ".join(sorted(kinds))
    )


def _merged(numbers: dict[tuple[str, ...], set[str]]) -> list[list[str]]:
    """Join compositions that differ in one slot only into one line, slot by slot.

    Each line is exactly the product of its cells; its last cell is the number of compositions.
    """
    lines: list[tuple[tuple[str, ...], ...]] = [
        (*((name,) for name in names), (_clusters(kinds),)) for names, kinds in numbers.items()
    ]
    for slot in (SLOTS.index(name) for name in ("init", "balancer", "featuremap")):
        groups: dict[tuple[tuple[str, ...], ...], list[str]] = {}
        for line in lines:
            groups.setdefault((*line[:slot], *line[slot + 1 :]), []).extend(line[slot])
        lines = [(*rest[:slot], tuple(sorted(names)), *rest[slot:]) for rest, names in groups.items()]
    rows = []
    for line in sorted(lines, key=lambda line: line[1:]):
        count = 1
        for names in line[:-1]:
            count *= len(names)
        rows.append([*(", ".join(names) for names in line), str(count)])
    return rows
