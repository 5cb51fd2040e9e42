"""EMMC, tables 3 and 4: the effect of C and of the starting labels, on pairs of handwritten digits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from clusterkit.contracts import Task
from clusterkit.samples import identity_space
from clusterkit_papers.emmc.baselines import WIDTHS
from clusterkit_papers.emmc.complexity import CHOSEN_ON, accuracies, best_complexity, by_labels, first_runs
from clusterkit_papers.emmc.data_sets import PRINTED_C
from clusterkit_papers.emmc.readings import READINGS, RECIPE, Reading, readings_of
from clusterkit_papers.fits import DEGREES, averaged, best_by_labels, judge, judged_fit, timed_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values

__all__ = ["PAIRS", "QUICK_PAIRS", "margin_of_pair", "table3", "table4"]

SLACK = 0.03
"""l / n of the paper for the digits."""

GREY = 16.0
"""Grey levels are divided by their largest value; the paper does not say how it scales."""

METHODS = {"itersvm": "IterSVM", "itersvr": "IterSVR", "emmc": "EMMC"}
"""Recipes of table 3 and the rows of the printed table that they stand beside."""

SQUARED: Mapping[str, object] = {"solver__loss": "square", "labeler__loss": "square"}
"""Changes of the recipe itersvr: the squared loss, which the paper has in table 3, in place of the Laplacian one."""

VARIANTS: Sequence[tuple[str, str, Mapping[str, object]]] = (
    ("itersvm", "itersvm", {}),
    ("itersvr, squared loss", "itersvr", SQUARED),
    ("itersvr, Laplacian loss", "itersvr", {}),
    ("emmc", "emmc", {}),
)
"""Rows of table 3: name, recipe and its changes."""

RUNS = 20
"""Number of runs of table 3, as the paper has it."""

REPEATS = 5
"""Number of runs of table 4, as the paper has it."""

CS = ("0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "100")
"""The values of C, written as the printed table writes them."""

PAIRS = tuple(itertools.combinations(range(10), 2))
"""The 45 pairs of digits of table 4."""

QUICK_PAIRS = PAIRS[1::9]
"""The pairs of a quick run."""

STARTS = {"Random": "random", "k-means": "kmeans", "k-means in ELM space": "kmeans_mapped"}
"""The printed starts of table 4 and their partitioners."""

Fit = Callable[[np.ndarray, np.ndarray, int], Values]
"""A run of a method: samples, classes and seed to what it measured."""


def table3(plan: Plan) -> list[Job]:
    """Error on digits 3 and 9 for each C; L = n."""
    seeds = plan.seeds(RUNS)
    jobs = []
    for what, method, loss in VARIANTS:
        printed, note = METHODS[method], "" if method == "emmc" else "width 0.3 of the largest distance"
        for C in CS:
            changes = {"solver__C": float(C), **loss}
            jobs.append(_against_C(seeds, printed, f"{what}, C given", f"C = {C}", method, changes, note))
        if plan.quick:
            continue
        if method != "emmc":
            jobs += [_widths_by_labels(seeds, what, method, loss, C) for C in CS]
        once = "; ".join(text for text in ("one k-means start instead of the best of ten", note) if text)
        for C in CS:
            changes = {"solver__C": float(C), **loss, "init": {"name": "kmeans", "n_init": 1}}
            jobs.append(_against_C(seeds, printed, f"{what}, C given, one start", f"C = {C}", method, changes, once))
    for reading in readings_of(2):
        for C in CS:
            # k-means in the feature space is chosen after this table, by table 4
            what, changes = f"{reading.words}, init kmeans, C given", {"solver__C": float(C), **reading.changes}
            job = _against_C(seeds, "EMMC", what, f"C = {C}", RECIPE, {**changes, "init": "kmeans"})
            jobs.append(attrs.evolve(job, as_described=reading == READINGS[0]))
    return [*jobs, _against_C(seeds, "EMMC", "emmc", "no C given", "emmc", {}, "the recipe as it stands")]


def _against_C(
    seeds: range, of: str, what: str, column: str, method: str, changes: dict[str, Any], note: str = ""
) -> Job:
    """A method on digits 3 and 9 at one value of C, beside the printed row `of`."""

    def run(step: Step) -> Measurements:
        X, y = _pair(3, 9)
        runs = []
        for seed in seeds:
            runs.append(judged_fit(X, y, method, seed, **_sizes(X, method), **changes))
            step(f"{what}, {column}, seed {seed}")
        return Measurements(runs)

    return Job(of, f"{of}: {what}", (Cell(column, "error"),), run, len(seeds), note=note)


def _widths_by_labels(seeds: range, of_method: str, method: str, loss: Mapping[str, Any], C: str) -> Job:
    """A kernel method on digits 3 and 9 at one value of C, with the width that known classes choose."""
    what, of = f"{of_method}, C given, width by labels", METHODS[method]
    chosen_on = seeds[:CHOSEN_ON]

    def run(step: Step) -> Measurements:
        X, y = _pair(3, 9)

        def at(width: float, seeds: Sequence[int] = chosen_on) -> list[Values]:
            runs = []
            for seed in seeds:
                changes: dict[str, Any] = {"solver__C": float(C), "featuremap__sigma_fraction": width, **loss}
                runs.append(judged_fit(X, y, method, seed, **_sizes(X, method), **changes))
                step(f"{what}, C = {C}, width {width:g}, seed {seed}")
            return runs

        width, runs = best_by_labels(WIDTHS, at)
        return Measurements([*runs, *at(width, seeds[CHOSEN_ON:])])

    among = ", ".join(f"{width:g}" for width in WIDTHS)
    note = f"width of each C by labels of {among}, on {first_runs(len(seeds))}"
    units, ours = len(chosen_on) * len(WIDTHS) + len(seeds[CHOSEN_ON:]), of_method != "itersvr, Laplacian loss"
    return Job(
        of, f"{of}: {what}", (Cell(f"C = {C}", "error"),), run, units, uses_labels=True, note=note, as_described=ours
    )


def _sizes(X: np.ndarray, method: str) -> dict[str, Any]:
    """Parameters that all methods share: the slack, and the number of nodes for EMMC."""
    return margin_of_pair(X) if method in ("emmc", RECIPE) else {"balancer__slack": SLACK}


def table4(plan: Plan) -> list[Job]:
    """Error and time of starting labels alone and with EMMC after them, mean of the pairs; L = n."""
    mapped, random = "k-means in ELM space", {"init": "random"}

    def job(of: str, what: str, fit: Fit, note: str = "", more: tuple[Cell, ...] = ()) -> Job:
        return _over_pairs(plan, of, what, fit, note, more)

    def chosen(of: str, what: str, **changes: Any) -> Job:
        return _chosen_by_labels(plan, of, what, changes)

    readings = [(reading, start, init) for reading in readings_of(2) for start, init in STARTS.items()]
    return [
        attrs.evolve(job("Random only", "random", _random_only), as_described=True),
        job("Random + EMMC", "emmc, init random", _emmc(**random)),
        attrs.evolve(job("k-means", "kmeans", lambda X, y, seed: judged_fit(X, y, "kmeans", seed)), as_described=True),
        job(mapped, "elm-kmeans on the map of emmc", _kmeans_mapped),
        job("k-means + EMMC", "emmc", _emmc(), "the recipe as it stands"),
        chosen("k-means + EMMC", "emmc, df by labels"),
        job(f"{mapped} + EMMC", "emmc, init kmeans_mapped", _emmc(init="kmeans_mapped")),
        chosen(f"{mapped} + EMMC", "emmc, init kmeans_mapped, df by labels", init="kmeans_mapped"),
        job(
            f"{mapped} + EMMC",
            "emmc-multistart",
            _multistart,
            "the recipe as it stands, beside the best printed value",
            (Cell("agreement of maps (%)", "agreement"),),
        ),
        job(
            f"{mapped} + EMMC",
            "emmc-auto",
            lambda X, y, seed: judged_fit(X, y, "emmc-auto", seed, **margin_of_pair(X)),
            "the recipe as it stands, beside the best printed value",
        ),
        *(_mapped_by(plan, reading) for reading in readings_of(2)),
        *(_published(plan, *reading) for reading in readings),
        *(_published_by_labels(plan, *reading) for reading in readings if not plan.quick),
    ]


def _mapped_by(plan: Plan, reading: Reading) -> Job:
    """k-means on the map of a reading of the paper."""
    nodes = {key: value for key, value in reading.changes.items() if key.startswith("featuremap__")}
    nodes = {"featuremap__activation": "radbas", **nodes}

    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> Values:
        return judged_fit(X, y, "elm-kmeans", seed, featuremap__n_hidden=len(X), **nodes)

    of = "k-means in ELM space"
    job = _over_pairs(plan, of, f"elm-kmeans on the map of {reading.words}", fit)
    return attrs.evolve(job, as_described=reading == READINGS[0])


def _published(plan: Plan, reading: Reading, start: str, init: str) -> Job:
    """A reading of the paper from a start, at C = 500."""

    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> Values:
        return judged_fit(X, y, RECIPE, seed, **margin_of_pair(X), **reading.changes, init=init)

    return _over_pairs(plan, f"{start} + EMMC", f"{reading.words}, init {init}", fit, "C = 500")


def _published_by_labels(plan: Plan, reading: Reading, start: str, init: str) -> Job:
    """A reading of the paper from a start, with the C of lowest error for each pair."""
    pairs, seeds, of, what = _pairs(plan), plan.seeds(REPEATS), f"{start} + EMMC", f"{reading.words}, init {init}"

    def run(step: Step) -> Measurements:
        values: list[list[Values]] = []
        for pair in pairs:
            X, y = _pair(*pair)
            parameters: dict[str, Any] = {**margin_of_pair(X), **reading.changes, "init": init}

            def measured(seed: int, X: Any = X, y: Any = y, parameters: dict[str, Any] = parameters) -> list[float]:
                return accuracies(X, y, RECIPE, seed, "C", PRINTED_C, **parameters)

            C = best_complexity(PRINTED_C, seeds, measured)
            values.append([judged_fit(X, y, RECIPE, seed, **parameters, solver__C=C) for seed in seeds])
            step(f"{what}, digits {pair[0]} and {pair[1]}, C = {C:g}")
        return Measurements([averaged(of_pairs) for of_pairs in zip(*values, strict=True)])

    note = f"C of each pair {by_labels('C', PRINTED_C, len(seeds))}"
    job = _job(plan, of, f"{what}, C by labels", run, len(pairs), note=note, uses_labels=True)
    return attrs.evolve(job, as_described=reading == READINGS[0])


def _over_pairs(plan: Plan, of: str, what: str, fit: Fit, note: str = "", more: tuple[Cell, ...] = ()) -> Job:
    """A method on all pairs, averaged over them in each run."""
    pairs, seeds = _pairs(plan), plan.seeds(REPEATS)

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            of_pairs = []
            for pair in pairs:
                of_pairs.append(fit(*_pair(*pair), seed))
                step(f"{what}, digits {pair[0]} and {pair[1]}, seed {seed}")
            runs.append(averaged(of_pairs))
        return Measurements(runs)

    return _job(plan, of, what, run, len(pairs) * len(seeds), note=note, more=more)


def _chosen_by_labels(plan: Plan, of: str, what: str, changes: dict[str, Any]) -> Job:
    """emmc on all pairs, with the degrees of freedom of lowest error for each pair and run."""
    pairs, seeds = _pairs(plan), plan.seeds(REPEATS)

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            of_pairs: list[Values] = []
            for pair in pairs:
                X, y = _pair(*pair)

                parameters = margin_of_pair(X) | changes
                percent = accuracies(X, y, "emmc", seed, "df", DEGREES, **parameters)
                df = DEGREES[percent.index(max(percent))]
                of_pairs.append(judged_fit(X, y, "emmc", seed, **parameters, solver__df=df))
                step(f"{what}, digits {pair[0]} and {pair[1]}, seed {seed}")
            runs.append(averaged(of_pairs))
        return Measurements(runs)

    grid = ", ".join(f"{df:g}" for df in DEGREES)
    return _job(
        plan,
        of,
        what,
        run,
        len(pairs) * len(seeds),
        note=f"df of each pair and run by labels from {grid}",
        uses_labels=True,
    )


def _job(
    plan: Plan,
    of: str,
    what: str,
    run: Callable[[Step], Measurements],
    units: int,
    *,
    note: str,
    more: tuple[Cell, ...] = (),
    uses_labels: bool = False,
) -> Job:
    quick = f"quick: {len(QUICK_PAIRS)} of {len(PAIRS)} pairs" if plan.quick else ""
    cells = (Cell("error (%)", "mean_error"), Cell("CPU (s)", "cpu"), *more)
    notes = "; ".join(text for text in (note, quick) if text)
    return Job(of, f"{of}: {what}", cells, run, units, uses_labels, notes, comparable=not plan.quick)


def _pairs(plan: Plan) -> Sequence[tuple[int, int]]:
    return QUICK_PAIRS if plan.quick else PAIRS


def _pair(a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Images of two digits, grey levels in [0, 1], and their classes."""
    from clusterkit_papers.datasets import load

    dataset = load(f"digits-{a}-{b}")
    return dataset.data / GREY, dataset.target


def margin_of_pair(X: np.ndarray) -> dict[str, object]:
    """Parameters of an EMMC recipe on two digits: L = n, and the slack of the paper."""
    return {"featuremap__n_hidden": len(X), "balancer__slack": SLACK}


def _emmc(**changes: Any) -> Fit:
    return lambda X, y, seed: judged_fit(X, y, "emmc", seed, **margin_of_pair(X), **changes)


def _multistart(X: np.ndarray, y: np.ndarray, seed: int) -> Values:
    return judged_fit(X, y, "emmc-multistart", seed, **margin_of_pair(X))


def _kmeans_mapped(X: np.ndarray, y: np.ndarray, seed: int) -> Values:
    # the map that EMMC has here; the uniform nodes of the recipe elm-kmeans underflow in 64 dimensions
    nodes = {"name": "elm", "n_hidden": len(X)}
    return judged_fit(X, y, "elm-kmeans", seed, featuremap=nodes)


def _random_only(X: np.ndarray, y: np.ndarray, seed: int) -> Values:
    from clusterkit.families.shared.random import Random

    timed = timed_fit(lambda: Random().start(identity_space(X), Task(len(X), 2), np.random.default_rng(seed)))
    return judge(y, timed.fitted) | {"seconds": timed.seconds, "cpu": timed.cpu_seconds}
