"""A digest of labels: whether two turns gave the same ones, without keeping them."""

from __future__ import annotations

import hashlib
from typing import Any, Protocol, Self, final

import attrs
import numpy as np

from clusterkit._typing import Counts, Labels
from clusterkit.core.namespaces import array_namespace, is_device_array, to_host

__all__ = ["Digest", "MixedDigest", "digest_of"]

KEYS = ((0x1E3779B97F4A7C15, 0x3F58476D1CE4E5B9), (0x14D049BB133111EB, 0x2545F4914F6CDD1D))
"""Offset and factor of the two families of pseudo-random row numbers: odd constants of splitmix64 and xorshift64*,
without their highest bit, so that they are whole numbers with a sign."""


class Digest(Protocol):
    """Of a block, or of neighbouring blocks."""

    def __add__(self, following: Self, /) -> Self:
        """Of both."""

    def __hash__(self) -> int:
        """Equal digests have one."""

    def to_host(self) -> Digest:
        """The same on the host: bytes that can be compared."""


def digest_of(rows: slice, labels: Labels) -> Digest:
    """The digest of the labels of a block; computed where they lie."""
    if is_device_array(labels):
        return MixedDigest(_mixed(rows, labels))
    return _Hashed(hashlib.blake2b(np.ascontiguousarray(labels).data, digest_size=16).digest())


@final
@attrs.frozen
class _Hashed:
    """A cryptographic digest of the bytes, and of those of both parts of a sum."""

    content: bytes

    def __add__(self, following: _Hashed) -> _Hashed:
        return _Hashed(hashlib.blake2b(self.content + following.content, digest_size=16).digest())

    def to_host(self) -> _Hashed:
        """The digest itself."""
        return self


@final
@attrs.frozen(eq=False)
class MixedDigest:
    """Two sums of labels times pseudo-random numbers of their rows, modulo 2^64.

    Two labellings that differ have equal sums with a probability of about 2^-128. All of it is done by the device, of
    which the labels need not be read.
    """

    sums: Counts

    def __add__(self, following: MixedDigest) -> MixedDigest:
        return MixedDigest(self.sums + following.sums)

    def to_host(self) -> _Hashed:
        """The bytes of the sums."""
        return _Hashed(np.ascontiguousarray(to_host(self.sums)).tobytes())


def _mixed(rows: slice, labels: Any) -> Any:
    """The sums of a block, (2,), int64."""
    xp = array_namespace(labels)
    numbers = xp.arange(rows.start, rows.start + labels.shape[0], dtype=xp.int64, device=labels.device)
    # a sum with a label of 0 would not know its row
    values = xp.astype(labels, xp.int64, copy=False) + 1
    sums = []
    for offset, factor in KEYS:
        mixed = (numbers + 1) * offset
        for shift in (30, 27, 31):
            mixed = (mixed ^ ((mixed >> shift) & (2 ** (64 - shift) - 1))) * factor
        sums.append(xp.sum((mixed | 1) * values, dtype=xp.int64))
    return xp.stack(sums)
