"""What a report and the command line say of how sure a choice is, without contradictions."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from clusterkit.cli import summary
from clusterkit.criteria.one_cluster import MOST_OF_ONE
from clusterkit.estimators.auto_tables import EVIDENCE
from clusterkit.profiles.doubts import Doubts
from clusterkit.report import sentences
from clusterkit.report.analysis import Analysis
from clusterkit.tables import Preparation, Table, TableWarning


class Made(SimpleNamespace):
    """An analysis of a few attributes, with what follows from them."""

    _choice, method, recipe = Analysis._choice, Analysis.method, Analysis.recipe


def analysis(confidence=1.0, k=2, **choice):
    facts = {"recipe": "kmeans", "n_clusters": k, "distinct": 9, "confidence": confidence, **choice}
    model = SimpleNamespace(
        confidence_=confidence,
        perhaps_one_cluster_=False,
        second_n_clusters_=choice.get("second_n_clusters"),
        resolved_={"auto": facts},
        interrupted_=False,
    )
    return Made(model=model, clusters=SimpleNamespace(clusters=[None] * k), doubts=Doubts())


def both(**choice):
    """The sentence of the report, and the lines of the command line."""
    made = analysis(**choice)
    return sentences.certainty(made)[0], summary._choice(made.model.resolved_["auto"])


@pytest.mark.parametrize("confidence", [0.996, 1.0 - 1e-12, 1.0])
def test_an_estimate_is_never_certain(confidence):
    sentence, lines = both(confidence=confidence)
    assert "100 %" not in sentence + lines["chosen"]
    assert "above 99 %" in sentence
    assert "above 99 %" in lines["chosen"]


@pytest.mark.parametrize(("second", "verb", "scale"), [(4, "divide", "finer"), (1, "joins", "coarser")])
def test_nested_numbers_are_scales_of_the_same_groups(second, verb, scale):
    sentence, lines = both(second_n_clusters=second, second_is_nested=True)
    expected = f"which {verb} the chosen ones: the same groups on a {scale} scale"
    assert expected in sentence
    assert expected in lines["next best"]
    assert "The confidence is about the groups, not about how fine they are" in sentence
    assert "both" not in sentence + lines["next best"]


def test_other_numbers_are_named_alone():
    sentence, lines = both(second_n_clusters=5, second_is_nested=False)
    assert sentence.endswith("The next best answer is 5 clusters.")
    assert lines["next best"] == "5 clusters"


def test_ties_are_told_in_both():
    sentence, lines = both(tied_with=("genie, 3 clusters",), second_n_clusters=3)
    assert "Its score is no better than that of: genie, 3 clusters." in sentence
    assert lines["as good"] == "genie, 3 clusters"


def test_where_the_confidence_does_not_apply_the_answer_is_open():
    made = analysis(confidence=0.9)
    assert sentences.certainty(made)[0].startswith("This structure is clear")
    made.doubts = Doubts(of_levels="All features are levels.")
    assert sentences.certainty(made)[0].startswith("Whether this structure is real is open: the confidence is 90 %")
    assert sentences.certainty(analysis(confidence=0.9, points=3))[0].startswith(
        "Whether this structure is real is open"
    )
    assert sentences.certainty(analysis(confidence=0.9, points=2))[0].startswith("This structure is clear")


@pytest.mark.parametrize("single", ["", "Cluster 1 is row 81 alone."])
def test_where_the_tests_see_one_cluster_the_confidence_is_their_limit(single):
    made = analysis(confidence=MOST_OF_ONE)
    made.model.perhaps_one_cluster_ = True
    made.doubts = Doubts(of_single=single)
    assert (
        "The confidence is 50 % at most, as it is wherever these tests see one cluster."
        in (sentences.certainty(made)[0])
    )
    made.model.confidence_ = 0.12
    assert "The confidence is 12 %." in sentences.certainty(made)[0]


def test_a_confidence_near_zero_says_that_there_may_be_no_groups():
    sentence, lines = both(confidence=0.0, perhaps_one_cluster=False)
    assert sentence.startswith(
        "This structure is doubtful: the confidence is below 1 %. There may be other clusters, or none"
    )
    assert lines["perhaps"].startswith("other clusters, or none")
    assert "confidence below 1 % that" in lines["chosen"]
    sentence, lines = both(confidence=0.3, perhaps_one_cluster=False)
    assert "none" not in sentence
    assert lines["perhaps"] == ""


@pytest.mark.parametrize(("piece", "words"), [("curved", "curve"), ("joined", "the ways from row to row")])
def test_one_piece_is_a_curve_only_of_numbers(piece, words):
    made = analysis(confidence=0.2, perhaps_one_cluster=True, one_piece=piece)
    assert f"along {'the ' * (piece == 'curved')}{words}" in sentences.one_cluster(made)
    assert ("curved" in sentences.one_cluster(made)) == (piece == "curved")
    assert ("curved" in summary._choice(made.model.resolved_["auto"])["perhaps"]) == (piece == "curved")


def test_as_many_tests_are_announced_as_there_are():
    of_levels = analysis(confidence=0.9, gain_of_clusters=0.2)
    assert sentences.tests_of_one_cluster(of_levels).startswith(
        "A test of whether there is more than one cluster at all:"
    )
    both_tests = analysis(confidence=0.9, projection_p_value=0.01, tree_statistic=0.4, one_piece="curved")
    assert sentences.tests_of_one_cluster(both_tests).startswith("Two tests of whether there is")
    assert "along a line, says yes (p value 0.01; yes below 0.0" in sentences.tests_of_one_cluster(both_tests)


def test_the_score_is_explained_by_the_criterion_that_chose():
    of_mixture, of_pool = (sentences.score_of_number(criterion) for criterion in (EVIDENCE, "unknown number"))
    assert "mixtures of halves of the rows agree" in of_mixture
    assert "methods of other kinds" not in of_mixture
    assert "how far methods of other kinds agree with it" in of_pool


def test_one_row_is_one_row():
    assert sentences._belong(1) == "1 row belongs"
    assert sentences._belong(1200) == "1,200 rows belong"
    made = analysis()
    made.chose_number, cluster = True, SimpleNamespace(size=3)
    made.clusters = SimpleNamespace(clusters=[cluster, cluster], n_rows=7, n_noise=1)
    assert sentences.main_sentences(made)[0].endswith("; 1 row belongs to none.")


def test_cells_that_cannot_be_read_are_counted():
    cells = {"a": np.array([*(f"{i * i}" for i in range(20)), "x", None], dtype=object)}
    assert quality(cells) == (
        "1 cell is missing; 1 cell cannot be read and counts as missing; no row occurs more than once, by the columns "
        "used."
    )


def quality(cells, **overrides):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        fitted = Preparation(**overrides).fit(cells)
    return sentences.quality_of_cells(Table("t", cells, tuple(cells)), fitted.plans)


def test_rows_are_equal_by_their_cells_and_not_by_what_fills_gaps():
    """A row of gaps takes the values of the row that is most like it, and is no twin of it."""
    rng = np.random.default_rng(0)
    cells = {name: rng.normal(size=60).round(3) for name in "abc"}
    cells["c"][7] = np.nan
    assert quality(cells) == "1 cell is missing; no row occurs more than once, by the columns used."
    cells = {name: np.append(its, its[[3, 7, 7]]) for name, its in cells.items()}
    assert quality(cells).startswith("3 cells are missing; 5 rows are equal to another row in all columns used")
    cells["d"] = np.arange(63.0)  # an identifier tells all rows apart, and is not used
    cells["c"][20:40] = np.nan
    assert quality(cells, drop=["c"]).startswith("No cell is missing in the columns used; 5 rows are equal")


def test_a_text_that_is_a_level_is_no_missing_cell():
    cells = {"country": np.array(["DE", "FR", "NA", "IT"] * 6, dtype=object), "x": np.arange(24.0) ** 2}
    assert quality(cells).startswith("No cell is missing;")
    assert quality(cells, na="gap").startswith("6 cells are missing;")


@pytest.mark.parametrize(
    ("rows", "facts", "why"),
    [
        (3, None, "3 rows are too few to compare clusterings of them"),
        (40, None, "the rows are equal or no method divided them"),
        (40, {"recipe": "hdbscan", "candidates": 1, "distinct": 1}, "hdbscan was the only method that made such"),
    ],
)
def test_no_confidence_has_a_reason(rows, facts, why):
    made = analysis(confidence=float("nan"))
    made.model.resolved_ = {} if facts is None else {"auto": facts}
    made.clusters.n_rows = rows
    [sentence] = sentences.certainty(made)
    assert sentence.startswith("How sure that is could not be estimated: ")
    assert why in sentence
    made.model.interrupted_ = True
    assert "the fit was interrupted" in sentences.certainty(made)[0]


def test_a_table_of_categories_has_no_units():
    fitted = Preparation().fit({"a": np.array(["x", "y", "z"] * 9), "b": np.array(["u", "v", "v"] * 9)})
    assert "Units: left as they are, as no column is a number." in fitted.paragraph()
