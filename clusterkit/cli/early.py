"""What is wrong with a file or a name is reported before anything slow is imported.

scikit-learn takes over a second to import, which nobody should wait for to learn that a file is not there. What is
checked here is checked again where it is used, with the same messages; here nothing is read and nothing is made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from clusterkit.cli.failures import BadInput

__all__ = ["SLOTS", "check", "check_data", "check_recipe"]

PREFIX = "data:"
"""Beginning of the name of a known data set, which tells it from a file."""

STDIN = "-"
"""The argument that stands for standard input."""

SLOTS: Mapping[str, object] = MappingProxyType(
    {"featuremap": "elm", "solver": "ridge", "labeler": "auto", "balancer": "auto", "init": "kmeans", "tuner": None}
)
"""What the slots of a pipeline hold if neither the recipe nor --set fills them; a test compares it with `Pipeline`."""


def check(data: str, recipe: str | None = None, settings: Iterable[str] = ()) -> None:
    """Raise for a recipe, a stage, a parameter or a file that does not exist, in this order.

    Parameters
    ----------
    data : str
        The argument DATA.
    recipe : str, optional
        Its name.
    settings : iterable of str
        The values of --set.

    Raises
    ------
    BadInput, UnknownName, DatasetNotFound
        With the nearest names.
    """
    if recipe is not None:
        check_recipe(recipe, settings)
    check_data(data)


def check_data(data: str) -> None:
    """Raise `BadInput` for a file, or `DatasetNotFound` for a data set, that is not there."""
    if data.startswith(PREFIX):
        from clusterkit.datasets.loading import check_name

        check_name(data.removeprefix(PREFIX))
    elif data == STDIN:
        if sys.stdin is None:
            raise BadInput("standard input is closed")
    elif Path(data).is_dir():
        raise BadInput(f"{data} is a folder, not a file")
    elif not os.path.lexists(data):
        from clusterkit.datasets.known import known

        hint = f"; the data set of this name is {PREFIX}{data}" if data in known() else ""
        raise BadInput(f"{data}: no such file{hint}")


def check_recipe(name: str, settings: Iterable[str] = ()) -> None:
    """Raise for a recipe that does not exist, and for stages and parameters of --set that do not."""
    from clusterkit.cli.settings import parsed
    from clusterkit.core.registry import registry

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
