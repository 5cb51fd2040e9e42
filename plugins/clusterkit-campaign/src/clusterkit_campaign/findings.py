"""Results of a case: counts, and findings with a severity; and which findings are known and no failures."""

from __future__ import annotations

import os
import re
import tomllib
import traceback
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import final

import attrs

import clusterkit
from clusterkit.errors import (
    BrokenPlugin,
    BrokenStage,
    IncompatibleStages,
    Infeasible,
    InvalidData,
    InvalidParameter,
    NeedsMemory,
    SolverFailed,
    UnknownName,
)

__all__ = [
    "CRASH",
    "DOCUMENTED",
    "FILE",
    "HANG",
    "SILENT",
    "UNCLEAR",
    "CaseReport",
    "Exclusion",
    "Finding",
    "Problem",
    "exclusions",
    "of_error",
    "split",
]

SILENT = "silently wrong"
"""An answer that breaks a promise and says nothing."""

CRASH = "crash"
"""An exception that no page documents, or a process that died."""

HANG = "hang"
"""No answer within a limit that is many times what the case should need."""

UNCLEAR = "unclear error"
"""An error or a warning that does not say in the words of this library what is wrong."""

DOCUMENTED: tuple[type[Exception], ...] = (
    IncompatibleStages,
    Infeasible,
    InvalidData,
    InvalidParameter,
    NeedsMemory,
    SolverFailed,
    UnknownName,
)
"""Errors of the library that refuse a fit with a reason."""

LIBRARY = os.path.join(os.path.dirname(clusterkit.__file__), "")
"""The folder of the library's files, with a separator at its end."""

LONGEST = 4000
"""Characters of a message at most; a longer one shows data instead of a reason."""


@final
@attrs.frozen
class Problem:
    """One broken promise.

    Parameters
    ----------
    severity : str
        `SILENT`, `CRASH`, `HANG` or `UNCLEAR`.
    what : str
        The promise in a few words, without numbers of the case: equal problems have equal words.
    message : str
        Description of the problem.
    """

    severity: str
    what: str
    message: str = ""


@final
@attrs.frozen
class Finding:
    """A problem, and the case that shows it.

    Parameters
    ----------
    problem : Problem
    area, subject, item : str
        Names from the case: "fits", "emmc", "duplicates".
    number : int
        Position of the case in the list of cases.
    snippet : str
        Program that shows the problem, as small as it was made.
    """

    problem: Problem
    area: str
    subject: str
    item: str
    number: int
    snippet: str = ""


@final
@attrs.define
class CaseReport:
    """Counts and findings of one case.

    Parameters
    ----------
    counts : Counter
        Numbers by name: "fits", "comparisons", "files", "parameters", "refused".
    problems : list of (Problem, str)
        Problems, each with the program that shows it, or an empty text.
    """

    counts: Counter[str] = attrs.field(factory=Counter)
    problems: list[tuple[Problem, str]] = attrs.field(factory=list)


def of_error(error: BaseException, *, documented: tuple[type[Exception], ...] = DOCUMENTED) -> Problem | None:
    """The problem that an exception is; None if it is a documented refusal.

    Refusals of scikit-learn's validation of data are documented by scikit-learn.

    Examples
    --------
    >>> of_error(InvalidData("featuremap 'nmf' takes no negative values, got -1.0")) is None
    True
    >>> of_error(IndexError("list index out of range")).severity
    'crash'
    """
    name = type(error).__name__
    text = str(error)
    if isinstance(error, BrokenStage):
        return Problem(CRASH, "a stage breaks its contract", text)
    if isinstance(error, (*documented, BrokenPlugin)):
        if not text or len(text) > LONGEST:
            return Problem(UNCLEAR, f"{name} of {len(text)} characters", text[:LONGEST])
        return None
    if isinstance(error, ValueError | TypeError) and _refused_by_validation(error):
        return None
    place = _innermost(error)
    severity = UNCLEAR if isinstance(error, ValueError | TypeError) else CRASH
    return Problem(severity, f"{name} in {place}", f"{name}: {text[:LONGEST]}")


def _refused_by_validation(error: BaseException) -> bool:
    """Whether scikit-learn's checks of data raised it, or what they call to make an array of X."""
    files = [frame.filename.replace(os.sep, "/") for frame in traceback.extract_tb(error.__traceback__)]
    return any(
        re.search(r"sklearn/utils/(validation|_array_api|fixes|_set_output|_encode)\.py$", file) for file in files
    )


def _innermost(error: BaseException) -> str:
    """The innermost function of the library in the traceback."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(LIBRARY)]
    if not ours:
        return "no function of the library"
    return f"{ours[-1].filename.removeprefix(LIBRARY).replace(os.sep, '/')}, {ours[-1].name}"


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
        Patterns in the syntax of a shell.
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


def exclusions() -> tuple[Exclusion, ...]:
    """The exclusions of the file."""
    return tuple(Exclusion(**entry) for entry in tomllib.loads(FILE.read_text(encoding="utf-8")).get("exclusion", []))


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
