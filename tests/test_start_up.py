"""Importing clusterkit costs next to nothing and loads nothing heavy."""

import json
import os
import subprocess
import sys

import pytest

HEAVY = ("scipy", "sklearn", "numba", "cvxpy", "matplotlib", "pandas")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_and_listing_stages_load_nothing_heavy():
    assert loaded_after("import clusterkit; clusterkit.stages()") == set()


def test_estimators_load_scikit_learn_and_no_more():
    loaded = loaded_after(
        "from clusterkit import plots, recipe; recipe('emmc', n_clusters=2), plots.contours, plots.sizes"
    )
    assert loaded <= {"scipy", "sklearn", "pandas"}  # scikit-learn may look for pandas by itself


ERRORS = {
    "fit missing.csv": "missing.csv: no such file",
    "fit . -k 2": ". is a folder, not a file",
    "fit x.csv -r emmcc": "Did you mean 'emmc'",
    "fit x.csv --recipee emmc": "No such option",
    "fit x.csv -k two": "'two' is no",
    "fit x.csv -k 2 --set solver.C=2": "has no stages to change",
    "fit x.csv -k 2 -o labels.doc": "labels can be",
    "predict missing.clusterkit x.csv": "missing.clusterkit",
    "stages solvr": "Did you mean 'solver'?",
    "recipes emmcc": "Did you mean 'emmc'",
    "plugins nobody": "no plugin named 'nobody'",
    "fti x.csv": "Did you mean 'fit'?",
}
"""Command lines with a file or a name that does not exist, and what the error must say."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, list[str]]:
    """What each line writes to standard error, and its exit code with the heavy packages that it loads.

    One interpreter runs the first line, which loads what most errors need, and each other line in a copy of itself.
    """
    folder = tmp_path_factory.mktemp("errors")
    folder.joinpath("x.csv").write_text("a,b\n1,2\n3,4\n5,6\n", encoding="utf-8")
    code = (
        "import contextlib, io, json, os, sys; from clusterkit.cli import app\n"
        f"for line in {list(ERRORS)!r}:\n"
        f"    if line != {next(iter(ERRORS))!r} and os.fork(): os.wait(); continue\n"
        "    with contextlib.redirect_stderr(io.StringIO()) as error:\n"
        "        try: app(line.split())\n"
        "        except SystemExit as end: code = end.code\n"
        f"    loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "    print(json.dumps([line, [error.getvalue(), code, loaded]]), flush=True)\n"
        f"    if line != {next(iter(ERRORS))!r}: os._exit(0)"
    )
    environment = {**os.environ, "CLUSTERKIT_PLUGINS": "", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=folder, check=True
    )
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("line", ERRORS)
def test_errors_about_files_and_names_load_nothing_heavy(line, answers):
    """The import of scikit-learn alone takes over a second."""
    error, code, loaded = answers[line]
    assert ERRORS[line] in error
    assert (code, loaded) == (2, []), f"{line}: exit code and heavy packages"


def test_listings_load_nothing_heavy():
    quiet = "import contextlib, io\nfrom clusterkit.cli import app\nwith contextlib.redirect_stdout(io.StringIO()):\n"
    lines = "    for line in ('recipes', 'stages', 'plugins', '--version'):\n"
    assert loaded_after(f"{quiet}{lines}        with contextlib.suppress(SystemExit): app([line])") == set()


def test_public_names_all_load():
    import clusterkit

    for name in clusterkit.__all__:
        assert getattr(clusterkit, name) is not None
    assert set(clusterkit.__all__) <= set(dir(clusterkit))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = clusterkit.nothing
