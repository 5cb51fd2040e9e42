"""Errors of a file or a name before anything slow is imported.

scikit-learn takes over a second to import, which nobody should wait for to learn that a file is not there. What is
checked here is checked again where it is used; here nothing is read and nothing is made.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterkit.cli import data as source
from clusterkit.cli.failures import BadInput

DEFAULT = "auto"
"""The recipe where none is named, which takes clusters of any shape and size."""


def check(data: str, recipe: str | None, settings: Sequence[str]) -> str:
    """The recipe that is meant, which has to exist, as has the file.

    Parameters
    ----------
    data : str
        The argument DATA.
    recipe : str or None
        Name of the recipe; without one the default chooses among whole methods, and has no stages to set.
    settings : sequence of str
        The values of --set.

    Raises
    ------
    BadInput, UnknownName
        If a name is unknown; says the nearest names.
    """
    from clusterkit.cli.options import parsed
    from clusterkit.contracts.composition import SLOTS
    from clusterkit.contracts.registry import registry

    if recipe is None and any(key.partition("__")[0] in {*SLOTS, "tuner"} for key in parsed(settings)):
        raise BadInput(
            f"--set {' '.join(settings)}: no recipe is named, and recipe {DEFAULT!r} has no stages to change. Name one "
            "with -r, for example -r emmc or -r kmeans"
        )
    registry.get("recipe", recipe or DEFAULT)
    source.check(data)
    return recipe or DEFAULT
