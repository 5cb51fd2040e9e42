"""``clusterkit fit --plot``: the picture of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clusterkit.cli import outputs
from clusterkit.errors import need
from clusterkit.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from clusterkit._typing import Array
    from clusterkit.estimators.driven import Driven
    from clusterkit.estimators.pipeline import Pipeline

FORMATS = (".pdf", ".png", ".svg")
"""Endings of picture files: the formats that matplotlib writes without further packages."""

DOTS_PER_INCH = 150
"""Resolution of PNG files: sharp on a screen and in print at half a page."""

MOST_COORDINATES = 2
"""Number of coordinates up to which the border of a domain can be drawn."""


def check(path: str | None) -> None:
    """Raise `BadInput` before the fit for a picture that could not be drawn after it."""
    if path is not None:
        outputs.check_ending(path, FORMATS, "a picture")
        need("matplotlib", "--plot", "plots")


def draw(path: str, model: Pipeline | Driven, X: Array, names: Sequence[str], data: str, name: str) -> None:
    """Draw the contours of a domain with one or two coordinates, and the clusters of all other models.

    Parameters
    ----------
    path : str
        Path whose ending decides the format.
    model : fitted estimator
    X : ndarray of shape (n, d)
        The samples that the model was fitted on.
    names : sequence of str
        Names of the columns of X.
    data, name : str
        Data set and recipe, for the title.
    """
    from matplotlib.figure import Figure

    from clusterkit import plots
    from clusterkit.contracts.outcomes import Domain
    from clusterkit.plots.figure import SIZE, fit_height

    space, outcome = model.space_, model.outcome_
    has_border = isinstance(outcome, Domain) and space is not None and space.points.shape[1] <= MOST_COORDINATES
    function = plots.contours if has_border else plots.clusters
    figure = Figure(figsize=SIZE, layout="constrained")  # no pyplot: nothing global, no display
    ax = figure.subplots()
    function(model, X, ax=ax, names=names)
    ax.set_title(f"{Path(data).name}, recipe {name}\n" + ax.get_title(loc="left"), loc="left", fontsize=10.5)
    fit_height(ax)
    write(path, figure)


def write(path: str, figure: Figure) -> None:
    """Write a figure, the whole file or none; its ending decides the format."""
    with replacing(path) as part:
        figure.savefig(part, dpi=DOTS_PER_INCH, format=Path(path).suffix.lower().removeprefix("."))
