"""What can go wrong between a name and its data."""

from __future__ import annotations


class DatasetNotFound(LookupError):
    """No source at hand has the data set; the message says how to get it."""


class DatasetCorrupt(ValueError):
    """A file is not what its manifest says."""


class MirrorError(OSError):
    """The mirror did not answer, or not with a file."""
