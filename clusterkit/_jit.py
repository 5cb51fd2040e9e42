"""The compiler of the loops: numba's ``njit`` with one cache switch for the whole package.

Loops in these modules copy arrays element by element: numba compiles the message of the error that ``a[i:j] = b``
raises where lengths differ, which takes it longer than most loops.

Only modules whose name starts with an underscore or ends in ``_jit`` import this one, and stages import those
inside their functions: listing stages must not cost the import of numba.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import logging
import os
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload

import numba
from numba.core import caching, codegen, event

from clusterkit._interrupts import ctrl_c_waits

LOG = logging.getLogger("clusterkit.compilation")
"""Gets one warning when a process first compiles something, which `logging` writes to standard error by itself."""

CACHE = os.environ.get("CLUSTERKIT_JIT_CACHE", "1").strip().lower() not in {"0", "false", "no", "off"}
"""Whether compiled code is kept on disk: yes, unless the variable CLUSTERKIT_JIT_CACHE is 0 at import."""

Function = TypeVar("Function", bound=Callable[..., object])


OURS: weakref.WeakSet[Any] = weakref.WeakSet()
"""The functions that this module compiles, apart from those of other packages in the process."""


class _Announcement(event.Listener):
    """Says once that compiled code is missing, so that users know why they wait."""

    def __init__(self) -> None:
        self.waiting = True

    def on_start(self, event: Any) -> None:
        """A compilation begins; code that is read from disk is no compilation."""
        if self.waiting and event.data["dispatcher"] in OURS:
            self.waiting = False
            later = "later runs start at once" if CACHE else "CLUSTERKIT_JIT_CACHE=0 repeats that in every run"
            LOG.warning("Compiling the loops of this method for its first use, which takes some seconds; %s.", later)

    def on_end(self, event: Any) -> None:
        """Say nothing at the end of a compilation."""


ANNOUNCEMENT = _Announcement()
"""The listener of this process."""
event.register("numba:compile", ANNOUNCEMENT)


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
    # nobody takes the address of a loop for a library in C: without that entrance numba needs a twentieth less time
    compiler = numba.njit(**{"cache": CACHE, "nogil": True, "no_cfunc_wrapper": True, **options})
    if function is None:
        return lambda decorated: _prepared(compiler(decorated))
    return _prepared(compiler(function))


@overload
def inner(function: Function, /) -> Function: ...
@overload
def inner(**options: object) -> Callable[[Function], Function]: ...


def inner(function: Any = None, /, **options: object) -> object:
    """Compile a function that compiled functions call, and nothing else; parameters are those of `njit`.

    An entrance from Python, which converts every argument, takes numba a fifth to a third of the time of such a
    function. Without one a call from Python runs the function as it is written, uncompiled.
    """
    if function is None:
        return lambda decorated: inner(decorated, **options)
    dispatcher = njit(no_cpython_wrapper=True, **options)(function)
    if dispatcher is not function:  # as it is where numba is switched off
        function.dispatcher = dispatcher  # the type holds no reference to it
        function._numba_type_ = numba.typeof(dispatcher)  # what numba asks of a global name that it does not know
    return function


def _prepared(dispatcher: Any) -> Any:
    """The compiled function with what the package adds to numba's."""
    if hasattr(dispatcher, "compile"):  # not where numba is switched off (NUMBA_DISABLE_JIT)
        OURS.add(dispatcher)
        dispatcher.compile = _undisturbed(dispatcher.compile)
        dispatcher.get_call_template = _for_any_number(dispatcher.get_call_template)
    return _with_versioned_index(dispatcher)


def _for_any_number(get_call_template: Callable[..., Any]) -> Callable[..., Any]:
    """The look-up of a compiled function for a call from another one, with the types of numbers but not their values.

    numba would compile ``f(x, 1)``, ``f(x, 2)`` and ``f(x, n)`` as three functions, each of which takes its time; LLVM
    puts the values of small functions in anyway.
    """

    @functools.wraps(get_call_template)
    def of_types(types: Any, keywords: Any) -> Any:
        plain = numba.types.unliteral
        return get_call_template(
            tuple(plain(each) for each in types), {name: plain(each) for name, each in keywords.items()}
        )

    return of_types


def _undisturbed(compile: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A compilation at whose end Ctrl-C takes effect, and up to which no cycles of references are looked for.

    LLVM calls back into Python while it compiles, and an exception in such a callback is printed and lost: so would be
    the KeyboardInterrupt. numba makes and drops so many objects that looking for cycles, each time among all that the
    process has, takes a tenth of its time; one compilation leaves some megabytes of them.
    """

    @functools.wraps(compile)
    def compile_first(signature: Any) -> Any:
        with ctrl_c_waits(), _cycles_wait():
            return compile(signature)

    return compile_first


@contextlib.contextmanager
def _cycles_wait() -> Iterator[None]:
    """Switch the garbage collection of reference cycles off while the context lasts."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _with_versioned_index(dispatcher: Any) -> Any:
    """Make numba ignore the index of another source file, or a damaged one, instead of failing while it reads it.

    The index on disk holds the types of the arguments, named tuples among them. numba unpickles it before it compares
    the stamp of the source, so a named tuple that a newer version has renamed would raise an AttributeError. What numba
    compares first, without unpickling, is a version: the stamp is put there too. So are those of the functions that
    the module imports: they are compiled into this one, and numba compares the source of its own file alone.
    """
    # the attribute of the dispatcher itself: of a function made by `inner` it has a copy of `dispatcher` too
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if file is not None:
        imported = {_stamp(value) for value in dispatcher.py_func.__globals__.values()}
        sources = hashlib.blake2b("".join(sorted(imported)).encode(), digest_size=16).hexdigest()
        file._version = f"{file._version}, source {file._source_stamp}, imports {sources}"
        file._load_index = _or_nothing(file._load_index, dict)
        file._load_data = _or_nothing(file._load_data, lambda: None)
        dispatcher._cache._load_overload = _or_shipped(dispatcher._cache, dispatcher.py_func.__module__)
    return dispatcher


SHIPPED = os.path.join(os.path.dirname(__file__), "_compiled")
"""Folder of the code that a released wheel brings; a checkout has none. Nothing is ever written there."""

PROCESSOR = "x86-64-v3"
"""What that code is compiled for."""

FEATURES = frozenset({"+avx", "+avx2", "+bmi", "+bmi2", "+f16c", "+fma", "+lzcnt", "+movbe"})
"""What a processor must have to run it, as LLVM writes that."""


@functools.cache
def _suits() -> bool:
    """Whether the processor runs such code, unless a user has named another to numba."""
    return numba.config.CPU_NAME is None and set(codegen.get_host_cpu_features().split(",")) >= FEATURES


def _or_shipped(cache: Any, module: str) -> Callable[..., Any]:
    """The look-up of compiled code in the user's cache, and then among what the wheel brings.

    The files there are numba's, in a folder for each package. Their index is of one release of numba and one state of
    the sources, and has the name of the processor in its keys.
    """
    file, load = cache._cache_file, cache._load_overload
    shipped = caching.IndexDataCacheFile(
        os.path.join(SHIPPED, module.rpartition(".")[0]), cache._impl.filename_base, file._source_stamp
    )
    shipped._version = file._version

    def load_shipped(signature: Any, context: Any) -> Any:
        types, (triple, *_), code = cache._index_key(signature, context.codegen())
        data = shipped.load((types, (triple, PROCESSOR, ""), code))
        return data and cache._impl.rebuild(context, data)

    or_nothing = _or_nothing(load_shipped, lambda: None)

    def load_either(signature: Any, context: Any) -> Any:
        data = load(signature, context)
        return or_nothing(signature, context) if data is None and _suits() else data

    return load_either


def _cache_file(function: Any) -> Any:
    """File of the compiled code of a function on disk; None if it has none."""
    dispatcher = getattr(function, "dispatcher", function)
    return getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)


def _stamp(value: Any) -> str:
    """Source of a compiled function and of those that it imports; empty for any other value."""
    if isinstance(value, types.ModuleType):
        inside = vars(value).values() if value.__name__.endswith("_jit") else ()
        return "".join(sorted({_stamp(each) for each in inside if not isinstance(each, types.ModuleType)}))
    file = _cache_file(value) if callable(value) else None
    return "" if file is None else str(file._version)


def _or_nothing(load: Callable[..., Any], nothing: Callable[[], Any]) -> Callable[..., Any]:
    """The loaded code; nothing where loading fails, so that the function is compiled and written anew."""

    @functools.wraps(load)
    def load_or_nothing(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except Exception:  # a damaged file may raise anything
            return nothing()

    return load_or_nothing
