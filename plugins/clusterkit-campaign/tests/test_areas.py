"""Each area sees what it is made to see: a broken promise is a problem, a kept one is none."""

from __future__ import annotations

import html
import itertools
import re
from collections import Counter
from typing import ClassVar, final

import attrs
import numpy as np
import pytest

from clusterkit.contracts import Consensus, FeatureMap, Labeler, Labeling
from clusterkit.contracts.outcomes import Scores
from clusterkit.contracts.registry import registry
from clusterkit.errors import InvalidData
from clusterkit.report.page import pictures
from clusterkit.samples import build_space
from clusterkit.samples.transform import IdentityMap
from clusterkit.tables.cells.text_counts import on_circles
from clusterkit_campaign import comparisons, edges, hostile_files
from clusterkit_campaign.cases import cases
from clusterkit_campaign.comparisons import COMPARISONS, check_comparison
from clusterkit_campaign.data_sets import AwkwardSet, awkward_sets
from clusterkit_campaign.edges import EDGES, check_edge
from clusterkit_campaign.ensembles import ENSEMBLES, UNFIT_ENSEMBLES, check_ensemble
from clusterkit_campaign.findings import (
    CRASH,
    SILENT,
    UNCLEAR,
    Exclusion,
    Finding,
    Problem,
    exclusions,
    of_error,
    split,
)
from clusterkit_campaign.fits import Subject, Trial, check_trial, of_recipe, smallest
from clusterkit_campaign.hostile_files import FILES, check_files
from clusterkit_campaign.odd_parameters import OddCase, check_odd_case
from clusterkit_campaign.plugin_breakers import BREAKERS, check_breaker
from clusterkit_campaign.relations import RELATIONS, check_relation, same_partition
from clusterkit_campaign.user_tables import TABLES, check_table

SETS = awkward_sets()


def trial(name, subject, round_number=0):
    return Trial(subject, SETS[name], SETS[name].drawn(1), 2, 0, round_number)


def slots(**changes):
    stages = {"featuremap": "identity", "solver": "centroids", "labeler": "argmax", "init": "seeds"}
    return Subject("of the test", None, {**stages, **changes})


class TestFits:
    @pytest.mark.parametrize("name", ["many duplicates", "blobs as strided", "nan", "one row", "ragged lists"])
    @pytest.mark.parametrize("round_number", [0, 1, 2])
    def test_a_sound_recipe_has_no_problem(self, name, round_number):
        counts = Counter()
        assert check_trial(trial(name, of_recipe("kmeans"), round_number), counts) == []
        assert counts["fits"] >= 1

    def test_a_map_that_draws_from_nowhere(self):
        @final
        @attrs.frozen
        class Restless(FeatureMap):
            """Adds numbers that no seed determines."""

            name: ClassVar[str] = "restless"

            def fit(self, samples, task, rng):
                X = samples.points
                return build_space(np.random.default_rng().standard_normal(X.shape), IdentityMap(X.shape[1]))

        registry.register(Restless)
        problems = check_trial(trial("overlapping blobs", slots(featuremap="restless")))
        assert (SILENT, "two fits with the same seed differ in labels") in {(p.severity, p.what) for p in problems}

    def test_a_labeler_that_fails_on_some_data_is_shrunk(self):
        @final
        @attrs.frozen
        class Shy(Labeler[Scores]):
            """Fails where a score is far from 0."""

            name: ClassVar[str] = "shy"
            consumes: ClassVar = Scores

            def label(self, outcome, space, task, rng):
                if np.abs(space.points).max() > 100:
                    raise IndexError("too far")
                return Labeling(np.zeros(space.n, dtype=int), None)

        registry.register(Shy)
        case = trial("an outlier at 1e6", slots(solver="fuzzy_cmeans", labeler="shy"))
        [problem] = [each for each in check_trial(case) if each.severity == CRASH]
        program = smallest(case, problem, budget=200)
        assert "1000000.0" in program
        assert program.count("[") <= 4, "one row is left"
        with pytest.raises(IndexError, match="too far"):
            exec(program)

    def test_unfit_data_that_are_accepted(self):
        fine = AwkwardSet("fine", lambda rng: np.eye(3), expected="refusal", reason="on purpose")
        [problem] = check_trial(Trial(of_recipe("kmeans"), fine, fine.drawn(0)))
        assert problem.what == "unfit data were accepted"


def no_midnights(seconds, weights):
    sums = on_circles(seconds, weights)
    sums[-1] = 0.0
    return sums


BROKEN = {
    "clusterkit.tables.reading.grids.Grid.merged": lambda grid, ranges, title: grid,
    "clusterkit.tables.preparing.preparation.of_fit": lambda plans, sums: (),
    "clusterkit.report.sentences.equal_rows": lambda columns: 4,
    "clusterkit.tables.preparing.decisions.unread_values": lambda column: "",
    "clusterkit.tables.preparing.sums.on_circles": lambda seconds, weights: no_midnights(seconds, weights),
    "clusterkit.tables.preparing.decisions.with_words": lambda column, choice, as_category=False: column,
    "clusterkit.tables.reading.spreadsheets.hidden_parts": lambda title, sheet: (set(), set()),
    "clusterkit.tables.cells.parsing.MONTHS": {"jan": 1, "feb": 2},
    "clusterkit.report.page.plain": lambda text, most=0: text.replace("#", ""),
    "clusterkit.tables.reading.delimited.is_again": lambda *_: False,
    "clusterkit.tables.preparing.redundant_columns._ranks": lambda values: values,
    "clusterkit.report.page.pictures": lambda analysis: {
        name: re.sub(r'id="|href="#|url\(#|#[0f]{6}|#222222', "x", html.unescape(picture))
        for name, picture in pictures(analysis).items()
    },
}
"""What the library did before it was mended, or might do, by the function that does it."""


class TestTables:
    @pytest.mark.parametrize("kind", TABLES)
    def test_a_sound_reader_has_no_problem(self, kind):
        counts = Counter()
        for seed in range(1 if kind == "report" else 8):
            assert check_table(kind, counts, seed) == []
        assert counts["tables"] >= 1

    @pytest.mark.parametrize(
        ("kind", "broken", "what"),
        [
            ("workbook", "clusterkit.tables.reading.grids.Grid.merged", "a sheet is read as another table"),
            ("sentences", "clusterkit.tables.preparing.preparation.of_fit", "a warning is not what"),
            ("sentences", "clusterkit.report.sentences.equal_rows", "equal rows are not counted"),
            ("sentences", "clusterkit.tables.preparing.decisions.unread_values", "a warning is not what"),
            ("sentences", "clusterkit.tables.preparing.sums.on_circles", "hours are a feature"),
            ("words", "clusterkit.tables.preparing.decisions.with_words", "a word"),
            (
                "hidden cells",
                "clusterkit.tables.reading.spreadsheets.hidden_parts",
                "hidden cells are read, and nothing",
            ),
            ("alike", "clusterkit.tables.preparing.redundant_columns._ranks", "columns say the same, or not"),
            ("names again", "clusterkit.tables.reading.delimited.is_again", "names that come again are rows of a p"),
            ("forms of values", "clusterkit.tables.cells.parsing.MONTHS", "a value is left out, and nothing says so"),
            ("report", "clusterkit.report.page.plain", "a text of the table is changed in the text of a report"),
            ("report", "clusterkit.report.page.pictures", "a text of the table is changed in a picture"),
        ],
    )
    def test_what_earlier_versions_did_is_seen(self, kind, broken, what, monkeypatch):
        monkeypatch.setattr(broken, BROKEN[broken])
        problems = (problem for seed in range(8) for problem, _ in check_table(kind, Counter(), seed))
        assert any(problem.what.startswith(what) for problem in problems)

    @pytest.mark.deep
    def test_every_round_has_every_kind(self):
        first = itertools.takewhile(lambda case: case.round_number == 0, cases(3))
        assert sorted(case.subject for case in first if case.area == "tables") == sorted(TABLES)


class TestErrors:
    def test_documented_ones_are_no_problem(self):
        assert of_error(InvalidData("no negative values")) is None

    @pytest.mark.parametrize(
        ("error", "severity"), [(IndexError("i"), CRASH), (ValueError("v"), UNCLEAR), (InvalidData(""), UNCLEAR)]
    )
    def test_others_are(self, error, severity):
        assert of_error(error).severity == severity


def test_odd_parameters():
    counts = Counter()
    assert check_odd_case(OddCase("solver", "ridge", "C", "nan"), counts, 0) == []
    assert check_odd_case(OddCase("solver", "ridge", "C", "1e-12"), counts, 0) == []
    assert check_odd_case(OddCase("estimator", "kmeans", "n_clusters", "2**63"), counts, 0) == []
    # lists within a list, which no number is compared with
    assert check_odd_case(OddCase("driver", "auto_pooled", "widths", "((1,),)"), counts, 0) == []
    assert counts["parameters"] == 4
    assert counts["accepted"] == 1


@pytest.mark.parametrize("name", RELATIONS)
def test_relations_hold_for_k_means(name):
    assert check_relation(name, of_recipe("kmeans"), Counter(), 4) == []


def test_a_relation_that_does_not_hold_is_seen():
    @final
    @attrs.frozen
    class First(Labeler[Scores]):
        """Labels by position."""

        name: ClassVar[str] = "first"
        consumes: ClassVar = Scores

        def label(self, outcome, space, task, rng):
            return Labeling((np.arange(space.n) < 5).astype(int), None)

    registry.register(First)
    subject = Subject("of the test", None, {"featuremap": "rbf", "solver": "ncut", "labeler": "first"})
    if not check_relation("permuted rows", subject, Counter(), 4):
        pytest.fail("labels by position are not seen")


def test_same_partition():
    assert same_partition(np.array([0, 0, 1, -1]), np.array([5, 5, 2, -1]))
    assert not same_partition(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]))
    assert not same_partition(np.array([0, 0, 1, -1]), np.array([0, 0, 1, 1]))


class TestComparisons:
    @pytest.mark.parametrize("name", COMPARISONS)
    def test_none_differs(self, name):
        counts = Counter()
        assert check_comparison(name, counts, 1) == []
        assert counts["comparisons"] >= 24

    def test_a_difference_is_seen(self, monkeypatch):
        monkeypatch.setattr(comparisons.means, "memberships", lambda D, phi: np.full(D.shape, 0.25))
        problems = check_comparison("fuzzy c-means", Counter(), 1)
        assert {problem.what for problem, _ in problems} == {"a degree of membership differs from the reference"}


class TestEnsembles:
    @pytest.mark.parametrize("name", ["diclens", "voting", "coassociation"])
    def test_a_sound_consensus_has_no_problem(self, name):
        for item in (*ENSEMBLES, *UNFIT_ENSEMBLES):
            counts = Counter()
            assert check_ensemble(name, item, counts, 3) == [], item
            assert counts["ensembles"] >= 1

    def test_one_that_reads_the_names_of_clusters(self):
        @final
        @attrs.frozen
        class ByPosition(Consensus):
            """Cuts the samples into halves."""

            name: ClassVar[str] = "by_position"
            finds_k: ClassVar[bool] = True

            def merge(self, labelings, k, rng):
                return np.arange(labelings.members.shape[1]) * 2 // labelings.members.shape[1]

        registry.register(ByPosition)
        problems = [problem for problem, _ in check_ensemble("by_position", "agreeing", Counter(), 3)]
        assert {each.what for each in problems} == {"samples that no member tells apart are in two clusters"}


class TestFiles:
    @pytest.mark.parametrize("kind", list(FILES))
    def test_none_is_misread(self, kind):
        counts = Counter()
        assert check_files(kind, counts, 2) == []
        assert counts["files"] == hostile_files.BATCH

    def test_a_raw_error_is_seen(self, monkeypatch):
        careless = attrs.evolve(FILES["npy"], read=lambda path: np.load(path, allow_pickle=False) and None)
        monkeypatch.setattr(hostile_files, "FILES", {"npy": careless})
        assert {problem.severity for problem, _ in check_files("npy", Counter(), 2)} & {UNCLEAR, CRASH}


class TestEdges:
    @pytest.mark.parametrize("item", EDGES)
    def test_what_is_promised_is_kept(self, item, monkeypatch):
        for name in ("BOUNDS", "RECIPES", "FORGED", "COMPOSITIONS"):
            monkeypatch.setattr(edges, name, 5)
        counts = Counter()
        assert check_edge(item, counts, 3, 0) == []
        assert counts

    def test_piles_that_are_joined_without_a_word_are_seen(self, monkeypatch):
        monkeypatch.setattr("clusterkit.families.support_vectors._svc_search.Piles.of", lambda D: None)
        monkeypatch.setattr("clusterkit.families.support_vectors._svc_search.warn_of_nothing", lambda *arguments: None)
        monkeypatch.setattr(edges, "_recipes", lambda round_number: [])
        assert {problem.severity for problem, _ in check_edge("piles of equal rows", Counter(), 3, 0)} == {SILENT}

    @pytest.mark.parametrize("cured", ["without_rounding", "_warn_of_small_groups"])
    def test_directions_that_are_no_clusters_are_seen(self, cured, monkeypatch):
        for module in ("families.embeddings.layout", "samples.features"):
            monkeypatch.setattr(f"clusterkit.{module}.{cured}", lambda X, *unit: X, raising=False)
        assert {
            problem.severity for seed in range(6) for problem, _ in check_edge("directions", Counter(), seed, 0)
        } == {SILENT}

    def test_the_first_round_has_every_value_that_is_a_bound(self):
        every = edges._bounds()
        assert ("solver", "equal", "max_ratio", 1) in every
        assert not [each for each in every[edges.PARTS * edges.BOUNDS :] if each[-1] in (0, 1)]

    def test_a_missing_warning_is_seen(self, monkeypatch):
        monkeypatch.setattr("clusterkit.fitting.fit.missing_clusters", lambda *arguments: None)
        monkeypatch.setattr(edges, "_recipes", lambda round_number: ["nmf"])
        problems = [each for seed in range(4) for each in check_edge("more clusters than rows", Counter(), seed, 0)]
        assert {problem.what for problem, _ in problems} == {"more clusters than distinct rows, and no warning"}

    def test_a_forged_model_that_is_not_looked_at_is_seen(self, monkeypatch):
        monkeypatch.setattr("clusterkit.estimators.pipeline.Pipeline._check_whole", lambda model: None)
        monkeypatch.setattr(edges, "_recipes", lambda round_number: ["mixture"])
        monkeypatch.setattr(edges, "FORGED_RECIPES", 1)
        assert check_edge("forged models", Counter(), 0, 0)


@pytest.mark.parametrize("slot", BREAKERS)
def test_broken_stages_are_named(slot):
    for how in ("nothing", "another axis", "a single nan", "an exit", "objects", "text", "a stop of an iteration"):
        assert check_breaker(slot, how, Counter()) == [], how


def test_exclusions():
    finding = Finding(Problem(SILENT, "labels differ"), "fits", "svc", "blobs", 3)
    known = Exclusion("a reason that is long enough", subject="s*", what="labels *")
    other = Exclusion("a reason that is long enough", area="files")
    assert split([finding], [other, known]) == ([], {other: [], known: [finding]})
    assert split([finding], [other])[0] == [finding]
    assert all(len(each.reason) > 20 for each in exclusions())
