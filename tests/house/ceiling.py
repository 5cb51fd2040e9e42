"""The weight of the project, which only sinks: tokens of code by folder, against the numbers of ceilings.toml."""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections.abc import Iterator, Mapping

from .source import ROOT, Breach, Source, sources

CEILINGS = "tests/house/ceilings.toml"

FREE = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
})  # fmt: skip
"""Tokens that weigh nothing, so that neither long lines nor missing comments make code lighter."""

SLACK = 0.01
"""Share of a ceiling that may lie above the weight before it has to be lowered."""


def weight(source: Source) -> int:
    """Tokens of code: names, operators, numbers and texts, without docstrings.

    Examples
    --------
    >>> from pathlib import Path
    >>> weight(Source(Path("a"), "x = 1", ast.parse("x = 1")))
    3
    """
    alone: set[int] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            alone.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    return sum(token.type not in FREE and token.start[0] not in alone for token in tokens)


def misfits(weights: Mapping[str, int], ceilings: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Folders above their ceiling, and those so far below it that the ceiling has to come down."""
    for folder, ceiling in ceilings.items():
        if weights[folder] > ceiling:
            yield folder, f"{folder} weighs {weights[folder]:,} tokens, {weights[folder] - ceiling:,} above its ceiling"
        elif weights[folder] < (1 - SLACK) * ceiling:
            yield folder, f"{folder} weighs {weights[folder]:,} tokens: lower its ceiling of {ceiling:,}"


def weights_below_their_ceilings() -> Iterator[Breach]:
    """No folder weighs more than its ceiling in ceilings.toml, which comes down with it."""
    text = (ROOT / CEILINGS).read_text(encoding="utf-8")
    ceilings = tomllib.loads(text)
    weights = {folder: sum(map(weight, sources(folder))) for folder in ceilings}
    lines = {line.split(" = ")[0].strip('"'): number for number, line in enumerate(text.splitlines(), 1)}
    for folder, sentence in misfits(weights, ceilings):
        yield Breach(CEILINGS, lines[folder], sentence)
