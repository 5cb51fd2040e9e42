"""The defaults that the page of a recipe states are those of the recipe."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from clusterkit import recipe, recipes
from clusterkit.core.stages import Stage

PAGES = Path(__file__).parents[2] / "docs" / "recipes"
NAMES = sorted(name for name in recipes() if (PAGES / f"{name}.md").exists())

WORDS = {"none": None, "yes": True, "true": True, "no": False, "false": False, "inf": float("inf")}
"""Words that stand for values in a table."""

MISSING = "no such parameter"
"""What a parameter has that the recipe lacks."""


def rows_of(text: str) -> list[tuple[str, str]]:
    """The cells "parameter" and "default" of every row of the tables of parameters of a page."""
    tables = re.findall(r"^\| parameter \| default \|.*\n\|[-| ]+\n((?:\|.*\n?)+)", text, re.M)
    cells = [re.split(r"(?<!\\)\|", line)[1:3] for table in tables for line in table.splitlines()]
    return [(parameter.strip(), default.strip()) for parameter, default in cells]


def value_of(cell: str) -> object:
    """The value that a cell writes; ValueError where it describes one that the fit computes, which is None before."""
    text = re.sub(r" \(.*\)$", "", cell).replace("`", "").strip()
    if text == "tuned":
        raise ValueError(cell)
    if re.fullmatch(r"\d{1,3}(,\d{3})+", text):
        return int(text.replace(",", ""))
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if re.fullmatch(r"[a-z]\w+", text):
        return text  # the name of a stage or a word of a choice
    try:
        return ast.literal_eval(text)
    except SyntaxError:
        raise ValueError(cell) from None


def default_of(model, parameter: str) -> object:
    """The value of a parameter of a model, or of a stage inside one of its stages."""
    parameters = model.get_params()
    if parameter in parameters:
        return parameters[parameter]
    outer, _, inner = parameter.rpartition("__")
    stage = parameters.get(outer)
    return stage.parameters().get(inner, MISSING) if isinstance(stage, Stage) else MISSING


def differences(name: str, text: str) -> list[str]:
    """Rows of a page whose default is not that of the recipe."""
    model = recipe(name)
    wrong = []
    for cell, default in rows_of(text):
        names = re.findall(r"`(\w+)`", cell)
        try:
            value = value_of(default)
        except ValueError:
            value = None
        values = value if isinstance(value, tuple) and len(names) > 1 else (value,) * len(names)
        wrong += [
            f"{parameter}: the page says {default}, the recipe has {default_of(model, parameter)!r}"
            for parameter, stated in zip(names, values, strict=True)
            if not _equal(default_of(model, parameter), stated)
        ]
    return wrong


def composition_of(text: str) -> list[tuple[str, str]]:
    """Parameter and value of everything that the table of the composition of a page sets, as in `n_init=10`."""
    table = re.search(r"^(\| featuremap \|.*)\n\|[-| ]+\n(\|.*)", text, re.M)
    if table is None:
        return []
    slots, cells = ([cell.strip() for cell in line.split("|")[1:-1]] for line in table.groups())
    settings = []
    for slot, cell in zip(slots, cells, strict=True):
        for code in re.findall(r"`([^`]*=[^`]*)`", cell):
            call = ast.parse(code if code.endswith(")") else f"{slot}({code})", mode="eval").body
            assert isinstance(call, ast.Call)
            for word in call.keywords:
                general = code == f"{word.arg}={ast.unparse(word.value)}" and word.arg in ("n_init", "max_iter")
                settings.append((f"{word.arg}" if general else f"{slot}__{word.arg}", ast.unparse(word.value)))
    return settings


def _equal(value: object, stated: object) -> bool:
    """Whether a parameter has the value stated; a stage is stated by its name."""
    if isinstance(value, dict):
        value = value["name"]
    return getattr(value, "name", value) == stated


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_of_a_page_are_those_of_the_recipe(name):
    assert not differences(name, (PAGES / f"{name}.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_the_composition_of_a_page_is_that_of_the_recipe(name):
    model = recipe(name)
    for parameter, text in composition_of((PAGES / f"{name}.md").read_text(encoding="utf-8")):
        assert default_of(model, parameter) == ast.literal_eval(text), parameter


def test_a_setting_of_a_composition_is_read_with_its_slot():
    table = "| featuremap | init |\n|---|---|\n| `elm(width=1)` | `seeds`, `trials=4`, `n_init=10` |\n"
    assert composition_of(table) == [("featuremap__width", "1"), ("init__trials", "4"), ("n_init", "10")]


def test_a_wrong_default_is_seen():
    table = "| parameter | default | meaning |\n|---|---|---|\n| `n_init` | 11 | starts |\n| `solver__tol` | 1e-4 | |\n"
    assert differences("kmeans", table) == ["n_init: the page says 11, the recipe has 10"]


def test_most_pages_state_defaults():
    stating = [name for name in NAMES if rows_of((PAGES / f"{name}.md").read_text(encoding="utf-8"))]
    assert len(stating) > len(NAMES) / 2
