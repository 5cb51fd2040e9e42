"""What type checkers know of the public interface under strict rules, by short programs that use it.

The programs in ``snippets`` hold what must pass and, behind ``type: ignore``, what must be refused: both checkers
report an ignore that nothing needs.
"""

import importlib.util
import json
import pathlib
import pickle
import subprocess
import sys
from typing import ClassVar

import attrs
import numpy as np
import pytest

import clusterkit
from clusterkit.contracts import Partitioner, Path
from clusterkit.contracts.outcomes import Scores
from clusterkit.contracts.registry import ABSTRACT
from clusterkit.families.margins.ridge import Ridge
from clusterkit.samples import FeatureSpace

SNIPPETS = sorted((pathlib.Path(__file__).parent / "snippets").glob("*.py"))
LIBRARY = pathlib.Path(clusterkit.__file__).parents[1]


def report_of(checker, *arguments, folder):
    """Exit status and output of a checker, run in a folder without settings of this project."""
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed (dependency group lint)")
    command = [sys.executable, "-m", checker, *map(str, arguments)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=500)
    return run.returncode, run.stdout + run.stderr


def test_mypy_accepts_the_snippets_under_strict_rules(tmp_path, request):
    cache = request.config.cache.mkdir("mypy_strict")
    # found as an installed library is, so that the library itself is not held to the strict rules
    settings = ["--strict", "--config-file=", f"--cache-dir={cache}", f"--python-executable={sys.executable}"]
    assert report_of("mypy", *settings, *SNIPPETS, folder=tmp_path) == (
        0,
        f"Success: no issues found in {len(SNIPPETS)} source files\n",
    )


@pytest.mark.deep  # mypy reads the same ones in every change
def test_pyright_accepts_the_snippets(tmp_path):
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps(
            {
                "include": [str(SNIPPETS[0].parent)],
                "extraPaths": [str(LIBRARY)],
                "typeCheckingMode": "standard",
                "reportUnnecessaryTypeIgnoreComment": "error",
            }
        )
    )
    settings = ["--project", tmp_path, "--pythonpath", sys.executable]
    status, report = report_of("basedpyright", *settings, folder=tmp_path)
    assert (status, report.splitlines()[-1]) == (0, "0 errors, 0 warnings, 0 notes"), report


@attrs.frozen
class Named(Partitioner[FeatureSpace]):
    name: ClassVar[str] = "named"
    share: float = 0.5

    def start(self, samples, task, rng):
        return np.zeros(task.n, dtype=int)


@attrs.frozen
class Bare(Partitioner):
    name: ClassVar[str] = "bare"
    share: float = 0.5

    def start(self, samples, task, rng):
        return np.zeros(task.n, dtype=int)


@pytest.mark.parametrize("stage_class", [Named, Bare])
def test_a_stage_works_at_run_time_whether_it_names_its_types_or_not(stage_class):
    stage = stage_class(0.25)
    assert issubclass(stage_class, ABSTRACT["partitioner"])
    assert stage == stage_class(0.25) != stage_class(0.75)
    assert len({stage, stage_class(0.25)}) == 1
    assert pickle.loads(pickle.dumps(stage)) == stage
    assert attrs.evolve(stage, share=0.75) == stage.with_parameters(share=0.75) == stage_class(0.75)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        stage.share = 0.75


def test_a_path_is_a_plain_record_at_run_time():
    path = Path[Ridge, FeatureSpace](dict, Scores)
    assert path == Path(dict, Scores) == pickle.loads(pickle.dumps(path))
    assert attrs.evolve(path, sparse=True).sparse
