"""The command line as a process: start-up, exit codes, pipes, terminals, tracebacks, the demo."""

import json
import os
import subprocess
import sys

import pytest

from clusterkit import __version__

HEAVY = ("numpy", "sklearn", "scipy", "numba", "clusterkit.contracts.stage")
REGISTRY = ("attrs", "pluggy", "clusterkit.contracts.registry")


def shell(*args: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, timeout=120, check=False, **options)


def test_help_lists_the_commands(run):
    shown = run("--help")
    assert shown.exit_code == 0
    for command in ("demo", "fit", "predict", "stages", "recipes", "plugins"):
        assert f"\n  {command} " in shown.stdout


def loaded_by(*args: str, of: tuple[str, ...]) -> list[str]:
    """Which of the modules a command line imports, in a fresh process with all installed plugins."""
    code = (
        f"import sys\nfrom clusterkit.cli import app\ntry:\n    app({list(args)!r})\nexcept SystemExit:\n"
        f"    print(*[m for m in {of!r} if m in sys.modules])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "CLUSTERKIT_PLUGINS"}
    return shell("-c", code, env=environment).stdout.splitlines()[-1].split()


def test_help_loads_nothing_heavy_and_that_of_a_built_in_command_asks_no_plugin():
    """The help of all commands asks the plugins for theirs."""
    assert loaded_by("--help", of=(*HEAVY, *REGISTRY)) == list(REGISTRY)
    assert loaded_by("fit", "--help", of=(*HEAVY, *REGISTRY)) == []


def test_version(run):
    assert run("--version").stdout == f"clusterkit {__version__}\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_closed_pipe_is_quiet():
    read, write = os.pipe()
    os.close(read)
    shown = subprocess.run(
        [sys.executable, "-m", "clusterkit", "--help"],
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(write)
    assert (shown.returncode, shown.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_a_full_standard_output_is_one_line():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "clusterkit", "--version"]
        shown = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
        silent = subprocess.run([*command[:-1], "nothing"], stdout=full, stderr=full, timeout=60, check=False)
    assert shown.stderr.decode().splitlines() == ["error: standard output cannot be written: No space left on device"]
    assert (shown.returncode, silent.returncode) == (2, 2)


def test_unexpected_failure(run, error_of, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("clusterkit.contracts.registry.Registry.available", fail)
    message = error_of(run("recipes"), 1)
    assert message == "unexpected ZeroDivisionError: by zero (--debug shows where)"
    for args in (("--debug", "recipes"), ("recipes", "--debug")):
        answer = run(*args)
        assert answer.exit_code == 1
        assert "Traceback" in answer.stderr
        assert answer.stderr.endswith("error: unexpected ZeroDivisionError: by zero\n")


def test_debug_after_two_dashes_is_data(run, error_of):
    assert error_of(run("fit", "-k", 2, "--", "--debug")) == "--debug: no such file"


def test_a_terminal_has_colours_and_folded_cells(monkeypatch, capsys):
    from clusterkit.cli import console

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    console.heading("[title]")
    console.table(["name", "n"], [["a [b]", "1"]], title="T")
    console.facts({"key": "[value]", "empty": ""})
    console.table(["name", "what it is"], [["one", "some words that are longer than a line"]])
    shown = capsys.readouterr().out
    assert "\x1b[" in shown
    assert "a [b]" in shown
    assert "[value]" in shown
    assert "empty" not in shown
    assert "\none   some words that are longer than a" in shown
    assert "\n      line" in shown


def test_json_of_numbers_that_are_none(capsys):
    import numpy as np

    from clusterkit.cli import console

    console.as_json({"a": float("nan"), "b": np.float64(1.5), "c": np.arange(2), 3: (None, True), "d": object})
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"a": None, "b": 1.5, "c": [0, 1], "3": [None, True], "d": "<class 'object'>"}


def test_demo(run, tmp_path):
    picture = tmp_path / "demo.svg"
    answer = run("demo", "-o", picture)
    assert answer.exit_code == 0, answer.output
    lines = [line.split() for line in answer.stdout.splitlines()]
    assert ["moons", "300", "emmc-graph", "2", "100.0", "%"] in lines
    assert f"Picture: {picture}" in answer.stdout
    assert picture.stat().st_size > 20_000
    assert "The 180 rows fall into 3 clusters" in answer.stdout
    assert "The 180 rows fall into 3 clusters" in picture.with_suffix(".html").read_text()


def test_demo_without_matplotlib(run, tmp_path, monkeypatch):
    from clusterkit.cli import demo

    monkeypatch.setattr(demo, "DIGITS", (0, 1))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = run("demo", "-o", tmp_path / "demo.png")
    assert answer.exit_code == 0, answer.output
    missing = "a report needs matplotlib: install it, or clusterkit-toolkit with the extra 'report'"
    assert answer.stderr == f"No page and no picture: {missing}.\n"
    assert not (tmp_path / "demo.png").exists()
