"""``--set solver.C=1``: words of the shell to parameters of an estimator."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from clusterkit.cli.failures import BadInput

__all__ = ["parsed"]

_WORDS = {"true": True, "false": False, "none": None}


def parsed(items: Iterable[str]) -> dict[str, Any]:
    """Parameters by nested name.

    Values are Python literals, else words; ``true``, ``false`` and ``none`` in any case. A featuremap may
    be several, separated by commas.

    Examples
    --------
    >>> parsed(["solver.C=1", "labeler=argmax", "featuremap=zscore,elm", "balancer=none"])
    {'solver__C': 1, 'labeler': 'argmax', 'featuremap': ['zscore', 'elm'], 'balancer': None}
    """
    found: dict[str, Any] = {}
    for item in items:
        key, sign, word = item.partition("=")
        name = key.strip().replace(".", "__")
        if not sign or not name:
            raise BadInput(f"--set {item!r}: write SLOT.PARAMETER=VALUE, for example solver.C=1")
        if name in found:
            raise BadInput(f"--set gives {key.strip()!r} twice")
        found[name] = _value(name, word.strip())
    return found


def _value(name: str, word: str) -> Any:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    if name == "featuremap" and "," in word:
        return [part.strip() for part in word.strip("[]").split(",")]
    return word
