"""The option ``--device``: where the blocks of rows of a command are computed."""

from __future__ import annotations

from collections.abc import Callable

import click

__all__ = ["option"]


def option(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--device`` to a command; the device is tried out before anything is read."""
    add = click.option(
        "--device",
        metavar="NAME",
        callback=_chosen,
        expose_value=False,
        help="Compute there: cuda, cuda:1, torch:cuda:0, cupy:cuda:0; cpu is none.  [default: $CLUSTERKIT_DEVICE]",
    )
    return add(command)


def _chosen(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Choose the device until the command ends."""
    if value is None:
        return
    from clusterkit.core.devices import config

    context.with_resource(config(device=value))
