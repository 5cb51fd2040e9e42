"""The page about devices lists the stages that have a path there, and gives no figure that was not measured."""

from __future__ import annotations

import re
from pathlib import Path

from clusterkit import Pipeline, recipe, recipes
from clusterkit.core.device_paths import SLOTS, device_problems, with_device_path
from clusterkit.core.errors import IncompatibleStages
from clusterkit.core.rows_fit import row_problems

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "on-a-graphics-processor.md").read_text(encoding="utf-8")


def test_the_table_of_stages_is_what_the_marks_say():
    by_slot = dict(part.split(": ") for part in with_device_path().split("; "))
    assert set(by_slot) == set(SLOTS)
    for slot, stages in by_slot.items():
        (cell,) = re.findall(rf"^\| {slot} \| (.*) \|$", PAGE, re.M)
        assert cell.replace("`", "") == stages


def test_the_recipes_named_are_those_that_a_device_takes():
    """Two balance what passes can balance for two clusters only, and factorisations need another update."""
    (sentence,) = re.findall(r"^So (`kmeans`.*?)\.$", PAGE, re.M | re.S)
    taken = {name for name in recipes() if _fits(name)}
    assert set(re.findall(r"`([\w-]+)`", sentence)) == taken


def _fits(name: str) -> bool:
    model = recipe(name)
    if name in {"nmf", "elm-nmf"}:
        model.set_params(solver__update="anls", labeler="argmax")
    if not isinstance(model, Pipeline) or model.get_params().get("tuner") is not None:
        return False
    if name in {"emmc-multi", "emmc-single"}:
        model.set_params(balancer=None)
    try:
        composition = model.composition_at(2)
    except IncompatibleStages:  # it finds the number of clusters
        return False
    return not [*row_problems(composition), *device_problems(composition)]


def test_no_figure_is_given_without_a_measurement():
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", PAGE.partition("| goal on an H200 |")[2], re.M)
    measured = [cell for cell in rows if cell != "---"]
    assert measured
    assert set(measured) == {"not measured"} or "Nothing here is measured yet" not in PAGE
