"""EDSVC beside the members of its ensemble, and beside the best PSVC that known classes can choose."""

from __future__ import annotations

from functools import partial

import numpy as np

from clusterkit_papers.edsvc.table import DATA_SETS, QUICK, EdsvcEnsembles
from clusterkit_papers.fits import fit_recipe, warm_up
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.scalings import SCALING_WORDS

__all__ = ["against_members"]

SCALED = ("minmax", "zscore")
"""Both scalings, because the paper does not say which it has."""

WIDTHS = 100
"""Widths of the kernel that PSVC is run with, as many as the search of EDSVC has. Fewer miss partitions that few widths
have: on Breast Cancer two clusters come of one or two of them."""

EDSVC = (
    Cell("EDSVC NMI", "nmi"),
    Cell("EDSVC ARI", "ari"),
    Cell("EDSVC clusters", "clusters"),
    Cell("best member NMI", "best_nmi"),
    Cell("best member ARI", "best_ari"),
    Cell("mean member NMI", "mean_nmi"),
    Cell("members below EDSVC, NMI (%)", "below_nmi"),
    Cell("members below EDSVC, ARI (%)", "below_ari"),
)
"""NMI with the geometric mean as in the paper, which grows with the number of clusters by itself, and the adjusted Rand
index, which does not."""

PSVC = (Cell("best PSVC NMI", "nmi"), Cell("best PSVC ARI", "ari"), Cell("best PSVC clusters", "clusters"))
"""PSVC at the width of highest NMI."""


def against_members(plan: Plan) -> list[Job]:
    """A row of EDSVC and its ensemble, and one of PSVC, for each data set and scaling."""
    jobs = []
    for data_set in DATA_SETS:
        if plan.quick and data_set.name not in QUICK:
            continue
        ensembles = EdsvcEnsembles(data_set)
        for scaling in SCALED:
            seeds = plan.seeds(data_set.runs)
            words = f"{data_set.name}: %s, {SCALING_WORDS[scaling]}"
            run = partial(_with_members, ensembles, scaling, seeds)
            jobs.append(Job(data_set.name, words % "edsvc as published", EDSVC, run, len(seeds)))
            if data_set.runs > 1:
                note = f"the best of {WIDTHS} widths by labels, outliers to the nearest cluster"
                best = partial(_best_psvc, ensembles, scaling)
                jobs.append(Job(data_set.name, words % "psvc", PSVC, best, WIDTHS, uses_labels=True, note=note))
    return jobs


def _with_members(ensembles: EdsvcEnsembles, scaling: str, seeds: range, step: Step) -> Measurements:
    warm_up("edsvc", tuner__n_gamma=3, tuner__n_bounds=3)
    X, runs = ensembles.X(scaling), list[Values]()
    for seed in seeds:
        timed = fit_recipe(X, "edsvc", seed)
        ours = _judged(ensembles, timed.fitted.labels_)
        members = [_judged(ensembles, member) for member in ensembles.members(scaling, seed)]
        values = {**ours, "mean_nmi": float(np.mean([member["nmi"] for member in members])), "seconds": timed.seconds}
        for index in ("nmi", "ari"):
            of_members = np.array([member[index] for member in members])
            values |= {
                f"best_{index}": float(of_members.max()),
                f"below_{index}": 100.0 * float(np.mean(of_members < ours[index])),
            }
        runs.append(values)
        step(f"{ensembles.data_set.name}: edsvc, {scaling}, seed {seed}")
    return Measurements(runs)


def _best_psvc(ensembles: EdsvcEnsembles, scaling: str, step: Step) -> Measurements:
    warm_up("psvc", featuremap__gamma=1.0)
    X, tried = ensembles.X(scaling), list[tuple[Values, float]]()
    for gamma in _widths(X):
        timed = fit_recipe(X, "psvc", 0, featuremap__gamma=float(gamma), labeler__outliers="nearest")
        tried.append((_judged(ensembles, timed.fitted.labels_) | {"seconds": timed.seconds}, float(gamma)))
        step(f"{ensembles.data_set.name}: psvc, {scaling}, gamma = {gamma:.3g}")
    values, gamma = max(tried, key=lambda pair: pair[0]["nmi"])
    return Measurements([values], f"gamma = {gamma:.3g}")


def _widths(X: np.ndarray) -> np.ndarray:
    """The widths that the search of EDSVC tries: from one cluster to where the nearest tenth of the rows come apart."""
    from scipy.spatial.distance import cdist

    from clusterkit.numerics.distances import bandwidth_range

    distinct = np.unique(X, axis=0)
    D = cdist(distinct, distinct, "sqeuclidean")
    largest = float(D.max())
    np.fill_diagonal(D, np.inf)
    low, high = bandwidth_range(largest, D.min(axis=1))
    return np.geomspace(low, high if high > low else 100.0 * low, WIDTHS)


def _judged(ensembles: EdsvcEnsembles, labels: np.ndarray) -> Values:
    """NMI, adjusted Rand index and number of clusters."""
    from clusterkit.metrics import adjusted_rand

    return {**ensembles.judged(labels), "ari": adjusted_rand(ensembles.y, labels)}
