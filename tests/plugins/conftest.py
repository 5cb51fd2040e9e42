"""An environment with good and bad plugins installed, and a way to ask questions inside it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_spec = importlib.util.spec_from_file_location("plugin_wheels", Path(__file__).parent / "wheels.py")
assert _spec is not None
assert _spec.loader is not None
wheels = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wheels)

TRACE = """
import os
with open(os.environ["DUMMY_TRACE"], "a") as trace:
    trace.write("{} was imported\\n")
"""

LISTENER = """

SEEN = []


@clusterkit.hookimpl
def clusterkit_iteration(report):
    SEEN.append(report.iteration)


@clusterkit.hookimpl
def clusterkit_recipes():
    stages = {"featuremap": "identity", "solver": "centroids", "labeler": "argmax", "init": "stripes"}
    return {"striped-means": {"title": "k-means from stripes", "citation": "nobody", "parameters": stages}}
"""

LISTENS = """
import clusterkit

API_VERSION = 3
CALLS = 0


@clusterkit.hookimpl
def clusterkit_iteration():
    global CALLS
    CALLS += 1
"""

FAILS = """
import clusterkit

API_VERSION = 3


@clusterkit.hookimpl
def clusterkit_iteration(report):
    1 / 0
"""

DISTRIBUTIONS = {
    "dummy-good": {
        "plugin": TRACE.format("good") + wheels.plugin({"stripes": "dummy_good.stripes:Stripes"}) + LISTENER,
        "stripes": wheels.stage("stripes", "Stripes"),
    },
    "dummy-broken": {"plugin": "import a_module_that_is_nowhere\n"},
    "dummy-first": {
        "plugin": wheels.plugin({"twin": "dummy_first.twin:Twin"}),
        "twin": wheels.stage("twin", "Twin", shift=0),
    },
    "dummy-second": {
        "plugin": wheels.plugin({"twin": "dummy_second.twin:Twin"}),
        "twin": wheels.stage("twin", "Twin", shift=1),
    },
    "dummy-old": {"plugin": wheels.plugin({}, version=1)},
    "dummy-exit": {"plugin": "raise SystemExit('enough')\n"},
    "dummy-listener": {"plugin": LISTENS},
    "dummy-fails": {"plugin": FAILS},
    "dummy-new": {"plugin": wheels.plugin({}, version=99)},
    "dummy-unversioned": {"plugin": "import clusterkit\n"},
    "dummy-heavy": {
        "plugin": wheels.plugin({"weighty": "dummy_heavy.weighty:Weighty"}),
        "weighty": wheels.stage("weighty", "Weighty", imports="import sklearn.cluster"),
    },
    "dummy-nonsense": {"plugin": wheels.plugin({"nonsense": "dummy_nonsense.plugin:API_VERSION"})},
    "dummy-missing": {"plugin": wheels.plugin({"missing": "dummy_missing.nowhere:Thing"})},
    "dummy-wrong-hook": {"plugin": wheels.plugin({}, hook="clusterkit_lablers")},
    "dummy-list": {"plugin": wheels.plugin(["stripes"])},
    "dummy-shadow": {
        "plugin": wheels.plugin({"kmeans": "dummy_shadow.kmeans:Shadow"}),
        "kmeans": wheels.stage("kmeans", "Shadow"),
    },
}


@pytest.fixture(scope="session")
def environment(tmp_path_factory) -> Path:
    """A folder in which every dummy distribution is installed."""
    built = tmp_path_factory.mktemp("wheels")
    made = [wheels.build(built, name, modules) for name, modules in DISTRIBUTIONS.items()]
    return wheels.install(made, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def ask(environment):
    """Run Python code in a fresh interpreter of that environment; it fills the dict `answer`, which is returned."""

    def run(
        code: str, plugins: str | None = None, site: Path = environment, trace: Path = Path(os.devnull)
    ) -> dict[str, Any]:
        script = f"import json, clusterkit\nanswer = {{}}\n{code}\nprint(json.dumps(answer))"
        variables = {name: value for name, value in os.environ.items() if name != "CLUSTERKIT_PLUGINS"}
        variables |= {"PYTHONPATH": str(site), "DUMMY_TRACE": str(trace)}
        if plugins is not None:
            variables["CLUSTERKIT_PLUGINS"] = plugins
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=variables)
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return report

    return run


@pytest.fixture
def trace(tmp_path) -> Path:
    """The file that the good plugin's module writes to when it is imported."""
    return tmp_path / "trace"


@pytest.fixture
def needy(tmp_path) -> Path:
    """An environment with a plugin whose stage cannot be constructed without an argument."""
    needed = wheels.stage("needy", "Needy").replace("    varies:", "    must: int\n    varies:")
    modules = {"plugin": wheels.plugin({"needy": "dummy_needy.needy:Needy"}), "needy": needed}
    return wheels.install([wheels.build(tmp_path, "dummy-needy", modules)], tmp_path / "site")
