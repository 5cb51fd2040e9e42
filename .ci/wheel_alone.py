"""A user's first minutes with nothing installed but the wheel: run by the environment that has it, anywhere.

Checks that the command line and a fit work without the packages that only tests, plots or the papers need, and that
what is missing is said in one line.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ABSENT = ("clusterkit_campaign", "clusterkit_papers", "hypothesis", "matplotlib", "pandas", "pytest")
"""Packages that must not be here, or the check would say nothing."""

NEED_MORE = ("clusterkit.testing", "clusterkit.plots")
"""Packages of the library whose modules may import those of an extra at their top."""


def main() -> None:
    """Every check; an AssertionError says which one fails."""
    import clusterkit

    home = Path(clusterkit.__file__)
    assert home.is_relative_to(sysconfig.get_path("purelib")), f"imported from {home}, which is not the wheel"
    present = [name for name in ABSENT if importlib.util.find_spec(name)]
    assert not present, f"{present} are installed here: this is not the wheel alone"
    for module in pkgutil.walk_packages(clusterkit.__path__, "clusterkit."):
        if not module.name.startswith(NEED_MORE) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_rows(Path("rows.csv"))
        assert clusterkit.__version__ in run("--version")
        assert "emmc" in run("recipes")
        assert "ridge" in run("stages", "solver")
        run("fit", "rows.csv", "--recipe", "emmc", "-k", "2", "-o", "labels.csv", "--save", "model.clusterkit")
        run("predict", "model.clusterkit", "rows.csv", "-o", "again.csv")
        assert len(Path("labels.csv").read_text(encoding="utf-8").splitlines()) >= 40
        run("fit", "rows.csv", "--recipe", "svc", "-o", "domain.csv")
        assert "extra 'report'" in run("demo"), "the demo without jinja2 names the extra to install"
        answer = run("plugins", "--check", succeeds=False)
        assert "extra 'testing'" in answer, f"plugins --check must say what to install:\n{answer}"
        answer = run("reproduce", "emmc-table4", "--quick", succeeds=False)
        assert "clusterkit-papers" in answer, f"reproduce without its plugin must say what to install:\n{answer}"
    print(f"clusterkit {clusterkit.__version__} works on its own")


def write_rows(path: Path) -> None:
    """Two clusters of 20 rows, well apart."""
    rows = [f"{i % 5 + 40 * (i % 2)},{i % 7 - 30 * (i % 2)}" for i in range(40)]
    path.write_text("\n".join(["x,y", *rows]) + "\n", encoding="utf-8")


def run(*words: str, succeeds: bool = True) -> str:
    """What `clusterkit WORDS` prints; its exit status must be as expected, and no traceback may show."""
    command = [Path(sys.executable).with_name("clusterkit"), *words]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    text = process.stdout + process.stderr
    assert (process.returncode == 0) == succeeds, f"clusterkit {' '.join(words)}: exit {process.returncode}\n{text}"
    assert "Traceback" not in text, text
    return text


if __name__ == "__main__":
    main()
