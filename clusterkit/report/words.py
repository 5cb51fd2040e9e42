"""Sentences from the numbers of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from clusterkit.profiles import ClusterProfile, FeatureProfile
from clusterkit.report.analysis import COMPARED_ROWS, Analysis, chose_number
from clusterkit.report.plain import plain

__all__ = ["caveats", "certainty", "decimal", "number", "of_feature", "sizes_of", "verdict"]

SURE, UNSURE = 0.8, 0.5
"""Confidences from which the structure is called clear, and below which it is called doubtful."""

UNSTABLE = 0.75
"""Stability below which the caveats mention it: other rows of the same kind give other clusters."""

SIZES = 8
"""Most sizes that a sentence names."""


def number(value: float) -> str:
    """A number of a table, with four digits.

    Examples
    --------
    >>> number(1234567.8), number(0.00123456), number(12.0), number(math.nan)
    ('1,234,568', '0.001235', '12', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def decimal(value: float, digits: int = 2) -> str:
    """A number with fixed decimals; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def percent(share: float) -> str:
    """A share in percent, not rounded to nothing or to everything."""
    if 0 < share < 0.005:
        return "below 1 %"
    return "above 99 %" if 0.995 < share < 1 else f"{share:.0%}".replace("%", " %")


def of_feature(feature: FeatureProfile, value: float) -> str:
    """The mean or the share of a feature, in its unit."""
    if feature.level is not None:
        return percent(value)
    if feature.kind == "date":
        try:
            return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d")
        except (OverflowError, OSError, ValueError):
            return "–"
    return number(value)


def sizes_of(clusters: Sequence[ClusterProfile]) -> str:
    """The sizes of clusters in words.

    Examples
    --------
    >>> one = ClusterProfile(0, 1200, 0.5, "", (), None)
    >>> sizes_of([one, one, one])
    '1,200, 1,200 and 1,200'
    """
    texts = [f"{cluster.size:,}" for cluster in clusters]
    if len(texts) > SIZES:
        largest = max(cluster.size for cluster in clusters)
        return f"{min(cluster.size for cluster in clusters):,} to {largest:,}"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def verdict(analysis: Analysis) -> tuple[str, str]:
    """Two sentences: what was found, and how sure that is."""
    k, n = len(analysis.clusters.clusters), analysis.clusters.n_rows
    found_by = f"found by the method {analysis.method.partition('(')[0]}"
    if k <= 1:
        first = f"The {n:,} rows are one group: no way of dividing them was found."
        return first, "That is the answer where the rows are too few or too alike for two clusters."
    sizes = sizes_of(analysis.clusters.clusters)
    if chose_number(analysis):
        first = f"The {n:,} rows fall into {k} clusters of {sizes} rows, {found_by}."
    else:
        first = f"The {n:,} rows were divided into {k} clusters, as asked for, of {sizes} rows, {found_by}."
    if analysis.clusters.n_noise:
        first = first[:-1] + f"; {analysis.clusters.n_noise:,} rows belong to none."
    return first, certainty(analysis)


def certainty(analysis: Analysis) -> str:
    """How sure the clusters are, as one sentence."""
    confidence = float(analysis.model.confidence_)
    second = analysis.model.second_n_clusters_
    if math.isnan(confidence):
        return "How sure that is could not be estimated."
    if analysis.model.perhaps_one_cluster_:
        return (
            "This is doubtful: two tests see no sign of more than one cluster, so take the clusters as a convenient "
            f"way to divide the rows rather than as groups of their own (estimated confidence {percent(confidence)})."
        )
    degree = "clear" if confidence >= SURE else "doubtful" if confidence < UNSURE else "plausible, but not certain"
    other = "" if second is None else f"; the next best number of clusters is {second}"
    nested: Any = analysis.model.resolved_.get("auto", {})
    if second is not None and nested.get("second_is_nested"):
        other += ", which divides or joins the same clusters"
    return (
        f"This structure is {degree}: the estimated probability that it is the one that the positions of the rows show "
        f"is {percent(confidence)}{other}."
    )


def caveats(analysis: Analysis) -> list[str]:
    """What to keep in mind, the most particular first."""
    sentences = [plain(text, 400) for text in analysis.warnings]
    n = analysis.clusters.n_rows
    if analysis.model.perhaps_one_cluster_:
        sentences.append(
            "Two tests see no sign of more than one cluster. They have little power below some hundred rows."
        )
    chosen = analysis.comparison.methods[0]
    others = [
        float(analysis.comparison.agreement[0, j])
        for j, method in enumerate(analysis.comparison.methods)
        if j and method.n_clusters > 1
    ]
    if others and max(others) < UNSTABLE and chosen.n_clusters > 1:
        sentences.append(
            f"No other method agrees well with the chosen one (best adjusted Rand index {max(others):.2f}): what is "
            "found depends on the method."
        )
    if n > COMPARED_ROWS:
        sentences.append(
            f"Methods were compared, and rows on borders and outliers were looked for, on random samples of "
            f"{COMPARED_ROWS:,} of the {n:,} rows; structure much smaller than that is not seen."
        )
    small = [cluster.label for cluster in analysis.clusters.clusters if cluster.size < 10]
    if small:
        sentences.append(
            f"Clusters with fewer than ten rows ({', '.join(map(str, small[:10]))}) may be accidents: their profiles "
            "rest on few rows."
        )
    sentences += [
        "Clusters were made of the same columns that describe them: the differences show what distinguishes the "
        "clusters, and do not prove that they exist.",
        "The intervals say how exactly a difference is measured, and assume that rows are independent.",
        "Precision and recall of a rule are those on the rows that it was made of.",
        "Classes that you have in mind need not be clusters, and the confidence says nothing about them.",
    ]
    return sentences
