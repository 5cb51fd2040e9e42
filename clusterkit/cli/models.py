"""Model files: a fitted pipeline, the columns it was fitted on, and the version that wrote them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from clusterkit import __version__
from clusterkit.cli.failures import BadInput

if TYPE_CHECKING:
    from clusterkit.cli.tables import Opened

__all__ = ["load", "matched", "save"]

KEYS = frozenset({"pipeline", "columns", "named", "recipe", "clusterkit"})


def save(path: str, pipeline: Any, table: Any, recipe: str) -> None:
    """Write a model."""
    import joblib

    content = {
        "pipeline": pipeline,
        "columns": list(table.names),
        "named": table.named,
        "recipe": recipe,
        "clusterkit": __version__,
    }
    joblib.dump(content, path)


def load(path: str) -> dict[str, Any]:
    """Read a model; another version only warns."""
    import joblib

    from clusterkit.core.errors import ClusterkitWarning

    try:
        model = joblib.load(path)
    except OSError:
        raise
    except Exception as error:  # unpickling what is no pickle raises anything
        raise BadInput(f"{path} is no model of `clusterkit fit --save`: {type(error).__name__}: {error}") from error
    if not (isinstance(model, dict) and model.keys() >= KEYS):
        raise BadInput(f"{path} is no model of `clusterkit fit --save`")
    if model["clusterkit"] != __version__:
        warnings.warn(
            f"{path} was saved by clusterkit {model['clusterkit']}, this is {__version__}",
            ClusterkitWarning,
            stacklevel=2,
        )
    return model


def matched(model: dict[str, Any], opened: Opened, chosen: list[int]) -> list[int]:
    """Positions in the data of the columns that the model was fitted on.

    By name, so their order does not matter and others are passed over; by position where only one of the
    two has names.
    """
    wanted: list[str] = model["columns"]
    if model["named"] == opened.named:
        places = {opened.names[j]: j for j in chosen}
        lacking = [name for name in wanted if name not in places]
        if lacking:
            raise BadInput(
                f"{opened.title} lacks {len(lacking)} of the {len(wanted)} columns the model was fitted on: "
                f"{_some(lacking)}"
            )
        return [places[name] for name in wanted]
    if len(chosen) != len(wanted):
        raise BadInput(
            f"{opened.title} has {len(chosen)} columns, the model was fitted on {len(wanted)} ({_some(wanted)}); "
            "choose them with --columns"
        )
    return chosen


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
