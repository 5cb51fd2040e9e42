"""Makes the records of docs/results/records/ and writes the pages: ``python docs/record.py [--only NAME …]``.

Every table that ``clusterkit reproduce`` lists and every benchmark of docs/results/benchmarks.csv, one after the other,
the short ones first. Complete records are left alone unless ``--again`` asks for new ones; a table that was interrupted
goes on with the job it was at. ``--missing`` adds the rows that complete records lack, tries again those that were not
run, and runs nothing else, with ``--rows TEXT`` only rows whose name contains the text. ``--list`` only says what would
run, with the CPU time of the last record. Data sets are found through CLUSTERKIT_DATA.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import time

from clusterkit_papers import tables
from clusterkit_papers.records import Record, Surroundings
from clusterkit_papers.reproduction import planned
from write_results import HERE, RECORDS, commands, read_records
from write_results import main as write_pages

ROOT = HERE.parent


def main() -> int:
    options = _options()
    unknown = set(options.only) - set(commands())
    if unknown:
        print(f"neither table nor benchmark: {', '.join(sorted(unknown))}")
        return 2
    records = read_records()
    names = [name for name in options.only or commands() if _is_wanted(name, records.get(name), options)]
    names.sort(key=lambda name: _cpu(records.get(name)))
    failed = []
    for place, name in enumerate(names, 1):
        print(f"{place}/{len(names)} {name}, last time {_cpu(records.get(name)) / 60:.1f} min CPU", flush=True)
        if options.list:
            continue
        before = _children()
        begin = time.perf_counter()
        done = _table(name, options) if name in tables() else _benchmark(name)
        cpu, wall = (_children() - before) / 60, (time.perf_counter() - begin) / 60
        print(f"    {cpu:.1f} min CPU, {wall:.1f} min{'' if done else ', FAILED'}", flush=True)
        failed += [] if done else [name]
    if not options.list:
        write_pages(check=False)
    print(f"without a record: {', '.join(failed)}" if failed else "done")
    return bool(failed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these tables and benchmarks")
    parser.add_argument("--again", action="store_true", help="also where there is a complete record")
    parser.add_argument("--missing", action="store_true", help="only rows without values in complete records")
    parser.add_argument("--rows", default="", metavar="TEXT", help="with --missing: rows whose name contains the text")
    parser.add_argument("--quick", action="store_true", help="a part of each table, where there is no record at all")
    parser.add_argument("--list", action="store_true", help="say what would run")
    return parser.parse_args()


def _is_wanted(name: str, record: Record | None, options: argparse.Namespace) -> bool:
    if options.missing:
        jobs = (
            record.without_values(planned(name)) if record is not None and record.complete and name in tables() else []
        )
        return any(options.rows in job.row for job in jobs)
    return options.again or record is None or not (options.quick or record.complete)


def _cpu(record: Record | None) -> float:
    return (record.cpu_seconds or 0.0) if record is not None else 0.0


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _table(name: str, options: argparse.Namespace) -> bool:
    more = ["--missing", *(["--rows", options.rows] if options.rows else [])] if options.missing else []
    more += ["--quick"] if options.quick else []
    words = [sys.executable, "-m", "clusterkit", "reproduce", name, "--record", str(RECORDS)]
    with (RECORDS / f"{name}.log").open("w", encoding="utf-8") as log:
        code = subprocess.run([*words, *more], cwd=ROOT, stdout=log, stderr=log).returncode
    if code == 0:
        (RECORDS / f"{name}.log").unlink()
    return code == 0


def _benchmark(name: str) -> bool:
    """Run a benchmark; its command is relative to the root of the checkout."""
    command, surroundings = commands()[name], Surroundings.now()
    cpu, begin = _children(), time.perf_counter()
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    if run.returncode:
        print(run.stderr[-2000:])
        return False
    output = run.stdout.replace(str(ROOT) + os.sep, "")
    Record(name, command, surroundings, _children() - cpu, time.perf_counter() - begin, output=output).write(RECORDS)
    return True


if __name__ == "__main__":
    sys.exit(main())
