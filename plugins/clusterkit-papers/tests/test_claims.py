"""The tables of claims: what their columns mean, recomputed here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from clusterkit_papers.claims import starts, theorem
from clusterkit_papers.claims.answers import ALL, MOST, Claim, answer
from clusterkit_papers.claims.comparisons import Comparison, Values
from clusterkit_papers.claims.equilibria import equilibria
from clusterkit_papers.claims.headlines import CLAIMS
from clusterkit_papers.claims.theorem import PROBLEMS, TheoremProblem, excess_bound, least_objective
from clusterkit_papers.jobs import Plan
from clusterkit_papers.printed_tables import catalogue, printed
from clusterkit_papers.scalings import SCALINGS
from clusterkit_papers.svc.data_sets import DATA_SETS

from clusterkit import recipe


def step(text):
    pass


def small():
    return np.random.default_rng(0).normal(size=(30, 2))


def test_the_least_objective_is_the_optimum():
    """By coordinate ascent on the dual, and as the primal value there."""
    X, C = small(), 8.0
    K = np.exp(-theorem.GAMMA * ((X[:, None] - X) ** 2).sum(axis=2))
    n = len(X)
    alpha = np.zeros(n)
    for _ in range(3000):
        for i in range(n):
            alpha[i] = np.clip(alpha[i] + 1 - K[i] @ alpha, 0, C / n)
    primal = alpha @ K @ alpha / 2 + C / n * np.maximum(0, 1 - K @ alpha).sum()
    least = least_objective(TheoremProblem("small", small), C)
    assert least == pytest.approx(primal, rel=1e-6)
    assert least <= primal + 1e-12


def test_rows_of_the_theorem():
    problem = TheoremProblem("small", small)
    measured = theorem._job(Plan(runs=6), problem, 8.0, 200).run(step)
    assert len(measured.runs) == 6
    random = [values["random"] for values in measured.runs]
    for values in measured.runs:
        assert values["bound"] == excess_bound(8.0, 200, 0.1) == pytest.approx(10 * 2 * 64 * (1 + math.log(200)) / 200)
        assert values["largest"] == max(random)
        assert values["above"] == 0
        assert values["last"] > 0
        assert values["average"] > 0
    assert len(set(random)) > 1


def test_the_theorem_has_a_row_for_each_setting():
    rows = [job.row for job in theorem.theorem(Plan())]
    assert len(set(rows)) == len(rows) == len(PROBLEMS) * len(theorem.CS) * len(theorem.STEPS)


def test_the_equilibria_are_the_ends_of_plain_ascents():
    """Every sample ascends by the weighted mean of the centres until it moves no more; Iris comes with scikit-learn."""
    job = next(job for job in equilibria(Plan(runs=1)) if job.printed_row == "Iris")
    [values] = job.run(step).runs
    iris = next(data_set for data_set in DATA_SETS if data_set.name == "Iris")
    X = SCALINGS[iris.unlabelled](iris.load()[0])
    domain = recipe("sgd-lmsvc", random_state=0).fit(X).outcome_
    ends = X.copy()
    for _ in range(5000):
        shares = domain.weights * domain.kernel(ends, domain.centres)
        ends = (shares @ domain.centres) / shares.sum(axis=1, keepdims=True)
    distinct = []
    for end in ends:
        if all(np.linalg.norm(end - other) > 0.01 for other in distinct):
            distinct.append(end)
    assert (values["clusters"], values["samples"]) == (len(distinct), len(X)) == (2, 150)


def test_difference_of_runs():
    one = np.array([0, 0, 1, 1])
    assert starts._difference([one, 1 - one]) == 0  # the same clusters under other names
    assert starts._difference([one, np.array([0, 0, 0, 1])]) == 25
    assert math.isnan(starts._difference([one]))


def test_starts_of_a_pair_of_digits():
    jobs = {job.row: job for job in starts.starts(Plan(quick=True, runs=2))}
    assert len(jobs) == len(starts.QUICK_SETS) * (1 + len(starts.METHODS) * len(starts.STARTS))
    runs = jobs["Digits1-7: emmc from one k-means"].run(step).runs
    assert len(runs) == 2
    assert runs[0]["largest"] == max(values["error"] for values in runs)
    assert "largest" not in runs[1], "a single value of all runs, which has no spread"
    assert 0 <= runs[0]["difference"] <= 50


def ours(table, name, column, value, **more):
    fixed = {"uses_labels": False, "as_described": False, "verdict": "reached"}
    return {"table": table, "row": name, "column": column, "ours": value, **fixed, **more}


def of_name(name):
    return next(claim for claim in CLAIMS if claim.name == name)


@pytest.mark.parametrize(
    ("share", "holding", "word"),
    [
        (ALL, 4, "yes"),
        (ALL, 3, "no"),
        (MOST, 3, "yes"),
        (MOST, 2, "partly"),
        (MOST, 1, "no"),
        (2 / 4, 2, "yes"),
        (2 / 4, 1, "partly"),
        (2 / 4, 0, "no"),
    ],
)
def test_the_rule_of_an_answer(share, holding, word):
    gains = [1.0 if place < holding else -float(place) for place in range(4)]
    comparisons = [Comparison(str(place), 0.0, 0.0, "", gain > 0, gain) for place, gain in enumerate(gains)]
    verdict = answer(Claim("emmc", "", "", compare=lambda values: comparisons, share=share), Values())
    assert (verdict.word, verdict.holding, verdict.comparisons) == (word, holding, 4)
    assert (None if verdict.worst is None else verdict.worst.where) == ("3" if holding < 4 else None)


def test_a_claim_without_values_is_not_tested():
    assert answer(of_name("consensus"), Values({})).word == "not tested"
    assert answer(Claim("elm", "abstract", "more convenient"), Values()).word == "not tested"


def test_the_papers_own_numbers_by_our_comparisons():
    """Counted by hand in the papers, such as the four best of table 7 and the seven of table 10."""
    by_words = {claim.says: answer(claim, Values()) for claim in reversed(CLAIMS)}
    for words, expected in {
        "of seven data sets with two classes EMMC is best on four": (4, 7),
        "of four data sets with more classes EMMC is best on three": (3, 4),
        "of eleven data sets EMMC is best on seven beside NC and LapGMM": (7, 11),
        "EMMC ends within fewer than 16 iterations": (11, 11),
        "the squared loss of IterSVR and EMMC is better than the hinge loss of IterSVM": (14, 14),
        "the error of EMMC is not monotone in C": (1, 1),
        "the accuracy of LapGMM is close to that of NC": (8, 9),
        "by its balance EMMC handles unbalanced data well, such as Ionosphere, SatelliteC1-C2 and Svmguide1-a": (1, 3),
    }.items():
        assert (by_words[words].holding, by_words[words].comparisons) == expected
    times, consensus = (answer(of_name(name), Values()) for name in ("three-times-faster", "consensus"))
    assert (times.holding, times.comparisons, times.word) == (7, 7, "yes")
    assert (consensus.holding, consensus.comparisons) == (24, 24)
    kmeans = by_words[
        "ELM k-means is better than k-means and kernel k-means for all numbers of clusters on all three data sets"
    ]
    assert (kmeans.word, kmeans.worst.where) == ("no", "TDT2, k = 24"), "83.2 against 83.8 of k-means in print"


def test_the_printed_seconds_of_emmc_grow_faster_with_the_rows_than_those_of_others():
    """Against the text, by a straight line through the logarithms."""
    sizes, times = (
        {where: cell.value for where, cell in printed(name).items()} for name in ("emmc-table2", "emmc-table9")
    )
    claim = next(claim for claim in CLAIMS if "scales much better" in claim.says)
    for comparison in claim.compare(Values()):
        lines = [line for line, column in times if column == f"{comparison.against} CPU (s)"]
        lines = [line for line in lines if times[line, f"{comparison.against} CPU (s)"] and (line, "N") in sizes]
        rows, ours, theirs = (
            np.log([values[line, column] for line in lines])
            for values, column in ((sizes, "N"), (times, "EMMC CPU (s)"), (times, f"{comparison.against} CPU (s)"))
        )
        slopes = [np.polyfit(rows, seconds, 1)[0] for seconds in (ours, theirs)]
        assert [comparison.one, comparison.other] == pytest.approx(slopes)
        assert comparison.holds == (slopes[0] < slopes[1])


def test_the_widths_of_kernels():
    curves = {"A": {1: 60.0, 2: 90.0, 256: 50.0}, "B": {1: 90.0, 2: 88.0, 256: 86.0}}
    rows = [
        ours("elm-figures", f"{name}: sigma = {width}, {method}", "purity (%)", purity)
        for name, curve in curves.items()
        for width, purity in curve.items()
        for method in ("kernel-nmf", "kernel-kmeans")
    ]
    rows.append(ours("elm-figures", "A: L = 300, kernel-kmeans", "purity (%)", 0.0))
    words = ("needs another width", "relatively stable for", "worse for very large")
    claims = [next(claim for claim in CLAIMS if text in claim.says) for text in words]
    answers = [answer(claim, Values({"elm-figures": rows})) for claim in claims]
    assert [(one.holding, one.comparisons) for one in answers] == [(1, 1), (1, 2), (1, 2)]


def test_the_growth_of_large_sets_by_the_rows_of_the_paper():
    column = "largest change after that (points)"
    names = ("LetterA-B: emmc-paper", "LetterABCD: emmc-paper", "LetterABCD: emmc-paper, Gaussian", "Iris: emmc-paper")
    changes = zip(names, (1.5, -4.0, 9.0, 9.0), strict=True)
    rows = [ours("emmc-figures", f"{name}, growth from L = 10", column, value) for name, value in changes]
    claim = next(claim for claim in CLAIMS if "grows quickly" in claim.says)
    verdict = answer(claim, Values({"emmc-figures": rows}))
    assert (verdict.holding, verdict.comparisons, verdict.worst.one) == (1, 2, 4.0)


def test_few_equilibria_and_alike_parts():
    rows = [
        ours("claim-equilibria", f"{name}: sgd-lmsvc", column, value)
        for name, values in {"A": (9.0, 100.0), "B": (11.0, 100.0)}.items()
        for column, value in zip(("equilibria", "samples"), values, strict=True)
    ]
    spread = "spread (% of that of the classes)"
    parts = [ours("m3-figures7-8", f"Banana: {what}, positive part 1", spread, 50.0 if what == "equal" else 99.0)
             for what in ("equal", "random")]  # fmt: skip
    values = Values({"claim-equilibria": rows, "m3-figures7-8": parts})
    few, alike = (
        answer(next(claim for claim in CLAIMS if text in claim.says), values) for text in ("far fewer", "look like")
    )
    assert (few.holding, few.comparisons, few.worst.where) == (1, 2, "B: sgd-lmsvc")
    assert (alike.holding, alike.comparisons) == (1, 1)


def test_the_row_as_described_comes_first_and_without_labels_the_first_that_saw_none():
    table = "emmc-table7"
    rows = [
        ours(table, "Ionosphere: ours", "EMMC Acc", 71.0),
        ours(table, "Ionosphere: other nodes", "EMMC Acc", 72.0),
        ours(table, "Ionosphere: paper", "EMMC Acc", 73.0, uses_labels=True, as_described=True),
        ours(table, "Ionosphere: a part", "CPMMC Acc", 90.0, verdict="not comparable: 100 random rows"),
        ours(table, "Ionosphere: whole", "CPMMC Acc", 80.0),
    ]
    place = (table, "Ionosphere")
    assert Values().value(*place, "EMMC Acc") == 74.73
    assert Values({table: rows}).value(*place, "EMMC Acc") == 73.0
    assert Values({table: rows}).reading("other nodes").value(*place, "EMMC Acc") == 72.0
    assert Values({table: rows}, without_labels=True).value(*place, "EMMC Acc") == 71.0
    assert Values({table: rows}).value(*place, "CPMMC Acc") == 80.0
    assert Values({table: rows}).value(*place, "MMC Acc") is None
    assert Values().reading("other nodes").value(*place, "EMMC Acc") is None


def test_edsvc_beside_consensus_functions_in_both_scalings():
    table = "edsvc-table2"
    rows = [
        ours(table, f"Wine: {what}, {scaling}", column, value)
        for scaling, values in (("attributes in [0, 1]", (0.7, 0.6)), ("z-scores", (0.5, 0.6)))
        for what, column, value in (("edsvc as published", "EDSVC", values[0]), ("diclens", "DICLENS", values[1]))
    ]
    rows.append(ours(table, "Wine: edsvc, plane, z-scores", "EDSVC", 0.9))
    verdict = answer(of_name("consensus"), Values({table: rows}))
    assert (verdict.holding, verdict.comparisons, verdict.worst.where) == (1, 2, "Wine, z-scores")


def test_edsvc_beside_the_best_width_of_psvc():
    table = "edsvc-figures"
    rows = [
        ours(table, "Wine: edsvc as published, z-scores", "EDSVC", 0.7),
        ours(table, "Wine: psvc, width 1 of 100, z-scores", "PSVC", 0.9),
        ours(table, "Wine: psvc, the best of 100 widths by labels, z-scores", "PSVC", 0.8, uses_labels=True),
        ours(
            table, "Wine: psvc, the best of 100 widths by labels, attributes in [0, 1]", "PSVC", 0.1, uses_labels=True
        ),
    ]
    verdict = answer(of_name("best-psvc"), Values({table: rows}))
    assert (verdict.word, verdict.comparisons, verdict.worst.other) == ("no", 1, 0.8)


def test_parts_are_compared_with_parts_of_as_many():
    table, columns = "m3-figures", ("sequential (s)", "partition (s)")
    seconds = {"equal": (1.0, 3.0), "random": (5.0, 0.5)}
    rows = [
        ours(table, f"Letter: K = 2, {what}", column, value)
        for what, values in seconds.items()
        for column, value in zip(columns, values, strict=True)
    ]
    rows.append(ours(table, "Letter: K = 3, equal", "sequential (s)", 9.0))
    verdict = answer(of_name("random-sequential"), Values({table: rows}))
    assert (verdict.holding, verdict.comparisons) == (1, 1)


def test_every_subproblem_is_compared_with_every_random_one():
    table, column = "m3-figures7-8", "support vectors (% of rows)"
    rows = [
        ours(table, f"Banana: {what}, positive part {place}, negative part 1", column, value)
        for what, values in {"equal": (3.0, 50.0), "random": (40.0, 60.0)}.items()
        for place, value in enumerate(values, 1)
    ]
    claim = next(claim for claim in CLAIMS if "more separable" in claim.says)
    verdict = answer(claim, Values({table: rows}))
    assert (verdict.word, verdict.holding, verdict.comparisons) == ("yes", 3, 4)


def test_every_claim_names_its_place_and_tables_that_exist():
    for claim in CLAIMS:
        assert claim.place
        assert set(claim.tables) <= set(catalogue())
        assert (claim.compare is None) == (not claim.tables)
        assert claim.compare is not None or claim.reason, "why it is not tested"
    names = [claim.name for claim in CLAIMS if claim.name]
    assert len(set(names)) == len(names)
