"""``clusterkit demo``: a table and two data sets of papers, clustered end to end, with a page and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clusterkit.cli import console, outputs, report
from clusterkit.errors import MissingLibrary

DIGITS = (3, 5, 8, 9)
"""The digits that are clustered."""


@click.command(short_help="Cluster a table and two data sets of papers, and show the outcome.")
@click.option(
    "-o",
    "--output",
    "path",
    default="clusterkit-demo.png",
    show_default=True,
    metavar="FILE",
    help="File for the picture: .png .pdf .svg. The page has its name, with .html.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
def demo(path: str, seed: int) -> None:
    """Cluster a table of customers and write a page about it; then two moons and handwritten digits, with a picture.

    This takes some seconds. The first run takes a few more, because it compiles the loops of the solvers.
    """
    page = str(Path(path).with_suffix(".html"))
    outputs.check({"-o": path, "page": page})
    outputs.check_ending(path, outputs.PICTURES, "a picture")
    import numpy as np
    from sklearn.datasets import load_digits, make_moons

    from clusterkit.estimators.auto import Auto
    from clusterkit.estimators.preparing import fit_prepared
    from clusterkit.estimators.same_place import shown

    customers = _customers(seed)
    console.heading("A table of customers, with categories and gaps: neither method nor number of clusters is given")
    with shown(True):
        auto = Auto(random_state=seed)
        fit_prepared(auto, customers)
    try:
        report.check(page)
        report.tell(report.write(page, "", customers, model=auto, methods=("kmeans",), seed=seed), page)
    except MissingLibrary as error:
        console.text(f"No page and no picture: {error}.", err=True)
        path = page = ""

    moons, moon = make_moons(300, noise=0.06, random_state=seed)
    images, digits = load_digits(return_X_y=True)
    rows = np.isin(digits, DIGITS)
    images, digits = images[rows], digits[rows]
    names = f"digits {', '.join(map(str, DIGITS))}"
    console.heading(f"Methods of papers: two moons, and handwritten {names}")
    with shown(True):
        fits = [
            _clustered("moons", moons, moon, "kmeans", 2, seed),
            _clustered("moons", moons, moon, "emmc-graph", 2, seed),
            _clustered(names, images, digits, "kmeans", 4, seed),
            _clustered(names, images, digits, "emmc", 4, seed),
        ]
    console.table(["data", "rows", "recipe", "clusters", "accuracy"], [cells for cells, _ in fits])
    console.text("Accuracy is measured against the known classes, which the recipes do not see.")
    if path:
        from matplotlib.figure import Figure

        from clusterkit import plots

        figure = Figure(figsize=(12.5, 5.9), layout="constrained")
        for ax, X, (cells, model) in zip(figure.subplots(1, 2), (moons, images), fits[1::2], strict=True):
            data, _, name, _, accuracy = cells
            plots.clusters(model, X, ax=ax).set_title(f"{data} by {name}: {accuracy} correct", loc="left")
        outputs.write_picture(path, figure)
        console.text(f"Picture: {path}")
    console.text("Next: clusterkit fit YOUR.csv -o labels.csv --report page.html, or clusterkit recipes")


def _customers(seed: int) -> dict[str, Any]:
    """Three kinds of customers: columns that tell them apart, one with gaps, and one that does not."""
    import numpy as np

    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1, 2], 60)
    spend = np.array([12.0, 28.0, 80.0])[kind] * np.exp(0.3 * rng.normal(size=180))
    spend[::13] = np.nan
    return {
        "visits a month": np.array([2.0, 8.0, 3.0])[kind] + rng.normal(size=180),
        "spend": spend,
        "plan": np.where(rng.random(180) < 0.85, np.array(["basic", "plus", "plus"])[kind], "trial"),
        "country": rng.choice(["AT", "CH", "DE"], 180),
    }


def _clustered(data: str, X: Any, classes: Any, name: str, k: int, seed: int) -> tuple[list[str], Any]:
    """Fit a recipe and return the cells of its row, and the model."""
    from clusterkit.estimators.build import recipe
    from clusterkit.metrics import clustering_accuracy

    model: Any = recipe(name, n_clusters=k, random_state=seed).fit(X)
    accuracy = f"{100 * clustering_accuracy(classes, model.labels_):.1f} %"
    return [data, str(len(X)), name, str(model.n_clusters_), accuracy], model
