"""The mixture of mixed columns on real tables and generated designs, beside k-means on dummies and a Gaussian mixture.

uv run python tests/benchmarks/mixed.py real --folder FOLDER    # CSV files with a column `label`
uv run python tests/benchmarks/mixed.py designs --seeds 3 --first 100    # what each is to reach stands at the end

With ``--recipe auto`` the recipe `auto` stands in the place of the mixture.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from clusterkit import recipe

Table = tuple[pd.DataFrame, np.ndarray]


def real(folder: str) -> Iterator[tuple[str, Table]]:
    """Tables of a folder, all columns but the label; penguins also without the year, and its four numbers alone."""
    for path in sorted(Path(folder).glob("*.csv*")):
        frame = pd.read_csv(path)
        if "label" not in frame or path.name == "manifest.csv":
            continue
        y = frame.pop("label").astype(str).to_numpy()
        name = path.name.partition(".")[0]
        yield name, (frame, y)
        if name == "penguins":
            numbers = [column for column in frame if frame[column].dtype.kind == "f"]
            for title, part in (
                ("penguins, no year", frame.drop(columns="year")),
                ("penguins, numbers", frame[numbers]),
            ):
                whole = part.notna().all(axis=1).to_numpy()
                yield title, (part[whole].reset_index(drop=True), y[whole])


def mixed(
    seed: int,
    n: int = 600,
    k: int = 3,
    numbers: int = 4,
    levels: tuple[int, ...] = (4,) * 4,
    sn: float = 1.3,
    sc: float = 0.75,
) -> Table:
    """Numbers and categories that depend on the clusters; `sn` and `sc` say how much."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    C = rng.standard_normal((k, numbers))
    C -= C.mean(axis=0)
    C *= sn * np.sqrt(k * numbers) / np.linalg.norm(C)
    columns: dict[str, np.ndarray] = {
        f"x{j}": col for j, col in enumerate((C[y] + rng.standard_normal((n, numbers))).T)
    }
    for j, L in enumerate(levels):
        base, places = rng.dirichlet(np.full(L, 3.0)), rng.permutation(L)
        P = np.empty((k, L))
        for c in range(k):
            peak = np.full(L, 0.02)
            peak[places[c % L]] = 1.0
            P[c] = (1 - sc) * base + sc * peak / peak.sum()
        drawn = (rng.random(n)[:, None] > np.cumsum(P[y], axis=1)).sum(axis=1).clip(0, L - 1)
        columns[f"c{j}"] = np.array([f"l{i:02d}" for i in range(L)])[drawn]
    return pd.DataFrame(columns), y


def noisy(seed: int, noise: int, kind: str = "independent", n: int = 300) -> Table:
    """Three clusters in three numbers, and columns that say nothing of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    C = rng.standard_normal((3, 3))
    C *= 5.0 / min(np.linalg.norm(C[i] - C[j]) for i in range(3) for j in range(i))
    good = C[y] + rng.standard_normal((n, 3))
    Z = rng.standard_normal((n, noise))
    if kind == "correlated":
        F = rng.standard_normal((n, max(1, noise // 5)))
        Z = F[:, np.arange(noise) % F.shape[1]] + 0.5 * Z
    if kind == "heavy":
        Z = rng.standard_t(2, size=(n, noise))
    if kind == "copies":
        Z = good[:, :1] + 0.1 * Z
    if kind == "five kinds":
        makers: list[Callable[[], np.ndarray]] = [
            lambda: rng.exponential(size=n), lambda: (rng.random(n) < 0.3) * 1.0, lambda: rng.integers(1, 6, n) * 1.0,
            lambda: 2007 + rng.integers(3, size=n) * 1.0,
            lambda: np.where(rng.random(n) < 0.97, 0.0, rng.standard_normal(n)),
        ]  # fmt: skip
        Z = np.column_stack([makers[j % 5]() for j in range(noise)])
    X = np.hstack([good, Z])
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # raw units would tell which columns matter
    return pd.DataFrame(X[:, rng.permutation(X.shape[1])]).rename(columns="x{}".format), y


def site(seed: int) -> Table:
    """A category that shifts all numbers."""
    frame, y = mixed(seed, levels=(4, 4), sn=1.6, sc=0.5)
    rng = np.random.default_rng(seed + 1000)
    s = rng.integers(4, size=len(frame))
    shifts = 2.0 * rng.standard_normal((4, 4))
    for j in range(4):
        frame[f"x{j}"] += shifts[s, j]
    return frame.assign(site=np.array(list("wxyz"))[s]), y


def gaps(seed: int, share: float) -> Table:
    """Cells missing at random."""
    frame, y = mixed(seed)
    return frame.mask(np.random.default_rng(seed + 1000).random(frame.shape) < share), y


def likert(seed: int, n: int = 500) -> Table:
    """Answers from 1 to 5, of which half depend on the clusters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    means = 0.9 * rng.standard_normal((3, 8))
    good = np.clip(np.round(3 + means[y] + 0.9 * rng.standard_normal((n, 8))), 1, 5)
    rest = np.clip(np.round(3 + 1.1 * rng.standard_normal((n, 8))), 1, 5)
    return pd.DataFrame(np.hstack([good, rest])).rename(columns="q{}".format), y


def wide(seed: int, noise: int, apart: float = 4.0, law: str = "gauss", n: int = 400) -> Table:
    """Three clusters in six numbers of a law, and columns that say nothing of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    C = rng.standard_normal((3, 6))
    C *= apart / min(np.linalg.norm(C[i] - C[j]) for i in range(3) for j in range(i))
    E = rng.standard_normal((n, 6))
    if law == "t":
        E = rng.standard_t(4, size=(n, 6)) / np.sqrt(2)
    if law == "gamma":
        E = rng.gamma(2, size=(n, 6)) / np.sqrt(2) - np.sqrt(2)
    if law == "turned":
        for c in range(3):
            Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
            E[y == c] = E[y == c] @ (Q * np.geomspace(1.6, 0.4, 6)) @ Q.T
    return pd.DataFrame(np.hstack([C[y] + E, rng.standard_normal((n, noise))])).rename(columns="x{}".format), y


def beside(seed: int, what: str) -> Table:
    """Mixed clusters beside columns that say nothing: of all kinds, pairs of like categories, or common factors."""
    rng = np.random.default_rng(seed + 2000)
    if what == "factors":
        frame, y = mixed(seed, sn=0.3)
        F = np.tile(rng.standard_normal((len(frame), 2)), 5) + 0.4 * rng.standard_normal((len(frame), 10))
        return frame.join(pd.DataFrame(F).rename(columns="f{}".format)), y
    frame, y = mixed(seed, levels=(2, 4, 8, 20) if what == "all kinds" else (4,) * 4)
    n = len(frame)
    if what == "twins":
        u = rng.integers(3, size=n)
        v = np.where(rng.random(n) < 0.95, u, rng.integers(3, size=n))
        return frame.assign(u=np.array(list("abc"))[u], v=np.array(list("abc"))[v]), y
    for j in range(8):
        frame[f"z{j}"] = rng.standard_normal(n) if j % 2 else rng.exponential(size=n) ** 2
    for j, L in enumerate((2, 3, 5, 20, 2, 3)):
        frame[f"w{j}"] = np.array([f"m{i:02d}" for i in range(L)])[rng.integers(L, size=n)]
    return frame.assign(year=2007 + rng.integers(3, size=n)), y


def flags(seed: int, n: int = 500) -> Table:
    """Thirty flags, of which a third depends on the clusters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    good = rng.random((n, 10)) < rng.beta(0.6, 0.6, size=(3, 10))[y]
    rest = rng.random((n, 20)) < rng.beta(2, 2, size=20)
    return pd.DataFrame(np.hstack([good, rest]) * 1).rename(columns="q{}".format), y


def standardised(table: Table) -> Table:
    """The same with numbers of equal spread: raw units would tell which columns matter; whole numbers stay."""
    frame, y = table
    spread = {name: (column - column.mean()) / column.std() for name, column in frame.items()
              if column.dtype.kind == "f" and not (column.dropna() % 1 == 0).all()}  # fmt: skip
    return frame.assign(**spread), y


DESIGNS: dict[str, Callable[[int], Table]] = {
    "mixed, good numbers": lambda seed: mixed(seed, sn=1.3, sc=0.15),
    "mixed, good categories": lambda seed: mixed(seed, sn=0.4, sc=0.75),
    "mixed, both middling": lambda seed: mixed(seed, sn=0.9, sc=0.5),
    "mixed, both good": lambda seed: mixed(seed),
    "2 to 20 levels": lambda seed: mixed(seed, levels=(2, 3, 8, 20, 2, 3), sn=0.9, sc=0.6),
    "100 rows": lambda seed: mixed(seed, n=100),
    "six clusters": lambda seed: mixed(seed, n=1200, k=6, levels=(8,) * 4, sn=1.8),
    "no noise": lambda seed: noisy(seed, 0),
    "10 noise": lambda seed: noisy(seed, 10),
    "30 noise": lambda seed: noisy(seed, 30),
    "100 noise": lambda seed: noisy(seed, 100),
    "20 correlated": lambda seed: noisy(seed, 20, "correlated"),
    "20 heavy": lambda seed: noisy(seed, 20, "heavy"),
    "20 copies": lambda seed: noisy(seed, 20, "copies"),
    "20 of five kinds": lambda seed: noisy(seed, 20, "five kinds"),
    "site": site,
    "20 % gaps": lambda seed: gaps(seed, 0.2),
    "40 % gaps": lambda seed: gaps(seed, 0.4),
    "likert": likert,
    "weak, 30 noise": lambda seed: wide(seed, 30, 3.2),
    "weak, 100 noise": lambda seed: wide(seed, 100, 3.2),
    "turned": lambda seed: wide(seed, 20, law="turned"),
    "t": lambda seed: wide(seed, 20, law="t"),
    "gamma": lambda seed: wide(seed, 20, law="gamma"),
    "all kinds": lambda seed: beside(seed, "all kinds"),
    "twins": lambda seed: beside(seed, "twins"),
    "factors": lambda seed: beside(seed, "factors"),
    "flags": flags,
}  # fmt: skip

GOALS: dict[str, tuple[str, float]] = {
    "mixed": ("mixed", 0.87), "irrelevant": ("noise", 0.96), "correlated": ("20 correlated", 0.95),
    "heavy": ("20 heavy", 0.95), "copied": ("20 copies", 0.95), "five kinds": ("20 of five kinds", 0.95),
    "site": ("site", 0.9), "gaps": ("40 % gaps", 0.8), "likert": ("likert", np.nan),
}  # fmt: skip
"""The designs, by a part of the name, whose mean index with the number given is to reach a bound; without a bound that
of k-means on dummies. The number is to be right in nine of ten."""


def dummies(frame: pd.DataFrame) -> np.ndarray:
    """Standardised numbers with the mean in gaps, and dummies of categories."""
    parts = []
    for name in frame:
        column = frame[name]
        if column.dtype.kind in "if":
            x = column.fillna(column.mean()).to_numpy(float)
            parts.append((x - x.mean())[:, None] / (x.std() or 1.0))
        else:
            parts.append(pd.get_dummies(column).to_numpy(float))
    return np.hstack(parts)


def index(frame: pd.DataFrame, y: np.ndarray, name: str) -> list[float]:
    """Adjusted Rand indices with k given and open, of k-means on dummies, of a mixture; numbers; seconds; sure."""
    k, X = len(set(y)), dummies(frame)
    began = time.process_time()
    by_number = recipe(name, n_clusters=k, random_state=0).fit(frame)
    middle = time.process_time()
    open_ = recipe(name, n_clusters="auto", random_state=0).fit(frame)
    end = time.process_time()
    kmeans = KMeans(k, n_init=10, random_state=0).fit_predict(X)
    try:
        gmm = GaussianMixture(k, n_init=3, random_state=0, reg_covar=1e-3).fit_predict(X)
    except ValueError:  # a covariance is singular
        gmm = np.zeros(len(X), dtype=int)
    scores = [adjusted_rand_score(y, labels) for labels in (by_number.labels_, open_.labels_, kmeans, gmm)]
    confidence = getattr(open_, "confidence_", np.nan)
    return [*scores, k, open_.n_clusters_, middle - began, end - middle, confidence]


def show(tables: Iterator[tuple[str, Table]], method: str) -> dict[str, list[float]]:
    """A line for each table, and the means."""
    head = ("k given", "k open", "dummies", "gmm", "k", "chosen", "s", "s open", "sure")
    print(f"{'':28s}" + "".join(f"{title:>9s}" for title in head))
    rows: dict[str, list[float]] = {}
    for name, (frame, y) in tables:
        rows[name] = index(frame, y, method)
        print(f"{name:28s}" + "".join(f"{value:9.3f}" for value in rows[name]), flush=True)
    values = np.array(list(rows.values()))
    print(f"{'mean':28s}" + "".join(f"{value:9.3f}" for value in values.mean(axis=0)))
    print(f"number right: {int((values[:, 4] == values[:, 5]).sum())} of {len(values)}")
    return rows


def judge(rows: dict[str, list[float]]) -> None:
    """What each group of designs reaches, and what it is to reach."""
    print(f"\n{'':28s}" + "".join(f"{title:>9s}" for title in ("k given", "goal", "k open", "right", "of")))
    for title, (part, goal) in GOALS.items():
        values = np.array(
            [row for name, row in rows.items() if part in name and name.split()[0] not in {"weak,", "no"}]
        )
        if len(values):
            by_number, open_, kmeans = values[:, :3].mean(axis=0)
            right = (values[:, 4] == values[:, 5]).sum()
            least = kmeans if np.isnan(goal) else goal
            held = by_number >= least and right >= 0.9 * len(values)
            cells = f"{by_number:9.3f}{least:9.3f}{open_:9.3f}{right:9d}{len(values):9d}"
            print(f"{title:28s}{cells}  {'holds' if held else 'falls short'}")


def main() -> None:
    """Print what is asked for."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("real", "designs"))
    parser.add_argument("--folder", default="tables")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--recipe", default="mixture", choices=("mixture", "auto"))
    arguments = parser.parse_args()
    if arguments.what == "real":
        show((pair for pair in real(arguments.folder) if arguments.only in pair[0]), arguments.recipe)
    else:
        seeds = range(arguments.first, arguments.first + arguments.seeds)
        chosen = [(name, make) for name, make in DESIGNS.items() if arguments.only in name]
        judge(show(((f"{name}, {s}", standardised(make(s))) for name, make in chosen for s in seeds), arguments.recipe))


if __name__ == "__main__":
    main()
