"""The rule by which a claim of a paper is answered.

A claim is cut into comparisons of two numbers. It says, or we take it to say, in how many of them it holds: in the
number that it names; in all, where it says one of `UNIVERSAL`; else in three of four. `answer` has the rule for the
verdict. Where the paper prints the numbers that a claim is about, the same comparisons are made with
these.
"""

from __future__ import annotations

import re

import attrs

from clusterkit_papers.claims.comparisons import Compare, Comparison, Values

__all__ = ["ALL", "MOST", "UNIVERSAL", "Answer", "Claim", "answer"]

UNIVERSAL = ("all", "each", "at least", "fewer than", "slowest", "totally", "without an error")
"""The words of a claim that has to hold in all comparisons."""

ALL = 1.0
"""Part of the comparisons in which a claim has to hold that says one of `UNIVERSAL`."""

MOST = 0.75
"""Part of the comparisons in which any other claim without a number has to hold: half of them do by chance."""


@attrs.frozen
class Answer:
    """What came of a claim.

    Parameters
    ----------
    word : str
        "yes", "partly", "no", or "not tested".
    holding, comparisons : int
        In how many of the comparisons the claim holds.
    worst : Comparison or None
        The comparison that speaks most against it, None where nothing does.
    """

    word: str
    holding: int = 0
    comparisons: int = 0
    worst: Comparison | None = None


_UNIVERSAL = re.compile(rf"\b({'|'.join(UNIVERSAL)})\b")


@attrs.frozen
class Claim:
    """A headline claim.

    Parameters
    ----------
    paper : str
        First word of the names of the paper's tables.
    place : str
        Where the paper says it.
    says : str
        What it says, in few words.
    tables : tuple of str
        The tables whose rows answer it.
    compare : callable or None
        Takes `Values`, returns the comparisons; None if it cannot be tested.
    share : float
        Part of the comparisons in which it has to hold: a number of the paper, or by its words `ALL` or `MOST`.
    reading : str
        Words in the names of rows that stand for the method instead of those as described.
    name : str
        What other pages call it, where they give its answer.
    reason : str
        Why it is not tested; or how its words were turned into numbers.
    """

    paper: str
    place: str
    says: str
    tables: tuple[str, ...] = ()
    compare: Compare | None = None
    share: float = attrs.Factory(lambda claim: ALL if _UNIVERSAL.search(claim.says) else MOST, takes_self=True)
    reading: str = ""
    name: str = ""
    reason: str = ""


def answer(claim: Claim, values: Values) -> Answer:
    """The answer of the rule.

    - **yes**: the claim holds in as many comparisons as it has to;
    - **no**: it has to hold in all and fails in one or more, or it holds in fewer than half as many as it has to;
    - **partly**: it does not have to hold in all, and does in at least half as many as it has to.

    Examples
    --------
    >>> claim = Claim("emmc", "", "", compare=lambda values: [Comparison("", 1.0, 2.0, "", False, -1.0)])
    >>> answer(claim, Values()).word
    'no'
    """
    comparisons = list(claim.compare(values.reading(claim.reading))) if claim.compare is not None else []
    if not comparisons:
        return Answer("not tested")
    holding = sum(one.holds for one in comparisons)
    needed = claim.share * len(comparisons)
    word = "yes" if holding >= needed - 1e-9 else "no" if claim.share == ALL or holding < needed / 2 else "partly"
    worst = min((one for one in comparisons if not one.holds), key=lambda one: one.gain, default=None)
    return Answer(word, holding, len(comparisons), worst)
