"""Errors of loading a data set by name."""

from __future__ import annotations


class DatasetNotFound(LookupError):
    """No available source has the data set; the message says how to provide it."""


class DatasetCorrupt(ValueError):
    """A file does not match the checksum in its manifest."""


class MirrorError(OSError):
    """The mirror did not answer, or its answer is no file."""
