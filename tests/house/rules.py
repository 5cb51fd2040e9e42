"""The rules of the house that a program can check, in the order in which they are printed."""

from collections.abc import Callable, Iterator

from . import arrows, ceiling, clocks, loops, names, public_types
from .source import Breach

RULES: tuple[Callable[[], Iterator[Breach]], ...] = (
    arrows.import_circles,
    arrows.family_arrows,
    arrows.private_imports,
    names.long_files,
    names.empty_file_names,
    names.compiled_suffixes,
    names.paths_in_docstrings,
    names.forbidden_identifiers,
    clocks.wall_clock_asserts,
    loops.compiled_calls,
    public_types.public_any,
    ceiling.weights_below_their_ceilings,
)
