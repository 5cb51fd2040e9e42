"""Hand-made faults, one after the other, against the suite: ``python -m tests.faults``.

Each fault of the lists beside this file is put into a copy of the checkout, and the tests run on it up to the first
failure: those of the fault's own rooms, then all without the marker ``deep``, and on what these miss the ones with it.
What only tests with the marker notice is an error: the suite of every change would have let it pass, so a test without
the marker is missing. What nothing notices is reported and is no error.

    python -m tests.faults                      all of them: hours
    python -m tests.faults --part 2/4           the second quarter
    python -m tests.faults --only NAME ...      these
    python -m tests.faults --rooms              with the tests of their rooms alone
    python -m tests.faults --answers FILE       what is known is kept there; a later run with the same file goes on
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LISTS: Final = sorted(Path(__file__).parent.glob("*.toml"))

STAGES: Final = {"room": "its room", "rest": "the rest of the suite", "deep": "dear tests only", "nothing": "NOTHING"}
"""What noticed a fault, in the order in which the tests run."""

Fault = dict[str, object]


def faults() -> list[Fault]:
    """Those of all lists: name, sentence, file, old, new, and tests, the paths of the rooms."""
    return [fault for path in LISTS for fault in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]]


def problems_of(fault: Fault, root: Path = ROOT) -> list[str]:
    """Why a fault cannot be put into a checkout."""
    path = root / str(fault["file"])
    if not path.is_file():
        return [f"{fault['name']}: {fault['file']} does not exist"]
    times = path.read_text(encoding="utf-8").count(str(fault["old"]))
    wrong = [] if times == 1 else [f"{fault['name']}: its old text is {times} times in {fault['file']}, not once"]
    return wrong + [f"{fault['name']}: {room} does not exist" for room in rooms_of(fault) if not (root / room).exists()]


def rooms_of(fault: Fault) -> list[str]:
    """Where the tests of a fault's rooms lie."""
    tests = fault["tests"]
    assert isinstance(tests, list)
    return [str(path) for path in tests]


def copy_to(place: Path) -> Path:
    """A copy of the checkout's files with their times and with code that is compiled already."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    for compiled in [*ROOT.glob("clusterkit/**/__pycache__/*"), *ROOT.glob("tests/**/__pycache__/*")]:
        copied = place / compiled.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(compiled, copied)
    return place


def put_into(root: Path, fault: Fault) -> None:
    """Replace the old text by the new one, and forget compiled code that may have the old one in it."""
    path = root / str(fault["file"])
    path.write_text(path.read_text(encoding="utf-8").replace(str(fault["old"]), str(fault["new"])), encoding="utf-8")
    if not path.stem.endswith("_jit"):
        return
    # numba looks at the file of a function and not at those of the functions that it calls
    sources = {module: module.read_text(encoding="utf-8") for module in root.glob("clusterkit/**/*_jit.py")}
    stale = {path}
    while True:
        names = [re.escape(module.stem) for module in stale]
        uses = re.compile(rf"\b(?:{'|'.join(names)})\b")
        more = {module for module, text in sources.items() if uses.search(text)} - stale
        if not more:
            break
        stale |= more
    for module in stale:
        for compiled in module.parent.glob(f"__pycache__/{module.stem}.*.nb?"):
            compiled.unlink()


def first_failure(root: Path, *options: str) -> str | None:
    """The first test that fails in a checkout; None if all pass."""
    paths = [root, root / "tests", *root.glob("plugins/*/src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode in (0, 5):  # 5: no test was chosen
        return None
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if not failed:
        raise RuntimeError(
            f"{' '.join(command)} ends with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    return failed[0]


def noticed(fault: Fault, processes: str, rooms_only: bool) -> tuple[str, str]:
    """Which tests notice a fault, and the first of them."""
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        root = copy_to(Path(folder))
        put_into(root, fault)
        runs = {"room": rooms_of(fault), "rest": [], "deep": ["-m", "deep"]}
        for stage, options in runs.items():
            if rooms_only and stage != "room":
                break
            if test := first_failure(root, "-n", processes, *options):
                return stage, test
    return "nothing", ""


def sound(chosen: list[Fault], processes: str) -> None:
    """Without a fault the tests of the rooms pass, or a failure would say nothing."""
    rooms = sorted({room for fault in chosen for room in rooms_of(fault)})
    with tempfile.TemporaryDirectory(prefix="fault-") as folder:
        if test := first_failure(copy_to(Path(folder)), "-n", processes, *rooms):
            raise SystemExit(f"{test} fails without a fault")


def main(arguments: list[str] | None = None) -> int:
    """Try the chosen faults and print a table; 1 if the tests without the marker miss what those with it notice."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the K-th of N parts of the list")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names of faults")
    parser.add_argument("--rooms", action="store_true", help="the tests of the faults' rooms alone")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="a JSON file that keeps what is known")
    parser.add_argument("--processes", default="auto", help="of pytest-xdist")
    parser.add_argument("--trusting", action="store_true", help="do not run the tests without a fault first")
    options = parser.parse_args(arguments)

    listed = faults()
    if wrong := [line for fault in listed for line in problems_of(fault)]:
        raise SystemExit("\n".join(wrong))
    number, parts = map(int, options.part.split("/"))
    if not 1 <= number <= parts:
        parser.error(f"--part takes K/N with 1 <= K <= N, got {options.part!r}")
    if unknown := set(options.only or ()) - {str(fault["name"]) for fault in listed}:
        parser.error(f"no fault is called {', '.join(sorted(unknown))}")
    chosen = [fault for fault in listed if not options.only or fault["name"] in options.only][number - 1 :: parts]

    answers: dict[str, list[str]] = {}
    if options.answers and options.answers.exists():
        answers = json.loads(options.answers.read_text(encoding="utf-8"))
    open_ = [fault for fault in chosen if str(fault["name"]) not in answers]
    if open_ and not options.trusting:
        sound(open_, options.processes)
    for fault in open_:
        name = str(fault["name"])
        answers[name] = list(noticed(fault, options.processes, options.rooms))
        stage, test = answers[name]
        print(f"{name:<28} {STAGES[stage]:<22} {test}", flush=True)
        if options.answers:
            options.answers.write_text(json.dumps(answers, indent=1), encoding="utf-8")

    counts = {stage: sum(answers[str(fault["name"])][0] == stage for fault in chosen) for stage in STAGES}
    print(f"{len(chosen)} faults, noticed by " + ", ".join(f"{STAGES[stage]}: {n}" for stage, n in counts.items()))
    for fault in chosen:
        if answers[str(fault["name"])][0] in ("deep", "nothing"):
            print(f"missed by the tests without the marker: {fault['name']}: {fault['sentence']}")
    return 1 if counts["deep"] else 0


if __name__ == "__main__":
    sys.exit(main())
