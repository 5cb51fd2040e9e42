"""The memory cap: how many bytes one array may take, checked before the array is allocated."""

from __future__ import annotations

import os

from clusterkit.core.errors import InvalidParameter, NeedsMemory

__all__ = ["UNPACKED_VARIABLE", "cap", "human", "require", "setting", "unpacked_cap"]

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

    `CLUSTERKIT_MEMORY_CAP` (for example ``2G`` or ``500M``) or half of the physical memory.
    """
    chosen = _size_in(VARIABLE)
    if chosen is not None:
        return chosen
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        return FALLBACK


def unpacked_cap() -> int:
    """Bytes up to which a compressed file is unpacked: `CLUSTERKIT_UNPACKED_CAP`, or 1 GiB, and no more than `cap`."""
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
