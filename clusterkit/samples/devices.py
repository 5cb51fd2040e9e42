"""The device on which blocks of rows are computed: by name, of an array, and the one chosen for this process.

A device is one of a library of the array API standard. Without a choice everything is computed by numpy, and no such
library is imported: a fit looks at one environment variable.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType
from typing import Any, Self, TypeVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.errors import InvalidParameter

A = TypeVar("A", bound=AnyArray)

VARIABLE = "CLUSTERKIT_DEVICE"
"""Environment variable with the device of all fits, for example ``cuda`` or ``torch:cuda:1``."""

PRECISION = "CLUSTERKIT_PRECISION"
"""Environment variable with the precision of products of float32 on a device, one of `PRECISION_CHOICES`."""

PRECISION_CHOICES = ("float32", "tf32x3")
"""Products of float32 by the library as they are; as the sum of three TF32 products of their parts."""

HOST = "cpu"
"""The name that means no device: numpy, in the memory of this process."""

LIBRARIES: Mapping[str, str] = {
    "torch": "pip install torch array-api-compat",
    "cupy": "pip install cupy-cuda12x array-api-compat (the number is that of the CUDA version)",
    "array_api_strict": "pip install array-api-strict",
}
"""Libraries whose arrays and devices are taken, in the order in which they are looked for, with how to install them.
The last one simulates devices, for tests."""

FORMS = "'cuda', 'cuda:1', 'torch:cuda:0', 'cupy:cuda:0', or 'cpu' for none"
"""Names of devices that are accepted, for messages."""

_PATTERN = re.compile(r"(?:(?P<library>torch|cupy|array_api_strict):)?(?P<device>[A-Za-z]\w*(?::\d+)?)")
"""A library, if it is named, and a device of it."""


_on_host: ContextVar[bool] = ContextVar("clusterkit_on_host", default=False)
"""Whether a part of a fit computes by numpy for now, in this thread alone: others may be on a device meanwhile."""


@final
@attrs.frozen
class Device:
    """One device of a library of arrays; small, and it pickles, so that an engine may send it to other machines.

    Parameters
    ----------
    library : str
        One of `LIBRARIES`.
    name : str
        Name of the device in its library: "cuda", "cuda:1".
    """

    library: str
    name: str

    @classmethod
    def named(cls, text: str) -> Device | None:
        """The device of a name, after a test; None for "cpu".

        Raises
        ------
        InvalidParameter
            If it is no name of a device, its library is not installed, or the library has no such device; names what
            to install.
        """
        words = text.strip()
        if words.lower() == HOST:
            return None
        match = _PATTERN.fullmatch(words)
        library, name = (match["library"], match["device"]) if match is not None else (None, "")
        if match is None or (library is None and name.partition(":")[0] != "cuda"):
            raise InvalidParameter(f"no device is called {text!r}: a device is {FORMS}")
        wanted = ("torch", "cupy") if library is None else (library,)
        installed = [each for each in wanted if _importable(each)]
        if not installed:
            ways = ", or ".join(f"{each}: {LIBRARIES[each]}" for each in wanted)
            raise InvalidParameter(f"device {text!r} needs a library that is not installed. {ways}")
        reasons = []
        for each in installed:
            device = cls(each, name)
            reason = device.why_not()
            if reason is None:
                return device
            reasons.append(f"{each} says: {reason}")
        raise InvalidParameter(f"there is no device {text!r} here. {'; '.join(reasons)}")

    @classmethod
    def of(cls, array: object) -> Self:
        """The device on which an array of one of the libraries lies."""
        library = type(array).__module__.partition(".")[0]
        here: Any = cast("AnyArray", array).device
        if library == "cupy":
            return cls(library, f"cuda:{here.id}")
        quoted = re.search(r"'([^']+)'", repr(here))  # simulated devices
        return cls(library, str(here) if quoted is None or library == "torch" else quoted[1])

    @property
    def xp(self) -> ModuleType:
        """The functions of the library, by the standard."""
        if self.library == "array_api_strict":
            return import_module(self.library)
        return import_module(f"array_api_compat.{self.library}")

    @property
    def handle(self) -> object:
        """The device as the library takes it."""
        if self.library == "cupy":
            number = self.name.rpartition(":")[2]
            chosen: object = import_module("cupy").cuda.Device(int(number) if number.isdigit() else 0)
            return chosen
        make: Callable[[str], object] = import_module(self.library).__dict__["Device" if self._simulated else "device"]
        return make(self.name)

    def active(self) -> AbstractContextManager[object]:
        """While blocks are computed there: CuPy computes on one device at a time, the others where the arrays are."""
        return cast("AbstractContextManager[object]", self.handle) if self.library == "cupy" else nullcontext()

    def put(self, array: A) -> A:
        """A copy of an array of the host on the device."""
        # copy, because some libraries refuse read-only arrays
        writable = array if array.flags.writeable else array.copy()
        there: A = self.xp.asarray(writable, device=self.handle)
        return there

    def why_not(self) -> str | None:
        """Reason why nothing can be computed on the device, from a first small sum in float64; None if it can."""
        try:
            one: Any = self.put(np.ones(1, dtype=np.float64))
            return None if float(self.xp.sum(one + one)) == 2.0 else "it computes wrongly"
        except Exception as error:  # whatever the driver, the library or the device says
            return str(error).strip().partition("\n")[0] or type(error).__name__

    def free_bytes(self) -> int | None:
        """Bytes of its memory that nobody uses; None where the library does not tell."""
        if self.library == "torch" and self.name.startswith("cuda"):
            cuda = import_module("torch").cuda
            held = cuda.memory_reserved(self.handle) - cuda.memory_allocated(self.handle)
            return int(cuda.mem_get_info(self.handle)[0] + held)
        if self.library == "cupy":
            with cast("Any", self.handle) as here:
                return int(here.mem_info[0] + import_module("cupy").get_default_memory_pool().free_bytes())
        return None

    @property
    def _simulated(self) -> bool:
        return self.library == "array_api_strict"

    def __str__(self) -> str:
        return f"{self.library}:{self.name}"


@final
class _Choice:
    """A choice of a device and its options; as a context manager it ends with the block."""

    def __init__(self, before: Mapping[str, str | None]) -> None:
        self._before = before

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for variable, value in self._before.items():
            _set(variable, value)


@final
class _Unchanged:
    """The default of an option that is left as it is."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED = _Unchanged()
"""What an option of `config` is where it is left out; None is a choice."""


def config(
    *,
    device: str | _Unchanged | None = UNCHANGED,
    precision: str | _Unchanged = UNCHANGED,
) -> _Choice:
    """Choose the device on which fits and predictions compute, for this process and those that it starts from now on.

    The blocks of rows of each pass go there, from memory, files and other collections, and labels come back. Stages
    without a form for it are refused by an error that names those that have one. Results are those of the host up to
    rounding.

    Parameters
    ----------
    device : str or None
        "cuda", "cuda:1", "torch:cuda:0" or "cupy:cuda:0"; "cpu" or None computes by numpy, which is the default. The
        choice is kept in the environment variable ``CLUSTERKIT_DEVICE``, which may be set outside too.
    precision : str
        Of products of float32 numbers on a device. "float32", the default: as the library computes them. "tf32x3": as
        the sum of three products of parts of 11 bits, which PyTorch computes on the tensor cores of a graphics
        processor; their sums a·b differ by at most 1.2e-6 Σ|a b| from exact ones, beside the rounding of sums in
        float32. Other libraries compute the three products in float32, which is slower. Numbers above 4e34 are not
        for it. Kept in ``CLUSTERKIT_PRECISION``.

    Returns
    -------
    context manager
        Context that restores the choice before it at its end. Without ``with`` the choice stays.

    Raises
    ------
    InvalidParameter
        If there is no such device, or its library is not installed; names what to install.

    Examples
    --------
    >>> import clusterkit
    >>> with clusterkit.config(device="cpu"):
    ...     model = clusterkit.recipe("kmeans", n_clusters=2, random_state=0).fit([[0.0], [1.0], [9.0]])
    """
    chosen: dict[str, str | None] = {}
    if not isinstance(device, _Unchanged):
        if device is not None:
            if not isinstance(device, str):
                raise InvalidParameter(f"device must be a name or None, got {device!r}: a device is {FORMS}")
            Device.named(device)
        chosen[VARIABLE] = device
    if not isinstance(precision, _Unchanged):
        chosen[PRECISION] = _choice_of("precision", precision, PRECISION_CHOICES)
    before = {variable: os.environ.get(variable) for variable in chosen}
    for variable, value in chosen.items():
        _set(variable, value)
    return _Choice(before)


def precision() -> str:
    """The precision that is chosen for products of float32 on a device, one of `PRECISION_CHOICES`."""
    return _choice_of(PRECISION, os.environ.get(PRECISION, "").strip() or PRECISION_CHOICES[0], PRECISION_CHOICES)


def _choice_of(name: str, value: object, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise InvalidParameter(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)


@contextmanager
def on_host() -> Iterator[None]:
    """Context in which this thread computes by numpy, whatever device is chosen."""
    token = _on_host.set(True)
    try:
        yield
    finally:
        _on_host.reset(token)


def current() -> Device | None:
    """The device that is chosen for this process; None, and nothing is imported, where there is no choice.

    Raises
    ------
    InvalidParameter
        If the environment variable names no device of this machine.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text or _on_host.get():
        return None
    try:
        return Device.named(text)
    except InvalidParameter as error:
        raise InvalidParameter(f"{VARIABLE}: {error}") from None


def dispatches() -> bool:
    """Whether scikit-learn lets arrays of other libraries through (``array_api_dispatch``).

    False where scikit-learn has not been imported: nobody can have changed its configuration then.
    """
    library: Any = sys.modules.get("sklearn")
    return library is not None and bool(library.get_config().get("array_api_dispatch", False))


def _set(variable: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = value


def _importable(library: str) -> bool:
    """Whether a library can be imported, and what its arrays need by the standard."""
    try:
        Device(library, HOST).xp  # noqa: B018 # the import is what is tried
    except ImportError:
        return False
    return True
