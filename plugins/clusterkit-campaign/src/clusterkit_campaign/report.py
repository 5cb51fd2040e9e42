"""The report of a campaign: a page in Markdown and the findings as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clusterkit_campaign.findings import CRASH, HANG, SILENT, UNCLEAR, Exclusion, Finding
from clusterkit_campaign.runner import Outcome

__all__ = ["grouped", "page", "write"]

SEVERITIES = (SILENT, CRASH, HANG, UNCLEAR)
"""In the order of the page."""

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
