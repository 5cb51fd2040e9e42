"""The hypothesis profile of a suite outside this one: the option decides, else the variable, else it is ``fast``."""

import os
import subprocess
import sys

import pytest

PRINTS = """
from hypothesis import settings

def test_prints():
    print("examples:", settings.default.max_examples)
"""


@pytest.mark.parametrize(
    ("options", "variable", "examples"),
    [([], None, 25), ([], "deep", 200), (["--hypothesis-profile=few"], "deep", 4)],
)
def test_the_profile_that_is_chosen(tmp_path, options, variable, examples):
    (tmp_path / "test_it.py").write_text(PRINTS)
    environment = {name: value for name, value in os.environ.items() if name != "HYPOTHESIS_PROFILE"}
    environment |= {} if variable is None else {"HYPOTHESIS_PROFILE": variable}
    command = [sys.executable, "-m", "pytest", "-s", "-q", "-p", "no:cacheprovider", *options]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert f"examples: {examples}\n" in run.stdout, run.stdout + run.stderr
