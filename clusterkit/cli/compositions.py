"""``clusterkit compositions``: which stages fit together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from clusterkit.cli import console

__all__ = ["compositions"]

SLOTS = ("featuremap", "solver", "labeler", "balancer", "init")
NONE = "none"


def _option(slot: str) -> Any:
    return click.option(f"--{slot}", slot, multiple=True, metavar="NAME", help=f"Only with this {slot}.")


@click.command(short_help="List the legal mixes of stages.")
@_option("featuremap")
@_option("solver")
@_option("labeler")
@_option("balancer")
@_option("init")
@click.option("--json", "as_json", is_flag=True, help="Print every mix as JSON.")
def compositions(as_json: bool, **wanted: tuple[str, ...]) -> None:
    """List the legal mixes of stages with default parameters.

    Each line stands for all mixes of what its cells name; filters may be repeated.
    """
    import clusterkit

    _check_names(wanted)
    found: dict[tuple[str, ...], set[str]] = {}
    for composition in clusterkit.compositions():
        mix = tuple(_name(getattr(composition, slot)) for slot in SLOTS)
        if all(not wanted[slot] or name in wanted[slot] for slot, name in zip(SLOTS, mix, strict=True)):
            k = composition.n_clusters
            found.setdefault(mix, set()).add("found" if k is None else "two" if k == 2 else "more")
    if as_json:
        mixes = [dict(zip(SLOTS, mix, strict=True)) for mix in found]
        console.as_json(
            [
                {slot: None if name == NONE else name for slot, name in mix.items()} | {"clusters": _clusters(k)}
                for mix, k in zip(mixes, found.values(), strict=True)
            ]
        )
        return
    if found:
        console.table([*SLOTS, "clusters", "mixes"], _merged(found))
    console.text(f"{len(found)} legal mix{'' if len(found) == 1 else 'es'}")


def _check_names(wanted: dict[str, tuple[str, ...]]) -> None:
    from clusterkit.core.compat import SLOTS as KINDS
    from clusterkit.core.registry import registry

    for slot, names in wanted.items():
        for name in names:
            if name != NONE or slot not in ("balancer", "init"):
                registry.get(KINDS[slot], name)


def _name(stage: Any) -> str:
    return NONE if stage is None else str(stage.name)


def _clusters(kinds: Iterable[str]) -> str:
    """The numbers of clusters that fit, in words."""
    return {("found",): "found", ("two",): "2", ("more",): "3 or more", ("more", "two"): "any"}.get(
        tuple(sorted(kinds)), ", ".join(sorted(kinds))
    )


def _merged(found: dict[tuple[str, ...], set[str]]) -> list[list[str]]:
    """Mixes that differ in one slot only as one line, slot by slot; the product of the cells stays exact."""
    lines: list[tuple[tuple[str, ...], ...]] = [
        (*((name,) for name in mix), (_clusters(kinds),)) for mix, kinds in found.items()
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
