"""Errors of a file or a name before anything slow is imported, and notes about what takes long.

scikit-learn takes over a second to import, which nobody should wait for to learn that a file is not there. What is
checked here is checked again where it is used, with the same messages; here nothing is read and nothing is made.
`on_terminals` shows notes of the library as one line on a terminal; in a pipe there are none.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from clusterkit.cli import data as source
from clusterkit.cli.failures import BadInput

__all__ = [
    "SLOTS",
    "check",
    "check_recipe",
    "check_unnamed",
    "on_terminals",
]


SLOTS: Mapping[str, object] = MappingProxyType(
    {"featuremap": "elm", "solver": "ridge", "labeler": "auto", "balancer": "auto", "init": "kmeans", "tuner": None}
)
"""Default stages of a pipeline's slots, where neither the recipe nor --set fills them; a test compares them with
`Pipeline`."""


def check(data: str, recipe: str | None = None, settings: Iterable[str] = ()) -> None:
    """Raise for a recipe, a stage, a parameter or a file that does not exist, in this order.

    Parameters
    ----------
    data : str
        The argument DATA.
    recipe : str, optional
        Name of the recipe.
    settings : iterable of str
        The values of --set.

    Raises
    ------
    BadInput, UnknownName
        If a name is unknown; says the nearest names.
    """
    if recipe is not None:
        check_recipe(recipe, settings)
    source.check(data)


def check_unnamed(default: str, settings: Iterable[str]) -> None:
    """Raise for --set of a stage where no recipe is named: the default chooses among whole methods, and has no stages.

    Parameters
    ----------
    default : str
        The recipe that is used.
    settings : iterable of str
        The values of --set.
    """
    from clusterkit.cli.options import parsed

    settings = tuple(settings)
    if any(key.partition("__")[0] in SLOTS for key in parsed(settings)):
        raise BadInput(
            f"--set {' '.join(settings)}: no recipe is named, and recipe {default!r} has no stages to change. Name one "
            "with -r, for example -r emmc or -r kmeans"
        )


def check_recipe(name: str, settings: Iterable[str] = ()) -> None:
    """Raise for a recipe that does not exist, and for stages and parameters of --set that do not."""
    from clusterkit.cli.options import parsed
    from clusterkit.contracts.registry import registry

    recipe = registry.get("recipe", name)
    settings = tuple(settings)
    changes = parsed(settings)
    if not changes or recipe.driver != "single":  # the parameters of other drivers are known to their estimators
        return
    from clusterkit.drivers import compose

    slots = {**SLOTS, **{slot: value for slot, value in {**recipe.parameters, **changes}.items() if slot in SLOTS}}
    try:
        for key, value in changes.items():
            slot, _, parameter = key.partition("__")
            if slot not in SLOTS or slots[slot] in (None, compose.AUTO):
                continue
            stage = compose.resolve(slot, slots[slot])
            if parameter and stage is not None:
                compose.with_parameter(slot, stage, parameter, value)
    except ValueError as error:
        raise BadInput(f"--set {' '.join(settings)}: {error}") from error


class _Line(logging.Handler):
    """Writes the message of a record to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it, above a progress bar if there is one."""
        from clusterkit.cli import console

        console.text(record.getMessage(), err=True, dim=True)


def on_terminals() -> None:
    """Show from now on when something is compiled, if standard error is a terminal."""
    log = logging.getLogger("clusterkit.compilation")
    if sys.stderr is None or not sys.stderr.isatty() or log.handlers:
        return
    log.addHandler(_Line())
    log.setLevel(logging.INFO)
    log.propagate = False
