"""The page of a report from a table (`make_report`): its texts, its pictures, and the template filled.

The pictures are SVG in the colours of the page, light or dark.
"""

from __future__ import annotations

import copy
import html
import io
import math
import platform
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import attrs
import numpy as np

from clusterkit import plots
from clusterkit._typing import Array, Indices, Labels
from clusterkit._version import __version__
from clusterkit.contracts.arguments import NumberLike
from clusterkit.contracts.labelings import cluster_sizes
from clusterkit.contracts.registry import registry
from clusterkit.errors import InvalidData, counted, need, with_title
from clusterkit.estimators.base import FittedAttributes
from clusterkit.numerics.selection import sample_rows
from clusterkit.numerics.threads import ignoring
from clusterkit.plots.figure import (
    INK,
    SPINES,
    STYLES,
    TITLE,
    UNTELLING,
    deciding,
    draw_clusters,
    styles_of,
)
from clusterkit.profiles import ClusterProfile, FeatureProfile, Profile, explain, profiling
from clusterkit.profiles.comparing import Method
from clusterkit.profiles.doubts import FAR, Doubts, doubts
from clusterkit.profiles.naming import in_words
from clusterkit.profiles.profiling import heat_cells, roles_of_fit
from clusterkit.profiles.raw_table import times
from clusterkit.profiles.rows import FittedRows
from clusterkit.report import sentences
from clusterkit.report.analysis import Analysis, Answer, OddRow, analyse, prepared_as_fitted, recipe_of
from clusterkit.report.sentences import plain
from clusterkit.samples.array_libraries import to_host
from clusterkit.tables import Preparation, Table, read_table
from clusterkit.tables.cells.readings import as_levels
from clusterkit.tables.preparing.plans import NumberColumn
from clusterkit.tables.reading.files import table_of_arrays
from clusterkit.tables.reading.frames import is_frame

MOST_POINTS = 2000
"""Largest number of points of the map: more make the file large and hide each other."""

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
    """The SVG of each picture that can be drawn, by name: "map", "curve", "profile", "roles", "silhouette"."""
    drawn: dict[str, str] = {}
    several = len(np.unique(analysis.labels[analysis.labels >= 0])) > 1
    drawn["map"] = _svg("map", (7.4, 4.6), partial(_map, analysis, analysis.X))
    candidates: list[Any] = list(getattr(analysis.model, "candidates_", []))
    if analysis.chose_number and len({row["n_clusters"] for row in candidates}) > 2:
        drawn["curve"] = _svg("curve", (7.4, 3.0), lambda ax: plots.number_curve(analysis.model, ax))
    if several and any(cluster.features for cluster in analysis.clusters.clusters):
        names = {feature.text for cluster in analysis.clusters.clusters for feature in cluster.features}
        size = (7.4, min(1.3 + 0.27 * min(len(names), 20), 7.0))
        drawn["profile"] = _svg("profile", size, lambda ax: plots.profile(analysis.clusters, ax))
    if analysis.clusters.roles:
        n_columns = min(len(analysis.clusters.roles), 20)
        size = (7.4, 1.2 + 0.27 * n_columns)
        drawn["roles"] = _svg("roles", size, lambda ax: plots.roles(analysis.clusters, ax))
    if several:
        rows = analysis.compared_rows
        with suppress(ValueError):  # every row of the sample is a cluster of its own
            drawn["silhouette"] = _svg(
                "silhouette",
                (7.4, 3.6),
                lambda ax: plots.silhouette(analysis.labels[rows], analysis.compared_points, ax),
            )
    return drawn


def _map(answer: Answer, X: Array, ax: Any) -> None:
    model, labels = answer.model, answer.model.labels_
    rows = sample_rows(len(labels), MOST_POINTS, np.random.default_rng(answer.seed))
    names = [plain(name, 40) for name in model.preparation_.features]
    draw_clusters(ax, X[rows], labels[rows], names, deciding(model, answer.clusters.roles), model)
    if len(rows) < len(labels):
        ax.set_title(ax.get_title(loc="left") + f"\nA sample of {len(rows):,} rows", loc="left")


def _svg(name: str, size: tuple[float, float], draw: Callable[[Any], object]) -> str:
    """A picture as SVG for the inside of a page, always the same for the same data."""
    import matplotlib
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # texts stay texts, for which the browser has the letters
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
    """The value of an attribute in the page: its colours are the page's, and names of parts begin with the picture's.

    Attributes alone are changed, so that a text such as the name of a column stays as it is, whatever it looks like.
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


def in_notebook(model: FittedAttributes) -> str:
    """The answer of a fit as HTML: the sentences of a report, named clusters with sizes, and a map.

    Rows are those that the model stores, gaps of which may be filled. Without them, or without matplotlib, there is no
    map; doubts of which cells are the reason are those of `make_report`.
    """
    labels, names = np.asarray(to_host(model.labels_)), model.names_
    n, part, X, its = len(labels), copy.copy(model), None, Doubts()
    clusters = tuple(
        ClusterProfile(label, size, size / n, names[label], (), None) for label, size in cluster_sizes(labels).items()
    )
    with ignoring(Warning), suppress(InvalidData):
        if (rows := FittedRows.of(model)) is not None:
            # they are in the order of their clusters
            order = (
                np.argsort(np.argsort(labels, kind="stable")) if len(rows.labels) == n else np.arange(len(rows.labels))
            )
            part.labels_ = rows.labels[order]
            table = table_of_arrays("the rows", {column.name: column.cells[order] for column in rows.columns})
            part, X = prepared_as_fitted(part, table)
            its = doubts(part, table, X)
    if len(part.labels_) != n:
        its = attrs.evolve(its, of_single="")  # the numbers of the rows are those of a sample
    shown = Profile(clusters, n, int((labels < 0).sum()), n, {}, roles_of_fit(model))
    answer = Answer(part, getattr(model, "n_clusters", None), shown, its, 0)
    cells = [f"<tr><td>{html.escape(plain(one.name))}<td>{one.size:,}" for one in clusters[:MOST_CLUSTERS]]
    parts = [f"<p>{html.escape(text)}</p>" for text in sentences.main_sentences(answer)]
    parts.append(f"<table><tr><th>cluster<th>rows{''.join(cells)}</table>")
    if X is None:
        parts.append("The model stores no rows of the table: make_report(X, model=model) shows doubts and a map.")
    else:
        with suppress(ImportError):
            parts.append(_svg("notebook", (6.0, 3.6), partial(_map, answer, X)))
    return f'<div style="--paper:#fff;--line:#999;max-width:48em">{"".join(parts)}</div>'


MOST_CLUSTERS = 30
"""Largest number of clusters that are described, the largest ones."""

MOST_FEATURES = 8
"""Columns in the profile of a cluster."""

MOST_CELLS = 8
"""Columns in the lists of rows: those that distinguish the clusters most."""

MOST_CANDIDATES = 6
"""Numbers of clusters whose best clustering is listed."""

MOST_LEFT_OUT = 20
"""Largest number of columns for which the report says one by one why they are left out."""


def page(analysis: Analysis, *, command: str, fingerprint: str, made: str) -> str:
    """The page of an analysis; everything from the table is escaped by the template."""
    import jinja2
    from markupsafe import Markup

    source = files("clusterkit.report").joinpath("page.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    rivals = [0, *analysis.rivals]
    candidates = _candidates(analysis)
    compared = [recipe_of(analysis.comparison.methods[j].name if j else analysis.method) for j in rivals]
    shown = sorted(analysis.clusters.clusters, key=lambda cluster: -cluster.size)[:MOST_CLUSTERS]
    shown.sort(key=lambda cluster: cluster.label)
    n_more = len(analysis.clusters.clusters) - len(shown)
    left_out = _left_out(analysis)
    columns, naming = _telling(analysis), _naming(left_out)
    columns = [naming, *columns] if naming else columns
    more_columns = _more(len(analysis.preparation.used) - len(columns) + bool(naming))
    roles = analysis.clusters.roles
    values: dict[str, Any] = {
        "title": plain(analysis.table.title.rpartition("/")[2] or analysis.table.title),
        "verdict": sentences.main_sentences(analysis),
        "tests": sentences.tests_of_one_cluster(analysis),
        "made": made,
        "n_rows": counted(analysis.clusters.n_rows, "row"),
        "n_columns": counted(len(analysis.preparation.columns), "column"),
        "n_used": f"{len(analysis.preparation.used):,}",
        "prepared": plain(analysis.preparation.paragraph(), 3000),
        "cells": sentences.quality_of_cells(analysis.table, analysis.preparation.plans),
        "notes": [plain(note, 300) for note in analysis.table.notes],
        "left_out": [
            (plain(name), plain(why, 200)) for name, why in list(analysis.preparation.left_out.items())[:MOST_LEFT_OUT]
        ],
        "more_left_out": _more(len(analysis.preparation.left_out) - MOST_LEFT_OUT),
        "pictures": {name: Markup(svg) for name, svg in pictures(analysis).items()},
        "methods": [_method(analysis.comparison.methods[j], j, analysis) for j in rivals],
        "titles": _titles([*compared, *(recipe_of(method) for _, method, _ in candidates)]),
        "not_compared": sorted({method for _, method, _ in candidates if recipe_of(method) not in compared}),
        "score": sentences.score_of_number(str(analysis._choice.get("criterion", ""))),
        "heat": _heat(analysis),
        "roles": sentences.of_roles(analysis.clusters),
        "has_levels": any(feature.level is not None for one in shown for feature in one.features[:MOST_FEATURES]),
        "agreement": _agreement(analysis),
        "failed": [(name, plain(why, 300)) for name, why in analysis.comparison.failed.items()],
        "compared": f"{analysis.comparison.n_compared:,}",
        "candidates": candidates,
        "clusters": [_cluster(cluster, analysis, columns) for cluster in shown],
        "crossed": _crossed(analysis, left_out, shown),
        "more": counted(n_more, "smaller cluster") + (" is" if n_more == 1 else " are") if n_more else "",
        "telling": [plain(name, 40) for name in _telling(analysis) if roles.get(name) not in UNTELLING],
        "colours": [STYLES[style][0] for style in styles_of(np.array([cluster.label for cluster in shown], dtype=int))],
        "columns": [plain(name, 40) for name in columns],
        "more_columns": more_columns,
        "rows_of": f"Tables of rows show the {len(columns) - bool(naming)} columns that tell the clusters apart most; "
        f"there {'is' if more_columns.startswith('1 ') else 'are'} {more_columns}: clusterkit fit TABLE -o FILE "
        "--with-data writes all of them with the labels.",
        "more_candidates": len(_numbers(analysis)) - len(candidates) if candidates else 0,
        "borders": _odd(analysis.borders, analysis, columns),
        "reasons": _reasons(analysis),
        "outliers": _odd(analysis.outliers, analysis, columns),
        "limit": f"{FAR:g}",
        "single": sentences.is_single(analysis),
        "far": any(row.value >= FAR for row in analysis.outliers),
        "caveats": sentences.caveats(analysis),
        "command": plain(command, 2000),
        "fingerprint": fingerprint,
        "seed": analysis.seed,
        "versions": _versions(),
    }
    return environment.from_string(source).render(**values)


def _more(count: int) -> str:
    """Text on how many columns a table leaves out, "" for none."""
    return counted(count, "more column") if count > 0 else ""


def _telling(analysis: Analysis) -> list[str]:
    """The columns that distinguish some cluster from the others best, for the lists of rows."""
    strength: dict[str, float] = {}
    for cluster in analysis.clusters.clusters:
        for feature in cluster.features:
            strength[feature.column] = max(strength.get(feature.column, 0.0), feature.strength)
    ranked = sorted(strength, key=lambda name: -strength[name])[:MOST_CELLS]
    return [name for name in analysis.preparation.used if name in ranked]


NAMING = 0.9
"""Share of different values from which a column that is left out names its rows."""

MOST_CLASSES = 3
"""Largest number of columns that are left out and crossed with the clusters."""

MOST_LEVELS = 12
"""Largest number of values of a left-out column that is crossed with the clusters."""

FEWEST_OF_LEVEL = 5
"""Smallest number of rows of each of its values, on the average."""


LeftOut = Sequence[tuple[str, list[str | None], int]]
"""Name, values and number of different values of each column that is left out."""


def _left_out(analysis: Analysis) -> LeftOut:
    """Name, values and number of different values of the columns that are left out."""
    by_name = {column.name: column for column in analysis.table.columns()}
    levels = {name: list(as_levels(by_name[name])) for name in analysis.preparation.left_out if name in by_name}
    return [(name, values, len({*values} - {None})) for name, values in levels.items()]


def _naming(left_out: LeftOut) -> str | None:
    """The column that is left out and names the rows, words before numbers; None if there is none."""
    fits = [
        (name, any(text is not None and not text.strip().lstrip("-").isdigit() for text in values[:MOST_POINTS]))
        for name, values, n_levels in left_out
        if n_levels >= NAMING * len(values)
    ]
    return min(fits, key=lambda fit: not fit[1], default=(None, False))[0]


def _crossed(analysis: Analysis, left_out: LeftOut, shown: Sequence[ClusterProfile]) -> list[Mapping[str, object]]:
    """The clusters in tables with columns that are left out and like classes."""
    tables: list[Mapping[str, object]] = []
    for name, values, n_levels in left_out:
        if 2 <= n_levels <= MOST_LEVELS and n_levels * FEWEST_OF_LEVEL <= len(values) and len(tables) < MOST_CLASSES:
            levels = sorted({text for text in values if text is not None})
            cells = np.array([levels.index(text) if text is not None else len(levels) for text in values])
            names = [plain(level, 40) for level in levels] + (["no value"] if (cells == len(levels)).any() else [])
            title = f"The clusters and the column {plain(name, 60)}, which was left out"
            tables.append(_table_of(title, analysis.labels, cells, names, shown))
    return tables


def _table_of(
    title: str, labels: Labels, cells: Indices, names: Sequence[str], shown: Sequence[ClusterProfile]
) -> Mapping[str, object]:
    """Numbers of rows of each cluster in each of the cells, with their shares of the cluster as shades."""
    rows = []
    for label in [cluster.label for cluster in shown] + ([-1] if (labels < 0).any() else []):
        counts = np.bincount(cells[labels == label], minlength=len(names)).tolist()
        total = max(sum(counts), 1)
        rows.append(
            ("none" if label < 0 else f"{label}", [(f"{count:,}", round(100 * count / total)) for count in counts])
        )
    return {"title": title, "names": names, "rows": rows}


def _cells(analysis: Analysis, rows: Indices, columns: Sequence[str]) -> list[list[str]]:
    """Cells of some rows, as they are in the table."""
    by_name = {column.name: column for column in analysis.table.columns()}
    texts: list[list[str]] = []
    for name in columns:
        column = by_name[name]
        part = attrs.evolve(column, values=column.values[rows])
        if column.kind == "number" and not column.duration:
            texts.append([sentences.cell(float(value)) for value in part.values.astype(np.float64)])
        else:
            texts.append(["–" if text is None else plain(text, 40) for text in as_levels(part)])
    return [list(row) for row in zip(*texts, strict=True)] if texts else [[] for _ in rows]


def _method(method: Method, j: int, analysis: Analysis) -> Mapping[str, object]:
    largest = sorted(method.sizes.values(), reverse=True)
    return {
        "name": f"{analysis.method} (chosen)" if j == 0 else method.name,
        "n_clusters": _number_of(method, j, analysis),
        "noise": f"{method.n_noise:,}",
        "sizes": ", ".join(f"{size:,}" for size in largest[:6]) + (", …" if len(largest) > 6 else ""),
        "silhouette": sentences.decimal(method.silhouette),
        "davies_bouldin": sentences.decimal(method.davies_bouldin),
        "dbcv": sentences.decimal(method.dbcv),
        "evidence": sentences.decimal(method.evidence),
        "stability": sentences.decimal(_stability(method, j, analysis)),
        "seconds": sentences.decimal(_seconds(method, j, analysis), 1),
    }


def _number_of(method: Method, j: int, analysis: Analysis) -> str:
    """The number of clusters, with a remark if a method found it by itself where others were given one."""
    k, chosen = method.n_clusters, analysis.chose_number
    if (j == 0 and chosen) or not sentences.own_number(recipe_of(analysis.method if j == 0 else method.name)):
        return f"{k}"
    return f"{k} (its own number)" if chosen or k == analysis.wanted else f"{k} (its own; {analysis.wanted} asked for)"


def _seconds(method: Method, j: int, analysis: Analysis) -> float:
    """The time of a fit; of the chosen clustering that of its method by itself, if it was fitted once more."""
    again = [one.seconds for one in analysis.comparison.methods[1:] if one.name == analysis.recipe]
    return again[0] if j == 0 and again else method.seconds


def _titles(names: Iterable[str]) -> list[str]:
    """Title of each recipe, one line each."""
    known = registry.names("recipe")
    return [with_title(name, registry.get("recipe", name).title) for name in dict.fromkeys(names) if name in known]


def _heat(analysis: Analysis) -> Mapping[str, object]:
    """Columns that are not in the map of differences, and whether it has empty cells."""
    _, names, values = heat_cells(analysis.clusters)
    drawn = set(names)
    columns = {one.column for cluster in analysis.clusters.clusters for one in cluster.features if one.text in drawn}
    absent = [plain(name, 40) for name in analysis.preparation.used if name not in columns]
    more = f" and {len(absent) - MOST_LEFT_OUT} more" if len(absent) > MOST_LEFT_OUT else ""
    few = len(analysis.clusters.clusters) - profiling.MOST_CLUSTERS
    fewer = f"the {profiling.MOST_CLUSTERS} largest clusters" if few > 0 else ""
    return {"fewer": fewer, "absent": ", ".join(absent[:MOST_LEFT_OUT]) + more, "empty": bool(np.isnan(values).any())}


def _stability(method: Method, j: int, analysis: Analysis) -> float:
    """The stability of a method; of the chosen one as the choice measured it; nan where it has not two clusters."""
    if method.n_clusters < 2:
        return math.nan
    candidates: list[Any] = list(getattr(analysis.model, "candidates_", []))
    if j or not candidates:
        return method.stability
    return float(candidates[0].get("stability", analysis._choice.get("stability", np.nan)))


def _agreement(analysis: Analysis) -> Mapping[str, object]:
    """Names and rows of the matrix, each cell with its shade."""
    places = [0, *analysis.rivals]
    methods = [analysis.comparison.methods[j] for j in places]
    names = [
        f"{analysis.method} (chosen)" if j == 0 else method.name for j, method in zip(places, methods, strict=True)
    ]
    rows = [
        (names[i], [(sentences.decimal(float(value)), round(100 * max(float(value), 0.0))) for value in row])
        for i, row in enumerate(analysis.comparison.agreement[np.ix_(places, places)])
    ]
    return {"names": names, "rows": rows}


def _candidates(analysis: Analysis) -> list[tuple[object, str, str]]:
    """The best clustering at each of the best numbers of clusters: number, method, score."""
    best = _numbers(analysis)
    return (
        [(number, str(row["recipe"]), f"{row['score']:.2f}") for number, row in list(best.items())[:MOST_CANDIDATES]]
        if len(best) > 1
        else []
    )


def _numbers(analysis: Analysis) -> Mapping[object, Mapping[str, Any]]:
    """The best clustering at each number of clusters, the best one first."""
    best: dict[object, Mapping[str, Any]] = {}
    rows: Iterable[Any] = getattr(analysis.model, "candidates_", [])
    for row in rows:
        best.setdefault(row["n_clusters"], row)
    return best


def _cluster(cluster: ClusterProfile, analysis: Analysis, columns: Sequence[str]) -> Mapping[str, object]:
    rows = analysis.examples.get(cluster.label, np.empty(0, dtype=np.intp))
    clocks = {plan.name: plan.clock for plan in analysis.preparation.plans if isinstance(plan, NumberColumn)}
    return {
        "label": cluster.label,
        "name": "all rows" if sentences.is_single(analysis) else plain(cluster.name, 160),
        "size": counted(cluster.size, "row"),
        "share": sentences.percent(cluster.share),
        "width": 100 * cluster.share,
        "nearest": _nearest(cluster.label, analysis),
        "rule": None if cluster.rule is None else plain(cluster.rule.text, 300),
        "precision": "" if cluster.rule is None else sentences.percent(cluster.rule.precision),
        "recall": "" if cluster.rule is None else sentences.percent(cluster.rule.recall),
        "has_lifts": any(feature.lift is not None for feature in cluster.features[:MOST_FEATURES]),
        "features": [
            {
                "name": plain(feature.text, 60),
                "position": in_words(feature.position, feature.kind) if feature.position != "same" else "–",
                "inside": sentences.of_feature(feature, feature.inside, clocks.get(feature.column, "")),
                "outside": sentences.of_feature(feature, feature.outside, clocks.get(feature.column, "")),
                **_compared(feature),
                "lift": "" if feature.lift is None else f"× {feature.lift:.1f}",
            }
            for feature in cluster.features[:MOST_FEATURES]
        ],
        "more_features": _more_features(cluster, analysis),
        "examples": [
            (f"{row + 1:,}", cells) for row, cells in zip(rows.tolist(), _cells(analysis, rows, columns), strict=True)
        ],
    }


def _more_features(cluster: ClusterProfile, analysis: Analysis) -> str:
    """How many columns, or levels of those that are there, the profile of a cluster leaves out; "" for none."""
    shown, rest = cluster.features[:MOST_FEATURES], cluster.features[MOST_FEATURES:]
    columns = {*analysis.preparation.used} - {one.column for one in shown}
    return _more(len(columns)) or (counted(len(rest), "more level") if rest else "")


def _compared(feature: FeatureProfile) -> Mapping[str, str]:
    """Comparison of the two sides of a feature; dashes where one of them has no values."""
    if math.isnan(feature.difference):
        return dict.fromkeys(("difference", "interval", "probability", "strength"), "–")
    middle = feature.position == "medium"
    return {
        "difference": f"{feature.difference:+.2f}",
        "interval": f"{feature.low:+.2f} to {feature.high:+.2f}",
        "probability": f"{feature.closeness:.2f} (nearer)" if middle else f"{feature.contrast:.2f}",
        "strength": f"{feature.strength:.2f}",
    }


def _nearest(label: int, analysis: Analysis) -> str:
    """The cluster whose mean is nearest, "" for a single one."""
    means = {one.label: analysis.X[analysis.labels == one.label].mean(axis=0) for one in analysis.clusters.clusters}
    others = [other for other in means if other != label]
    if not others:
        return ""
    return str(min(others, key=lambda other: float(np.linalg.norm(means[other] - means[label]))))


def _odd(rows: Sequence[OddRow], analysis: Analysis, columns: Sequence[str]) -> list[Mapping[str, object]]:
    cells = _cells(analysis, np.array([row.row for row in rows], dtype=np.intp), columns)
    return [
        {
            "row": f"{row.row + 1:,}",
            "label": "none" if row.label < 0 else row.label,
            "other": "–" if row.other < 0 else row.other,
            "value": row.value,
            # rounded down, so that no row below the limit is shown with it
            "times": times(math.floor(10 * row.value) / 10),
            "cells": of_row,
        }
        for row, of_row in zip(rows, cells, strict=True)
    ]


def _reasons(analysis: Analysis) -> list[str]:
    """Why each row between clusters is in its own; none where the model has no rows to compare with."""
    rows = np.array([one.row for one in analysis.borders], dtype=np.intp)
    with suppress(ValueError):
        explained = explain(analysis.model, analysis.table.take(rows)).rows if len(rows) else ()
        return [f"Row {row + 1:,}: {plain(one.sentence, 800)}" for row, one in zip(rows, explained, strict=True)]
    return []


def _versions() -> str:
    import scipy
    import sklearn

    return (
        f"clusterkit {__version__}, Python {platform.python_version()}, numpy {np.__version__}, scipy "
        f"{scipy.__version__}, scikit-learn {sklearn.__version__}"
    )


def make_report(
    data: object,
    *,
    n_clusters: NumberLike = None,
    methods: Sequence[str] = (),
    preparation: Preparation | None = None,
    seed: int = 0,
    model: FittedAttributes | None = None,
    command: str = "",
    fingerprint: str = "",
    made: str = "",
) -> tuple[str, Analysis]:
    """Cluster a table and write what was found as one page of HTML.

    Parameters
    ----------
    data : str, Table, data frame, mapping of str to array, or array of shape (n, d)
        A file, or the table that was read from it.
    n_clusters : int, pair of int, "auto" or None, default None
        Number of clusters; None and "auto" choose it, a pair (2, 8) says among which.
    methods : sequence of str, default ()
        Recipes to compare.
    preparation : Preparation, optional
        Treatment of gaps, categories, dates and units.
    seed : int, default 0
    model : fitted estimator, optional
        One that was fitted to these rows: its clusters are described, and nothing is fitted but what it is compared
        with. `n_clusters` and `preparation` are then those of the model.
    command : str, default ""
        Command line that repeats the report, for its last section.
    fingerprint : str, default ""
        Fingerprint of the file, to tell whether it is the same.
    made : str, default ""
        The date.

    Returns
    -------
    page : str
        HTML, self-contained: no network, no JavaScript. The same data give the same page.
    analysis : Analysis
        Results behind the page, with the fitted model.

    Raises
    ------
    ImportError
        If jinja2 or matplotlib is missing.
    TableError, InvalidData, UnknownName, OSError
        If the table cannot be used, or a recipe does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterkit.report import make_report
    >>> from clusterkit.tables import table_of_arrays
    >>> rng = np.random.default_rng(0)
    >>> columns = {"age": np.r_[rng.normal(25, 2, 60), rng.normal(60, 2, 60)], "height": rng.normal(170, 9, 120)}
    >>> page, analysis = make_report(columns, methods=["kmeans", "genie"])
    >>> analysis.clusters.clusters[0].name in page, len(page) < 2_000_000
    (True, True)
    """
    need_libraries()
    if isinstance(data, Table):
        table = data
    elif isinstance(data, str):
        table = read_table(data)
    elif isinstance(data, np.ndarray) and data.ndim == 2:
        table = table_of_arrays("an array", data)
    else:
        from clusterkit.tables.reading.frames import columns_of

        columns = {column.name: column for column in columns_of(data)}
        table = Table("a data frame" if is_frame(data) else "a table", columns, tuple(columns))
    analysis = analyse(table, n_clusters=n_clusters, methods=methods, preparation=preparation, seed=seed, model=model)
    return page(analysis, command=command, fingerprint=fingerprint, made=made), analysis


def need_libraries() -> None:
    """Raise ImportError, with what to install, if jinja2 or matplotlib is missing."""
    for library in ("jinja2", "matplotlib"):
        need(library, "a report", "report")
