"""What a release states in several files is the same in all of them: ``release_agrees.py``, exit status 1 if not.

Compared with clusterkit/_version.py and pyproject.toml: the versions of the plugins, of CITATION.cff, of the newest
part of the changelog and of the recipe for conda, the requirements of that recipe, and the version of a release itself,
which has no ".dev".
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Print every difference; the exit status is 1 where there is one."""
    version = _first(r'__version__ = "(.*)"', "clusterkit/_version.py")
    versions = {
        "CITATION.cff": _first(r"(?m)^version: \"?([^\"\n]*)", "CITATION.cff"),
        "CHANGELOG.md": _first(r"(?m)^## ([0-9]\S*)", "CHANGELOG.md"),
        ".ci/conda/recipe.yaml": _first(r'(?m)^  version: "(.*)"', ".ci/conda/recipe.yaml"),
    }
    for path in sorted(ROOT.glob("plugins/*/pyproject.toml")):
        name = path.relative_to(ROOT).as_posix()
        versions[name] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["version"]
    problems = [
        f"{name} has version {other}, the library {version}" for name, other in versions.items() if other != version
    ]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        problems.append(f"{version} is no version of a release: three numbers")

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {f"python{project['requires-python']}", *project["dependencies"]}
    recipe = (ROOT / ".ci/conda/recipe.yaml").read_text(encoding="utf-8")
    run = recipe[recipe.index("  run:\n") :].partition("\n\n")[0]
    present = {line.strip(" -").replace(" ", "") for line in run.splitlines()[1:]}
    problems += [f".ci/conda/recipe.yaml needs {name} under 'run'" for name in sorted(wanted - present)]
    problems += [f".ci/conda/recipe.yaml has {name}, pyproject.toml not" for name in sorted(present - wanted)]
    print("\n".join(problems) or f"all files state version {version} and the same requirements")
    return bool(problems)


def _first(pattern: str, name: str) -> str:
    match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"))
    return match[1] if match else "none"


if __name__ == "__main__":
    sys.exit(main())
