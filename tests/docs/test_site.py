"""What the site is made of: every page has one place, every link leads to a page or a file, the reference is complete.

`.ci/deep site` builds it; here only the folder that Sphinx reads is made.
"""

import importlib
import re
import sys
from pathlib import Path

import pytest
from docs_scripts import script

ROOT = Path(__file__).parents[2]


pages, api = script("site/pages"), script("site/api")
RECIPE_PAGES = sorted(set((ROOT / "docs" / "recipes").glob("*.md")) - {ROOT / "docs" / "recipes" / "index.md"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory, made):
    target = tmp_path_factory.mktemp("site")
    pages.copy_pages(target, made)
    return target


def test_every_page_stands_in_one_table_of_contents(folder):
    listed = [
        line.rpartition("<")[2].strip("/>")
        for path in folder.rglob("*.md")
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)
        for line in block.splitlines()
        if "/" in line
    ]
    copies = {path.relative_to(folder).as_posix().removesuffix(".md") for path in folder.rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert copies - {"index"} == set(listed) - {"gallery/index", "api/index"}


def test_every_link_of_a_copy_leads_to_a_copy(folder):
    for path in folder.rglob("*.md"):
        for code, part in enumerate(pages.FENCE.split(path.read_text(encoding="utf-8"))):
            links = [] if code % 2 else pages.LINK.finditer(part)
            for link in links:
                goal = link["target"].partition("#")[0]
                if not goal or re.match(r"[a-z]+:", link["target"]):
                    continue
                file = (path.parent / goal).resolve()
                assert file.is_file() or file == folder / "gallery" / "index.rst", f"{path.name}: {link[0]}"


def test_the_page_of_a_recipe_says_first_when_to_use_it_and_has_a_picture():
    for path in RECIPE_PAGES:
        first = re.search(r"^## (.+)\n\n(.+)$", path.read_text(encoding="utf-8"), re.M)
        assert first[1] == "When to use it, and when not", path.stem
        assert first[2].endswith(f"](../images/recipes/{path.stem}.png)")


def test_a_link_to_a_folder_without_a_page_is_text(tmp_path):
    source = ROOT / "docs" / "results.md"
    text = pages.linked("the [record](results/records) of it", source, "results.md", {}, tmp_path)
    assert text == "the record of it"


def test_links_in_code_are_left_alone(tmp_path):
    text = "```text\n[a](../../nowhere.md)\n```\n"
    assert pages.linked(text, ROOT / "docs" / "start.md", "start.md", {}, tmp_path) == text


def test_a_page_that_no_section_takes_is_named():
    with pytest.raises(ValueError, match="elsewhere/new"):
        pages.contents(["index.md", "elsewhere/new.md"])


def test_a_page_that_sphinx_would_write_over_is_named():
    with pytest.raises(ValueError, match="search"):
        pages.contents(["index.md", "search.md"])


def test_the_reference_has_every_public_name():
    for name in api.public_modules():
        module = importlib.import_module(name)
        page = api.module_page(name)
        for each in module.__all__:
            if not isinstance(getattr(module, each), type(sys)):
                assert re.search(rf"^(   |\.\. py:data:: ){each}$", page, re.M), (name, each)


def test_the_reference_is_in_two_groups_of_public_modules():
    users, authors = api.index().split("For authors")
    assert "   clusterkit.metrics\n" in users
    assert "   clusterkit.contracts\n" in authors
    for name in api.public_modules():
        assert (f"   {name}\n" in users) != (f"   {name}\n" in authors), name


def test_a_class_that_two_public_modules_offer_is_described_on_the_page_of_the_first():
    assert "\n   FittedMap\n      :doc:`names/clusterkit.contracts.FittedMap`\n" in api.module_page(
        "clusterkit.samples"
    )
