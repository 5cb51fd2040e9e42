"""The corpus of awkward data: every set is a name, a function of a random generator, and what is expected of a fit."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Literal, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng, Samples
from clusterkit_campaign.containers import CONTAINERS, WITHOUT_REFERENCE, needs_pandas
from clusterkit_campaign.extremes import EXTREMES, SHIFTED
from clusterkit_campaign.patterns import PATTERNS, Pattern, blobs
from clusterkit_campaign.unfit_data import UNFIT, Unfit

__all__ = ["AwkwardSet", "awkward_sets", "stream"]


@final
@attrs.frozen(eq=False)
class AwkwardSet:
    """One set of the corpus.

    Parameters
    ----------
    name : str
    values : callable
        Random generator to values (n, d) of float64; for unfit data to any object.
    container : str
        Name of the type or memory layout in `CONTAINERS`.
    expected : {"fit", "either", "refusal"}
        Whether a fit must succeed unless a stage has a documented reason, may be refused for its numbers, or must be
        refused.
    reason : str
        Why it must be refused.
    """

    name: str
    values: Pattern | Unfit
    container: str = "array"
    expected: Literal["fit", "either", "refusal"] = "fit"
    reason: str = ""

    def drawn(self, *seed: int) -> Array:
        """The values before they are put into the container; the same for the same seed."""
        make = cast("Callable[[Rng], Array]", self.values)
        return make(stream(self.name, *seed))

    def put(self, values: Array) -> Samples:
        """Values in the container of this set."""
        return CONTAINERS[self.container](values)

    @property
    def has_reference(self) -> bool:
        """Whether the labels must equal those of the same values in a plain array."""
        return self.container != "array" and self.container not in WITHOUT_REFERENCE


def stream(name: str, *seed: int) -> Rng:
    """A random generator for a use of a name; the same for the same seed."""
    return np.random.default_rng([*seed, zlib.crc32(name.encode())])


@cache
def awkward_sets() -> Mapping[str, AwkwardSet]:
    """All sets by name, in a fixed order; those of pandas only where it is installed.

    Examples
    --------
    >>> len(awkward_sets()) >= 120
    True
    >>> awkward_sets()["two equal rows"].drawn(0)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    sets = [AwkwardSet(name, values) for name, values in {**PATTERNS, **SHIFTED}.items()]
    sets += [AwkwardSet(name, values, expected="either") for name, values in EXTREMES.items()]
    integral = partial(blobs, n=30)
    sets += [
        AwkwardSet(f"blobs as {name}", integral, name)
        for name in CONTAINERS
        if name != "array" and (_has_pandas() or not needs_pandas(name))
    ]
    for container in ("float32", "float16"):
        for name in ("many duplicates", "a constant column", "offset 1e3", "all rows equal", "scale 1e-6"):
            values = {**PATTERNS, **SHIFTED}[name]
            sets.append(AwkwardSet(f"{name} as {container}", values, container, "either"))
    sets.append(AwkwardSet("scale 1e-30 as float32", SHIFTED["scale 1e-30"], "float32", "either"))
    sets.append(AwkwardSet("scale 1e30 as float32", SHIFTED["scale 1e30"], "float32", "either"))
    sets.append(AwkwardSet("mostly zeros as sparse rows", PATTERNS["mostly zeros"], "sparse rows"))
    sets.append(AwkwardSet("all zero as sparse rows", PATTERNS["all zero"], "sparse rows", "either"))
    sets += [AwkwardSet(name, values, expected="refusal", reason=reason) for name, (values, reason) in UNFIT.items()]
    return MappingProxyType({each.name: each for each in sets})


def _has_pandas() -> bool:
    from importlib.util import find_spec

    return find_spec("pandas") is not None
