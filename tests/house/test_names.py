"""Names of identifiers and files, length of files, and no assertion on a clock."""

from __future__ import annotations

import pytest
from house import clocks, names


@pytest.mark.parametrize(
    "rule",
    [
        names.forbidden_identifiers,
        names.long_files,
        names.empty_file_names,
        names.compiled_suffixes,
        clocks.wall_clock_asserts,
    ],
)
def test_names(rule):
    assert [str(breach) for breach in rule()] == []
