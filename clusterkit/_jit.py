"""The compiler of the loops: numba's ``njit`` with one cache switch for the whole package.

Only modules whose name starts with an underscore or ends in ``_jit`` import this one, and stages import those
inside their functions: listing stages must not cost the import of numba.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numba

__all__ = ["CACHE", "njit"]

CACHE = os.environ.get("CLUSTERKIT_JIT_CACHE", "1").strip().lower() not in {"0", "false", "no", "off"}
"""Whether compiled code is kept on disk: yes, unless the variable CLUSTERKIT_JIT_CACHE is 0 at import."""

Function = TypeVar("Function", bound=Callable[..., object])


@overload
def njit(function: Function, /) -> Function: ...
@overload
def njit(**options: object) -> Callable[[Function], Function]: ...


def njit(function: Callable[..., object] | None = None, /, **options: object) -> object:
    """Compile a function of plain arrays; it releases the interpreter lock while it runs.

    Parameters
    ----------
    function : callable, optional
        Left out when options are given: ``@njit(inline="always")``.
    **options
        Passed on to `numba.njit`.
    """
    compiler = numba.njit(**{"cache": CACHE, "nogil": True, **options})
    if function is None:
        return lambda decorated: _with_versioned_index(compiler(decorated))
    return _with_versioned_index(compiler(function))


def _with_versioned_index(dispatcher: Any) -> Any:
    """Make numba ignore the index of another source file instead of failing while it reads it.

    The index on disk holds the types of the arguments, named tuples among them. numba unpickles it before it compares
    the stamp of the source, so a named tuple that a newer version has renamed would raise an AttributeError. What numba
    compares first, without unpickling, is a version: the stamp is put there too.
    """
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if file is not None:
        file._version = f"{file._version}, source {file._source_stamp}"
    return dispatcher
