"""The page about devices lists the stages that have a path there, and gives no figure that was not measured."""

import re
from pathlib import Path

from clusterkit import recipe, recipes
from clusterkit.fitting.device_paths import SLOTS, with_device_path

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "on-a-graphics-processor.md").read_text(encoding="utf-8")


def test_the_table_of_stages_is_what_the_marks_say():
    by_slot = dict(part.split(": ") for part in with_device_path().split("; "))
    assert set(by_slot) == set(SLOTS)
    for slot, stages in by_slot.items():
        (cell,) = re.findall(rf"^\| {slot} \| (.*) \|$", PAGE, re.M)
        assert cell.replace("`", "") == stages


def test_the_recipes_named_are_those_that_a_device_takes():
    """Those that scikit-learn is told of, at two clusters."""
    (sentence,) = re.findall(r"^So (`kmeans`.*?)\.$", PAGE, re.M | re.S)
    taken = {name for name in recipes() if _fits(name)}
    assert set(re.findall(r"`([\w-]+)`", sentence)) == taken


def _fits(name: str) -> bool:
    try:
        model = recipe(name, n_clusters=2)
    except ValueError:  # it finds the number of clusters
        return False
    return bool(model.__sklearn_tags__().array_api_support)


def test_no_figure_is_given_without_a_measurement():
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", PAGE.partition("| goal on an H200 |")[2], re.M)
    measured = [cell for cell in rows if cell != "---"]
    assert measured
    assert set(measured) == {"not measured"} or "Nothing here is measured yet" not in PAGE
