"""pytest plugin: ``--part K/N`` runs the K-th of N parts of the tests, so that a long run is spread over several.

The part of a test is a checksum of its name, hence the same in every run, and the N parts together are all tests. Names
rather than files are dealt out: two files hold half of the work.
"""

from __future__ import annotations

import zlib

import pytest


def _part(text: str) -> tuple[int, int]:
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise pytest.UsageError(f"--part takes K/N with 1 <= K <= N, as in 2/4, got {text!r}")
    return int(number), int(parts)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--part", default="1/1", help="K/N: the K-th of N parts of the tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of other parts."""
    number, parts = _part(config.getoption("--part"))
    belongs = [zlib.crc32(item.nodeid.encode()) % parts == number - 1 for item in items]
    others = [item for item, mine in zip(items, belongs, strict=True) if not mine]
    if others:
        config.hook.pytest_deselected(items=others)
    items[:] = [item for item, mine in zip(items, belongs, strict=True) if mine]
