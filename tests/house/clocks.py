"""The rule that no test asserts a time: a loaded machine would fail it. Times are commands in `tests/benchmarks`."""

import ast
from collections.abc import Iterator

from .source import TESTS, Breach, Source, sources

CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "time"})
"""Functions of the module `time` that read a clock."""


def wall_clock_asserts() -> Iterator[Breach]:
    """No test asserts how long something takes."""
    for source in sources(*TESTS):
        if "benchmarks" not in source.path.parts:
            yield from asserts_of(source)


def asserts_of(source: Source) -> Iterator[Breach]:
    """Assertions on a clock, or on a variable that was set from one."""
    timed = {
        name.id
        for node in source.nodes
        if isinstance(node, ast.Assign) and _reads_clock(node.value)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    for node in source.nodes:
        if isinstance(node, ast.Assert) and (
            _reads_clock(node.test) or any(isinstance(n, ast.Name) and n.id in timed for n in ast.walk(node.test))
        ):
            yield source.breach(node, "asserts a time: make it a command in tests/benchmarks")


def _reads_clock(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and isinstance(part.func.value, ast.Name)
        and (part.func.value.id, part.func.attr) in {("time", clock) for clock in CLOCKS}
        for part in ast.walk(node)
    )
