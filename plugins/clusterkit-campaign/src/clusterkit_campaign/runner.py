"""Processes that run cases, replaced when a case hangs or kills them; the loop that collects the reports; the page."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Literal, final

import attrs

from clusterkit_campaign.cases import Case, Selection, cases, serve
from clusterkit_campaign.findings import CRASH, HANG, SILENT, UNCLEAR, CaseReport, Exclusion, Finding, Problem

__all__ = ["Outcome", "grouped", "limit_of", "page", "run", "write"]

SECONDS = 150.0
"""Processor time of a case above which it hangs; the slowest case of the corpus takes a tenth of it."""

STALLED = 1800.0
"""Seconds by the clock after which a case hangs that uses no processor time: it waits for something."""

START: Literal["spawn", "fork"] = "spawn"
"""Method of starting processes: without what this one has in memory, as a user's would be."""

TICK = 0.5
"""Seconds between two looks at the processes."""


@final
@attrs.define
class Outcome:
    """Result of a campaign.

    Parameters
    ----------
    seed : int
    selection : Selection
    n_cases : int
    seconds : float
        Elapsed time.
    counts : Counter
        Counts by name, and by ``area:subject:name``.
    sets : dict
        Names of the data sets that each recipe was fitted to.
    findings : list of Finding
        All, those that are excluded too.
    interrupted : bool
    """

    seed: int
    selection: Selection
    n_cases: int = 0
    seconds: float = 0.0
    counts: Counter[str] = attrs.field(factory=Counter)
    sets: dict[str, set[str]] = attrs.field(factory=dict)
    findings: list[Finding] = attrs.field(factory=list)
    interrupted: bool = False

    def add(self, case: Case, report: CaseReport) -> None:
        """Count a report."""
        self.n_cases += 1
        self.counts.update(report.counts)
        self.counts[f"cases:{case.area}"] += 1
        subject = "compositions" if case.subject.startswith("#") else case.subject
        for name, count in report.counts.items():
            self.counts[f"{case.area}:{subject}:{name}"] += count
        if case.area == "fits":
            self.sets.setdefault(subject, set()).add(case.item)
        for problem, snippet in report.problems:
            self.findings.append(Finding(problem, case.area, case.subject, case.item, case.number, snippet))


def limit_of(case: Case) -> float:
    """Seconds of processor time after which a case hangs: generous, and more for cases of many fits."""
    return SECONDS * {"fits": 2.0, "parameters": float(max(1, len(case.parameters)))}.get(case.area, 1.0)


@attrs.define
class _Worker:
    """A process, the end of its connection, and the case that it works on."""

    process: BaseProcess
    connection: Connection
    case: Case | None = None
    since: float = 0.0
    used: float = 0.0


def run(
    seed: int,
    selection: Selection,
    *,
    minutes: float | None,
    n_cases: int | None = None,
    workers: int = 2,
    on_report: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """Run the cases of a seed until the time or the number of cases is used up.

    Parameters
    ----------
    seed : int
    selection : Selection
        Resolved.
    minutes : float or None
        Time after which no further case is started; None without such an end.
    n_cases : int, optional
        Cases at most.
    workers : int, default 2
        Processes. Which cases there are does not depend on it.
    on_report : callable, optional
        Called after every report.
    """
    outcome = Outcome(seed, selection)
    begin = time.monotonic()
    end = None if minutes is None else begin + 60.0 * minutes
    pending = _limited(cases(seed, selection), n_cases, end)
    pool = [_started(selection) for _ in range(workers)]
    try:
        for position in range(workers):
            _give(pool, position, pending)
        while any(worker.case is not None for worker in pool):
            ready = wait([worker.connection for worker in pool if worker.case is not None], timeout=TICK)
            for position, worker in enumerate(pool):
                report = _report(worker, worker.connection in ready)
                if report is None:
                    continue
                assert worker.case is not None
                outcome.add(worker.case, report)
                outcome.seconds = time.monotonic() - begin
                if on_report is not None:
                    on_report(outcome)
                worker.case = None
                if not worker.process.is_alive():
                    pool[position] = _started(selection)
                _give(pool, position, pending)
    except KeyboardInterrupt:
        outcome.interrupted = True
    finally:
        for worker in pool:
            _end(worker)
    outcome.seconds = time.monotonic() - begin
    return outcome


def _limited(every: Iterator[Case], n_cases: int | None, end: float | None) -> Iterator[Case]:
    for case in every:
        if (n_cases is not None and case.number >= n_cases) or (end is not None and time.monotonic() > end):
            return
        yield case


def _started(selection: Selection) -> _Worker:
    spawned = START == "spawn"
    context = multiprocessing.get_context("spawn") if spawned else multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, selection, 1), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _give(pool: list[_Worker], position: int, pending: Iterator[Case]) -> None:
    """Hand the next case to a worker; a worker that died in between is replaced once."""
    case = next(pending, None)
    if case is None:
        return
    worker = pool[position]
    worker.case, worker.since, worker.used = case, time.monotonic(), _processor_time(worker.process)
    with contextlib.suppress(OSError):  # the end of the connection shows that the process has died
        worker.connection.send(case)


def _report(worker: _Worker, ready: bool) -> CaseReport | None:
    """The report of a worker; one about its death or its hanging; None while it works."""
    if worker.case is None:
        return None
    if ready:
        try:
            report: CaseReport = worker.connection.recv()
            return report
        except (EOFError, OSError):
            worker.process.join(60.0)
            words = f"exit status {worker.process.exitcode}"
            return CaseReport(problems=[(Problem(CRASH, "the process died", words), _rerun(worker.case))])
    used = _processor_time(worker.process) - worker.used
    if used > limit_of(worker.case) or time.monotonic() - worker.since > STALLED:
        worker.process.kill()
        worker.process.join(60.0)
        words = f"{used:.0f} s of processor time"
        return CaseReport(problems=[(Problem(HANG, "no answer within the limit", words), _rerun(worker.case))])
    return None


def _rerun(case: Case) -> str:
    return (
        "from clusterkit_campaign.cases import Case, run_case\n"
        "from clusterkit_campaign.odd_parameters import OddCase\n"
        f"print(run_case({case!r}))"
    )


def _processor_time(process: BaseProcess) -> float:
    """Processor time that a process has used, where the system tells; else the time by the clock."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return time.monotonic()


def _end(worker: _Worker) -> None:
    """Let an idle process end by itself, and end one that works."""
    try:
        if worker.case is None and worker.process.is_alive():
            worker.connection.send(None)
            worker.process.join(10.0)
    except OSError:
        pass
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join(10.0)
    worker.connection.close()


SEVERITIES = (SILENT, CRASH, HANG, UNCLEAR)
"""Severities in the order of the page."""

LONGEST = 3000
"""Characters of a program on the page; a longer one is in the file of JSON lines."""


def write(
    folder: Path, outcome: Outcome, failures: Sequence[Finding], covered: Mapping[Exclusion, Sequence[Finding]]
) -> Path:
    """Write ``report.md`` and ``findings.jsonl`` into a folder; the path of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "report.md"
    path.write_text(page(outcome, failures, covered), encoding="utf-8")
    with (folder / "findings.jsonl").open("w", encoding="utf-8") as file:
        for finding in outcome.findings:
            problem = finding.problem
            entry = {
                "severity": problem.severity, "what": problem.what, "message": problem.message, "area": finding.area,
                "subject": finding.subject, "item": finding.item, "number": finding.number,
                "excluded": finding not in failures, "program": finding.snippet,
            }  # fmt: skip
            file.write(json.dumps(entry) + "\n")
    return path


def grouped(findings: Sequence[Finding]) -> dict[tuple[str, str, str], list[Finding]]:
    """Findings by severity, subject and words, the worst first."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda each: (SEVERITIES.index(each.problem.severity), each.number)):
        groups.setdefault((finding.problem.severity, finding.subject, finding.problem.what), []).append(finding)
    return groups


def page(outcome: Outcome, failures: Sequence[Finding], covered: Mapping[Exclusion, Sequence[Finding]]) -> str:
    """The page."""
    return "\n".join(_lines(outcome, failures, covered)) + "\n"


def _lines(
    outcome: Outcome, failures: Sequence[Finding], covered: Mapping[Exclusion, Sequence[Finding]]
) -> Iterator[str]:
    counts = outcome.counts
    yield f"# Campaign with seed {outcome.seed:08x}\n"
    words = [f"{outcome.n_cases} cases", f"{outcome.seconds / 60:.1f} minutes"]
    words += [
        f"{counts[name]} {name}"
        for name in ("fits", "relations", "comparisons", "parameters", "ensembles", "files", "breakers")
    ]
    yield ", ".join(words) + (", interrupted by Ctrl-C." if outcome.interrupted else ".") + "\n"
    yield "| severity | failures | excluded |\n|---|---|---|"
    excluded = [finding for findings in covered.values() for finding in findings]
    for severity in SEVERITIES:
        pair = [sum(each.problem.severity == severity for each in some) for some in (failures, excluded)]
        yield f"| {severity} | {pair[0]} | {pair[1]} |"
    yield "\n## Recipes\n\n| recipe | fits | refused | data sets |\n|---|---|---|---|"
    for name in sorted(outcome.sets):
        fits = sum(counts[f"{area}:{name}:fits"] for area in ("fits", "relations"))
        yield f"| {name} | {fits} | {counts[f'fits:{name}:refused']} | {len(outcome.sets[name])} |"
    yield "\n## Exclusions\n\n| findings | area | subject | item | what | reason |\n|---|---|---|---|---|---|"
    for each, findings in covered.items():
        yield f"| {len(findings)} | {each.area} | {each.subject} | {each.item} | {each.what} | {each.reason} |"
    yield "\n## Failures\n"
    groups = grouped(failures)
    if not groups:
        yield "None."
    for (severity, subject, what), findings in groups.items():
        first = min(findings, key=lambda each: len(each.snippet))
        yield f"### {severity}: {subject}: {what}\n"
        place = f"{first.area}, {first.item or 'no item'}, case {first.number}"
        yield f"{len(findings)} times; {place}. {_one_line(first.problem.message)}\n"
        short = len(first.snippet) <= LONGEST
        yield f"```python\n{first.snippet if short else '# in findings.jsonl: too long for a page'}\n```\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:500]
