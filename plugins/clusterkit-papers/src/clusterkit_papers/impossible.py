"""Printed indices that no clustering of the data can have: bounds that follow from the class sizes alone.

A printed number stands for all numbers that round to it. A value reported here is impossible for every one of these, so
it is a misprint, an index with another definition, or the row mixes numbers of different clusterings.

Purity is that of the formula which the paper on fast support vector clustering prints in its section 4.2.1 (without a
number): ``Purity = Σ_i (N_i / N) p_i``, ``p_i = max_j p_ij``, ``p_ij = N_ij / N_j`` for N_ij objects of class j in
cluster i (`clusterkit.metrics.purity_by_class`). Below, n_ij is N_ij, a_i the size of cluster i, b_j that of class j.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache
from importlib import resources

import attrs

__all__ = [
    "ImpossibleValue",
    "class_sizes",
    "impossible",
    "least_nmi",
    "least_purity",
    "least_purity_for_nmi",
    "least_purity_for_rand",
    "least_rand",
    "least_rand_for_nmi",
    "one_cluster_rand",
    "rounding_range",
    "singletons_rand",
]

Sizes = Sequence[int]
"""Sizes of the known classes."""

NAMES = {"purity": "purity by the printed formula", "rand": "Rand index", "nmi": "NMI"}
"""The indices as reasons name them."""


@attrs.frozen
class ImpossibleValue:
    """A printed value that cannot be right, and the reason.

    Parameters
    ----------
    measures : tuple of str
        The values concerned: "purity", "rand", "nmi". If they are two, they contradict each other, and at least one of
        them is wrong.
    reason : str
        The bound that is violated.
    """

    measures: tuple[str, ...]
    reason: str


def impossible(
    sizes: Sizes, *, purity: str | None = None, rand: str | None = None, nmi: str | None = None
) -> list[ImpossibleValue]:
    """The indices printed for one clustering that violate a bound.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the known classes, all positive, at least two samples in total.
    purity, rand, nmi : str, optional
        The values as printed; the number of digits says how they were rounded. Purity is that of the printed formula,
        NMI the one with the arithmetic mean of the entropies.

    Returns
    -------
    list of ImpossibleValue
        Empty if no bound is violated, which proves nothing: the bounds are not all the conditions there are.

    Raises
    ------
    ValueError
        If a class is empty, there are fewer than two samples, or a printed value is no number.

    Examples
    --------
    >>> [value.reason for value in impossible([153, 87], purity="0.03", rand="0.03")]
    ['the Rand index is at least 0.460 for these class sizes']
    >>> [value.measures for value in impossible([153, 87], purity="0.03", rand="0.75")]
    [('rand', 'purity')]
    >>> impossible([153, 87], purity="0.86", rand="0.75", nmi="0.55")
    []
    """
    if min(sizes, default=0) < 1 or sum(sizes) < 2:
        raise ValueError(f"sizes must be positive and sum to 2 at least, got {list(sizes)}")
    values = []
    printed = {"purity": purity, "rand": rand, "nmi": nmi}
    low, high = {}, {}
    for measure, text in printed.items():
        low[measure], high[measure] = (0.0, 1.0) if text is None else rounding_range(text)
    if high["purity"] < least_purity(sizes):
        least = f"{least_purity(sizes):.3g}"
        values.append(ImpossibleValue(("purity",), f"{NAMES['purity']} is at least {least}, that of single samples"))
    if high["rand"] < least_rand(sizes):
        values.append(
            ImpossibleValue(("rand",), f"the Rand index is at least {least_rand(sizes):.3f} for these class sizes")
        )
    implied = [
        ("purity", "rand", least_rand(sizes, high["purity"])),
        ("rand", "purity", least_purity_for_rand(sizes, low["rand"])),
        ("rand", "nmi", least_nmi(sizes, low["rand"])),
        ("nmi", "rand", least_rand_for_nmi(sizes, low["nmi"])),
        ("nmi", "purity", least_purity_for_nmi(sizes, low["nmi"])),
    ]
    alone = {value.measures[0] for value in values}
    for measure, other, least in implied:
        # a value that is impossible by itself proves nothing about another one
        if high[other] < least and not alone & {measure, other}:
            needed = f"{NAMES[other]} of at least {least:.3f}, not {printed[other]}"
            reason = f"{NAMES[measure]} {printed[measure]} needs {needed}"
            values.append(ImpossibleValue((measure, other), reason))
    return values


@cache
def class_sizes(paper: str) -> dict[str, tuple[int, ...]]:
    """Class sizes of the data sets of a paper, by their names in its tables.

    Parameters
    ----------
    paper : str
        Prefix of the names of its tables; only "svc" so far.

    Examples
    --------
    >>> class_sizes("svc")["Flame"]
    (153, 87)
    """
    text = resources.files("clusterkit_papers").joinpath(f"printed/{paper}-sizes.csv").read_text(encoding="utf-8")
    return {record["row"]: tuple(map(int, record["sizes"].split())) for record in csv.DictReader(text.splitlines())}


def rounding_range(printed: str) -> tuple[float, float]:
    """Lowest and highest number in [0, 1] that rounds to a printed one.

    Examples
    --------
    >>> rounding_range("0.97"), rounding_range("1.00"), rounding_range("0.5")
    ((0.965, 0.975), (0.995, 1.0), (0.45, 0.55))
    """
    digits = len(printed.partition(".")[2])
    # in units of half the last digit, so that 0.97 gives 0.965 and no neighbour of it
    units = 2 * round(float(printed) * 10**digits)
    return max(0.0, (units - 1) / (2 * 10**digits)), min(1.0, (units + 1) / (2 * 10**digits))


def least_purity(sizes: Sizes) -> float:
    """The lowest possible purity by the printed formula: that of one cluster for each sample, classes over samples.

    Notes
    -----
    ``N Purity = Σ_i Σ_j n_ij max_l (n_il / b_l) >= Σ_ij n_ij² / b_j >= Σ_ij n_ij / b_j``, the number of classes; for
    clusters of one sample all three are equal. With the first m samples, largest class first, in one cluster and every
    other sample alone the values go from there to 1 in steps below 2 / N, so that no other purity is impossible.

    Examples
    --------
    >>> round(least_purity([153, 87]), 4)
    0.0083
    """
    return len(sizes) / sum(sizes)


def least_purity_for_rand(sizes: Sizes, rand: float) -> float:
    """A lower bound on the purity by the printed formula if the Rand index is at least `rand`.

    Notes
    -----
    ``(1 - rand) N (N - 1) >= Σ b_j² + Σ a_i² - 2 Σ n_ij² >= Σ b_j² - Σ n_ij²``, so that the squares n_ij² have a least
    sum, and ``N Purity >= Σ_ij n_ij² / b_j`` is least if the largest classes have most of it.

    Examples
    --------
    >>> round(least_purity_for_rand([101, 105, 106], 0.935), 2)
    0.8
    """
    n = sum(sizes)
    squares = sum(b * b for b in sizes) - (1.0 - rand) * n * (n - 1)
    least = 0.0
    for b in sorted(sizes, reverse=True):
        least += min(max(squares, 0.0), b * b) / b
        squares -= b * b
    return max(least_purity(sizes), least / n)


def one_cluster_rand(sizes: Sizes) -> float:
    """Rand index of a single cluster: the share of pairs whose samples are of the same class."""
    return _together(sizes) / _pairs(sum(sizes))


def singletons_rand(sizes: Sizes) -> float:
    """Rand index of one cluster for each sample: the share of pairs whose samples are of different classes."""
    return 1.0 - one_cluster_rand(sizes)


def least_rand(sizes: Sizes, purity: float = 1.0) -> float:
    """A lower bound on the Rand index of any clustering whose purity by the printed formula is at most `purity`.

    Notes
    -----
    The number of pairs that disagree is ``Σ_j C(b_j, 2) + Σ_i [(a_i² + a_i)/2 - Σ_j n_ij²]`` for class sizes b,
    cluster sizes a and contingency table n. With K classes ``Σ_j n_ij² >= a_i² / K``, and ``Σ a_i² <= N² Purity``
    because no cluster has less than the share a_i / N of some class. For two classes the bound is
    ``(b_1 b_2 - N/2) / C(N, 2)``, whatever the purity.

    Examples
    --------
    >>> round(least_rand([153, 87]), 3), round(least_rand([101, 105, 106]), 3)
    (0.46, 0.331)
    >>> round(least_rand([101, 105, 106], purity=0.1), 2)
    0.63
    """
    n, k = sum(sizes), len(sizes)
    most = _together(sizes) + n * n * purity * max(0.0, 0.5 - 1.0 / k) + n / 2.0
    return max(0.0, 1.0 - most / _pairs(n))


def least_nmi(sizes: Sizes, rand: float) -> float:
    """A lower bound on the NMI (arithmetic mean) if the Rand index is at least `rand`; 0 if none follows.

    Notes
    -----
    A sample of a class of size b, in a cluster of size a with n of its class, is on the wrong side of
    ``s = a + b - 2 n`` ordered pairs and adds ``v = ln(a b / n²)`` to N times the variation of information VI. For
    given s the largest v is ``ln(b / (b - s))`` up to s = b - 1 and ``ln b + ln(s - b + 2)`` beyond. The pairs allow
    ``Σ s <= (1 - rand) N (N - 1)``, so by weak duality ``N VI <= λ Σ s + Σ_x max_s (v - λ s)`` for every λ > 0.
    Then ``NMI = 1 - VI / (H + H') >= 1 - VI / (2 H - VI)`` with H the entropy of the classes, since H' >= H - VI.

    Examples
    --------
    >>> least_nmi([50, 50, 50], 1.0), least_nmi([50, 50, 50], 0.5)
    (1.0, 0.0)
    >>> round(least_nmi([110, 97, 93], 0.995), 2)
    0.95
    """
    n, entropy = sum(sizes), _entropy(sizes)
    budget = (1.0 - rand) * n * (n - 1)
    if budget <= 0.0 or entropy == 0.0:
        return 1.0 if budget <= 0.0 else 0.0
    variation = min(
        (price * budget + sum(b * _largest_excess(b, n, price) for b in sizes)) / n
        for price in (10.0 ** (-power / 50.0) for power in range(400))
    )
    if variation >= entropy:
        return 0.0
    return max(0.0, 1.0 - variation / (2.0 * entropy - variation))


def least_rand_for_nmi(sizes: Sizes, nmi: float) -> float:
    """A lower bound on the Rand index if the NMI (arithmetic mean) is at least `nmi`; 0 if none follows.

    Notes
    -----
    ``VI <= 2 H (1 - nmi) / nmi``, because ``H' <= H (2 / nmi - 1)``. In the terms of `least_nmi` the largest s for a
    given v is at most ``v (N - b) / ln(N / b)``, so that bounds the disagreeing pairs.
    """
    n, entropy = sum(sizes), _entropy(sizes)
    if nmi <= 0.0 or entropy == 0.0:
        return 0.0
    variation = 2.0 * entropy * (1.0 - nmi) / nmi
    steepest = max((n - b) / math.log(n / b) for b in sizes)
    return max(0.0, 1.0 - variation * n * steepest / 2.0 / _pairs(n))


def least_purity_for_nmi(sizes: Sizes, nmi: float) -> float:
    """A lower bound on the purity by the printed formula if the NMI (arithmetic mean) is at least `nmi`.

    Notes
    -----
    ``Purity >= Σ_ij (n_ij / N) (n_ij / b_j)`` is a mean over samples, at least that of the logarithms:
    ``Purity >= exp(-H(cluster | class))``. And ``H(cluster | class) <= VI <= 2 H (1 - nmi) / nmi``, as in
    `least_rand_for_nmi`.
    """
    if nmi <= 0.0:
        return least_purity(sizes)
    return max(least_purity(sizes), math.exp(-2.0 * _entropy(sizes) * (1.0 - nmi) / nmi))


def _largest_excess(b: int, n: int, price: float) -> float:
    """The maximum over s of v - λ s for a sample in a class of size b; see `least_nmi`.

    On the convex part of v the maximum is at an end, on the concave part where v' = λ.
    """
    best = max(0.0, math.log(b) - price * (b - 1))
    s = min(max(float(b - 1), b - 2 + 1.0 / price), float(n))
    return max(best, math.log(b) + math.log(s - b + 2) - price * s)


def _entropy(sizes: Sizes) -> float:
    """Entropy of the class shares, in nats."""
    n = sum(sizes)
    return math.fsum(size / n * math.log(n / size) for size in sizes)


def _pairs(n: int) -> int:
    """Number of pairs of n samples."""
    return n * (n - 1) // 2


def _together(sizes: Sizes) -> int:
    """Number of pairs of samples of the same class."""
    return sum(_pairs(size) for size in sizes)
