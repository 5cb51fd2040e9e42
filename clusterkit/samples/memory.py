"""The memory cap: how many bytes one array may take, checked before the array is allocated."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from clusterkit.errors import InvalidParameter, NeedsMemory

VARIABLE = "CLUSTERKIT_MEMORY_CAP"
"""Environment variable with the cap, for example ``2G``."""

UNPACKED_VARIABLE = "CLUSTERKIT_UNPACKED_CAP"
"""Environment variable with the cap of `unpacked_cap`, for example ``8G``."""

UNPACKED_CAP = 1024**3
"""Bytes that a compressed file may have when it is unpacked: larger than all tables of the papers, smaller than what
harms a small machine."""

FALLBACK = 4 * 1024**3
"""The cap in bytes where the system does not tell its memory."""

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
"""Bytes of each unit that the memory cap may be written in."""


def human(n_bytes: float) -> str:
    """Bytes in words.

    Examples
    --------
    >>> human(3 * 1024**3)
    '3.0 GiB'
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024:
            return f"{n_bytes:.0f} bytes" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.1f} TiB"


def cap() -> int:
    """Largest array clusterkit allocates, in bytes.

    `CLUSTERKIT_MEMORY_CAP` (for example ``2G`` or ``500M``), or half of the least of the physical memory, the limit of
    the control group (of a container or a batch job), and the limit of the address space (``ulimit -v``) without what
    is mapped already.
    """
    chosen = _size_in(VARIABLE)
    if chosen is not None:
        return chosen
    limits = [each for each in (_physical(), _of_control_group(), _address_space_left()) if each is not None]
    return max(1, min(limits) // 2) if limits else FALLBACK


def _physical() -> int | None:
    """Bytes of physical memory; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        return None


@cache
def _of_control_group(membership: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The least memory limit of the process's control group and the groups above it, version 1 or 2; None without.

    In a container the group may be mounted under another path than the one the kernel names, so that the root is looked
    at in any case.
    """
    limits = []
    for line in _text(membership).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            base, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            base, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        parts = [part for part in path.split("/") if part not in ("", "..")]
        groups = [base.joinpath(*parts[:depth]) for depth in range(len(parts) + 1)]
        limits += [int(text) for group in groups if (text := _text(group / name).strip()).isdecimal()]
    return min(limits, default=None)


def _address_space_left() -> int | None:
    """Bytes that the limit of the address space leaves in addition to what is mapped; None without a limit."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        mapped = int(_text(Path("/proc/self/statm")).split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, OSError, ValueError, IndexError):  # not a POSIX system
        return None
    return max(0, limit - mapped)


def _text(path: Path) -> str:
    """The content of a file of the kernel; empty if there is none."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def unpacked_cap() -> int:
    """Largest size of an unpacked file, in bytes: `CLUSTERKIT_UNPACKED_CAP`, or 1 GiB, and at most `cap`."""
    chosen = _size_in(UNPACKED_VARIABLE)
    return min(UNPACKED_CAP, cap()) if chosen is None else chosen


def _size_in(variable: str) -> int | None:
    """The size in an environment variable; None if it is not set."""
    text = os.environ.get(variable, "").strip().upper().removesuffix("IB").removesuffix("B")
    if not text:
        return None
    unit = text[-1] if text[-1] in "KMGT" else ""
    try:
        size = float(text.removesuffix(unit)) * _UNITS[unit]
        if not size >= 1:
            raise ValueError(f"{size} bytes")
        return int(size)
    except (ValueError, OverflowError):
        raise InvalidParameter(
            f"{variable} must be a size such as '2G' or '500M', got {os.environ[variable]!r}"
        ) from None


def setting(variable: str, n_bytes: float) -> str:
    """How to raise a cap to that many bytes.

    Examples
    --------
    >>> setting("CLUSTERKIT_MEMORY_CAP", 3 * 1024**3)
    'CLUSTERKIT_MEMORY_CAP=3.0G'
    """
    return f"{variable}={human(max(n_bytes, 1024)).replace(' ', '').replace('iB', '')}"


def require(n_bytes: int, what: str, instead: str) -> None:
    """Raise `NeedsMemory` if `what` would not fit under the cap; `instead` says what to do then."""
    allowed = cap()
    if n_bytes > allowed:
        raise NeedsMemory(
            f"{what} needs {n_bytes:,} bytes ({human(n_bytes)}), above the memory cap of {human(allowed)}. "
            f"{instead} Or raise the cap: {setting(VARIABLE, n_bytes * 1.1)}."
        )
