"""Changes to the bytes of a file: what disks, editors, transfers and enemies do to one."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from typing import TypeAlias

from clusterkit._typing import Rng

__all__ = ["MUTATORS", "Mutator", "mutated"]

Mutator: TypeAlias = Callable[[bytes, Rng], bytes]
"""From the bytes of a file to other bytes."""

TOKENS = (
    b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"", b"-", b"0x10", b"1_000", "١٢".encode(), b"NaN()", b"1e",
    b"true",
    b"9" * 400, b"-0", b"1.5.2", b"\"", b"\"\"\"", b"'", b"\x00", b"\x1b[31m", b"\xff\xfe", b"\xef\xbb\xbf", b"\r",
    b"\n\n",
    b",,,,", b"\t", b";", b"=1+1", b"{}", b"[]", b"null", b"[" * 3000, b"{\"a\":" * 500, b"-1",
    b"18446744073709551616",
    b"shape", b"(1,)", b"'<f8'", b"'|O'", b"True", b"../../x", "\u202e".encode(), "\u2028".encode(),
)  # fmt: skip
"""Texts that parsers meet rarely."""

LONGEST = 2**16
"""Bytes of a mutated file at most, unless it is a bomb on purpose."""


def _at(content: bytes, rng: Rng) -> int:
    return int(rng.integers(len(content) + 1))


def _span(content: bytes, rng: Rng) -> tuple[int, int]:
    low, high = sorted((_at(content, rng), _at(content, rng)))
    return low, high


def _flip_bit(content: bytes, rng: Rng) -> bytes:
    if not content:
        return b"\x01"
    changed = bytearray(content)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _set_bytes(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        if changed:
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed)


def _truncate(content: bytes, rng: Rng) -> bytes:
    return content[: _at(content, rng)]


def _drop_beginning(content: bytes, rng: Rng) -> bytes:
    return content[_at(content, rng) :]


def _delete(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[:low] + content[high:]


def _repeat(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[:high] + content[low:high] * int(rng.integers(1, 4)) + content[high:]


def _zero(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[:low] + bytes(high - low) + content[high:]


def _swap(content: bytes, rng: Rng) -> bytes:
    low, high = _span(content, rng)
    return content[high:] + content[low:high] + content[:low]


def _insert(content: bytes, rng: Rng) -> bytes:
    place = _at(content, rng)
    return content[:place] + TOKENS[int(rng.integers(len(TOKENS)))] + content[place:]


def _overwrite(content: bytes, rng: Rng) -> bytes:
    place, token = _at(content, rng), TOKENS[int(rng.integers(len(TOKENS)))]
    return content[:place] + token + content[place + len(token) :]


def _replace_digits(content: bytes, rng: Rng) -> bytes:
    places = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return _insert(content, rng)
    place, token = places[int(rng.integers(len(places)))], TOKENS[int(rng.integers(len(TOKENS)))]
    return content[:place] + token + content[place + 1 :]


def _noise(content: bytes, rng: Rng) -> bytes:
    return rng.bytes(int(rng.integers(0, 300)))


def _lines(content: bytes, rng: Rng) -> bytes:
    lines = content.split(b"\n")
    order = rng.permutation(len(lines))
    return b"\n".join(lines[i] for i in order)


def _line_ends(content: bytes, rng: Rng) -> bytes:
    ends = (b"\r", b"\r\n", b"\n\r", b"\x0b", b"\x0c", "\u2028".encode())
    return content.replace(b"\n", ends[int(rng.integers(len(ends)))])


def _encoded(content: bytes, rng: Rng) -> bytes:
    encodings = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7")
    return content.decode("latin-1").encode(encodings[int(rng.integers(len(encodings)))], "replace")


def _compressed(content: bytes, rng: Rng) -> bytes:
    packed = gzip.compress(content, mtime=0)
    return packed if rng.random() < 0.5 else packed[: _at(packed, rng)]


MUTATORS: Mapping[str, Mutator] = {
    "a bit": _flip_bit,
    "some bytes": _set_bytes,
    "truncated": _truncate,
    "without its beginning": _drop_beginning,
    "a part deleted": _delete,
    "a part repeated": _repeat,
    "a part zeroed": _zero,
    "parts swapped": _swap,
    "a token inserted": _insert,
    "a token written over": _overwrite,
    "a token for a digit": _replace_digits,
    "noise": _noise,
    "lines shuffled": _lines,
    "other line ends": _line_ends,
    "another encoding": _encoded,
    "compressed": _compressed,
    "empty": lambda content, rng: b"",
    "unchanged": lambda content, rng: content,
}
"""The changes by name."""


def mutated(content: bytes, rng: Rng, most: int = 3) -> tuple[bytes, tuple[str, ...]]:
    r"""One to `most` changes after another, and their names.

    Examples
    --------
    >>> import numpy as np
    >>> content, names = mutated(b"1,2\n3,4\n", np.random.default_rng(5))
    >>> len(names) >= 1
    True
    """
    names = [str(name) for name in rng.choice(list(MUTATORS), size=int(rng.integers(1, most + 1)))]
    for name in names:
        content = MUTATORS[name](content, rng)[:LONGEST]
    return content, tuple(names)
