"""Tables that do not fit into memory: `Auto` by a sample, the mixture by a search on one and EM over all rows.

The table is read twice: for its preparation, which is a sum over its blocks, and to write its columns as numbers and
codes, 8 bytes a cell, into a temporary file. Starts, roles, the form of the covariances and the number of clusters come
from a random sample of the rows. Each further iteration is a pass of an engine over these rows (`ModelSums` in
families/mixtures/expectation.py), so that Dask gives the bits of this machine. Memory is that of the sample, of a few
blocks and of the labels. A collection of another engine, such as a dask frame, is prepared and read where it lies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.contracts import Decoder
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.outcomes import Ending
from clusterkit.contracts.seeds import Seeds
from clusterkit.drivers.single import SingleDriver
from clusterkit.errors import InvalidData, counted
from clusterkit.estimators import same_place
from clusterkit.estimators.preparing import (
    attach,
    not_of_repeated_columns,
    of_columns,
    set_fit_of_columns,
    stages_of_tables,
)
from clusterkit.families.mixtures.expectation import ModelSums
from clusterkit.families.mixtures.mixed_mixture import MixedPosteriors
from clusterkit.fitting.numbering import numbering, renumbered, sizes_of
from clusterkit.fitting.samples import ArraySamples, Predicted, on_device
from clusterkit.numerics.selection import sample_rows
from clusterkit.numerics.threads import limited_threads
from clusterkit.samples.array_libraries import BlockFunction
from clusterkit.samples.engines import Engine, LocalEngine
from clusterkit.samples.limits import Report, notify
from clusterkit.samples.rows import Rows, RowsFile, SlicedRows
from clusterkit.tables import FittedPreparation, Preparation

if TYPE_CHECKING:
    from clusterkit.estimators.base import FittedAttributes

SAMPLE = 50_000
"""Rows of the sample: a search on them takes seconds, and a role that they do not show matters to few rows."""

MOST_PASSES, TOL = 40, 1e-5
"""Iterations on all rows at most, and the share of the log-likelihood that the last one gained."""


def fit_blocks(
    model: FittedAttributes, blocks: Callable[[], Iterable[object]], preparation: Preparation | None = None
) -> FittedPreparation:
    """Fit a model that takes the columns of tables to one that comes in blocks.

    The labels are of all rows, in their order; the space and the scores are those of the sample.

    Parameters
    ----------
    model : FittedAttributes
        `Auto`, or a `Pipeline` whose stages take tables, such as the recipe "mixture".
    blocks : callable
        Gives the blocks of rows, tables or data frames, anew at each call.
    preparation : Preparation, optional

    Raises
    ------
    InvalidData
        If the model takes features only.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterkit import recipe
    >>> def blocks():
    ...     for start in (0.0, 9.0):
    ...         rng = np.random.default_rng(0)
    ...         yield {"x": start + rng.normal(size=50), "y": start + rng.normal(size=50)}
    >>> model = recipe("mixture", n_clusters=2, random_state=0)
    >>> fitted = fit_blocks(model, blocks)
    >>> np.bincount(model.labels_), model.resolved_["solver"]["rows_of_sample"]
    (array([50, 50]), 100)
    """
    stages = stages_of_tables(model)
    if stages is None and not hasattr(model, "_fit_sample"):
        raise InvalidData(
            "fit_blocks: this model takes features only; blocks of tables are for Auto and the recipe 'mixture'"
        )
    with not_of_repeated_columns() if stages is not None else nullcontext():
        fitted = (preparation or Preparation()).fit_blocks(blocks())
    prepared = _Prepared.of(fitted, features=stages is None, codes=True)
    rows = RowsFile(fitted.rows, prepared.width, np.dtype(np.float64), "numbers and codes of a table")
    start = 0
    for block in blocks():
        values = prepared.values(block)
        if start + len(values) <= fitted.rows:
            rows.write(slice(start, start + len(values)), values)
        start += len(values)
    if start != fitted.rows:
        raise InvalidData(f"fit_blocks: the blocks had {fitted.rows:,} rows, and {start:,} when they were read again")
    return _fit(model, stages, fitted, SlicedRows(rows), on_device(LocalEngine()))


def fit_collection(
    model: FittedAttributes, stages: Composition | None, X: object, engine: Engine,
    preparation: Preparation | None = None,
) -> FittedPreparation:  # fmt: skip
    """Fit the stages of `stages_of_tables`, or `Auto`, to a table that an engine has, such as a dask frame.

    The labels are those of `fit_blocks` with the same blocks, and up to 50,000 rows those of the same table in memory.
    """
    preparation = preparation or Preparation()
    sums = engine.of_tables(preparation.sums_of, X)
    with not_of_repeated_columns() if stages is not None else nullcontext():
        fitted = preparation.fit_sums(sums)
    prepared = _Prepared.of(fitted, features=stages is None, codes=True)
    rows = engine.rows_of_tables(prepared, X, prepared.width, [of_part.rows for of_part in sums])
    return _fit(model, stages, fitted, rows, engine)


def _fit(
    model: FittedAttributes, stages: Composition | None, fitted: FittedPreparation, rows: Rows, engine: Engine
) -> FittedPreparation:
    """Fit the stages to rows of numbers and codes, or `Auto` to these beside the features; returns the preparation."""
    if stages is None:
        any_model: Any = model
        fitted = any_model._fit_sample(rows, engine, fitted)
        attach(model, fitted)
    else:
        fitted = attrs.evolve(fitted, coded=True)
        _fit_rows(model, stages, fitted, rows, engine)
    return fitted


@final
@attrs.frozen
class _Prepared:
    """The prepared rows of a part of a table, which may be empty: features, and beside them numbers and codes."""

    parts: tuple[FittedPreparation, ...]
    width: int

    @classmethod
    def of(cls, fitted: FittedPreparation, *, features: bool, codes: bool) -> Self:
        """The prepared rows: features, numbers and codes, or both."""
        forms = [coded for coded, wanted in ((False, features), (True, codes)) if wanted]
        width = sum(len(fitted.names_of_codes if coded else fitted.features) for coded in forms)
        return cls(tuple(attrs.evolve(fitted, coded=coded) for coded in forms), width)

    def values(self, table: Any) -> Array:
        """The rows of a table, (n, width)."""
        return np.hstack([part.transform(table, quiet=True) for part in self.parts]).astype(np.float64, copy=False)

    def __call__(self, table: Any) -> Array:
        return np.ascontiguousarray(self.values(table)) if len(table) else np.empty((0, self.width))


def labels_of_tables(model: FittedAttributes, X: object, engine: Engine) -> Labels:
    """Labels of new rows of a table that an engine has, by a model that prepared a table."""
    fitted, predictor = vars(model)["preparation_"], model.predictor_
    prepared = _Prepared.of(fitted, features=not fitted.coded, codes=fitted.coded)
    rows = engine.rows_of_tables(prepared, X, prepared.width)
    assert predictor is not None
    return engine.labels(Predicted(predictor), rows, prepared.width)


def _fit_rows(
    model: FittedAttributes, stages: Composition, fitted: FittedPreparation, rows: Rows, engine: Engine
) -> None:
    """Fit the stages to rows of numbers and codes, and set the fitted attributes."""
    any_model: Any = model
    seeds = Seeds.of(any_model.random_state)
    composition = of_columns(stages, fitted)
    with same_place.shown(any_model.verbose), same_place.hooks():
        chosen = np.sort(sample_rows(rows.n, SAMPLE, seeds.stream("rows of a table")))
        sample = rows.gather(chosen)
        with limited_threads(same_place.elements(len(sample), composition.featuremap)):
            fit = SingleDriver().run([composition], ArraySamples(sample), seeds).fit
        if len(sample) < rows.n:
            fit = _of_all_rows(fit, rows, engine)
        else:
            fit = attrs.evolve(fit, labels=engine.placed(fit.labels, rows))
    resolved = {**fit.resolved, "solver": {**fit.resolved["solver"], "rows_of_sample": len(sample)}}
    set_fit_of_columns(model, attrs.evolve(fit, resolved=resolved), fitted, stages)
    attach(model, fitted)


@final
@attrs.frozen(eq=False)
class _PartOfMixture(BlockFunction):
    """The sums of a block of numbers and codes for an iteration."""

    extend: MixedPosteriors

    def __call__(self, rows: slice, X: Array) -> ModelSums:
        return self.extend.sums(X)


def _of_all_rows(fit: FitResult, rows: Rows, engine: Engine) -> FitResult:
    """The fit after EM over all rows, and their labels.

    With gaps in numbers and covariances the mixture of the sample stays, since products of numbers with gaps are no
    sums over the rows.
    """
    predictor = cast("Decoder", fit.predict)
    extend = cast("MixedPosteriors", predictor.extend)
    history, ending = list[float](), Ending.SETTLED
    reason = "the mixture of the sample: with gaps and covariances there is no iteration over all rows"
    try:
        for step in range(MOST_PASSES):
            total = engine.reduce(_PartOfMixture(extend), rows, rows.d)
            has_gaps = bool((total.observed < total.sizes[:, None] - 1e-6 * rows.n).any())
            if has_gaps and extend.model.spreads.ndim == 3:
                break
            gained = -total.likelihood - history[-1] if history else -math.inf
            history.append(-total.likelihood)
            notify(Report("mixed_mixture", step + 1, MOST_PASSES, history[-1]))
            reason = f"the log-likelihood of all rows rose by less than {TOL:g} of itself in the last pass"
            if -gained < TOL * abs(total.likelihood):
                break
            extend = attrs.evolve(extend, model=total.maximised(extend.model))
        else:
            reason = f"{MOST_PASSES} passes over all rows, the most"
    except KeyboardInterrupt:
        ending = Ending.INTERRUPTED
        reason = (
            f"interrupted after {counted(len(history), 'pass', 'passes')} over all rows: the mixture so far is kept"
        )
    predictor = attrs.evolve(predictor, extend=extend)
    outcome = None if fit.outcome is None else attrs.evolve(cast("Any", fit.outcome), extend=extend)
    fit = attrs.evolve(
        fit, n_iter=max(1, len(history)), ending=ending, reason=reason, outcome=outcome, predict=predictor,
        memberships=None, history=tuple(history) or fit.history, objective=history[-1] if history else fit.objective,
    )  # fmt: skip
    label = Predicted(predictor)
    labels = engine.labels(label, rows, rows.d)
    # a component with rows in the sample may have none among all rows
    numbers = numbering(sizes_of(labels, label, predictor.k, engine, rows, rows.d))
    if numbers is not None:
        fit = renumbered(fit, numbers, columns=True)
        labels = engine.labels(Predicted(cast("Decoder", fit.predict)), rows, rows.d)
    return attrs.evolve(fit, labels=labels)
