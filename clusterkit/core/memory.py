"""The memory cap: how many bytes one array may take, checked before the array is allocated."""

from __future__ import annotations

import os

from clusterkit.core.errors import InvalidParameter, NeedsMemory

__all__ = ["cap", "human", "require"]

VARIABLE = "CLUSTERKIT_MEMORY_CAP"
"""Environment variable with the cap, for example ``2G``."""

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
    text = os.environ.get(VARIABLE, "").strip().upper().removesuffix("IB").removesuffix("B")
    if text:
        unit = text[-1] if text[-1] in "KMGT" else ""
        try:
            return int(float(text.removesuffix(unit)) * _UNITS[unit])
        except ValueError:
            raise InvalidParameter(
                f"{VARIABLE} must be a size such as '2G' or '500M', got {os.environ[VARIABLE]!r}"
            ) from None
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):  # not a POSIX system
        return FALLBACK


def require(n_bytes: int, what: str, instead: str) -> None:
    """Raise `NeedsMemory` if `what` would not fit under the cap; `instead` says what to do then."""
    allowed = cap()
    if n_bytes > allowed:
        raise NeedsMemory(
            f"{what} needs {n_bytes:,} bytes ({human(n_bytes)}), above the memory cap of {human(allowed)}. "
            f"{instead} Or raise the cap: {VARIABLE}={human(n_bytes * 1.1).replace(' ', '').replace('iB', '')}."
        )
