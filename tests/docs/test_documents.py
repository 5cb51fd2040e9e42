"""The documents are true: their code runs, their links lead somewhere, every recipe has its page.

Blocks of a page run in order in a temporary folder and share one namespace. ``python`` blocks run unless
``<!-- skip -->`` stands before them; ``<!-- file: NAME -->`` adds the block to the end of a file there instead; command
lines of ``sh``, ``console`` and ``text`` blocks run after ``<!-- run -->``.
"""

import re
import shlex
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP_LEVEL = (
    "README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "GOVERNANCE.md", "ROADMAP.md", "SECURITY.md",
)  # fmt: skip
DOCS = ROOT / "docs"
DOCUMENTS = [*(ROOT / name for name in TOP_LEVEL), *sorted(DOCS.rglob("*.md"))]
RESULTS = DOCS / "results.md"
"""The only page that links to pages that are made where the site is built, and says so."""
BLOCK = re.compile(
    r"^(?:<!--\s*(?P<mark>skip|run|file:\s*\S+)\s*-->\n\n?)?```(?P<language>\w+)\n(?P<code>.*?)^```$", re.M | re.S
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
MACHINE_PATH = re.compile(r"(?<![\w.:/~$}])/(?:home|root|work|tmp|var|usr|opt|mnt|Users)/|\b[A-Z]:\\")

DEAR = {
    f"docs/{name}.md"
    for name in (
        "choose-parameters",
        "how-to/every-kind-of-stage",
        "how-to/plot-a-fit",
        "how-to/tables",
        "recipes/edsvc",
        "start",
        "which-method",
    )
}
"""Pages whose code takes about a second and more."""

pytest.importorskip("matplotlib")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def _anchors(text: str) -> set[str]:
    """Anchors that GitHub gives to the headings."""
    titles = re.findall(r"^#+ (.+?)\s*$", _prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _blocks(path: Path):
    text = path.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        yield block["language"], block["mark"] or "", block["code"], text[: block.start("code")].count("\n")


def _runs(path: Path) -> bool:
    return any(
        mark == "run" or mark.startswith("file:") or (language == "python" and not mark)
        for language, mark, _, _ in _blocks(path)
    )


PAGES = [
    pytest.param(path, marks=[pytest.mark.deep] if _name(path) in DEAR else [], id=_name(path))
    for path in DOCUMENTS
    if _runs(path)
]


@pytest.fixture
def few_examples(change_settings):
    """Pages show the conformance kit; its thoroughness is tested elsewhere."""
    change_settings(max_examples=5, deadline=None, database=None)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.usefixtures("few_examples")
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_code_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CLUSTERKIT_PLUGINS", "papers")  # pages show its command `reproduce`
    before = set(sys.modules)
    page = types.ModuleType("a_page")
    sys.modules["a_page"] = page
    try:
        for language, mark, code, line in _blocks(path):
            if mark == "skip":
                continue
            if mark.startswith("file:"):
                with Path(mark.removeprefix("file:").strip()).open("a", encoding="utf-8") as file:
                    file.write(code)
            elif mark == "run":
                for command in _commands(code):
                    _run_command(command, f"{_name(path)}:{line}")
            elif language == "python":
                exec(compile("\n" * line + code, str(path), "exec"), vars(page))
    finally:
        for name in [*(p.stem for p in tmp_path.glob("*.py")), "a_page"]:
            if name not in before:
                sys.modules.pop(name, None)


def _commands(code: str):
    for line in code.replace("\\\n", " ").splitlines():
        command = re.match(r"(?:\$ )?(?:uv run )?clusterkit (.*)", line)
        if command:
            yield shlex.split(command[1], comments=True)


def _run_command(words: list[str], where: str):
    from click.testing import CliRunner

    from clusterkit.cli import app

    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, f"{where}: clusterkit {shlex.join(words)}\n{answer.output}"


def test_what_people_wrote_can_be_read():
    """With the words around the tables of results; tables that programs write may be long, and code is not counted."""
    mark = "<!-- What follows is written by"
    others = ("docs/results/prose/*.txt", "plugins/*/README.md", "tests/benchmarks/README.md")
    files = [*(path for path in DOCUMENTS if path != RESULTS), *(path for each in others for path in ROOT.glob(each))]
    assert sum(_words(path.read_text(encoding="utf-8").partition(mark)[0]) for path in files) <= 85_000
    assert _words(RESULTS.read_text(encoding="utf-8")) <= 2_000
    assert _words((DOCS / "architecture.md").read_text(encoding="utf-8")) <= 2_500


def _words(text: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in _prose(text).split())


def test_blocks_are_recognised():
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        opened = len(re.findall(r"^```\w+$", text, re.M))
        assert opened == len(list(_blocks(path))), f"{_name(path)}: a code block is not closed or lacks its language"
        marks = len(re.findall(r"^<!--\s*(skip|run|file:)", text, re.M))
        assert marks == sum(bool(mark) for _, mark, _, _ in _blocks(path)), (
            f"{_name(path)}: a mark stands before no block"
        )


def test_links_resolve(made):
    for path in DOCUMENTS:
        _check_links(path, path.read_text(encoding="utf-8"), made if path == RESULTS else {})
    for name, text in made.items():
        _check_links(DOCS / name, text, made)


def _check_links(path, text, made):
    pages = {DOCS / name: page for name, page in made.items()}
    for groups in LINK.findall(_prose(text)):
        link = groups[0] or groups[1]
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        assert file in pages or file.exists(), f"{_name(path)}: {link} leads nowhere"
        if anchor:
            page = pages[file] if file in pages else file.read_text(encoding="utf-8")
            assert anchor in _anchors(page), f"{_name(path)}: no heading for {link}"


def test_the_page_of_results_says_how_the_others_are_made():
    [command] = re.findall(r"`uv run (python docs/site/build\.py --markdown)`", RESULTS.read_text(encoding="utf-8"))
    assert (ROOT / command.split()[1]).is_file()


def test_names_and_paths(made):
    for path in DOCUMENTS:
        _check_names(path, path.read_text(encoding="utf-8"))
    for name, text in made.items():
        _check_names(DOCS / name, text)


def _check_names(path, text):
    for command in re.finditer(r"pip install (?:-\S+ )*[\"']?clusterkit(?!-toolkit)", text):
        line = text[: command.start()].count("\n") + 1
        raise AssertionError(f"{_name(path)}:{line}: that name on the public index belongs to a stranger")
    foreign = MACHINE_PATH.search(text)
    assert foreign is None, f"{_name(path)}: the path of a machine: {text[foreign.start() : foreign.start() + 40]!r}"


@pytest.fixture(scope="module")
def parameters():
    """Names of the parameters of all stages, by slot; stages inside a stage have the parameters of all kinds."""
    from clusterkit.contracts.registry import registry
    from clusterkit.drivers.compose import KINDS

    by_slot = {slot: set() for slot in KINDS}
    for slot, kind in KINDS.items():
        for stage in registry.specimens(kind).values():
            by_slot[slot] |= {stage.name, *stage.parameters()}
    return by_slot


def test_parameters_exist(parameters):
    """Every ``slot__parameter`` of the prose is a parameter of a built-in stage or of a stage of the page."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        prose = text if path.parent.name == "recipes" else _prose(text)
        defined = set(re.findall(r"^ +(\w+): \w+ = params\.", text, re.M))
        for slot, rest in re.findall(rf"\b({'|'.join(parameters)})__(\w+)", prose):
            known = parameters[slot] | defined | {"parameter"}
            assert set(rest.split("__")) <= known, f"{_name(path)}: no stage for {slot} has the parameter {rest}"


def _builtin_recipes():
    from oracles.builtin_names import TABLE

    return sorted(TABLE["recipe"])


def test_every_recipe_has_a_page_with_its_citation():
    import clusterkit

    index = (ROOT / "docs" / "recipes" / "index.md").read_text(encoding="utf-8")
    for name in _builtin_recipes():
        page = (ROOT / "docs" / "recipes" / f"{name}.md").read_text(encoding="utf-8")
        citation = clusterkit.recipes()[name].citation
        author, year = re.match(r"([^\s,(]+)", citation)[1], re.search(r"\((\d{4})\)", citation)[1]
        assert author in page, f"{name}: {author} is not named"
        assert year in page, f"{name}: {year} is not named"
        assert f"({name}.md)" in index, name


def test_every_page_of_a_recipe_is_of_one():
    pages = {path.stem for path in (ROOT / "docs" / "recipes").glob("*.md")} - {"index"}
    assert pages == set(_builtin_recipes())


def test_every_page_is_reached_from_the_map():
    reached, new = set(), [ROOT / "docs" / "index.md"]
    while new:
        path = new.pop()
        if path in reached or path.suffix != ".md":
            continue
        reached.add(path)
        for groups in LINK.findall(_prose(path.read_text(encoding="utf-8"))):
            target = (groups[0] or groups[1]).partition("#")[0]
            file = (path.parent / target).resolve()
            if target and not re.match(r"[a-z]+:", target):
                new += file.glob("*.md") if file.is_dir() else [file] if file.exists() else []
    missing = [_name(path) for path in DOCUMENTS if path not in reached and path.name != "README.md"]
    assert not missing, f"no page links to {missing}"


def test_code_in_the_reference_has_no_escapes(made):
    text = made["reference/command-line.md"]
    assert [code for code in re.findall(r"`[^`\n]+`", _prose(text)) if "\\[" in code] == []


FILE = re.compile(r"(?:\w+/)+\w+\.py")
FUNCTIONS = re.compile(r"((?:`[\w.]+`(?:, | and )?)+)(?: \([\w ]+\))? of $")
"""A file as docstrings name it, and the functions, or a class, before it."""


def test_docstrings_name_functions_that_are_where_they_say_each_once():
    """What is named twice in one sentence is a slip for something else."""
    library = ROOT / "clusterkit"
    for path in sorted(library.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for sentence in re.split(r"[.:]\s", re.sub(r"\s+", " ", text)) if FILE.search(text) else ():
            named = []
            for place in FILE.finditer(sentence):
                names = FUNCTIONS.search(sentence[max(place.start() - 120, 0) : place.start()])
                named += [(name, place[0]) for name in re.findall(r"`([\w.]+)`", names[1] if names else "``")]
                assert f"{place[0]} and {place[0]}" not in sentence, (_name(path), sentence)
            assert len(set(named)) == len(named), (_name(path), named)
            for name, file in named:
                source = next((its / file for its in (library, ROOT) if (its / file).exists()), None)
                assert source is not None, (_name(path), file)
                last = name.rpartition(".")[2]
                assert re.search(rf"(?:def|class) {last}\b|^{last}\b", source.read_text(encoding="utf-8"), re.M), name
