"""Every method on every set: judged by the known classes, with the time, and written to a journal as it comes.

The methods are the recipes, and the clusterings of other libraries that are installed. The sets are a folder of
labelled data sets in two formats of files, and `LabeledSet` says which rows are noise.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np

from clusterkit import __version__
from clusterkit._typing import Array, Labels, Mask
from clusterkit.contracts.providers import Recipe
from clusterkit.errors import ClusterkitWarning, InvalidParameter, UnknownName, nearest_names
from clusterkit.estimators.build import recipe, recipes
from clusterkit.estimators.preparing import fit_prepared
from clusterkit.samples.limits import Report, notify
from clusterkit.tables import Table, read_table
from clusterkit.tables.cells.readings import as_levels

__all__ = [
    "Cell",
    "LabeledSet",
    "Method",
    "folder_of",
    "peers",
    "read_sets",
    "recipe_methods",
    "run",
]


Labeller: TypeAlias = Callable[[Array | Table, int | None, int], Labels]
"""Function from samples (n, d) or a table, a number of clusters or None, and a seed to labels (n,)."""

MIN_CLUSTER_SIZE = 15
"""Least number of rows of a cluster for HDBSCAN, between its default of 5, which finds many small clusters, and the 50
of large tables."""

NEIGHBORS = 10
"""Nearest neighbours of the peers' graphs, scikit-learn's default."""


@attrs.frozen
class Method:
    """A clustering that can be compared.

    Parameters
    ----------
    name : str
    library : str
        Distribution that it belongs to.
    version : str
        Version of that distribution.
    clusters : {"given", "two", "found", "either"}
        Whether it needs the number of clusters, always makes two, finds the number, or takes it if there is one.
    labels : callable
        Function from the samples (n, d) or the table, the number of clusters or None, and a seed to labels (n,), -1 for
        noise.
    """

    name: str
    library: str
    version: str
    clusters: Literal["given", "two", "found", "either"]
    labels: Labeller

    def suits(self, n_classes: int, k_known: bool) -> bool:
        """Whether it can look for that many classes, with their number given or not."""
        if self.clusters == "either":
            return True
        if self.clusters == "found":
            return not k_known
        return k_known and (self.clusters == "given" or n_classes == 2)


def recipe_methods(names: Collection[str] | None = None, *, of_tables: bool = False) -> list[Method]:
    """The recipes of these names, by default all, with their default parameters; for arrays, or for tables.

    Raises
    ------
    UnknownName
        If there is no such recipe.
    """
    known = recipes()
    for name in names or ():
        if name not in known:
            raise UnknownName(f"no recipe named {name!r}. {nearest_names(name, known)}")
    return [
        Method(name, "clusterkit", __version__, _takes(known[name], of_tables), _fit_recipe(name))
        for name in (known if names is None else names)
    ]


def _takes(recipe: Recipe, of_tables: bool) -> Literal["given", "two", "found", "either"]:
    """How a recipe takes the number: the driver `auto`, and stages for tables, accept it or find it."""
    return "either" if recipe.driver == "auto" or (of_tables and recipe.tables) else recipe.clusters


def _fit_recipe(name: str) -> Labeller:
    def labels(X: Array | Table, n_clusters: int | None, seed: int) -> Labels:
        number = {} if n_clusters is None or recipes()[name].clusters == "two" else {"n_clusters": n_clusters}
        model = recipe(name, random_state=seed, **number)
        if isinstance(X, Table):
            fit_prepared(model, X)
        else:
            model.fit(X)
        return np.asarray(model.labels_)

    return labels


def _sklearn(path: str, parameters: Mapping[str, object], k: str = "n_clusters", seed: bool = True) -> Labeller:
    def labels(X: Array | Table, n_clusters: int | None, number: int) -> Labels:
        module, _, name = path.rpartition(".")
        more: dict[str, object] = {} if n_clusters is None else {k: n_clusters}
        more |= {"random_state": number} if seed else {}
        return np.asarray(getattr(import_module(module), name)(**parameters, **more).fit_predict(X))

    return labels


KMEANS = _sklearn("sklearn.cluster.KMeans", {"n_init": 10})
MIXTURE = _sklearn("sklearn.mixture.GaussianMixture", {"n_init": 5}, "n_components")
SPECTRAL = _sklearn("sklearn.cluster.SpectralClustering", {"affinity": "nearest_neighbors", "n_neighbors": NEIGHBORS})
DENSITY: Mapping[str, object] = {"min_cluster_size": MIN_CLUSTER_SIZE}

PEERS: Mapping[str, tuple[str, Literal["given", "found"], Labeller]] = {
    "KMeans": ("scikit-learn", "given", KMEANS),
    "GaussianMixture": ("scikit-learn", "given", MIXTURE),
    "SpectralClustering": ("scikit-learn", "given", SPECTRAL),
    "Ward": ("scikit-learn", "given", _sklearn("sklearn.cluster.AgglomerativeClustering", {}, seed=False)),
    "HDBSCAN (scikit-learn)": ("scikit-learn", "found", _sklearn("sklearn.cluster.HDBSCAN", DENSITY, seed=False)),
    "HDBSCAN (hdbscan)": ("hdbscan", "found", _sklearn("hdbscan.HDBSCAN", DENSITY, seed=False)),
    "HDBSCAN (fast_hdbscan)": ("fast_hdbscan", "found", _sklearn("fast_hdbscan.HDBSCAN", DENSITY, seed=False)),
    "Genie (genieclust)": ("genieclust", "given", _sklearn("genieclust.Genie", {"gini_threshold": 0.3}, seed=False)),
}
"""Name to distribution, what it does about the number of clusters, and its fit. The settings are the usual ones: ten
starts of k-means and five of the mixture, neighbours as by default, least cluster size as above."""


def peers(*, of_tables: bool = False) -> list[Method]:
    """The clusterings of other libraries, those that are installed: of arrays, or of tables."""
    from clusterkit_papers.benchmarking import tables

    installed = []
    methods: Mapping[str, tuple[str, Any, Any]] = tables.PEERS if of_tables else PEERS
    for name, (distribution, clusters, labels) in methods.items():
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
        labeller = tables.on_codes(labels) if of_tables else labels
        installed.append(Method(name, distribution, version, clusters, labeller))
    return installed


TABLES, DATA, LABELS = (".csv.gz", ".csv"), ".data.gz", ".labels0.gz"
"""Endings: tables with a column ``label``; numbers separated by blanks, with the classes in a second file."""

LABEL = "label"
"""Name of the column with the classes."""

TABLE_NOISE, LABELS_NOISE = -1, 0
"""The class of rows that belong to no cluster, in tables and in files of classes (there 1 is the first class)."""


@attrs.frozen(eq=False)
class LabeledSet:
    """A data set with known classes.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n, d) or Table
        Numbers, or the columns as they are.
    classes : ndarray of shape (n,)
        Class of each row, from 0; -1 for noise.
    """

    name: str
    X: Array | Table
    classes: Labels

    @property
    def known(self) -> Mask:
        """Rows that belong to a class, (n,). The others are clustered, but not judged."""
        return np.asarray(self.classes >= 0)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.max(initial=-1)) + 1

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits of the data and the classes."""
        content = hashlib.sha256()
        if isinstance(self.X, Table):
            for column in self.X.columns():
                content.update("\0".join([column.name, *(text or "" for text in as_levels(column))]).encode())
        else:
            content.update(np.ascontiguousarray(self.X).tobytes())
        content.update(np.ascontiguousarray(self.classes).tobytes())
        return content.hexdigest()[:12]

    def every(self, step: int) -> LabeledSet:
        """The set of each step-th row."""
        rows = np.arange(0, len(self.classes), step)
        part = self.X.take(rows) if isinstance(self.X, Table) else self.X[rows]
        return attrs.evolve(self, X=part, classes=self.classes[rows])


def folder_of(name: str) -> Path:
    """The folder of that path, or of that name in the data folder (the environment variable CLUSTERKIT_DATA).

    Raises
    ------
    InvalidParameter
        If there is no such folder.
    """
    if Path(name).is_dir():
        return Path(name)
    data = os.environ.get("CLUSTERKIT_DATA")
    if data and (Path(data) / name).is_dir():
        return Path(data) / name
    place = f"nor in the data folder {data}" if data else "and CLUSTERKIT_DATA, the folder of data sets, is not set"
    raise InvalidParameter(f"{name}: there is no such folder here, {place}")


def read_sets(
    folder: str | Path,
    names: Collection[str] | None = None,
    *,
    max_rows: int | None = None,
    as_tables: bool | None = None,
) -> list[LabeledSet]:
    """The data sets of a folder, by name.

    Parameters
    ----------
    folder : path
        Folder of files ``NAME.csv.gz`` or ``NAME.csv``, whose column ``label`` has the classes (-1: noise), or
        ``NAME.data.gz`` beside ``NAME.labels0.gz`` (0: noise), as in the suite of Gagolewski.
    names : collection of str, optional
        Names of the sets to read; default all.
    max_rows : int, optional
        Largest number of rows of the sets to read.
    as_tables : bool, optional
        Whether the columns of tables stay as they are, with categories, gaps and units, or all of them are arrays.
        Default: as they are, if a table of the folder holds more than numbers.

    Raises
    ------
    InvalidParameter
        If a file cannot be read, a name is unknown, or nothing is left.
    """
    files = {_name(file): file for file in sorted(Path(folder).glob("*")) if _name(file)}
    for name in names or ():
        if name not in files:
            raise InvalidParameter(f"{folder}: no data set named {name!r}. {nearest_names(name, files)}")
    if as_tables is None:
        as_tables = any(_is_mixed(file) for file in files.values())
    chosen = [
        _read(name, file, as_tables=as_tables) for name, file in sorted(files.items()) if names is None or name in names
    ]
    chosen = [each for each in chosen if max_rows is None or len(each.classes) <= max_rows]
    if not chosen:
        limit = "" if max_rows is None else f" of at most {max_rows} rows"
        endings = f"NAME{TABLES[0]} or NAME{TABLES[1]} with a column {LABEL!r}, or NAME{DATA} and NAME{LABELS}"
        raise InvalidParameter(f"{folder}: no data set{limit} (files {endings})")
    return chosen


def _name(file: Path) -> str:
    """The name of the set that a file holds; "" for other files, such as a list of the sets."""
    for ending in (*TABLES, DATA):
        if file.name.endswith(ending):
            has_classes = ending == DATA or LABEL in _first_line(file)
            return file.name.removesuffix(ending) if has_classes else ""
    return ""


def _first_line(file: Path) -> list[str]:
    try:
        with (
            gzip.open(file, "rt", encoding="utf-8") if file.name.endswith(".gz") else file.open(encoding="utf-8") as it
        ):
            return [word.strip('"') for word in it.readline().strip().split(",")]
    except (OSError, EOFError, ValueError):
        return [LABEL]  # reading it in full says what is wrong


def _is_mixed(file: Path) -> bool:
    """Whether a table holds more than numbers; a file that cannot be read is told later."""
    if file.name.endswith(DATA):
        return False
    try:
        columns = _read(_name(file), file, as_tables=True).X
    except InvalidParameter:
        return False
    assert isinstance(columns, Table)
    return any(column.kind != "number" or bool(column.missing().any()) for column in columns.columns())


def _read(name: str, file: Path, *, as_tables: bool) -> LabeledSet:
    try:
        if not file.name.endswith(DATA):
            table = read_table(str(file))
            rest = table.select(drop=[LABEL])
            [label] = [column for column in table.columns() if column.name == LABEL]
            classes = [_class(text) for text in as_levels(label)]
            return _labeled(name, rest if as_tables else rest.numbers(), classes, TABLE_NOISE)
        X = np.loadtxt(file, ndmin=2, dtype=np.float64)
        with gzip.open(file.with_name(name + LABELS), "rt", encoding="ascii") as lines:
            classes = [int(line) for line in lines if line.strip()]
        return _labeled(name, X, classes, LABELS_NOISE)
    except (OSError, EOFError, ValueError) as error:
        raise InvalidParameter(f"{file}: cannot be read as a labelled data set: {error}") from error


def _class(text: str | None) -> object:
    """A class: a whole number where it is one, so that -1 is noise; gaps are noise too."""
    if text is None:
        return TABLE_NOISE
    try:
        return int(float(text))
    except ValueError:
        return text


def _labeled(name: str, X: Array | Table, classes: Iterable[object], noise: int) -> LabeledSet:
    values = list(classes)
    n = X.n_rows if isinstance(X, Table) else len(X)
    if len(values) != n:
        raise ValueError(f"{n} rows, but {len(values)} classes")
    order = {value: place for place, value in enumerate(sorted({v for v in values if v != noise}, key=str))}
    return LabeledSet(name, X, np.array([order.get(value, -1) for value in values], dtype=np.intp))


WARM_ROWS = 200
"""Rows of the fit before the clock of a method starts, so that imports and compilation are not counted."""


@attrs.frozen
class Cell:
    """Result of one method on one set.

    Parameters
    ----------
    data_set : str
    digest : str
        Digest of the data, so that a journal is not taken for other data of the same name.
    method, library, version : str
    k_known : bool
        Whether the method was given the number of classes.
    seed : int
    n_classes, n_clusters : int
        Classes of the set, and clusters of the labels without noise.
    adjusted_rand, asymmetric_accuracy : float
        Agreement of the labels with the classes, over the rows that belong to a class. Noise of the method is one
        cluster more.
    seconds : float
        Processor time of the fit, all threads together; of other processes none.
    error : str
        Reason why there are no labels; the two indices are 0 then.
    """

    data_set: str
    digest: str
    method: str
    library: str
    version: str
    k_known: bool
    seed: int
    n_classes: int
    n_clusters: int = 0
    adjusted_rand: float = 0.0
    asymmetric_accuracy: float = 0.0
    seconds: float = 0.0
    error: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Key of the cell in a journal."""
        return self.digest, self.method, self.library, self.version, self.k_known, self.seed


def run(
    sets: Sequence[LabeledSet],
    methods: Sequence[Method],
    *,
    seed: int = 0,
    journal: str | Path | None = None,
) -> list[Cell]:
    """Fit every method to every set, with the number of classes where it takes one and without where it finds it.

    Parameters
    ----------
    sets : sequence of LabeledSet
    methods : sequence of Method
    seed : int, default 0
        Random seed of every fit.
    journal : path, optional
        File to which every finished cell is added as a line of JSON; cells in it are not computed again.

    Returns
    -------
    list of Cell
        After Ctrl-C those that were finished.

    Raises
    ------
    InvalidParameter
        If the journal holds something else.
    """
    known = {} if journal is None else read_journal(journal)
    warm: set[str] = set()
    cells: list[Cell] = []
    try:
        plans = list(_plan(sets, methods, seed))
        for place, (plan, method, data_set) in enumerate(plans):
            notify(Report("benchmark", place, len(plans)))
            if plan.key in known:
                cells.append(known[plan.key])
                continue
            if method.name not in warm:
                _fit(plan, method, data_set.every(max(1, len(data_set.classes) // WARM_ROWS)))
                warm.add(method.name)
            cells.append(_fit(plan, method, data_set))
            if journal is not None:
                with Path(journal).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(attrs.asdict(cells[-1])) + "\n")
    except KeyboardInterrupt:
        warnings.warn(f"interrupted: {len(cells)} fits are kept", ClusterkitWarning, stacklevel=2)
    return cells


def read_journal(path: str | Path) -> Mapping[tuple[object, ...], Cell]:
    """The cells of a journal; a last line that was cut short is left out."""
    file = Path(path)
    if not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    cells = {}
    for place, line in enumerate(lines, 1):
        try:
            cell = Cell(**json.loads(line))
        except (ValueError, TypeError) as error:
            if place == len(lines) and not line.endswith("\n"):
                file.write_text("".join(lines[:-1]), encoding="utf-8")
                break
            raise InvalidParameter(f"{path}, line {place}: not the journal of a benchmark: {error}") from error
        cells[cell.key] = cell
    return cells


def _plan(
    sets: Sequence[LabeledSet], methods: Sequence[Method], seed: int
) -> Iterator[tuple[Cell, Method, LabeledSet]]:
    """The cells to come, a method after the other, the small sets first."""
    digests = {data_set.name: data_set.digest for data_set in sets}
    for method in methods:
        for data_set in sorted(sets, key=lambda each: len(each.classes)):
            for k_known in (True, False):
                if method.suits(data_set.n_classes, k_known):
                    identity = (data_set.name, digests[data_set.name], method.name, method.library, method.version)
                    yield Cell(*identity, k_known, seed, data_set.n_classes), method, data_set


def _fit(plan: Cell, method: Method, data_set: LabeledSet) -> Cell:
    from clusterkit.metrics import adjusted_asymmetric_accuracy, adjusted_rand

    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = method.labels(data_set.X, data_set.n_classes if plan.k_known else None, plan.seed)
    except Exception as error:
        return attrs.evolve(plan, error=f"{type(error).__name__}: {error}".splitlines()[0][:200])
    seconds = time.process_time() - begin
    classes, labels = data_set.classes[data_set.known], np.asarray(labels)[data_set.known]
    return attrs.evolve(
        plan,
        n_clusters=len(np.unique(labels[labels >= 0])),
        adjusted_rand=adjusted_rand(classes, labels),
        asymmetric_accuracy=adjusted_asymmetric_accuracy(classes, labels),
        seconds=seconds,
    )
