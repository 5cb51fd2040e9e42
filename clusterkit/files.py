"""Files that are written whole or not at all, and locks on files, which end with the process, however it ends."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

from clusterkit.errors import InvalidData

__all__ = [
    "HeldFiles",
    "replacing",
    "same_file",
]


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


REFUSED: Final = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})
"""Errors that mean that somebody else has the lock; any other means that this file system has no locks."""

FAR: Final = 2**30
"""The byte that is locked where only parts of a file can be: beyond the text, which others may then read."""


@final
class HeldFiles:
    """The lock files of one fit. A copy that is sent to another process holds none.

    The operating system knows who has a lock, so that the file of a process that was killed is in nobody's way. Where a
    file system has no locks, every file can be had.
    """

    def __init__(self) -> None:
        self._held: list[tuple[str, int]] = []

    def take(self, path: str, what: str) -> None:
        """Lock a file, which is made for that; it must belong to nobody else, of this process or of another.

        Parameters
        ----------
        path : str
        what : str
            What the file is used for, in words, for the message.

        Raises
        ------
        InvalidData
            If somebody else has it; says who.
        """
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            try:
                _lock(descriptor)
                if _is_still(path, descriptor):
                    os.ftruncate(descriptor, 0)
                    os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
                    self._held.append((path, descriptor))
                    return
            except OSError as error:
                os.close(descriptor)
                if error.errno not in REFUSED:
                    return
                raise InvalidData(
                    f"{what} is in use: another fit or search works with it ({_holder(path)}). Wait until that has "
                    "ended, or give each a place of its own"
                ) from error
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # its holder has just removed the file: try again

    def release(self) -> None:
        """Give all locks back, and remove their files."""
        while self._held:
            path, descriptor = self._held.pop()
            removable = os.name != "nt"  # on Windows an open file cannot be removed
            if removable:
                with suppress(OSError):
                    os.unlink(path)
            with suppress(OSError):
                _unlock(descriptor)
            os.close(descriptor)
            if not removable:
                with suppress(OSError):
                    os.unlink(path)

    def __reduce__(self) -> tuple[type[HeldFiles], tuple[()]]:
        return HeldFiles, ()


def _lock(descriptor: int) -> None:
    """Lock an open file at once, or raise `OSError`."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        library: Any = msvcrt
        os.lseek(descriptor, FAR, os.SEEK_SET)
        library.locking(descriptor, library.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _unlock(descriptor: int) -> None:
    """Give a lock back, also if a process that was forked meanwhile has the file open too."""
    try:
        import fcntl
    except ImportError:
        return  # closing does it
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _is_still(path: str, descriptor: int) -> bool:
    """Whether the file of this name is the one that is open."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _holder(path: str) -> str:
    """The owner of a locked file, as the file's first line names it."""
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.readline().strip() or "it has just begun"
    return "it has just ended"
