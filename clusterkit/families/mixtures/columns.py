"""Columns as numbers and levels side by side, decided column by column from the values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Rng
from clusterkit.contracts import FeatureMap, Task, params
from clusterkit.errors import InvalidData
from clusterkit.samples import FeatureSpace, Space
from clusterkit.samples.mixed_space import LevelPart, MixedColumns, MixedSpace, NumberPart

KINDS = ("auto", "number", "category", "ordered")
"""What a column may be said to be."""

FEW = 12
"""Largest number of values of a number that may be levels."""

ROWS_OF_VALUE = 5
"""Rows for each of them, on average."""

SCALE_VALUES, SCALE_GAIN = 5, 0.1
"""Values from which numbers may be answers on a scale, and the evidence a row that levels must then gain: a Gaussian
that is cut off at the ends of a scale loses about .05 a row, and codes of classes lose .3 and more."""

ATOM = 0.2
"""Share of the rows with one value from which this value is a level of its own, beside a number for the other rows."""

FEWEST_BESIDE = (20, 0.05, 5)
"""Rows, share of the rows, and distinct values that must be left for that number."""

GAIN = 0.05
"""Log-likelihood a row that a logarithm or an inverse hyperbolic sine must gain."""

MOST_COUNT = 50
"""Largest count that may be a Poisson number: above, one Gaussian of the root or the logarithm is as good."""

COMPONENTS, ITERATIONS = 4, 60
"""Largest number of components, and iterations of EM, of the mixtures by which a column is found to be of counts."""

STRONG = 3.0
"""Logarithm of the Bayes factor by which these must be Poisson rather than Gaussian or free levels."""

MOST_LEVELS = (50, 4)
"""Largest number of levels of a category; and rows for each level, where there are more."""

SAME, ROWS_OF_COPIES = 1.0 - 1e-9, 1000
"""Correlation, without its sign, from which two columns are the same number in two units; and about how many rows it is
that of."""

Parts: TypeAlias = tuple[NumberPart | None, LevelPart | None]
"""What a column becomes."""

MAD = 1.4826
"""Standard deviation of a Gaussian in median absolute deviations."""


def _kinds(value: object) -> str | None:
    fine = isinstance(value, tuple) and all(kind in KINDS for kind in value)
    return None if fine else f"a tuple with one of {', '.join(KINDS)} for each column"


def _words(value: object) -> str | None:
    return None if isinstance(value, tuple) and all(isinstance(name, str) for name in value) else "a tuple of names"


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@final
@attrs.frozen
class Columns(FeatureMap):
    """Numbers and levels side by side, for solvers of mixed columns.

    What a column is follows from its values:

    - Two values are levels. Of up to 12 distinct numbers, with five rows each on average, probabilities of levels are
      compared with a Gaussian that is rounded to their steps, by the evidence of all rows in one cluster; of five
      values and more, which may be a scale, they must gain .1 a row.
    - Whole numbers from 0 to at most 50 are counts if a mixture of up to four Poisson distributions has strong
      evidence (three units of its logarithm) against one of as many Gaussians, and against free levels.
    - One value on at least 20 % of the rows is a flag of its own, and the rest a number with gaps there.
    - Numbers are taken as logarithm, or as inverse hyperbolic sine around the median, where that raises the likelihood
      of a Gaussian by .05 a row. They are standardised, and cut off at five standard deviations.
    - Of two columns that are the same number in units with two zeros neither is a logarithm or a count, so that they
      stay linear functions of each other.
    - Constant columns, and categories of more than 50 levels with fewer than four rows each, are left out.

    O(n d log n).

    Parameters
    ----------
    kinds : tuple of {"auto", "number", "category", "ordered"}, default ()
        What each column is said to be; (): all "auto". Frames and tables fill it from the types of their columns.
        "ordered" are levels in the ascending order of the values.
    names : tuple of str, default ()
        Names of the columns for reports; (): x1, x2, ...
    """

    name: ClassVar[str] = "columns"
    synonyms: ClassVar[tuple[str, ...]] = ("mixed", "mixed_columns")
    gives: ClassVar[type[Space]] = MixedSpace
    takes_tables: ClassVar[bool] = True

    kinds: tuple[str, ...] = params.free((), _kinds, invalid=(3, ("colour",)), converter=_as_tuple)
    names: tuple[str, ...] = params.free((), _words, invalid=(3, (1,)), converter=_as_tuple)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> MixedSpace:
        """The space of the columns; gaps are NaN."""
        X = samples.points
        for what, entries in (("kinds", self.kinds), ("names", self.names)):
            if entries and len(entries) != X.shape[1]:
                raise InvalidData(f"featuremap 'columns': {what} has {len(entries)} entries for {X.shape[1]} columns")
        columns = mixed_columns(X, self.kinds, self.names)
        return MixedSpace(columns(X), columns=columns, before=(columns,))


def mixed_columns(X: Array, kinds: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> MixedColumns:
    """The map of columns (n, d), NaN in gaps, to numbers and levels."""
    kinds = kinds or ("auto",) * X.shape[1]
    parts = [_parts(X[:, j].astype(np.float64), j, kind) for j, kind in enumerate(kinds)]
    for j in _in_other_units(X, kinds, parts):
        parts[j] = _parts(X[:, j].astype(np.float64), j, kinds[j], has_zero=False)
    numbers = tuple(number for number, _ in parts if number is not None)
    levels = tuple(level for _, level in parts if level is not None)
    return MixedColumns(X.shape[1], numbers, levels, tuple(names))


def _in_other_units(X: Array, kinds: tuple[str, ...], parts: list[Parts]) -> Indices:
    """Logarithms and counts of columns that another column repeats with another zero, so that it takes another form.

    The two would not be seen as the same number, because no logarithm is a linear function of another one's argument.
    """
    forms = [level.form if level is not None else number.form if number is not None else "" for number, level in parts]
    forms = [form if kind in {"auto", "number"} else "" for form, kind in zip(forms, kinds, strict=True)]
    if not {"log", "count"}.intersection(forms):
        return np.empty(0, dtype=np.intp)
    Z = X[:: max(1, len(X) // ROWS_OF_COPIES)].astype(np.float64)
    gaps, rows = ~np.isfinite(Z), np.isfinite(Z).sum(axis=0)
    Z[gaps] = 0.0
    means = Z.sum(axis=0) / np.maximum(rows, 1)
    Z = np.where(gaps, 0.0, Z - means)
    lengths = np.sqrt(np.square(Z).sum(axis=0))
    lengths[lengths == 0.0] = 1.0
    Z /= lengths
    changed = list[int]()
    for j in np.flatnonzero([form in {"log", "count"} for form in forms]):
        for i in np.flatnonzero(np.abs(Z[:, j] @ Z) >= SAME):
            is_other = forms[i] != forms[j] or (forms[j] == "log" and not np.isclose(*(means / lengths)[[i, j]]))
            if forms[i] and is_other:
                changed.append(int(j))
                break
    return np.array(changed, dtype=np.intp)


def _parts(x: Array, j: int, kind: str, *, has_zero: bool = True) -> Parts:
    """What a column becomes: a number, levels, both, or nothing; without `has_zero` no logarithm and no counts."""
    n = len(x)
    x = x[np.isfinite(x)]
    values, counts = np.unique(x, return_counts=True)
    if len(values) < 2:
        return None, None
    if kind in ("category", "ordered"):
        too_many = len(values) > max(MOST_LEVELS[0], n / MOST_LEVELS[1])
        form = "ordered" if kind == "ordered" else "free"
        return None, None if too_many else LevelPart(j, tuple(values.tolist()), form=form)
    if kind == "auto" and has_zero and _are_counts(x, values):
        return None, LevelPart(j, tuple(float(i) for i in range(int(values[-1]) + 1)), form="count")
    if kind == "auto" and (len(values) == 2 or _are_levels(x, values, counts)):
        return None, LevelPart(j, tuple(values.tolist()))
    level = None
    atom: float | None = None
    if kind == "auto" and len(values) > FEW and counts.max() >= ATOM * len(x):
        atom = float(values[counts.argmax()])
        level = LevelPart(j, (atom,), is_atom=True)
        x = x[x != atom]
        values = values[values != atom]
        if len(x) < max(FEWEST_BESIDE[0], FEWEST_BESIDE[1] * n) or len(values) < FEWEST_BESIDE[2]:
            return None, level
    return _number(x, values, j, atom, has_zero), level


def _are_levels(x: Array, values: Array, counts: Counts) -> bool:
    """Whether few numbers have more evidence as levels than as a Gaussian rounded to their steps."""
    from clusterkit.families.mixtures.evidence import normal_evidence
    from clusterkit.families.mixtures.levels import multinomial_evidence

    if len(values) > min(FEW, len(x) / ROWS_OF_VALUE):
        return False
    m, span = float(len(x)), values[-1] - values[0]  # as parts of the range, whose squares are no denormal numbers
    step = float(np.diff(values).min() / span)
    variance = float(((x - values[0]) / span).var()) + step * step / 12.0
    as_number = float(normal_evidence(np.array(m), np.array(0.0), np.array(m), 1.0))
    as_number += m * (math.log(step) - 0.5 * math.log(variance))
    least = SCALE_GAIN * m if len(values) >= SCALE_VALUES else 0.0
    return float(multinomial_evidence(counts.astype(np.float64))) > as_number + least


def _are_counts(x: Array, values: Array) -> bool:
    """Whether whole numbers are a mixture of Poisson distributions rather than of Gaussians, or free levels."""
    from clusterkit.families.mixtures.levels import multinomial_evidence

    if len(values) < 3 or values[0] < 0.0 or values[-1] > MOST_COUNT or (values != np.round(values)).any():
        return False
    counts = np.bincount(x.astype(np.intp))
    rates = max(_poisson_criterion(counts, k) for k in range(1, COMPONENTS + 1))
    levels = counts[counts > 0].astype(np.float64)
    if rates <= float(multinomial_evidence(levels)) + STRONG:
        return False
    borders = np.arange(len(counts) + 1) - 0.5
    forms = [borders, np.sqrt(np.maximum(borders, 0.0)), np.arcsinh(borders)]
    if values[0] > 0.0:
        forms.append(np.log(np.maximum(borders, 0.5)))
    return all(
        rates > _gaussian_criterion(counts, form, k) + STRONG for form in forms for k in range(1, COMPONENTS + 1)
    )


def _poisson_criterion(counts: Counts, k: int) -> float:
    """Log-likelihood of rows of each whole number (L,) in a mixture of k Poisson distributions, with BIC's penalty."""
    from scipy.special import gammaln

    x, n = np.arange(len(counts), dtype=np.float64), float(counts.sum())

    def densities(P: Array) -> Array:
        rates = (x @ P + 1e-3) / (P.sum(axis=0) + 1e-3)
        return np.asarray(x[:, None] * np.log(rates) - rates - gammaln(x + 1.0)[:, None])

    logs = _mixture_of(counts, k, densities)
    return float(counts @ logs) - 0.5 * (2 * k - 1) * math.log(n)


def _gaussian_criterion(counts: Counts, borders: Array, k: int) -> float:
    """The same of Gaussians, whose probabilities of a whole number are those between its two borders (L + 1,)."""
    from scipy.special import ndtr

    n, width = float(counts.sum()), np.maximum(np.diff(borders), 1e-3)
    x = 0.5 * (borders[1:] + borders[:-1])

    def densities(P: Array) -> Array:
        rows = P.sum(axis=0) + 1e-9
        means = x @ P / rows
        variances = np.square(x[:, None] - means)
        deviations = np.sqrt((variances * P).sum(axis=0) / rows + width.min() ** 2 / 12.0)
        below = ndtr((borders[:, None] - means) / deviations)
        return np.asarray(np.log(np.maximum(np.diff(below, axis=0), 1e-300)))

    logs = _mixture_of(counts, k, densities)
    return float(counts @ logs) - 0.5 * (3 * k - 1) * math.log(n)


def _mixture_of(counts: Counts, k: int, densities: Callable[[Array], Array]) -> Array:
    """Log-densities (L,) of a mixture of k components after EM from equal parts of the rows.

    `densities` has the weighted rows (L, k) and gives the log-densities of components at each number, (L, k).
    """
    middles = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    P = np.eye(k)[np.minimum((middles * k).astype(np.intp), k - 1)] * 0.9 + 0.1 / k
    logs = np.zeros(len(counts))
    before = -math.inf
    for _ in range(ITERATIONS):
        P = P * counts[:, None]
        shares = P.sum(axis=0) / counts.sum()
        of_components = densities(P) + np.log(np.maximum(shares, 1e-300))
        most = of_components.max(axis=1)
        logs = most + np.log(np.exp(of_components - most[:, None]).sum(axis=1))
        P = np.exp(of_components - logs[:, None])
        likelihood = float(counts @ logs)
        if k == 1 or likelihood - before < 1e-4:
            break
        before = likelihood
    return logs


def _number(x: Array, values: Array, j: int, atom: float | None, has_zero: bool) -> NumberPart | None:
    """A number, in the form in which it is the most likely under one Gaussian."""
    m, deviation = len(x), float(x.std())
    if not deviation > 0.0 or not math.isfinite(deviation):
        return None
    step = float(np.quantile(np.diff(values), 0.1)) if len(values) < 0.5 * m else 0.0
    centre = float(np.median(x))
    scale = float(np.median(np.abs(x - centre))) * MAD or deviation
    best, form = -m * math.log(deviation), "identity"
    if has_zero and x.min() > 0.0:
        logs = np.log(x)
        if logs.std() > 0.0:
            likelihood = -m * math.log(float(logs.std())) - float(logs.sum())
            if likelihood > best + GAIN * m:
                best, form = likelihood, "log"
    z = (x - centre) / scale
    y = np.arcsinh(z)
    if y.std() > 0.0:
        likelihood = -m * math.log(float(y.std())) - 0.5 * float(np.log1p(z * z).sum()) - m * math.log(scale)
        if likelihood > best + GAIN * m:
            form = "asinh"
    part = NumberPart(j, form, centre, scale, atom=atom)
    # the step at the middle of the column
    step /= {"log": abs(centre) or 1.0, "asinh": scale}.get(form, 1.0)
    return _standardised(part, part.transformed(x), step)


def _standardised(part: NumberPart, y: Array, step: float) -> NumberPart | None:
    deviation = float(y.std())
    if not deviation > 1e-12 * max(1.0, float(np.abs(y).max())):
        return None
    grid = min(step / deviation, 1.0) ** 2 / 12.0
    return attrs.evolve(part, mean=float(y.mean()), deviation=deviation, grid=grid)
