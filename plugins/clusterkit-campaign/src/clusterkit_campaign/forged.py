"""Forged models: saved models of all recipes with arrays and values changed, and everything that is done with them.

`python -m clusterkit_campaign.forged` draws mutants, makes the checksum anew, loads each in a forked child, and uses
every public attribute and method of what is loaded. A signal, an error that is not the library's own, more than 20
seconds of processor time, or more than a gigabyte of memory is a finding; a line says how to make it again.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import faulthandler
import inspect
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np
import scipy.sparse
from clusterkit_min_max import MinMaxModularSVC
from threadpoolctl import threadpool_limits

import clusterkit
from clusterkit import errors, profiles, saving
from clusterkit._typing import Array
from clusterkit.errors import InvalidModelFile

__all__ = ["Model", "Tally", "forge", "models", "mutate", "run"]

Rng: TypeAlias = np.random.Generator

ROWS = 30
"""Rows of the fits: enough for every recipe, and a model is used within milliseconds."""

SECONDS = 20
"""Processor time of one mutant, which is compiled code of another type at worst."""

ROOM = 2**30
"""Bytes that a child may have beside what it has from its parent."""

NUMBERS = (0, 1, -1, 2, 3, 7, -5, ROWS - 1, ROWS, ROWS + 1, 1000, 10**6, 10**9, 2**31, 2**62, -(2**40), 2**200)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-320, 1e-30, 1e30, 1e308, -1e308)
TEXTS = (
    "",
    "x",
    "a",
    "identity",
    "free",
    "ordered",
    "count",
    "log",
    "none",
    "zscore",
    "auto",
    "basin",
    "\x1b[31m",
    "y" * 3000,
)
ODD = ({"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, None, True, False)


@attrs.frozen(eq=False)
class Model:
    """A saved model, and the rows that it is used on.

    Parameters
    ----------
    content : Content
    data : object
        Rows of the fit.
    others : object
        New rows.
    usual : frozenset of (str, str)
        Uses that raise an error without any change, with the type of the error.
    """

    content: saving.Content
    data: object
    others: object
    usual: frozenset[tuple[str, str]]


@attrs.define
class Tally:
    """What became of mutants."""

    counts: Counter[str] = attrs.field(factory=Counter)
    findings: dict[str, list[str]] = attrs.field(factory=dict)

    def note(self, name: str, number: int, what: str) -> None:
        """Count one mutant, whose outcome is "refused", "structure", "used", or a finding."""
        kind = what if what in ("refused", "structure", "used") else "finding"
        self.counts[kind] += 1
        if kind == "finding":
            self.findings.setdefault(what, []).append(f"{name}:{number}")


def samples() -> tuple[Array, object]:
    """An array of two groups, and a table with numbers, gaps, levels, counts and dates."""
    import pandas as pd

    rng = np.random.default_rng(0)
    groups = np.arange(ROWS) % 2
    X = rng.normal(size=(ROWS, 3)) + 5.0 * groups[:, None]
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, ROWS), unit="D")
    table = {
        "a": X[:, 0],
        "b": np.where(rng.random(ROWS) < 0.2, np.nan, X[:, 1]),
        "c": np.array(list("xyz"))[rng.integers(0, 3, ROWS)],
        "s": np.array(["m", "f"])[groups],
        "d": rng.poisson(2 + 4 * groups),
        "t": days,
    }
    return np.abs(X), pd.DataFrame(table)


def estimators() -> Iterator[tuple[str, object, object]]:
    """Every recipe on an array, those for tables and one of each kind of stage on a table, and the other estimators."""
    from clusterkit.tables import Preparation

    X, table = samples()

    def made(name: str) -> Any:
        options: dict[str, Any] = {"random_state": 0} if "random_state" in clusterkit.recipe(name).get_params() else {}
        with contextlib.suppress(ValueError):
            model: Any = clusterkit.recipe(name, n_clusters=2, **options)
            model._check_parameters()  # a method that finds the number itself refuses one
            return model
        return clusterkit.recipe(name, **options)

    for name in sorted(clusterkit.recipes()):
        yield name, made(name), X
    for name in ("mixture", "auto"):
        yield f"{name}-table", clusterkit.recipe(name, n_clusters=2, random_state=0), table
    features = Preparation().fit(table).transform(table)
    for name in ("kmeans", "hdbscan", "svc", "nmf"):
        yield f"{name}-features", made(name), features if name != "nmf" else np.abs(features)
    links = np.array([[0, 2, 1], [1, 3, 1], [0, 1, -1]])
    yield "kmeans-links", _Linked(clusterkit.recipe("kmeans", n_clusters=2, random_state=0), links), X
    yield "single-linkage-links", _Linked(clusterkit.recipe("single-linkage", n_clusters=2), links), X
    yield "hdbscan-float32", made("hdbscan"), X.astype(np.float32)
    for name in ("kmeans", "mixture", "emmc-multi", "auto"):
        yield f"{name}-outside", _Outside(made(name)), X
    for name in ("kmeans", "nmf", "spectral", "emmc"):
        yield f"{name}-sparse", made(name), scipy.sparse.csr_array(np.where(X > 2.0, X, 0.0))
    far = np.linalg.norm(X[:, None] - X[None], axis=2)
    for name, options in (("single-linkage", {"n_clusters": 2}), ("hdbscan", {})):
        yield f"{name}-precomputed", clusterkit.recipe(name, metric="precomputed", **options), far
    for name in ("kmeans", "spectral"):
        yield f"{name}-search", clusterkit.recipe(name, n_clusters=(2, 4), random_state=0), X
    yield "consensus", clusterkit.ConsensusClustering(random_state=0, n_members=3), X
    yield "min-max", _Labelled(MinMaxModularSVC(random_state=0), np.arange(ROWS) % 3), X


@attrs.frozen(eq=False)
class _Linked:
    model: Any
    links: Any

    def fit(self, X: Any) -> Any:
        return self.model.fit(X, links=self.links)


@attrs.frozen(eq=False)
class _Outside:
    model: Any

    def fit(self, X: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            np.save(path := Path(folder) / "x.npy", X)
            return self.model.fit(clusterkit.open(path))


@attrs.frozen(eq=False)
class _Labelled:
    model: Any
    y: Any

    def fit(self, X: Any) -> Any:
        return self.model.fit(X, self.y)


def models(only: str = "", folder: str | None = None) -> dict[str, Model]:
    """The saved models whose name begins with `only`; all code that their use needs is compiled afterwards."""
    saved = {}
    estimator: Any
    data: Any
    for name, estimator, data in estimators():
        if not name.startswith(only):
            continue
        with tempfile.TemporaryDirectory(dir=folder) as place, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(place) / "model"
            try:
                estimator.fit(data).save(path)
            except errors.BrokenPlugin:  # a recipe whose extra is missing
                continue
            content = saving.read(path)
            others = data[::3] if not isinstance(data, np.ndarray) else data[::3] * 1.25
            usual = frozenset(
                (use, type(error).__name__)
                for use, error in used(clusterkit.load(path), data, others)
                if error is not None
            )
        tree = {key: value for key, value in content.tree.items() if key not in ("format", "sha256")}
        saved[name] = Model(saving.Content(tree, content.tensors), data, others, usual)
    return saved


FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "profile": lambda model, data: clusterkit.profile(model, data),
    "assign": lambda model, data: clusterkit.assign(model, data),
    "representatives": lambda model, data: clusterkit.representatives(model, data),
    "linkage_matrix": lambda model, data: profiles.linkage_matrix(model),
    "repr": lambda model, data: repr(model),
}
"""What is done with a model beside its own methods."""

OF_ROWS = frozenset({"predict", "predict_proba", "transform", "decision_function", "score"})
"""Methods that take new rows."""

PLAIN = frozenset({"get_params", "get_feature_names_out", "get_metadata_routing"})
"""Methods without arguments; those that fit, and that set something, are left out."""


def used(model: object, data: object, others: object) -> Iterator[tuple[str, BaseException | None]]:
    """Each use of a model, and the error that it raises."""
    names = sorted({name for name in (*dir(type(model)), *vars(model)) if not name.startswith("_")})
    for name in names:
        if callable(inspect.getattr_static(type(model), name, None)) and name not in OF_ROWS | PLAIN:
            continue
        yield name, _error(partial(_called, model, name, others))
    for name, function in FUNCTIONS.items():
        yield name, _error(partial(function, model, data))


def _called(model: Any, name: str, rows: Any) -> object:
    value = getattr(model, name)
    if name in OF_ROWS:
        return value(rows)
    return value() if name in PLAIN else value


def _error(function: Callable[[], object]) -> BaseException | None:
    try:
        function()
    except Exception as error:
        return error
    return None


def is_own(error: BaseException) -> bool:
    """Whether the library raised an error itself, with a message of its own, or scikit-learn counted columns for it."""
    frames = traceback.extract_tb(error.__traceback__)
    if frames and frames[-1].name == "_check_n_features":
        return True
    inside = frames and f"{os.sep}clusterkit{os.sep}" in frames[-1].filename
    raised = frames and (frames[-1].line or "").startswith("raise")
    return type(error).__module__ == errors.__name__ or bool(
        inside and raised and isinstance(error, ValueError | AttributeError)
    )


def forge(model: Model, path: Path, rng: Rng) -> str:
    """Write a mutant of a model and use it; what becomes of it, as `Tally.note` counts it."""
    tree, tensors = mutate(model.content, rng)
    saving.write(path, saving.Content(tree, tensors))
    try:
        loaded = clusterkit.load(path)
    except InvalidModelFile as error:
        if isinstance(error.__cause__, MemoryError) and not isinstance(error.__cause__, errors.NeedsMemory):
            return "load: MemoryError"
        frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
        return "structure" if Path(frames[-1].filename).parent.name == "saving" else "refused"
    except Exception as error:
        return _described("load", error)
    for use, raised in used(loaded, model.data, model.others):
        if raised is not None and not is_own(raised) and (use, type(raised).__name__) not in model.usual:
            return _described(use, raised)
    return "used"


def _described(use: str, error: BaseException) -> str:
    frame = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frame if f"{os.sep}clusterkit{os.sep}" in each.filename]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{use}: {type(error).__name__} at {where}: {str(error)[:80]}"


def mutate(content: saving.Content, rng: Rng) -> tuple[dict[str, object], dict[str, Array]]:
    """One to three changes of the arrays, or of the values, of a model."""
    tree: dict[str, Any] = copy.deepcopy(dict(content.tree))
    tensors: dict[str, Any] = dict(content.tensors)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        if rng.random() < 0.6 and tensors:
            key = str(rng.choice(sorted(tensors)))
            changed = np.ascontiguousarray(_array(tensors[key], rng))
            tensors[key] = changed if changed.dtype.kind in "biuf" else tensors[key]
        else:
            _value(tree, rng)
    return tree, tensors


def _array(values: Any, rng: Rng) -> Any:
    """An array with other entries, another shape or another type."""
    how = int(rng.integers(16))
    flat = values.reshape(-1).copy()
    if how < 7 and flat.size:  # one entry, most often one that could be there
        place = int(rng.integers(flat.size))
        with np.errstate(all="ignore"):
            flat[place] = _entry(flat, rng)
        return flat.reshape(values.shape)
    if how == 7 and flat.size:
        return rng.permutation(flat).reshape(values.shape)
    if how == 8:
        return np.full_like(values, _entry(flat, rng) if flat.size else 0)
    if how == 9 and values.ndim:
        return values[:0] if rng.random() < 0.3 else values[:-1]
    if how == 10 and values.ndim:
        return np.concatenate([values, values[: int(rng.integers(1, 3))]])
    if how == 11 and values.ndim > 1:
        return values[:, :-1] if rng.random() < 0.5 else values.T
    if how == 12 and values.ndim:
        return values[::-1]
    if how == 13:
        other = str(rng.choice(["i1", "i4", "i8", "u8", "f4", "f8", "b1"]))
        with np.errstate(all="ignore"):
            return values.astype(other)
    if how == 14:
        return values.reshape(-1) if rng.random() < 0.5 else values[None]
    return np.sort(flat).reshape(values.shape)


def _entry(flat: Any, rng: Rng) -> Any:
    """A number for an array: another one of it, a near one, or one that is odd."""
    kind = flat.dtype.kind
    if kind == "b":
        return bool(rng.random() < 0.5)
    draw = rng.random()
    if draw < 0.4:
        return flat[int(rng.integers(flat.size))]
    if kind in "iu":
        least, most = np.iinfo(flat.dtype).min, np.iinfo(flat.dtype).max
        near = int(flat.max()) + int(rng.integers(-2, 3))
        wanted = near if draw < 0.7 else int(rng.choice([0, -1, 10**6, least, most, most // 4]))
        return min(max(wanted, int(least)), int(most))
    if draw < 0.6:
        return flat[int(rng.integers(flat.size))] * rng.normal()
    return float(rng.choice([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, -1e308, 1e-320, 1e30]))


def _value(tree: dict[str, Any], rng: Rng) -> None:
    """Change one value of the JSON in place."""
    places = list(_places(tree["nodes"]))
    holder, key = places[int(rng.integers(len(places)))]
    value = holder[key]
    if isinstance(value, dict) and value.keys() == {"node"}:
        nodes, number = tree["nodes"], value["node"]
        alike = [i for i in range(len(nodes)) if nodes[i].keys() == nodes[number].keys()]
        holder[key] = {"node": int(rng.choice(alike))}
    elif isinstance(value, bool) or value is None:
        holder[key] = not value if rng.random() < 0.7 else _any(rng)
    elif isinstance(value, int):
        holder[key] = (
            value + int(rng.integers(-2, 3)) if rng.random() < 0.4 else NUMBERS[int(rng.integers(len(NUMBERS)))]
        )
    elif isinstance(value, float):
        holder[key] = value * float(rng.normal()) if rng.random() < 0.4 else FLOATS[int(rng.integers(len(FLOATS)))]
    elif isinstance(value, str):
        texts = [holder[key] for holder, key in places if isinstance(holder[key], str)]
        holder[key] = str(rng.choice(texts)) if rng.random() < 0.6 else TEXTS[int(rng.integers(len(TEXTS)))]
    elif isinstance(value, list) and value:
        at = int(rng.integers(len(value)))
        change = int(rng.integers(3))
        holder[key] = value[:at] if change == 0 else [*value, value[at]] if change == 1 else value[::-1]
    else:
        holder[key] = _any(rng)
    if rng.random() < 0.05:
        holder[key] = _any(rng)


def _any(rng: Rng) -> object:
    every: tuple[object, ...] = (*NUMBERS, *FLOATS, *TEXTS, *ODD)
    return every[int(rng.integers(len(every)))]


def _places(nodes: Any) -> Iterator[tuple[Any, Any]]:
    """The places of the values in the nodes: fields, entries of lists and mappings, and what else describes a node."""
    for node in nodes:
        for key, value in node.items():
            if key == "fields":
                yield from ((value, name) for name in value)
            elif key in ("tuple", "list", "set", "frozenset", "texts", "shape"):
                yield node, key
                yield from ((value, i) for i in range(len(value) if isinstance(value, list) else 0))
            elif key == "dict":
                yield from ((pair, 1) for pair in (value if isinstance(value, list) else ()))
            elif key not in ("class", "tensor", "sparse"):
                yield node, key


BATCH = 200
"""Mutants of one child at most."""


def run(saved: Mapping[str, Model], count: int, seed: int, minutes: float, folder: str, shown: bool = True) -> Tally:
    """Draw mutants of the models in turn until there are so many, or the time is up."""
    tally, until = Tally(), time.monotonic() + 60 * minutes
    turn = 0
    while sum(tally.counts.values()) < count and time.monotonic() < until:
        for name, model in saved.items():
            first, end = turn * BATCH, min((turn + 1) * BATCH, turn * BATCH + count)
            while first < end and sum(tally.counts.values()) < count and time.monotonic() < until:
                first = _batch(name, model, first, end, seed, folder, tally)
        turn += 1
        if shown:
            print(f"{sum(tally.counts.values())} mutants: {dict(tally.counts)}", flush=True)
    return tally


def _batch(name: str, model: Model, first: int, end: int, seed: int, folder: str, tally: Tally) -> int:
    """Mutants of one child, which reports each of them; the number of the next one."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            _child(name, model, first, end, seed, folder, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as reports:
        for line in reports:
            tally.note(name, first, line.rstrip("\n"))
            first += 1
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        signalled = signal.Signals(os.WTERMSIG(status)).name
        tally.note(name, first, "too long" if signalled in ("SIGPROF", "SIGALRM") else signalled)
        first += 1
    elif first < end:
        tally.note(name, first, "the child ended")
        first += 1
    return first


def _child(name: str, model: Model, first: int, end: int, seed: int, folder: str, writer: int) -> None:
    warnings.simplefilter("ignore")
    faulthandler.disable()  # the parent counts signals
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    present = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (present + ROOM, present + ROOM))
    path = Path(folder) / f"{os.getpid()}.model"
    with os.fdopen(writer, "w", encoding="utf-8", errors="replace") as reports:
        for number in range(first, end):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.setitimer(signal.ITIMER_REAL, 20 * SECONDS)
            what = forge(model, path, _rng(name, number, seed))
            reports.write(ascii(what)[1:-1] + "\n")
            reports.flush()
    path.unlink(missing_ok=True)


def _rng(name: str, number: int, seed: int) -> Rng:
    return np.random.default_rng([seed, number, *name.encode()])


def main() -> int:
    """Draw mutants, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="", help="models whose name begins so")
    parser.add_argument("--one", help="NAME:NUMBER, in this process, with its traceback")
    options = parser.parse_args()
    # a forked child would wait for ever for the OpenMP threads of its parent
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        if options.one:
            name, _, number = options.one.rpartition(":")
            return _shown(models(name)[name], Path(folder), _rng(name, int(number), options.seed))
        saved = models(options.model)
        tally = run(saved, options.mutants, options.seed, options.minutes, folder)
    past = sum(tally.counts.values()) - tally.counts["structure"]
    total = max(1, sum(tally.counts.values()))
    for what, cases in sorted(tally.findings.items(), key=lambda each: -len(each[1])):
        print(f"{len(cases):6}  {what}   --one {cases[0]}")
    print(
        f"{total} mutants of {len(saved)} models, seed {options.seed}: {past / total:.0%} past checksum and structure; "
        f"{tally.counts['refused']} refused after it, {tally.counts['used']} loaded and used, "
        f"{tally.counts['finding']} findings"
    )
    return int(bool(tally.findings))


def _shown(model: Model, folder: Path, rng: Rng) -> int:
    """Use one mutant, and print the traceback of each error that is not the library's own."""
    tree, tensors = mutate(model.content, rng)
    nodes: Any = model.content.tree["nodes"]
    mutants: Any = tree["nodes"]
    for key, tensor in tensors.items():
        before = model.content.tensors[key]
        if tensor is not before:
            print(key, before.dtype, before.shape, "->", tensor.dtype, tensor.shape)
    for number, (before, after) in enumerate(zip(nodes, mutants, strict=True)):
        if before != after:
            print(number, str(before)[:600], "->", str(after)[:600])
    path = folder / "model"
    saving.write(path, saving.Content(tree, tensors))
    loaded = clusterkit.load(path)
    for use, error in used(loaded, model.data, model.others):
        if error is not None and (use, type(error).__name__) not in model.usual:
            print(use, "own" if is_own(error) else "")
            traceback.print_exception(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
