"""The weight of the project, which only sinks: tokens of code by folder, against the numbers of ceilings.toml."""

import tomllib
from collections.abc import Iterator, Mapping

from .source import ROOT, Breach, Source, code_tokens, sources

CEILINGS = "tests/house/ceilings.toml"

SLACK = 0.01
"""Share of a ceiling that may lie above the weight before it has to be lowered."""


def weight(source: Source) -> int:
    """Tokens of code, so that neither long lines nor missing comments make it lighter.

    Examples
    --------
    >>> import ast
    >>> from pathlib import Path
    >>> weight(Source(Path("a"), "x = 1", ast.parse("x = 1")))
    3
    """
    return sum(1 for _ in code_tokens(source))


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
    files = {source.name: weight(source) for source in sources(*{folder.split("/")[0] for folder in ceilings})}
    weights = {folder: sum(files[name] for name in files if name.startswith(f"{folder}/")) for folder in ceilings}
    lines = {line.split(" = ")[0].strip('"'): number for number, line in enumerate(text.splitlines(), 1)}
    for folder, sentence in misfits(weights, ceilings):
        yield Breach(CEILINGS, lines[folder], sentence)
