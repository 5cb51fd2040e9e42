"""`clusterkit new-plugin`: what it writes works at once, what it refuses is named, nothing is overwritten."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner
from clusterkit_scaffold.files import KINDS, LEFT_OUT, files_of, names_of

from clusterkit.cli import app
from clusterkit.contracts import hookspecs


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLUSTERKIT_PLUGINS", "scaffold")

    def invoke(*words):
        return CliRunner().invoke(app, ["new-plugin", *words])

    return invoke


def test_every_kind_has_a_template_or_a_reason():
    assert {*KINDS, *LEFT_OUT} == set(hookspecs.HOOKS)


@pytest.mark.parametrize("only", ["plugin", pytest.param("", marks=pytest.mark.deep)])
def test_its_own_tests_pass(run, tmp_path, only):
    """The labeler, found by an entry point on the path instead of an installation; .ci/deep installs every kind."""
    assert run("ck-nearby", "--kind", "labeler").exit_code == 0
    source = tmp_path / "ck-nearby" / "src"
    info = source / "ck_nearby-0.1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: ck-nearby\nVersion: 0.1.0\n", encoding="utf-8")
    points = tomllib.loads((tmp_path / "ck-nearby" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [(name, module)] = points["entry-points"]["clusterkit"].items()
    info.joinpath("entry_points.txt").write_text(f"[clusterkit]\n{name} = {module}\n", encoding="utf-8")
    path = os.pathsep.join([str(source), *filter(None, sys.path)])
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "HYPOTHESIS_PROFILE": "few",
        "CLUSTERKIT_PLUGINS": "ck-nearby,scaffold",
    }
    environment.pop("PYTEST_ADDOPTS", None)  # `--durations` would print names of tests that pass
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", only],
        capture_output=True,
        text=True,
        cwd=tmp_path / "ck-nearby",
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_laws[labeler-ck_nearby-" not in done.stdout  # names of failures only
    assert " passed" in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_of_every_kind(run, tmp_path, kind):
    answer = run("acme-tools", "--kind", kind)
    assert answer.exit_code == 0, answer.output
    folder = tmp_path / "acme-tools"
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.*")}
    assert {"pyproject.toml", "README.md", "tests/test_plugin.py", f"tests/test_{kind}.py"} <= set(texts)
    for name, text in texts.items():
        assert "$" not in text, name
        assert text.endswith("\n"), name
        assert not text.endswith("\n\n"), name
        assert max(map(len, text.splitlines())) <= 120, name
        if name.endswith(".py"):
            assert ast.get_docstring(ast.parse(text)), name
    plugin = texts["src/acme_tools/plugin.py"]
    assert f"API_VERSION = {hookspecs.API_VERSION}\n" in plugin
    assert f"def {hookspecs.HOOKS[kind]}():" in plugin
    assert all(f"  {name}\n" in answer.stdout for name in texts)


def test_a_folder_that_exists_is_left_alone(run, tmp_path):
    mine = tmp_path / "acme-tools" / "README.md"
    mine.parent.mkdir()
    mine.write_text("mine", encoding="utf-8")
    answer = run("acme-tools", "--kind", "solver")
    assert answer.exit_code == 2
    assert "acme-tools exists already; nothing is written" in answer.stderr
    assert [*tmp_path.rglob("*.*")] == [mine]
    assert mine.read_text(encoding="utf-8") == "mine"
    assert run("acme-tools", "--kind", "solver", "-o", "plugins/acme").exit_code == 0
    assert (tmp_path / "plugins" / "acme" / "pyproject.toml").exists()


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("My Plugin", "solver", "'My Plugin' is no name for a plugin: lower-case letters and digits in words"),
        ("My Plugin", "solver", "Did you mean 'my-plugin'?"),
        ("acme_tools", "solver", "Did you mean 'acme-tools'?"),
        ("acme--tools", "solver", "Did you mean 'acme-tools'?"),
        ("2fast", "solver", "Did you mean 'fast'?"),
        ("größe", "solver", "Did you mean 'grosse'?"),
        ("../acme", "solver", "Did you mean 'acme'?"),
        ("!", "solver", "a letter first.\n"),
        ("class", "solver", "'class' is a word of Python"),
        ("clusterkit-lambda", "solver", "'lambda' is a word of Python"),
        ("statistics", "solver", "'statistics' is a module of Python"),
        ("numpy", "solver", "a package 'numpy' is installed already"),
        ("clusterkit", "solver", "a package 'clusterkit' is installed already"),
        ("clusterkit-ridge", "solver", "the solver 'ridge' exists already, in clusterkit-toolkit"),
        ("clusterkit-emmc", "recipe", "the recipe 'emmc' exists already"),
        ("clusterkit-fit", "command", "the command 'fit' is built in"),
        ("acme", "solvr", "no kind named 'solvr'. Did you mean 'solver'?"),
        ("acme", "engine", "clusterkit-dask is one to read"),
        ("acme", "savable", "choose the kind of the stage"),
    ],
)
def test_what_is_refused(run, tmp_path, name, kind, message):
    answer = run(name, "--kind", kind)
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert not [*tmp_path.iterdir()]


def test_names_of_the_kinds():
    def name(kind):
        return names_of("clusterkit-acme-tools", KINDS[kind]).name

    assert name("solver") == "acme_tools"
    assert name("recipe") == name("command") == "acme-tools"
    assert name("reader") == ".acme_tools"
    files = files_of(names_of("acme", KINDS["recipe"]), KINDS["recipe"])
    assert "src/acme/recipe.py" not in files


@pytest.mark.usefixtures("no_external_plugins")
def test_recipe_of_the_template_is_complete(tmp_path, monkeypatch):
    """A recipe is data in the plugin module, which a session can use as it is."""
    import importlib
    import types

    import clusterkit

    files = files_of(names_of("acme-means", KINDS["recipe"]), KINDS["recipe"])
    module = types.ModuleType("acme_means_plugin")
    exec(files["src/acme_means/plugin.py"], vars(module))
    clusterkit.register(module)
    model = clusterkit.recipe("acme-means", n_clusters=2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    assert sorted(model.labels_) == [0, 0, 1, 1]
    assert importlib.util.find_spec("acme_means") is None
