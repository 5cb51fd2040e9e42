"""How sure a choice is and what else may be right, in words that do not contradict each other."""

from __future__ import annotations

import math

from clusterkit.core.wording import counted, percent

__all__ = ["confidence_in_words", "second_in_words"]


def confidence_in_words(confidence: float) -> str:
    """A confidence, which is an estimate and never certainty; empty where there is none.

    Examples
    --------
    >>> confidence_in_words(0.82), confidence_in_words(0.9999), confidence_in_words(1.0), confidence_in_words(math.nan)
    ('82 %', 'above 99 %', 'above 99 %', '')
    """
    return "" if math.isnan(confidence) else percent(min(confidence, 1.0 - 2.0**-40))


def second_in_words(chosen: int, second: int, *, nested: bool) -> str:
    """The next best number of clusters, and what it means where its clusters and the chosen ones are nested.

    Examples
    --------
    >>> second_in_words(3, 5, nested=False), second_in_words(3, 1, nested=True)
    ('5 clusters', '1 cluster, which joins the chosen ones: the same groups on a coarser scale')
    >>> second_in_words(3, 6, nested=True)
    '6 clusters, which divide the chosen ones: the same groups on a finer scale'
    """
    text = counted(second, "cluster")
    if not nested:
        return text
    verb, scale = ("divide", "finer") if second > chosen else ("join", "coarser")
    return f"{text}, which {verb}{'s' if second == 1 else ''} the chosen ones: the same groups on a {scale} scale"
