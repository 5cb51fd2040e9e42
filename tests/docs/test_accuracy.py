"""The page on accuracy has at most 1,500 words, speaks of every recipe, and says which sets chose the constants."""

import re
from pathlib import Path

from clusterkit.contracts.registry import registry

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"


def test_every_recipe_is_measured_or_named_as_left_out():
    page = PAGE.read_text(encoding="utf-8")
    measured = set(re.findall(r"^\| `([\w-]+)`", page, re.M))
    left_out = set(re.findall(r"`([\w-]+)`", page[page.index("Not fitted here") :].split(". ")[0]))
    built_in = {name for kind, name in registry.builtins() if kind == "recipe"}
    assert not measured & left_out
    assert built_in - measured - left_out == set()


def test_the_page_says_which_sets_chose_the_constants():
    page = PAGE.read_text(encoding="utf-8")
    assert "chosen on these 28 sets" in page
    assert len(page.split()) <= 1500
