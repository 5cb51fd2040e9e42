"""Every promise of the page on promises names a test that exists."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "promises.md"
PROMISES = [
    cells for line in PAGE.read_text(encoding="utf-8").splitlines() if len(cells := line.strip("|").split("|")) == 2
]
TESTS = [cells for cells in PROMISES if cells[1].strip() != "held by" and not set(cells[0]) <= {"-"}]


def test_the_page_has_promises():
    assert len(TESTS) >= 9


def test_promises_are_held_by_tests_that_exist():
    for promise, tests in TESTS:
        addresses = re.findall(r"`([^`]+)`", tests)
        assert addresses, promise
        for address in addresses:
            file, *names = address.split("::")
            scope: list[ast.stmt] = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
            for name in names:
                [node] = [
                    each for each in scope if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name == name
                ]
                scope = node.body
