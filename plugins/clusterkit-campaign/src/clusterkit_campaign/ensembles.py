"""Consensus functions on awkward ensembles: labels that are many, few, tied, silent, or no labels at all."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np

from clusterkit._typing import AnyArray, Labels, Rng
from clusterkit.consensus import combine
from clusterkit.contracts import Consensus
from clusterkit.contracts.labelings import NOISE, by_appearance
from clusterkit.contracts.registry import registry
from clusterkit.errors import InvalidData
from clusterkit_campaign.findings import SILENT, Problem, of_error

__all__ = ["CONTAINERS", "ENSEMBLES", "UNFIT_ENSEMBLES", "check_ensemble"]

Ensemble: TypeAlias = Callable[[Rng], Labels]
"""Function from a random generator to labels (M, n), -1 for noise."""


def _noisy(rng: Rng, M: int = 6, n: int = 40, share: float = 0.2) -> Labels:
    """Copies of a partition into three clusters, of which each label is replaced by another with a probability."""
    truth = rng.integers(3, size=n)
    labels: Labels = np.where(rng.random((M, n)) < share, rng.integers(3, size=(M, n)), truth)
    return labels


def _with_noise(rng: Rng, share: float) -> Labels:
    labels = _noisy(rng)
    labels[rng.random(labels.shape) < share] = NOISE
    labels[0, 0] = 0
    return labels


def _silent_member(rng: Rng) -> Labels:
    labels = _noisy(rng)
    labels[int(rng.integers(len(labels)))] = NOISE
    return labels


def _unknown_samples(rng: Rng) -> Labels:
    labels = _noisy(rng)
    labels[:, rng.random(labels.shape[1]) < 0.3] = NOISE
    labels[0, 0] = 0
    return labels


def _one_known_sample(rng: Rng) -> Labels:
    labels = np.full((3, 20), NOISE)
    labels[int(rng.integers(3)), int(rng.integers(20))] = 4
    return labels


def _nested(rng: Rng) -> Labels:
    fine = rng.integers(8, size=40)
    return np.stack([fine, fine // 2, fine // 4, np.zeros_like(fine)])


def _crossed(rng: Rng) -> Labels:
    side = int(rng.integers(2, 6))
    return np.stack([np.repeat(np.arange(side), side), np.tile(np.arange(side), side)])


ENSEMBLES: Mapping[str, Ensemble] = {
    "agreeing": lambda rng: _noisy(rng, share=0.05),
    "disagreeing": lambda rng: _noisy(rng, share=1.0),
    "equal members": lambda rng: np.repeat(_noisy(rng, M=1), 5, axis=0),
    "one member": lambda rng: _noisy(rng, M=1),
    "one sample": lambda rng: rng.integers(9, size=(4, 1)),
    "two samples": lambda rng: rng.integers(2, size=(3, 2)),
    "one cluster": lambda rng: np.zeros((4, 12), dtype=np.int64),
    "one member of one cluster": lambda rng: np.vstack([np.zeros((1, 40), dtype=np.int64), _noisy(rng)]),
    "every sample alone": lambda rng: np.stack([rng.permutation(12) for _ in range(3)]),
    "a few noise labels": lambda rng: _with_noise(rng, 0.1),
    "mostly noise": lambda rng: _with_noise(rng, 0.9),
    "a silent member": _silent_member,
    "unknown samples": _unknown_samples,
    "one known sample": _one_known_sample,
    "nested": _nested,
    "crossed": _crossed,
    "other numbers of clusters": lambda rng: np.stack([rng.integers(k, size=30) for k in (1, 2, 5, 13, 30)]),
    "huge names": lambda rng: _noisy(rng) * 2**60,
    "many members": lambda rng: _noisy(rng, M=80, n=15),
    "more members than a code holds": lambda rng: rng.integers(30, size=(20, 60)),
    "unequal sizes": lambda rng: (rng.random((5, 60)) < 0.03).astype(np.int64),
    "half and half": lambda rng: np.stack([np.arange(20) % 2, np.arange(20) // 10] * 3),
}
"""Label tables by name."""


def _strided(labels: Labels) -> AnyArray:
    wide = np.zeros((len(labels), 2 * labels.shape[1]), dtype=labels.dtype)
    wide[:, ::2] = labels
    return wide[:, ::2]


def _read_only(labels: Labels) -> AnyArray:
    copy = labels.copy()
    copy.flags.writeable = False
    return copy


def _small(labels: Labels) -> AnyArray:
    return labels.astype(np.int8) if labels.max() < 128 else labels


def _table(labels: Labels) -> object:
    try:
        import pandas
    except ImportError:
        return labels
    return pandas.DataFrame(labels, columns=[f"row {i}" for i in range(labels.shape[1])])


CONTAINERS: Mapping[str, Callable[[Labels], object]] = {
    "int8": _small,
    "float": lambda labels: labels.astype(np.float64),
    "Fortran": np.asfortranarray,
    "strided": _strided,
    "read-only": _read_only,
    "lists": lambda labels: labels.tolist(),
    "tuple of arrays": tuple,
    "an iterator": iter,
    "arrays of different types": lambda labels: [row.astype(float) if i % 2 else row for i, row in enumerate(labels)],
    "table": _table,
}
"""Converters of labels to each type of container."""

UNFIT_ENSEMBLES: Mapping[str, Callable[[Rng], object]] = {
    "fractions": lambda rng: _noisy(rng) + 0.5,
    "nan": lambda rng: np.where(_noisy(rng) == 0, np.nan, 1.0),
    "infinite": lambda rng: np.where(_noisy(rng) == 0, np.inf, 1.0),
    "minus two": lambda rng: _noisy(rng) - 2 * (rng.random((6, 40)) < 0.2) - 2,
    "past 64 bits": lambda rng: np.full((2, 5), 2**63, dtype=np.uint64),
    "booleans": lambda rng: _noisy(rng) == 0,
    "text": lambda rng: [["a", "b", "a"], ["b", "b", "a"]],
    "None among labels": lambda rng: [[0, None, 1], [0, 1, 1]],
    "complex": lambda rng: _noisy(rng) + 0j,
    "masked": lambda rng: np.ma.masked_array(_noisy(rng), mask=rng.random((6, 40)) < 0.3),
    "members of other lengths": lambda rng: [[0, 1, 1], [0, 1]],
    "ragged": lambda rng: [[0, [1, 2]], [0, 1]],
    "no members": lambda rng: [],
    "no samples": lambda rng: np.empty((3, 0), dtype=int),
    "one vector": lambda rng: np.arange(5),
    "three axes": lambda rng: np.zeros((2, 3, 4), dtype=int),
    "all noise": lambda rng: np.full((3, 6), NOISE),
    "a number": lambda rng: 3,
    "None": lambda rng: None,
    "a word": lambda rng: "abc",
    "a dict": lambda rng: {"a": [0, 1], "b": [0, 1]},
}
"""Inputs that must be refused, by the reason."""


def check_ensemble(name: str, item: str, counts: Counter[str], seed: int) -> list[tuple[Problem, str]]:
    """Check a consensus on an ensemble of either table; the problems with the program that shows them."""
    stage: Consensus = registry.get("consensus", name)()
    stage = stage.with_parameters(**stage.trial)
    checks = _refusal if item in UNFIT_ENSEMBLES else _promises
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            problems = list(checks(stage, item, counts, seed))
        except Exception as error:
            problem = of_error(error, documented=())
            problems = [problem or Problem(SILENT, "sound labellings are refused", str(error))]
    for each in caught:
        if issubclass(each.category, RuntimeWarning | FutureWarning | DeprecationWarning):
            problems.append(Problem(SILENT, f"{each.category.__name__} in a consensus", str(each.message)))
    program = (
        "from collections import Counter\nfrom clusterkit_campaign.ensembles import check_ensemble\n"
        f"print(check_ensemble({name!r}, {item!r}, Counter(), {seed}))"
    )
    return [(problem, program) for problem in problems]


def _refusal(stage: Consensus, item: str, counts: Counter[str], seed: int) -> Iterator[Problem]:
    counts["ensembles"] += 1
    k = None if stage.finds_k else 2
    try:
        combine(UNFIT_ENSEMBLES[item](np.random.default_rng(seed)), stage, n_clusters=k)  # type: ignore[arg-type]
    except InvalidData:
        return
    except Exception as error:
        yield of_error(error) or Problem(SILENT, "unfit labellings are refused for another reason", str(error))
    else:
        yield Problem(SILENT, "unfit labellings were accepted", item)


def _promises(stage: Consensus, item: str, counts: Counter[str], seed: int) -> Iterator[Problem]:
    rng = np.random.default_rng(seed)
    members = ENSEMBLES[item](rng)
    for k in _numbers(stage, rng):
        counts["ensembles"] += 1
        before = members.copy()
        labels = combine(members, stage, n_clusters=k, random_state=seed)
        if not np.array_equal(members, before):
            yield Problem(SILENT, "the labellings were changed")
        yield from _shape(members, labels, k)
        yield from _together(members, labels)
        word = list(CONTAINERS)[int(rng.integers(len(CONTAINERS)))]
        same = combine(CONTAINERS[word](members), stage, n_clusters=k, random_state=seed)  # type: ignore[arg-type]
        if not np.array_equal(same, labels):
            yield Problem(SILENT, "another container gives other labels", word)
        renamed = np.stack([_renamed(member, rng) for member in members])
        if not np.array_equal(combine(renamed, stage, n_clusters=k, random_state=seed), labels):
            yield Problem(SILENT, "other names of clusters give other labels")
        if not stage.varies and not np.array_equal(
            combine(members, stage, n_clusters=k, random_state=seed + 1), labels
        ):
            yield Problem(SILENT, "another seed gives other labels, and the method says that none is used")


def _numbers(stage: Consensus, rng: Rng) -> list[int | None]:
    numbers: list[int | None] = [None] if stage.finds_k else []
    return [*numbers, *([1, int(rng.integers(2, 6)), 10_000] if stage.takes_k else [])]


def _shape(members: Labels, labels: Labels, k: int | None) -> Iterator[Problem]:
    if labels.shape != members.shape[1:] or labels.dtype != np.int64:
        yield Problem(SILENT, "consensus labels of the wrong shape or type", f"{labels.shape} of {labels.dtype}")
        return
    if not np.array_equal(labels == NOISE, (members == NOISE).all(axis=0)):
        yield Problem(SILENT, "noise is not where all members say noise")
    if not np.array_equal(labels, by_appearance(labels)):
        yield Problem(SILENT, "clusters are not numbered by appearance", f"{labels}")
    if k is not None and labels.max() >= k:
        yield Problem(SILENT, "more clusters than asked for", f"{labels.max() + 1} for {k}")


def _together(members: Labels, labels: Labels) -> Iterator[Problem]:
    """Samples with equal labels in all members are in one cluster."""
    clusters: dict[bytes, int] = {}
    for column, label in zip(np.ascontiguousarray(members.T), labels, strict=True):
        if clusters.setdefault(column.tobytes(), int(label)) != label:
            yield Problem(SILENT, "samples that no member tells apart are in two clusters")
            return


def _renamed(member: Labels, rng: Rng) -> Labels:
    names, inverse = np.unique(member, return_inverse=True)
    others = np.where(names == NOISE, NOISE, rng.permutation(3 * len(names))[: len(names)])
    return np.asarray(others[inverse])
