"""The tuner ``svc_auto``: bandwidth, outlier fraction and least cluster size by the plateau of a partition."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from typing import ClassVar, final

import attrs

from clusterkit._typing import Array, Rng
from clusterkit.contracts import Stage, Tuned, Tuner, params
from clusterkit.errors import ClusterkitWarning
from clusterkit.families.support_vectors._svc_search import (
    DEFAULT_FRACTION,
    SvcAutoChoice,
    SvcAutoSearch,
    SvcRuns,
    least_size,
)
from clusterkit.families.support_vectors.complete_graph import CompleteGraph
from clusterkit.families.support_vectors.lmsvc import Lmsvc
from clusterkit.families.support_vectors.subsampled import Subsampled
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.families.support_vectors.tuning import is_open
from clusterkit.numerics.selection import sample_rows

INSTEAD: Mapping[str, tuple[str, ...]] = {"gamma": ("sigma", "sigma_fraction"), "nu": ("C",), "min_cluster_size": ()}
"""Parameters that the tuner decides, each with the parameters that decide it already if they are set."""

FIT_PASSES = 10
"""Kernel evaluations of a fit of n rows with s support vectors, solved and labelled, in units of n s: between 5 and 20
for data in clusters."""


@final
@attrs.frozen
class SvcAuto(Tuner):
    """Runs the stages over many bandwidths and keeps the partition that lasts, is separated and has even clusters.

    For support vector clustering and any other method that reads clusters from a domain in a Gaussian kernel space. The
    tuner decides `gamma` of the kernel, `nu` of the solver and `min_cluster_size` of the labeler, each only if it was
    left at None; if none is open, it does nothing. At most 240 runs, mostly 70 to 120, on at most `max_rows` rows;
    memory O(max_rows²).

    The bandwidths to try are in ``_svc_search.py`` (`gammas_of`, which begins at the constant `LOCAL`), the score is in
    ``_svc_search.py`` (`best`), the loop over the runs in ``_svc_search.py`` (`SvcAutoSearch`), a run in
    ``_svc_search.py`` (`WidthRuns`).

    Parameters
    ----------
    max_rows : int, default 2000
        Larger data are searched on a random sample of this many rows, drawn by the tuner's stream. `gamma` and `nu` are
        used as they are; `min_cluster_size` is scaled to the same fraction of all rows.
    exact_rows : int, default 500
        With more rows than this, the runs of the search join rows by likely edges only, where the labeler offers that
        (`complete_graph`), instead of the complete graph: five to ten times faster. Some partitions then have a piece
        or two more, which the score seldom notices; with fewer rows every piece counts. The fit that follows uses
        the complete graph in any case.
    max_work : int or None, default 10_000_000_000
        Most kernel evaluations of all runs, half a minute or so. The runs start at the local bandwidth and go
        outward, so that a shortened search lacks the bandwidths that are farthest off; it warns, and the facts say so.
        The result is the same on any machine. Where a fit of all n rows would cost more, about 10 n s evaluations for
        s support vectors (mostly from 70,000 rows on), the rows of the search alone are fitted, and all others get the
        label of the nearest of them, with a warning; `resolved_` then has `fitted_rows`, and `far_rows`, the number of
        rows farther from the sample than its rows are from each other, where a small class may have been missed.
        None sets no limit.
    n_clusters : int or None, default None
        Number of clusters asked for: if any partition has it, only such partitions are compared. A fit sets it from
        its own `n_clusters`.

    Notes
    -----
    Bandwidths are ``gamma = γ0 2^(j/2)``, ``γ0 = 0.2 /`` median squared distance to the third neighbour, from
    1 / (largest squared distance) to 4 ln 2 / (lower decile of the squared distances to the nearest neighbour), beyond
    which most rows are alone; at most the 60 narrowest. Outlier fractions `nu` are 0.05, 0.2, 0.3 and 0.5. Each run
    gives components; those smaller than ``max(5, √m / 2)`` of m rows are dissolved, and all other rows go to the
    nearest cluster. Partitions qualify if they have at least two clusters, at most ``max(√m, m / (2 least))``, and
    covered 0.4 of the rows before the outliers were assigned. Among them the score ``ln L + 2 V + ln H`` decides, see
    `best` in _svc_search.py. If none qualifies, the points with enough equal rows are the clusters; if there are none
    either, the widest kernel is used, mostly with one cluster, and a warning says so. Fewer than 8 rows are not
    searched.

    Rows at few points, at most 20 with 5 rows a point on average and nearly all rows at points that are large enough,
    are not searched: each point is a cluster, by a kernel that joins no two of them, without outliers.

    In up to three coordinates there is a fallback, ``gamma = γ0`` and ``nu = 0.5``, which replaces the winner in two
    cases. Either the best partition has L <= 5 and V < 0, no better than those of a single cloud; if L is 3 or more, V
    at γ0 must not be lower by more than 0.2. Or the partition at γ0 has more clusters than the best one, a separation
    V of no more than 0.3 less, and stays similar over three bandwidths (adjusted Rand index of 0.75): such partitions
    tend to be the classes, and the best one groups of classes.

    If `gamma` (or `sigma`) is set, nothing is run: `nu` is 0.2. If `nu` or `C` is set, only bandwidths are searched.

    Solvers that draw (`subsampled`, `lmsvc`) get the values that `svdd` with `complete_graph` has, since their own
    partitions vary from one bandwidth to the next; and are fitted to all rows, however many these are.

    References
    ----------
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2, section 4: bandwidths over which the
    number of clusters does not change.
    Moulavi, Jaskowiak, Campello, Zimek, Sander (2014), Density-based clustering validation, SDM: the separation.
    """

    name: ClassVar[str] = "svc_auto"
    synonyms: ClassVar[tuple[str, ...]] = ("auto",)

    max_rows: int = params.integer(2000, at_least=2)
    exact_rows: int = params.integer(500, at_least=0)
    max_work: int | None = params.integer(10_000_000_000, at_least=1, at_most=params.MOST_WORK, optional=True)
    n_clusters: int | None = params.integer(None, at_least=1, optional=True)

    saved_before: ClassVar[frozenset[str]] = frozenset({"max_seconds"})  # with it a choice depended on the machine

    def for_clusters(self, n_clusters: int | None) -> SvcAuto:
        """Set `n_clusters` where it is None."""
        return self if n_clusters is None or self.n_clusters is not None else attrs.evolve(self, n_clusters=n_clusters)

    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """The stages with bandwidth, outlier fraction and least size filled in where they were open."""
        begin = time.monotonic()
        open_names = {
            slot: tuple(
                name
                for name, others in INSTEAD.items()
                if is_open(stage, name) and is_open(getattr(stage, "solver", stage), name, *others)
            )
            for slot, stage in stages.items()
        }
        # their domains vary with what is drawn, so that no partition of theirs would last
        draws = isinstance(stages["solver"], Lmsvc | Subsampled)
        if not any(open_names.values()) or (draws and not open_names["featuremap"]):
            return Tuned(dict(stages), {"rule": "every parameter is set: nothing to decide", "runs": 0})
        rows = sample_rows(len(X), self.max_rows, rng)
        if "gamma" in open_names["featuremap"]:
            searched = {**stages, "solver": Svdd(), "labeler": CompleteGraph()} if draws else stages
            runs = SvcRuns.of(searched, X, rows, self.exact_rows, rng)
            choice = SvcAutoSearch(runs, draws or "nu" in open_names["solver"], self.n_clusters, self.max_work).choice()
        else:
            facts = {"rule": "gamma is set: fixed outlier fraction", "runs": 0}
            choice = SvcAutoChoice(math.nan, DEFAULT_FRACTION, least_size(len(rows)), facts)
        least = max(1, round(choice.min_cluster_size * len(X) / len(rows)))
        values = {"gamma": choice.gamma, "nu": choice.nu, "min_cluster_size": least}
        tuned = {
            slot: stage.with_parameters(**{name: values[name] for name in open_names[slot]})
            for slot, stage in stages.items()
        }
        facts = {**choice.facts, "rows": len(rows), "seconds": round(time.monotonic() - begin, 3)}
        costs_too_much = self.max_work is not None and FIT_PASSES * choice.support * len(X) ** 2 > self.max_work
        if len(rows) == len(X) or draws or not costs_too_much or not facts["runs"]:
            return Tuned(tuned, facts, choice.interrupted)
        warnings.warn(
            f"tuner 'svc_auto': a fit of all {len(X)} rows would exceed max_work={self.max_work:g} kernel evaluations. "
            f"The model is the fit of the {len(rows)} rows of the search, and the others get the label of the nearest "
            "of these. Raise tuner__max_work for a fit of all rows, or tuner__max_rows for a larger sample",
            ClusterkitWarning,
            stacklevel=4,
        )
        return Tuned(tuned, facts, choice.interrupted, rows)
