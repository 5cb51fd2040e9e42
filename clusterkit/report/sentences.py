"""Sentences from the numbers of a report, and texts of users made harmless and short."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from clusterkit.contracts.registry import registry
from clusterkit.criteria.one_cluster import LEVEL, MOST_OF_ONE, THRESHOLD
from clusterkit.drivers.auto import FEWEST, confidence_in_words, perhaps_in_words, second_in_words
from clusterkit.errors import STEERING, counted, escaped, first_names, percent
from clusterkit.estimators.auto_tables import EVIDENCE
from clusterkit.profiles import ClusterProfile, FeatureProfile, Profile
from clusterkit.profiles.raw_table import in_unit, number
from clusterkit.report.analysis import COMPARED_ROWS, Analysis, Answer
from clusterkit.tables import Table
from clusterkit.tables.preparing.new_rows import matched
from clusterkit.tables.preparing.plans import CategoryColumn, ColumnPlan
from clusterkit.tables.reading.row_sample import equal_rows

CONTROL = re.compile(f"[{STEERING}\ufeff\ufffe\uffff]")
"""Characters that must not be shown, and those that have no place in a page."""


def plain(text: object, most: int = 80) -> str:
    r"""A text with control characters as escapes, cut off after `most` characters.

    Examples
    --------
    >>> plain("a\x1b[31m"), plain("long" * 9, 10)
    ('a\\x1b[31m', 'longlongl…')
    """
    harmless = escaped(str(text), CONTROL)
    return harmless if len(harmless) <= most else harmless[: most - 1] + "…"


SURE, UNSURE = 0.8, 0.5
"""Confidences from which the structure is called clear, and below which it is called doubtful."""

UNSTABLE = 0.75
"""Stability below which the caveats mention it: other rows of the same kind give other clusters."""

TIES = 3
"""Largest number of clusterings with the same score that are named."""

SHARE_DIGITS = 9
"""Decimals of a share; what is left is the rounding of its sums, and 0 is no share below 1 %."""

SIZES = 8
"""Largest number of sizes that a sentence names."""


def decimal(value: float, digits: int = 2) -> str:
    """A number with fixed decimals; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def cell(value: float) -> str:
    """A number as it is in a table: whole ones without marks between thousands, because they may be years.

    Examples
    --------
    >>> cell(2024.0), cell(0.73269512), cell(math.nan)
    ('2024', '0.7327', '–')
    """
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else number(value)


def of_feature(feature: FeatureProfile, value: float, clock: str = "") -> str:
    """The mean or the share of a feature, in its unit; hours as a clock shows them, if they are of a `clock`."""
    if math.isnan(value):
        return "no values"
    if feature.level is not None:
        return percent(round(value, SHARE_DIGITS))
    return in_unit(value, feature.kind, clock)


NAMED_COLUMNS = 8
"""Columns of a role that a sentence names."""

ROLES = {
    "covariate": "shift the numbers alike in all clusters, so that their values are no clusters",
    "redundant": "say what other columns say already",
    "irrelevant": "say nothing of the clusters beyond the other columns",
}
"""What columns of a role do, in words."""


def of_roles(clusters: Profile) -> tuple[str, ...]:
    """A sentence for each role but that of the columns on which the clusters depend."""
    sentences = []
    for role, what in ROLES.items():
        if names := clusters.of_role(role):
            named = first_names([plain(name, 40) for name in names], NAMED_COLUMNS)
            sentences.append(f"{role.capitalize()} columns {what}: {named}.")
    return tuple(sentences)


def sizes_of(clusters: Sequence[ClusterProfile]) -> str:
    """The sizes of clusters in words.

    Examples
    --------
    >>> one = ClusterProfile(0, 1200, 0.5, "", (), None)
    >>> sizes_of([one, one, one])
    '1,200, 1,200 and 1,200 rows'
    >>> sizes_of([one] * 20)
    '1,200 rows each'
    """
    sizes = [cluster.size for cluster in clusters]
    if len(sizes) <= SIZES:
        texts = [f"{size:,}" for size in sizes]
        return f"{' and '.join([', '.join(texts[:-1]), texts[-1]]) if len(texts) > 1 else ''.join(texts)} rows"
    if min(sizes) == max(sizes):
        return f"{counted(sizes[0], 'row')} each"
    return f"{min(sizes):,} to {max(sizes):,} rows"


def main_sentences(analysis: Answer) -> tuple[str, ...]:
    """Paragraphs about the result, and how sure it is."""
    k, n = len(analysis.clusters.clusters), analysis.clusters.n_rows
    name = analysis.recipe
    found_by = f"found by the method {name}"
    if k <= 1:
        return _one_group(analysis)
    sizes = sizes_of(analysis.clusters.clusters)
    if analysis.chose_number and getattr(analysis.model, "perhaps_one_cluster_", False):
        first = f"There may be no groups: the {n:,} rows were divided into {k} clusters of {sizes}, {found_by}."
    elif analysis.chose_number:
        first = f"The {n:,} rows fall into {k} clusters of {sizes}, {found_by}."
    elif k != analysis.wanted:
        first = (
            f"The {n:,} rows were divided into {k} clusters of {sizes}, {found_by}; {analysis.wanted} were asked "
            "for, and no method made so many of these rows."
        )
    elif own_number(name):
        first = (
            f"The {n:,} rows were divided into {k} clusters of {sizes}, {found_by}, which finds the number by "
            "itself; it is the number asked for."
        )
    else:
        first = f"The {n:,} rows were divided into {k} clusters, as asked for, of {sizes}, {found_by}."
    if analysis.clusters.n_noise:
        first = first[:-1] + f"; {_belong(analysis.clusters.n_noise)} to none."
    return (first, *(plain(text, 600) for text in analysis.doubts.sentences), *certainty(analysis))


def _one_group(analysis: Answer) -> tuple[str, str]:
    """Sentence where there is one cluster, or none: whether that was asked for, or the reason."""
    noise, n = analysis.clusters.n_noise, analysis.clusters.n_rows
    if analysis.wanted == 1:
        return (
            f"The {counted(n, 'row')} were left in one group, as asked for: nothing was divided.",
            "Whether there are several groups was not tested; without a number of clusters, or with -k auto, it is.",
        )
    if noise and not analysis.clusters.clusters:
        return f"No cluster was found: all {n:,} rows are noise.", "Each of them is far from the others."
    why = str(analysis._choice.get("reason", "")).removeprefix("one cluster: ")
    return (
        f"The {counted(n, 'row')} are one group: no way of dividing them was found.",
        f"{why[0].upper()}{why[1:]}." if why else "The rows are too few or too alike for two clusters.",
    )


def is_single(analysis: Analysis) -> bool:
    """Whether all rows are in one cluster, so that there is nothing to compare it with."""
    return len(analysis.clusters.clusters) == 1 and not analysis.clusters.n_noise


def own_number(name: str) -> bool:
    """Whether a recipe finds the number of clusters by itself."""
    return name in registry.names("recipe") and registry.get("recipe", name).clusters == "found"


MEANING = (
    "The confidence is how likely it is, by experience with generated tables, that these groups are the real groups of "
    "the rows, not that they agree with classes you have in mind"
)


def certainty(analysis: Answer) -> list[str]:
    """How sure the clusters are: the degree, and what the confidence means."""
    confidence = float(getattr(analysis.model, "confidence_", math.nan))
    if math.isnan(confidence):
        return [f"How sure that is could not be estimated: {_why_unsure(analysis)}."]
    second, sure = _second(analysis), confidence_in_words(confidence)
    if getattr(analysis.model, "perhaps_one_cluster_", False):
        first = (
            "Apart from the far row, the groups are doubtful: tests, which pass over single rows, see no sign of more "
            "than one cluster."
            if analysis.doubts.of_single
            else "This is doubtful: tests see no sign of more than one cluster, so take the clusters as a convenient "
            "way to divide the rows rather than as groups of their own."
        )
        most = " at most, as it is wherever these tests see one cluster" * (confidence >= MOST_OF_ONE)
        return [f"{first} The confidence is {sure}{most}.{second}", f"{MEANING}."]
    degree = "clear" if confidence >= SURE else "doubtful" if confidence < UNSURE else "plausible, but not certain"
    if analysis._choice.get("points", 0) > len(analysis.clusters.clusters):
        first = f"Whether this structure is real is open: the confidence is {sure}, but few rows are distinct."
    elif analysis.doubts.of_levels:
        first = f"Whether this structure is real is open: the confidence is {sure}, but it was fitted to numbers."
    else:
        perhaps = perhaps_in_words({"confidence": confidence})
        first = f"This structure is {degree}: the confidence is {sure}.{f' There may be {perhaps}.' * bool(perhaps)}"
    return [f"{first}{second}", f"{MEANING}."]


def tests_of_one_cluster(analysis: Analysis) -> str:
    """What the tests for one cluster say of clusters that have a confidence; empty if there is none."""
    tests = one_cluster(analysis)
    if (
        not tests
        or len(analysis.clusters.clusters) <= 1
        or math.isnan(getattr(analysis.model, "confidence_", math.nan))
    ):
        return ""
    if getattr(analysis.model, "perhaps_one_cluster_", False):
        return f"The tests: {tests}."
    which = "Two tests" if ", and the " in tests else "A test"
    suffices = " (one that sees it suffices)" if ", and the " in tests else ""
    return f"{which} of whether there is more than one cluster at all{suffices}: {tests}."


def _why_unsure(analysis: Answer) -> str:
    """Reason why there is no confidence, as the end of a sentence."""
    choice, n = analysis._choice, analysis.clusters.n_rows
    if analysis.model.interrupted_:
        return "the fit was interrupted"
    if not hasattr(analysis.model, "confidence_"):
        return "only Auto estimates it, which compares several methods"
    if "distinct" not in choice:  # without comparison of candidates
        if n < FEWEST:
            return f"{counted(n, 'row')} are too few to compare clusterings of them"
        return "no two clusterings could be compared, because the rows are equal or no method divided them"
    if len(analysis.clusters.clusters) == n:
        return "every row is a cluster by itself, so that nothing was grouped"
    if choice["candidates"] == 1:
        return (
            f"{analysis.recipe} was the only method that made such clusters, and it is the agreement "
            "between methods that it is estimated from; name more methods, or none"
        )
    return "the evidence for it could not be computed"


def _second(analysis: Answer) -> str:
    """Sentences about clusterings with the same score, and the next best number of clusters, if there are some."""
    choice, second = analysis._choice, getattr(analysis.model, "second_n_clusters_", None)
    tied = list(choice.get("tied_with", ()))
    also = f" Its score is no better than that of: {'; '.join(tied[:TIES])}." if tied else ""
    if second is None:
        return also
    nested = bool(choice.get("second_is_nested"))
    chosen = len(analysis.clusters.clusters)
    scale = (
        " The confidence is about the groups, not about how fine they are, which is for you to choose."
        if nested
        else ""
    )
    return f"{also} The next best answer is {second_in_words(chosen, second, nested=nested)}.{scale}"


def _belong(rows: int) -> str:
    return f"{counted(rows, 'row')} {'belongs' if rows == 1 else 'belong'}"


def one_cluster(analysis: Analysis) -> str:
    """The tests of whether there is more than one cluster, and their answers; "" if they were not made."""
    facts, parts = analysis._choice, list[str]()
    if "projection_p_value" in facts:
        p_value = float(facts["projection_p_value"])
        p = "below 0.001" if p_value < 0.001 else f"{p_value:.2g}"
        parts.append(
            "the dip test, for two modes of the rows along a line, "
            f"says {'yes' if p_value < LEVEL else 'no'} (p value {p}; yes "
            f"below {LEVEL})"
        )
    if "tree_statistic" in facts:
        statistic = float(facts["tree_statistic"])
        parts.append(
            "the tree test, for a gap between dense regions, says "
            f"{'yes' if statistic > THRESHOLD else 'no'} ({statistic:.2f}; yes above {THRESHOLD})"
        )
    if "gain_of_clusters" in facts:
        gain = float(facts["gain_of_clusters"])
        parts.append(
            f"the likelihood, of several clusters against one, says {'yes' if gain > 0 else 'no'} ({gain:.2g} a row; "
            "yes above 0)"
        )
    if piece := facts.get("one_piece"):
        along = "the curve of the rows" if piece == "curved" else "the ways from row to row"
        parts.append(f"along {along} there is one mode, so that they are one group{', curved' * (piece == 'curved')}")
    return ", and ".join(parts)


def quality_of_cells(table: Table, plans: Sequence[ColumnPlan]) -> str:
    """How many cells of the columns used are missing, or cannot be read, and how many rows occur more than once.

    Rows are compared by their cells as they are, where a gap is equal to a gap.
    """
    pairs = zip((plan for plan in plans if plan.used), matched(table, plans, by_position=False), strict=True)
    columns = [plan.worded(column) if isinstance(plan, CategoryColumn) else column for plan, column in pairs]
    gaps = sum(int(column.missing().sum()) for column in columns)
    unread = sum(getattr(plan, "unread", 0) for plan in plans)
    repeated = equal_rows(columns)
    missing = "No cell is missing" if not gaps else f"{gaps:,} {'cell is' if gaps == 1 else 'cells are'} missing"
    if len(columns) < len(plans):
        missing += " in the columns used"
    if unread:
        missing += f"; {counted(unread, 'cell')} cannot be read and count{'s' * (unread == 1)} as missing"
    if not repeated:
        return f"{missing}; no row occurs more than once, by the columns used."
    return f"{missing}; {repeated:,} rows are equal to another row in all columns used, and all of them count."


def score_of_number(criterion: str) -> str:
    """Explanation of the score of a number of clusters, by the criterion that chose the clustering."""
    if criterion == EVIDENCE:
        what = (
            "The score of a number of clusters is how much likelier the columns make the rows with so many clusters "
            "than with one, as a share of the largest such gain, times how far mixtures of halves of the rows agree."
        )
        dots = "The dots are the best two numbers"
    else:
        what = (
            "The score of a clustering adds up how much wider the borders between clusters are than the gaps inside "
            "them, how stable it is when rows are left out, how far methods of other kinds agree with it, and, with "
            "little weight, how clearly the dense regions separate."
        )
        dots = "Not every number is tried: only those with a dot"
    return (
        f"{what} Higher is better, and only scores within this report can be compared. One cluster has no score: the "
        f"tests at the end of the page are for that. {dots}."
    )


def caveats(analysis: Analysis) -> list[str]:
    """Caveats, the most particular first."""
    sentences = [plain(text, 600) for text in (*analysis.doubts.sentences, *analysis.warnings)]
    n = analysis.clusters.n_rows
    if getattr(analysis.model, "perhaps_one_cluster_", False):
        sentences.append(
            "The tests for more than one cluster have little power below some hundred rows, and where clusters touch."
        )
    if is_single(analysis):
        return sentences
    chosen = analysis.comparison.methods[0]
    others = [
        float(analysis.comparison.agreement[0, j])
        for j, method in enumerate(analysis.comparison.methods)
        if j in analysis.rivals and method.n_clusters > 1
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
        "The two shares under a rule (how many of the rows for which it holds are in the cluster, and for how much of "
        "the cluster it holds) are those of the rows that it was made of; for new rows they may be lower.",
        "Classes that you have in mind need not be clusters, and the confidence says nothing about them.",
    ]
    return sentences
