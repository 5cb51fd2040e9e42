"""The pictures of a report: SVG in the colours of the page, light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree

import numpy as np

from clusterkit import plots
from clusterkit._typing import Indices
from clusterkit.numerics.row_samples import sample_rows
from clusterkit.plots.figure import INK, SPINES, TITLE
from clusterkit.report.analysis import Analysis, chose_number
from clusterkit.report.plain import plain

__all__ = ["pictures"]

MOST_POINTS = 2000
"""Most points of the map: more make the file large and cover each other."""

COLOURS = {INK: "currentColor", "#000000": "currentColor", "#ffffff": "var(--paper)", SPINES: "var(--line)"}
"""Colours that become those of the page: of lines and text, of the edges of points and boxes, of spines."""

COLOURED = frozenset({"style", "fill", "stroke"})
"""Attributes that hold colours and fonts."""

FONTS = re.compile(r"(font(?:-family)?:[^;']*?)\s*'[^;]*")
"""The fonts of a style, which a page need not have."""

SAMPLES = re.compile(r"^(\d+ clusters? of [\d,]+) sample(s?),")
"""The beginning of the title of a plot; a report has rows."""

LINKS = "{http://www.w3.org/1999/xlink}"
"""The namespace of links, as the parser writes it before their names."""


def pictures(analysis: Analysis) -> dict[str, str]:
    """The SVG of each picture that can be drawn, by name: "map", "sizes", "curve", "profile", "silhouette"."""
    drawn: dict[str, str] = {}
    several = len(np.unique(analysis.labels[analysis.labels >= 0])) > 1
    n_clusters = min(len(analysis.clusters.clusters), 31)
    height = min(0.9 + 0.28 * (n_clusters + 1), 7.0)
    drawn["map"] = _svg("map", (7.4, 4.6), lambda ax: _map(analysis, ax))
    drawn["sizes"] = _svg("sizes", (7.4, height), lambda ax: plots.sizes(analysis.labels, ax))
    candidates: list[Any] = list(getattr(analysis.model, "candidates_", []))
    if chose_number(analysis) and len({row["n_clusters"] for row in candidates}) > 1:
        drawn["curve"] = _svg("curve", (7.4, 3.0), lambda ax: plots.number_curve(analysis.model, ax))
    if several and any(cluster.features for cluster in analysis.clusters.clusters):
        names = {feature.text for cluster in analysis.clusters.clusters for feature in cluster.features}
        size = (7.4, min(1.3 + 0.27 * min(len(names), 20), 7.0))
        drawn["profile"] = _svg("profile", size, lambda ax: plots.profile(analysis.clusters, ax))
    if several:
        rows = analysis.compared_rows
        with suppress(ValueError):  # every row of the sample is a cluster of its own
            drawn["silhouette"] = _svg(
                "silhouette",
                (7.4, 3.6),
                lambda ax: plots.silhouette(analysis.labels[rows], analysis.compared_points, ax),
            )
    return drawn


def _map(analysis: Analysis, ax: Any) -> None:
    rows = _some(analysis, MOST_POINTS)
    names = [plain(name, 40) for name in analysis.preparation.features]
    plots.clusters(analysis.labels[rows], analysis.X[rows], ax=ax, names=names)
    if len(rows) < len(analysis.labels):
        ax.set_title(ax.get_title(loc="left") + f"\nA sample of {len(rows):,} rows", loc="left")


def _some(analysis: Analysis, most: int) -> Indices:
    """Some of the rows, each cluster in proportion."""
    return sample_rows(len(analysis.labels), most, np.random.default_rng(analysis.seed))


def _svg(name: str, size: tuple[float, float], draw: Callable[[Any], object]) -> str:
    """A picture as SVG for the inside of a page, always the same for the same data."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        figure = Figure(figsize=size, layout="constrained")
        figure.patch.set_alpha(0.0)
        ax = figure.subplots()
        ax.patch.set_alpha(0.0)
        draw(ax)
        title = SAMPLES.sub(r"\1 row\2,", ax.get_title(loc="left"))
        ax.set_title(title, loc="left", fontsize=TITLE, color=INK)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    picture = ElementTree.fromstring(buffer.getvalue())
    box = picture.attrib["viewBox"]
    picture.attrib.clear()
    picture.attrib.update({"viewBox": box, "role": "img"})
    for part in picture.iter():
        part.tag = part.tag.rpartition("}")[2]  # inside a page, SVG has no prefix
        # names of the parts must differ between the pictures of a page
        part.attrib = {key.replace(LINKS, "xlink:"): _of_page(key, its, name) for key, its in part.attrib.items()}
    for part in picture.findall("metadata"):
        picture.remove(part)
    return ElementTree.tostring(picture, encoding="unicode")


def _of_page(key: str, value: str, name: str) -> str:
    """An attribute for the page: in its colours, and with the name of the picture before the names of its parts.

    Texts are no attributes, so that a name of a column stays as it is, whatever it looks like.
    """
    if key == "id":
        return f"{name}-{value}"
    if key == LINKS + "href" and value.startswith("#"):  # an image holds its own data
        return f"#{name}-{value[1:]}"
    value = value.replace("url(#", f"url(#{name}-")
    if key not in COLOURED:
        return value
    for colour, of_page in COLOURS.items():
        value = value.replace(colour, of_page)
    return FONTS.sub(r"\1 sans-serif", value)
