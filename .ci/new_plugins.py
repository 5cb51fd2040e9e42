"""Every kind of plugin that `clusterkit new-plugin` writes, installed and tested: ``new_plugins.py [KIND ...]``.

Run by the environment that has clusterkit with the extra ``testing`` and clusterkit-scaffold, and uv on the path. A
folder of its own for each kind; what is installed is taken away again, so that one does not shadow the next.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from clusterkit_scaffold.files import KINDS

CLUSTERKIT = Path(sys.executable).with_name("clusterkit")


def main(kinds: list[str]) -> None:
    """Each kind in turn; ends at the first that fails."""
    for kind in kinds:
        name = f"acme-{kind}-of-ours"
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / name
            run(CLUSTERKIT, "new-plugin", name, "--kind", kind, "-o", str(folder))
            run("uv", "pip", "install", "--quiet", "--python", sys.executable, "--editable", f"{folder}[testing]")
            try:
                run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=folder)
                run(CLUSTERKIT, "plugins", name, "--check")
            finally:
                run("uv", "pip", "uninstall", "--quiet", "--python", sys.executable, name)


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command; its failure is that of the whole."""
    print("+", *command, flush=True)
    subprocess.run(command, check=True, cwd=cwd)


if __name__ == "__main__":
    main(sys.argv[1:] or list(KINDS))
