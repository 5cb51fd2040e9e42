"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def same_file(path: str | Path, other: str | Path) -> bool:
    """Whether two names are of one file, or will be when it is written.

    Raises
    ------
    OSError
        If a name cannot be looked up.
    """
    if Path(path).exists() and Path(other).exists():
        return Path(path).samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Write a file beside its place and move it there at the end; a failure leaves what was there before.

    Parameters
    ----------
    path : path
        A link is followed. A device or a pipe is written to as it is.

    Yields
    ------
    Path
        The file to write, in the same folder and with the same ending.

    Raises
    ------
    OSError
        If the block or the move raises one; its `filename` is `path` and its `strerror` the reason.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            yield target
            return
        part = target.with_name(f".clusterkit-{secrets.token_hex(8)}{target.suffix}")
        try:
            yield part
            _move(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        if error.errno == errno.ENOENT and not target.parent.is_dir():
            reason = f"there is no folder {str(Path(path).parent)!r}"
        raise OSError(error.errno, f"cannot be written: {reason}", str(path)) from error


def _move(part: Path, target: Path) -> None:
    """Put a finished file in its place, on the disk before it has the name; it keeps the permissions of the old one."""
    if target.exists():
        part.chmod(stat.S_IMODE(target.stat().st_mode))
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)
