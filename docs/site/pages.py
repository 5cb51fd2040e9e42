"""Copies the pages of the checkout into a folder that Sphinx can read, with links between them and a table of contents.

The pages are plain Markdown that reads well without the site. What only the site needs is added to the copies: hidden
tables of contents, and links that lead to copies instead of files of the checkout.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

OUTSIDE = {
    "CHANGELOG.md": "about/changelog.md",
    "CODE_OF_CONDUCT.md": "about/code-of-conduct.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "GOVERNANCE.md": "about/governance.md",
    "ROADMAP.md": "about/roadmap.md",
    "SECURITY.md": "about/security.md",
    "tests/benchmarks/README.md": "about/benchmarks.md",
}
"""Pages outside the folder docs, and their places on the site; the READMEs of the plugins follow in `page_places`."""

FOLDERS = {
    "examples/gallery": "gallery/index.rst",
    "docs/decisions": "decisions/index.md",
    "docs/recipes": "recipes/index.md",
}
"""Pages that stand for a folder to which a link leads."""

SECTIONS = {
    "index": ["start", "how-to/index", "recipes/index", "reference/index", "about/index"],
    "start": ["which-method", "glossary"],
    "how-to/index": [
        "gallery/index",
        "# Tables and answers", "how-to/tables", "how-to/understand-a-clustering", "how-to/explain-a-row",
        "how-to/plot-a-fit", "how-to/compare-methods", "how-to/data-sets", "how-to/save-a-model",
        "how-to/export-to-onnx",
        "# Choose and steer", "choose-parameters", "consensus", "how-to/tell-it-what-you-know",
        "how-to/keep-cluster-sizes", "how-to/weights", "how-to/cluster-embeddings", "how-to/label-a-domain",
        "min-max-svm",
        "# Many rows", "how-to/large-data", "how-to/larger-than-memory", "how-to/on-a-cluster",
        "how-to/on-a-graphics-processor",
        "# Coming from other packages", "coming-from/*",
        "# Extend and reproduce", "how-to/*",
        "# Plugins", "plugins/*",
    ],
    "recipes/index": ["recipes/*"],
    "reference/index": ["api/index", "reference/command-line", "reference/stages", "reference/*"],
    "about/index": [
        "results", "accuracy", "claims", "results/tables", "results/*", "decisions/index", "architecture", "promises",
        "stability", "about/*", "*",
    ],
    "decisions/index": ["decisions/*"],
}  # fmt: skip
"""Which pages stand below which, in this order: four doors, and what is behind them. A star takes the pages of the
folder that stand nowhere else, so that a new page needs no line here; a line that begins with # is a heading."""

WRITTEN = {
    "how-to/index": "# How-to\n\nOne page for each task.\n",
    "reference/index": "# Reference\n\nEvery public name, every command, every stage.\n",
    "about/index": "# Behind\n\nWhat was measured and decided, how it is built and how to take part.\n",
    "decisions/index": "# Decisions\n\nWhat was decided, with the reasons.\n",
}
"""Pages that only the site has: headings above a list of pages."""

SHORT = {"start": "Start"}
"""Titles in the tables of contents, where the heading of the page is long."""

TAKEN = {"search", "genindex", "modindex"}
"""Pages that Sphinx writes itself, in the place of any page of that name, without a warning."""

LINK = re.compile(r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def copy_pages(target: Path, made: Mapping[str, str]) -> None:
    """Write all pages, the pictures and the files that pages link to into an empty folder.

    Parameters
    ----------
    target : Path
    made : mapping of str to str
        The text of pages that are no files of the checkout, by their paths below docs.
    """
    places = page_places(made)
    for source, place in places.items():
        text = made[place] if place in made else source.read_text(encoding="utf-8")
        write(target / place, linked(text, source, place, places, target))
    for name, text in WRITTEN.items():
        write(target / f"{name}.md", text)
    shutil.copytree(DOCS / "images", target / "images", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for section, pages in contents([*places.values(), *(f"{name}.md" for name in WRITTEN)]).items():
        with (target / f"{section}.md").open("a", encoding="utf-8") as file:
            file.write(table_of_contents(section, pages))


def page_places(made: Collection[str]) -> dict[Path, str]:
    """Where each page of the checkout stands on the site, and each of those that are made."""
    files = sorted({*DOCS.rglob("*.md"), *(DOCS / name for name in made)})
    places = {path: path.relative_to(DOCS).as_posix() for path in files}
    places |= {ROOT / name: place for name, place in OUTSIDE.items()}
    places |= {path: f"plugins/{path.parent.name}.md" for path in sorted(ROOT.glob("plugins/*/README.md"))}
    return places


def contents(places: list[str]) -> dict[str, list[str]]:
    """The pages below each section; every page of `places` is in exactly one of them, except the first page."""
    pages = [place.removesuffix(".md") for place in places]
    if taken := TAKEN.intersection(pages):
        raise ValueError(f"Sphinx writes pages of its own over {sorted(taken)}: give them other names")
    named = {page for listed in SECTIONS.values() for page in listed}
    rest = [page for page in pages if page not in named and page not in SECTIONS]
    below: dict[str, list[str]] = {}
    for section, listed in SECTIONS.items():
        below[section] = []
        for page in listed:
            folder = page.removesuffix("*").rstrip("/") or "."
            matching = [each for each in rest if Path(each).parent.as_posix() == folder] if "*" in page else [page]
            below[section] += matching
            rest = [each for each in rest if each not in matching]
    if rest:
        raise ValueError(f"no section of docs/site/pages.py takes the pages {rest}")
    return below


def table_of_contents(section: str, pages: list[str]) -> str:
    """A directive; visible on the pages that consist of it alone."""
    hidden = "" if section in WRITTEN else ":hidden:\n"
    text, group = "", [""]
    for page in [*pages, "# "]:
        if not page.startswith("# "):
            group.append(f"{SHORT[page]} </{page}>" if page in SHORT else f"/{page}")
            continue
        if len(group) > 1:
            caption = f":caption: {group[0]}\n" if group[0] else ""
            lines = "\n".join(group[1:])
            text += f"\n```{{toctree}}\n{hidden}:maxdepth: 1\n{caption}\n{lines}\n```\n"
        group = [page.removeprefix("# ")]
    return text


def linked(text: str, source: Path, place: str, places: dict[Path, str], target: Path) -> str:
    """The text with links that are right at its new place; code is left alone."""

    def changed(link: re.Match[str]) -> str:
        address, _, anchor = link["target"].partition("#")
        if re.match(r"[a-z]+:", link["target"]) or not address:
            return link[0]
        goal = destination((source.parent / address).resolve(), places, target)
        inner = LINK.sub(changed, link["text"])
        if goal is None:
            return inner
        return f"{link['picture']}[{inner}]({relative(goal, place)}{'#' + anchor if anchor else ''})"

    return "".join(
        part if number % 2 else LINK.sub(changed, part) for number, part in enumerate(FENCE.split(text))
    )  # fmt: skip


def destination(path: Path, places: dict[Path, str], target: Path) -> str | None:
    """The place on the site of what a link leads to; None for a folder without a page."""
    if path in places:
        return places[path]
    name = path.relative_to(ROOT).as_posix()
    if name in FOLDERS:
        return FOLDERS[name]
    if path.is_dir():
        return places.get(path / "README.md")
    if name == "README.md":
        return "index.md"
    if path.is_relative_to(DOCS / "images") and path.suffix == ".png":
        return path.relative_to(DOCS).as_posix()
    copy = target / "files" / name
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, copy)
    return f"files/{name}"


def relative(goal: str, place: str) -> str:
    """From one place of the site to another."""
    up = "../" * (len(Path(place).parts) - 1)
    return up + goal


def write(path: Path, text: str) -> None:
    """A file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
