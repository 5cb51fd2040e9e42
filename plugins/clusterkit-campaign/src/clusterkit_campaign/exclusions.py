"""The file of exclusions: which findings are known and why they are no failures."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import final

import attrs

from clusterkit_campaign.findings import Finding

__all__ = ["FILE", "Exclusion", "exclusions", "split"]

FILE = Path(__file__).with_name("exclusions.toml")
"""The one file of exclusions."""


@final
@attrs.frozen
class Exclusion:
    """Findings that are no failures.

    Parameters
    ----------
    reason : str
    area, subject, item, what : str
        Patterns, as of a shell.
    """

    reason: str = attrs.field(validator=attrs.validators.min_len(10))
    area: str = "*"
    subject: str = "*"
    item: str = "*"
    what: str = "*"

    def matches(self, finding: Finding) -> bool:
        """Whether it excludes a finding."""
        pairs = (
            (finding.area, self.area),
            (finding.subject, self.subject),
            (finding.item, self.item),
            (finding.problem.what, self.what),
        )
        return all(fnmatchcase(value, pattern) for value, pattern in pairs)


def exclusions(path: Path = FILE) -> tuple[Exclusion, ...]:
    """The exclusions of a file."""
    return tuple(Exclusion(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("exclusion", []))


def split(
    findings: Sequence[Finding], known: Sequence[Exclusion]
) -> tuple[list[Finding], dict[Exclusion, list[Finding]]]:
    """The failures, and what each exclusion covers."""
    failures: list[Finding] = []
    covered: dict[Exclusion, list[Finding]] = {each: [] for each in known}
    for finding in findings:
        exclusion = next((each for each in known if each.matches(finding)), None)
        if exclusion is None:
            failures.append(finding)
        else:
            covered[exclusion].append(finding)
    return failures, covered
