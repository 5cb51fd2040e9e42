"""The search of the recipe edsvc against independent fits of the recipe svc with the same values, in one run.

``speed``: all candidates of the published search, by the tuner and one fit after the other; the scores of both are
compared candidate by candidate. ``accuracy``: both searches on named data sets, without labels, beside the ensemble's
mean member, consensus functions on the same ensemble and the printed values. NMI with the geometric mean. ``plane``: a
picture of NMI and clusters over widths and shares of outliers; it shows what labels would choose.

    uv run python tests/benchmarks/edsvc.py speed --names wine breast-cancer
    uv run python tests/benchmarks/edsvc.py accuracy --names wine:minmax wine:z2
    uv run python tests/benchmarks/edsvc.py plane --names semeion:minmax --widths 0.078 0.135

Needs the data sets; `CLUSTERKIT_DATA` names the folder.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from clusterkit_papers import datasets
from machine import describe

from clusterkit import ensemble, recipe
from clusterkit.contracts.seeds import Seeds
from clusterkit.metrics import adjusted_rand, anmi, nmi

PRINTED = {"wine": 0.781, "ionosphere": 0.184, "breast-cancer": 0.525, "banknote": 0.266, "yeast": 0.267,
           "semeion": 0.461}  # fmt: skip
SETS = ("wine:minmax", "wine:z2", "breast-cancer:minmax", "banknote:z", "ionosphere:z", "yeast:z")


def load(name, scaling):
    """Rows and classes; scaling "minmax", "z", or "z" with a number of principal components."""
    data = datasets.load(name)
    X = np.asarray(data.data, dtype=np.float64)
    spread = np.ptp(X, axis=0) if scaling == "minmax" else X.std(axis=0)
    X = (X - (X.min(axis=0) if scaling == "minmax" else X.mean(axis=0))) / np.where(spread > 0, spread, 1.0)
    if scaling[1:].isdigit():
        left, sizes, _ = np.linalg.svd(X, full_matrices=False)
        r = int(scaling[1:])
        X = left[:, :r] * sizes[:r]
    return X, data.target


def speed(names, jobs):
    """Seconds of both, and the largest difference of the scores."""
    for name in names:
        X, _ = load(name, "minmax")
        recipe("edsvc", random_state=0, tuner__n_gamma=3, tuner__n_bounds=3).fit(X)  # compiles
        recipe("svc", tuner=None, featuremap__gamma=1.0, solver__C=1.0).fit(X)
        begin, spent = time.perf_counter(), time.process_time()
        model = recipe("edsvc", random_state=0, tuner__n_jobs=jobs).fit(X)
        ours, ours_spent = time.perf_counter() - begin, time.process_time() - spent
        curves = model.resolved_["tuner"]["curves"]
        # the tuner's stream gives the ensemble
        members = ensemble(X, 10, random_state=Seeds.of(0).stream("tuner"))
        scores, begin, spent = [], time.perf_counter(), time.process_time()
        fits = 0
        for step, gamma, C in zip(curves.step, curves.gamma, curves.C, strict=True):
            if step == 1 and C == 1.0:
                scores.append(max(scores))  # the best width was fitted already: 199 fits, not 200
                continue
            fitted = recipe("svc", tuner=None, featuremap__gamma=float(gamma), solver__C=float(C)).fit(X)
            scores.append(anmi(fitted.labels_, members))
            fits += 1
        plain, plain_spent = time.perf_counter() - begin, time.process_time() - spent
        difference = np.abs(np.array(scores) - curves.score)
        print(
            f"{name} {X.shape}: search and fit {ours:.2f} s ({ours_spent:.2f} s of processor), {fits} fits {plain:.2f} "
            f"s ({plain_spent:.2f}); ratio {plain / ours:.1f} ({plain_spent / ours_spent:.1f}); scores differ by "
            f"{difference.max():.1e} at most, by more than 1e-12 in {(difference > 1e-12).sum()}",
            flush=True,
        )


def accuracy(names, seeds):
    """NMI and clusters by setting."""
    from clusterkit import consensus

    for entry in names:
        name, scaling = entry.split(":")
        try:
            X, y = load(name, scaling)
        except datasets.DatasetNotFound as missing:
            print(f"skipped: {missing}")
            continue
        for seed in seeds:
            parts = []
            for title, changes in (
                ("coordinate", {}),
                ("plane", {"tuner__search": "plane"}),
                ("plane, ami", {"tuner__search": "plane", "tuner__score": "ami"}),
            ):
                begin = time.perf_counter()
                model = recipe("edsvc", random_state=seed, **changes).fit(X)
                share = 1.0 / (len(X) * model.resolved_["solver"]["C"])
                parts.append(
                    f"{title} NMI {nmi(y, model.labels_, average='geometric'):.3f} ARI "
                    f"{adjusted_rand(y, model.labels_):.3f} ({model.labels_.max() + 1} clusters, p = {share:.2f}, "
                    f"score {model.resolved_['tuner']['score']:.3f}, {time.perf_counter() - begin:.1f} s)"
                )
            # those of the coordinate search
            members = ensemble(X, 10, random_state=Seeds.of(seed).stream("tuner"))
            mean = np.mean([nmi(y, member, average="geometric") for member in members])
            others = [
                f"{rule} {nmi(y, getattr(consensus, rule)(members), average='geometric'):.3f}"
                for rule in ("comusa", "diclens", "comusacl", "comusacl_dew")
            ]
            single = nmi(y, np.arange(len(X)), average="geometric")
            print(
                f"{name} {scaling} {X.shape} seed {seed}: {'; '.join(parts)}; mean member {mean:.3f}; "
                f"{', '.join(others)}; singletons {single:.3f}; printed {PRINTED[name]}",
                flush=True,
            )


def plane(entry, low, high):
    """Numbers of clusters and NMI to the classes, (widths, shares), and the widths and shares."""
    from clusterkit.families.support_vectors.complete_graph import CompleteGraph
    from clusterkit.families.support_vectors.edsvc import FRACTIONS
    from clusterkit.families.support_vectors.edsvc_candidates import CandidateRuns
    from clusterkit.families.support_vectors.svdd import Svdd
    from clusterkit.samples import KernelSpace
    from clusterkit.samples.kernels import Gaussian

    X, y = load(*entry.split(":"))
    shares, gammas = FRACTIONS, np.geomspace(low, high, 24)
    bounds = [min(1.0, 1.0 / (p * len(X))) if p > 0 else 1.0 for p in shares]
    runs = CandidateRuns(KernelSpace(X, Gaussian(1.0)), Svdd(), CompleteGraph(outliers="nearest"), 1, True, 0)
    cells = list(runs.over([(float(gamma), bounds) for gamma in gammas], "plane"))
    clusters = np.array([[each.n_clusters for each in cell] for cell in cells])
    agreement = np.array([[nmi(y, each.labels, average="geometric") for each in cell] for cell in cells])
    return gammas, np.array(shares), clusters, agreement, len(X)


def draw_plane(gammas, shares, clusters, agreement, n, title, path):
    """Two maps; white rings where 2 to √n clusters may win."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.colors import LogNorm

    figure, axes = pyplot.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained", sharey=True)
    allowed = np.argwhere((clusters >= 2) & (clusters <= np.sqrt(n)))
    steps = np.sqrt(gammas[1] / gammas[0])
    edges = np.concatenate([gammas / steps, [gammas[-1] * steps]])
    for ax, table, options, name in (
        (axes[0], agreement, {"cmap": "viridis", "vmin": 0.0}, "NMI to the classes"),
        (axes[1], clusters, {"cmap": "cividis", "norm": LogNorm(vmin=1)}, "clusters"),
    ):
        image = ax.pcolormesh(edges, np.arange(len(shares) + 1) - 0.5, table.T, **options)
        figure.colorbar(image, ax=ax)
        ax.plot(gammas[allowed[:, 0]], allowed[:, 1], "o", color="white", markersize=4, markerfacecolor="none")
        ax.set_xscale("log")
        ticks = np.geomspace(gammas[0], gammas[-1], 4)
        ax.set_xticks(ticks, [f"{each:.2g}" for each in ticks])
        ax.minorticks_off()
        ax.set_yticks(np.arange(len(shares)), [f"{p:g}" for p in shares], fontsize=8)
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("gamma of the Gaussian kernel")
    axes[0].set_ylabel("share of rows outside")
    inside = agreement[allowed[:, 0], allowed[:, 1]]
    figure.suptitle(f"{title}: rings have 2 to {int(np.sqrt(n))} clusters, NMI {inside.max():.2f} at most", fontsize=11)
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "accuracy", "plane"])
    parser.add_argument("--names", nargs="*")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--widths", type=float, nargs=2, default=(0.078, 0.135))
    parser.add_argument("--to", default="edsvc-plane.png")
    options = parser.parse_args()
    print(describe())
    if options.what == "speed":
        speed(options.names or ["wine", "breast-cancer"], options.jobs)
    elif options.what == "accuracy":
        accuracy(options.names or SETS, options.seeds)
    else:
        for entry in options.names or ("semeion:minmax",):
            draw_plane(*plane(entry, *options.widths), entry, options.to)
