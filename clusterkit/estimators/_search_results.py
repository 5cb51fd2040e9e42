"""The grid of a search, its finished candidates in a file, and its result.

`points_of` gives the points of a grid, `varying` the parameters that vary over it, and `digest` a hash of each point
that is equal in every process. `Store` is a file of JSON lines, so that an interrupted search can be continued.
`SearchResult` has every candidate in the order of the grid, and the best one.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Floats, Labels
from clusterkit.contracts.arguments import Clusterer, Grid
from clusterkit.contracts.params import is_count
from clusterkit.criteria.confidence import distinct
from clusterkit.criteria.rules import TIED
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.files import HeldFiles, replacing

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "Candidate",
    "SearchResult",
    "Store",
    "alone_on",
    "described",
    "digest",
    "points_of",
    "require_one_objective",
    "seed_in",
    "varying",
]


SAME_OBJECTIVE = ("init", "n_init", "max_iter", "random_state")
"""Parameters that may vary where candidates are compared by objective: they change the way to the optimum, not the
optimum."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""A memory address in a repr, which differs from process to process."""


def points_of(grid: Grid) -> tuple[dict[str, Any], ...]:
    """The candidates of a grid, in the order of scikit-learn's ParameterGrid.

    Raises
    ------
    InvalidParameter
        If the grid is no dict of sequences, nor a list of these, or has no point.
    """
    from sklearn.model_selection import ParameterGrid

    try:
        points: tuple[dict[str, Any], ...] = tuple(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"search: grid must be a dict of lists of values, or a list of these: {error}") from None
    if not points:
        raise InvalidParameter("search: the grid is an empty list")
    return points


def varying(candidates: Sequence[Mapping[str, Any]], base: Mapping[str, Any] | None = None) -> list[str]:
    """Names of parameters with more than one value; a candidate without a parameter has the value of `base`."""
    names = sorted({name for params in candidates for name in params})
    base = {} if base is None else base
    return [
        name
        for name in names
        if len({digest(params.get(name, base.get(name)), strict=False) for params in candidates}) > 1
    ]


def require_one_objective(candidates: Sequence[Mapping[str, Any]], base: Mapping[str, Any]) -> None:
    """Refuse to compare the objectives of different problems."""
    wrong = [name for name in varying(candidates, base) if name.partition("__")[0] not in SAME_OBJECTIVE]
    if wrong:
        raise InvalidParameter(
            f"search: score='objective' cannot choose {', '.join(wrong)}: objectives are comparable only between fits "
            f"of the same problem, where nothing but {', '.join(SAME_OBJECTIVE)} varies. Take 'ami', 'stability', "
            "'silhouette' or 'dbcv'."
        )


def described(value: Any, *, strict: bool = True) -> Any:
    """A value as plain JSON that is equal in every process.

    Raises
    ------
    InvalidParameter
        If `strict` and the repr of the value is only its address.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return described(value.item(), strict=strict)
    if isinstance(value, np.ndarray):
        return {"array": _of_bytes([str(value.dtype), str(value.shape), np.ascontiguousarray(value)])}
    if isinstance(value, Mapping):
        return {str(key): described(inner, strict=strict) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [described(item, strict=strict) for item in value]
    if isinstance(value, type):
        return {"class": f"{value.__module__}.{value.__qualname__}"}
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if attrs.has(type(value)):
        fields = {field.name: getattr(value, field.name) for field in attrs.fields(type(value)) if field.init}
        return {"object": kind, **described(fields, strict=strict)}
    if hasattr(value, "get_params"):
        return {"object": kind, **described(value.get_params(deep=False), strict=strict)}
    text = repr(value)
    if strict and _ADDRESS.search(text):
        raise InvalidParameter(f"search: with resume= a parameter must be a value that can be written, got {text}")
    return {"object": kind, "is": text}


def digest(value: Any, *, strict: bool = True) -> str:
    """A hash of `described`."""
    text = json.dumps(described(value, strict=strict), sort_keys=True)
    return _of_bytes([text])


def data_digest(X: Any) -> str:
    """A hash of samples, dense or sparse: shape, type and every value."""
    if isinstance(X, np.ndarray):
        return _of_bytes([str(X.dtype), str(X.shape), np.ascontiguousarray(X)])
    return _of_bytes([str(X.dtype), str(X.shape), X.data, X.indices, X.indptr])


def _of_bytes(parts: Iterable[Any]) -> str:
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part.encode() if isinstance(part, str) else memoryview(part).cast("B") if part.size else b"")
    return checksum.hexdigest()[:32]


EstimatorT = TypeVar("EstimatorT", bound=Clusterer)

FACTS = ("score", "n_clusters", "n_noise", "seconds", "status", "reason")
"""Columns of the table after the parameters."""


@final
@attrs.frozen(eq=False)
class Candidate:
    """One point of the grid, with the result of its fit.

    Parameters
    ----------
    params : dict
        Parameters of the candidate in the grid; all others are those of the pipeline.
    score : float
        nan without a score.
    labels : ndarray of shape (n,) or None
        None where the fit failed or did not run.
    n_clusters, n_noise : int
        -1 without labels.
    seconds : float
        Time for the fit and the score.
    status : {"scored", "excluded", "failed", "not run"}
    reason : str
        Why the candidate was excluded or failed; otherwise the warnings of the fit.
    stability : float
        Agreement with refits to parts of the samples, for the score "auto"; nan for the others.
    """

    params: Mapping[str, object]
    score: float = math.nan
    labels: Labels | None = None
    n_clusters: int = -1
    n_noise: int = -1
    seconds: float = math.nan
    status: str = "not run"
    reason: str = ""
    stability: float = math.nan

    def key(self, name: str) -> str:
        """Text that is equal for equal values of a parameter, in every process."""
        return digest(self.params.get(name), strict=False)


@final
@attrs.frozen(eq=False)
class SearchResult(Generic[EstimatorT]):
    """All candidates of a search.

    Parameters
    ----------
    score : str
        Name of the score that compares the candidates.
    candidates : tuple of Candidate
        Candidates in the order of the grid.
    best_index : int
        Index of the best score, the first of several equal ones; `ties` are the others.
    best_estimator : estimator
        The pipeline with the best parameters, fitted; not fitted if `refit` was False, or if Ctrl-C ended a search in
        several processes or by the score "auto".
    seed : int
        Random state of all fits.
    interrupted : bool
        Whether Ctrl-C ended the search; unfinished candidates then have the status "not run".
    facts : mapping
        For the score "auto": "criterion" (whether all candidates have the same number of clusters), "compared_in" (the
        space), "margin" (over the best candidate with another structure), "confidence" (as `clusterkit.Auto` has it),
        "perhaps_one_cluster", "second_n_clusters", and "rows_compared" where these are a sample.
    """

    score: str
    candidates: tuple[Candidate, ...] = attrs.field(repr=lambda candidates: f"<{len(candidates)}, see table>")
    best_index: int
    best_estimator: EstimatorT
    seed: int
    interrupted: bool = False
    facts: Mapping[str, object] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def lower_is_better(self) -> bool:
        """Whether the best score is the lowest, which holds for the objective only."""
        return self.score == "objective"

    @property
    def scores(self) -> Floats:
        """Score of every candidate, (number of candidates,); nan where a candidate has none."""
        return np.array([candidate.score for candidate in self.candidates])

    @property
    def best_params(self) -> dict[str, object]:
        """Parameters of the best candidate in the grid."""
        return dict(self.candidates[self.best_index].params)

    @property
    def best_score(self) -> float:
        """The best score."""
        return self.candidates[self.best_index].score

    @property
    def best_labels(self) -> Labels:
        """Labels of the best candidate, shape (n,); -1 is noise."""
        return self._labels(self.best_index)

    @property
    def distinct(self) -> list[int]:
        """Indices of candidates with a score and clusters that no earlier candidate has, in the order of the grid."""
        scored = [i for i, candidate in enumerate(self.candidates) if not math.isnan(candidate.score)]
        first = distinct([self._labels(i) for i in scored])
        return [scored[j] for j in sorted(set(map(int, first)))]

    @property
    def ties(self) -> list[int]:
        """Indices of candidates with the best score and other clusters than the best one has, one for each clustering.

        Scores that differ by rounding only are equal.
        """
        score = self.best_score
        tied = [
            i
            for i, candidate in enumerate(self.candidates)
            if i == self.best_index or abs(candidate.score - score) <= TIED * max(1.0, abs(score))
        ]
        tied.remove(self.best_index)
        tied.insert(0, self.best_index)
        first = distinct([self._labels(i) for i in tied])
        return [i for place, i in enumerate(tied) if place and first[place] == place]

    def _labels(self, index: int) -> Labels:
        labels = self.candidates[index].labels
        assert labels is not None
        return labels

    @property
    def varied(self) -> list[str]:
        """Parameters that have several values in the grid, by name."""
        return varying([candidate.params for candidate in self.candidates])

    @property
    def table(self) -> list[dict[str, object]]:
        """A row for each candidate: its parameters, score, n_clusters, n_noise, seconds, status and reason."""
        names = sorted({name for candidate in self.candidates for name in candidate.params})
        return [
            {
                **{name: candidate.params.get(name) for name in names},
                **{fact: getattr(candidate, fact) for fact in FACTS},
            }
            for candidate in self.candidates
        ]

    def to_frame(self) -> DataFrame:
        """The table as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed; `table` needs nothing.
        """
        import pandas

        return pandas.DataFrame(self.table)


FORMAT = "clusterkit search 3"
"""Entry "format" of the first line; the number is raised when older files can no longer be read."""

DIFFERENCES = {
    "data": "other data",
    "pipeline": "another pipeline",
    "seed": "another random_state",
    "judge": "another score or other options",
}
"""Words for a file of another search, by the entry of the first line that differs."""


@attrs.define
class Store:
    """Finished candidates by digest, read from a file and appended to it, one line each.

    Parameters
    ----------
    path : Path
    finished : dict
        Digest of a candidate to the facts about it.
    """

    path: Path
    finished: dict[str, dict[str, Any]]

    @classmethod
    def open(cls, path: Path, header: Mapping[str, Any], n: int) -> Store:
        """Read a file of the same search, or create one.

        Parameters
        ----------
        path : Path
        header : mapping
            Facts that identify a search.
        n : int
            Number of samples.

        Raises
        ------
        InvalidData, InvalidParameter
            If the file belongs to another search, is no file of a search, or is damaged.
        """
        lines = _lines(path)
        if not lines:
            try:
                with replacing(path) as part:
                    part.write_text(json.dumps({"format": FORMAT, **header}) + "\n", encoding="utf-8")
            except OSError as error:
                raise InvalidParameter(f"search: resume={str(path)!r} {error.strerror}") from None
            return cls(path, {})
        for key, what in DIFFERENCES.items():
            if lines[0].get(key) != header[key]:
                kind = InvalidData if key == "data" else InvalidParameter
                raise kind(
                    f"search: resume={str(path)!r} is of {what}; give the same as then, or the name of a new file"
                )
        finished = {}
        for number, line in enumerate(lines[1:], 2):
            try:
                if line.pop("check") != _check(line):
                    raise ValueError("its check sum is that of another line")
                finished[str(line["candidate"])] = _facts(line, n)
            except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
                raise InvalidParameter(
                    f"search: resume={str(path)!r}: line {number} is damaged ({type(error).__name__}: {error}); remove "
                    "the line to fit its candidate again, or give the name of a new file"
                ) from None
        return cls(path, finished)

    def get(self, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """The facts about a finished candidate; None if it is not in the file."""
        return self.finished.get(digest(params))

    def add(self, params: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        """Append a finished candidate to the file as a complete line, or not at all.

        Raises
        ------
        InvalidParameter
            If the file cannot be written, for example because the disk is full.
        """
        line = {"candidate": digest(params), **facts, "labels": _packed(facts["labels"])}
        line["check"] = _check(line)
        try:
            with self.path.open("ab", buffering=0) as file:
                end = file.tell()
                content = (json.dumps(line) + "\n").encode()
                try:
                    if file.write(content) != len(content):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except BaseException:  # Ctrl-C too
                    file.truncate(end)
                    raise
        except OSError as error:
            raise InvalidParameter(
                f"search: resume={str(self.path)!r} cannot be written: {error.strerror}; what was finished is in it"
            ) from error


@contextmanager
def alone_on(path: Path | None) -> Iterator[None]:
    """Lock the file of a search, so that no other search fits the same candidates meanwhile.

    Raises
    ------
    InvalidData
        If another search works on it, of this process or of another.
    """
    held = HeldFiles()
    try:
        if path is not None:
            with suppress(OSError):  # a folder that cannot be written to; what is finished can be read all the same
                held.take(f"{path}.lock", f"search: resume={str(path)!r}")
        yield
    finally:
        held.release()


def seed_in(path: Path) -> int | None:
    """The seed of the search that a file belongs to; None if there is no file."""
    lines = _lines(path)
    seed = lines[0].get("seed") if lines else None
    return int(seed) if is_count(seed, at_least=0) else None


def _lines(path: Path) -> list[dict[str, Any]]:
    """All lines of the file; an incomplete last line, left by a killed process, is removed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        text = "unreadable"
    whole, _, rest = text.rpartition("\n")
    try:
        first, *others = whole.split("\n")
        header = json.loads(first)
        if header["format"] == FORMAT:
            if rest:
                os.truncate(path, len((whole + "\n").encode()))
            return [header, *map(_parsed, others)]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        pass
    if text:
        raise InvalidParameter(f"search: resume={str(path)!r} is not a file of a search; give the name of a new one")
    return []


def _parsed(line: str) -> Any:
    """The value of a JSON line; the line itself if it is no JSON, which is refused with its number later."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _facts(line: Mapping[str, Any], n: int) -> dict[str, Any]:
    """The facts of a line, checked, with the labels unpacked."""
    facts = {key: value for key, value in line.items() if key != "candidate"}
    known = {field.name for field in attrs.fields(Candidate)} - {"params"}
    if facts.keys() != known:
        raise ValueError(f"entries {', '.join(sorted(known ^ facts.keys()))}")
    for name in ("score", "stability", "seconds"):
        if not isinstance(facts[name], int | float) and (name == "seconds" or facts[name] is not None):
            raise TypeError(f"{name} {facts[name]!r}")
    for name in ("n_clusters", "n_noise"):
        if not is_count(facts[name], at_least=0):
            raise TypeError(f"{name} {facts[name]!r}")
    if facts["status"] not in ("scored", "excluded") or not isinstance(facts["reason"], str):
        raise ValueError(f"status {facts['status']!r}, reason {facts['reason']!r}")
    return {**facts, "labels": _unpacked(facts["labels"], n)}


def _check(line: Mapping[str, Any]) -> int:
    """Check sum of the entries of a line, to detect changed digits."""
    return zlib.crc32(json.dumps(line, sort_keys=True).encode())


def _packed(labels: Labels) -> str:
    return base64.b64encode(zlib.compress(labels.astype("<i4").tobytes())).decode()


def _unpacked(text: str, n: int) -> Labels:
    """The n labels in a text; no more than n labels are unpacked, whatever the text contains."""
    content = zlib.decompressobj().decompress(base64.b64decode(text), 4 * n + 1)
    if len(content) != 4 * n:
        raise ValueError(f"labels of another number of samples than {n}")
    return np.frombuffer(content, dtype="<i4").astype(np.int64)
