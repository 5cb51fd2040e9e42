"""`clusterkit plugins --check`: the verdict on what is installed, and its exit code."""

import json
import os
import subprocess
import sys

import pytest


def _path(environment):
    """The dummy plugins before all that this process imports from."""
    return os.pathsep.join([str(environment), *filter(None, sys.path)])


@pytest.fixture(scope="module")
def check(environment, tmp_path_factory):
    """Run `clusterkit plugins` in the environment of the dummy plugins, in an empty folder."""

    def run(*words, plugins):
        folder = tmp_path_factory.mktemp("empty")
        variables = {**os.environ, "PYTHONPATH": _path(environment), "CLUSTERKIT_PLUGINS": plugins}
        variables["DUMMY_TRACE"] = os.devnull
        command = [sys.executable, "-m", "clusterkit", "plugins", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=variables, cwd=folder)
        assert "Traceback" not in done.stderr
        assert [*folder.iterdir()] == []
        return done

    return run


def test_a_good_plugin_passes(check):
    done = check("good", "--check", "--examples", "1", plugins="good,broken")
    assert done.returncode == 0, done.stdout + done.stderr
    first, stage, recipe, last = done.stdout.splitlines()
    assert first == "good (dummy-good 1.0)"
    assert stage.startswith("  partitioner stripes: ")
    assert stage.endswith(" laws hold")
    assert recipe == "  recipe striped-means: 2 laws hold"
    assert last == "1 plugin checked: every law holds"


def test_what_cannot_be_used_or_loaded_is_named(check):
    done = check("--check", "--examples", "1", plugins="broken,missing")
    assert done.returncode == 1
    text = done.stdout
    assert "  not used: ModuleNotFoundError: No module named 'a_module_that_is_nowhere'" in text
    assert "  partitioner missing: breaks 1 of 1 law\n    loads\n      BrokenPlugin: partitioner 'missing' of" in text
    assert text.splitlines()[-1] == "2 plugins checked: 2 not as they should be"


def test_json(check):
    done = check("--check", "--json", "--examples", "1", plugins="missing,broken")
    assert done.returncode == 1
    broken, missing = json.loads(done.stdout)
    assert (broken["name"], broken["passes"], broken["verdicts"]) == ("broken", False, [])
    [verdict] = missing["verdicts"]
    assert (verdict["kind"], verdict["name"], verdict["holds"]) == ("partitioner", "missing", [])
    assert verdict["breaks"][0]["law"] == "loads"


def test_an_unknown_plugin_is_no_success(check):
    done = check("god", "--check", plugins="good")
    assert done.returncode == 2
    assert "no plugin named 'god'. Did you mean 'good'?" in done.stderr
    listed = check("good", plugins="good,broken")
    assert "dummy-good" in listed.stdout
    assert "dummy-broken" not in listed.stdout


def test_without_the_kit_one_line_says_what_to_install(tmp_path, environment):
    code = (
        "import sys; sys.modules['hypothesis'] = None; sys.argv[1:] = ['plugins', '--check']; "
        "from clusterkit.cli import main; main()"
    )
    variables = {
        **os.environ,
        "PYTHONPATH": _path(environment),
        "CLUSTERKIT_PLUGINS": "good",
        "DUMMY_TRACE": os.devnull,
    }
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: --check needs hypothesis: install clusterkit-toolkit with the extra 'testing'\n"
