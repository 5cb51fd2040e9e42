"""EMMC at many complexities: the labels are those of fits, and classes choose on the first runs only."""

from __future__ import annotations

import pytest
from clusterkit_papers.emmc.complexity import CHOSEN_ON, accuracies, best_complexity, by_labels
from clusterkit_papers.emmc.data_sets import DATA_SETS, PRINTED_C
from clusterkit_papers.fits import judged_fit


def test_the_values_of_c_are_the_printed_ones():
    assert len(PRINTED_C) == 21
    assert (PRINTED_C[0], PRINTED_C[10], PRINTED_C[-1]) == (1 / 1024, 1, 1024)


@pytest.mark.parametrize(
    ("data_set", "name", "kind", "values"),
    [
        ("Digits8-9", "emmc-paper", "C", (2.0**-10, 1.0, 2.0**10)),
        ("Digits8-9", "emmc", "df", (8.0, 150.0)),
        ("Digits0689", "emmc", "df", (50.0,)),
        ("Digits0689", "emmc-single", "C", (8.0,)),
    ],
)
def test_one_decomposition_gives_the_labels_of_fits(data_set, name, kind, values):
    whole = DATA_SETS[data_set]
    X, y = whole.load()
    # few nodes, so that half the rank of the features is below the largest df
    parameters = whole.margin(X, featuremap__n_hidden=120)
    fits = [judged_fit(X, y, name, 4, **parameters, **{f"solver__{kind}": value})["accuracy"] for value in values]
    assert accuracies(X, y, name, 4, kind, values, **parameters) == pytest.approx(fits, abs=1e-9)


def test_a_choice_sees_the_first_runs_only():
    percent = {0: (60.0, 70.0), 1: (60.0, 70.0), 2: (90.0, 75.0), 3: (100.0, 0.0)}
    seen = []

    def measured(seed):
        seen.append(seed)
        return percent[seed]

    assert best_complexity((1.0, 2.0), range(4), measured) == 2.0
    assert seen == list(range(CHOSEN_ON))


def test_notes_say_how_it_was_chosen():
    assert by_labels("C", PRINTED_C, 20) == "by labels from the 21 printed values 2^-10 to 2^10, on 3 runs"
    some = "every fifth of the printed values, 2^-10, 2^-5, 1, 2^5, 2^10"
    assert by_labels("C", PRINTED_C[::5], 5) == f"by labels from {some}, on 3 runs"
    assert by_labels("df", (12.0, 50.0), 1) == "by labels from 12, 50, on 1 run"
