"""The min-max modular support vector machine as a scikit-learn classifier."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from clusterkit._typing import AnyArray, Array, ArrayLike, Floats, Indices, Labels, RandomState
from clusterkit.contracts import Partitioner, Task, labels_by_blocks
from clusterkit.contracts.arguments import InitLike, SamplesLike
from clusterkit.contracts.params import is_count
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.estimators import same_place
from clusterkit.estimators.base import NestedParams
from clusterkit.estimators.samples import columns_of_the_fit, only_numbers, refuse_device, refuse_unsuited
from clusterkit.fitting.fit import check_magnitude
from clusterkit.fitting.samples import EngineSamples, engine_for
from clusterkit.numerics.shapes import Declared, array
from clusterkit.samples import FeatureSpace, identity_space
from clusterkit.samples.device_engine import ArrayRows, DeviceEngine
from clusterkit_min_max.training import Training, collected, rows_of_engine, train_here, train_there

__all__ = ["MinMaxModularSVC"]

METHODS = ("row_break", "alpha_beta", "shared", "approximate")
"""Legal values of `predict_method`."""

COMBINATIONS = ("votes", "minimum")
"""Legal values of `combine`."""

SHAPES = ("ovr", "ovo")
"""Legal values of `decision_function_shape`, as in `sklearn.svm.SVC`."""


class MinMaxModularSVC(ClassifierMixin, NestedParams):
    """Splits every class into parts, trains a machine for every two parts, and decides by minimum and maximum.

    With S_ij the machine of positive part i and negative part j, a sample is positive if ``max_i min_j S_ij > 0``. With
    more than two classes every pair has one such decision, which `combine` joins. Of two classes the later one in
    `classes_` is the positive one; the method is not symmetric in the classes. The search for the sign is in
    min_max_jit.py (`search`).

    Parameters
    ----------
    n_parts : int or pair of ints, default 2
        Number of parts of each class (K in the papers); for two classes also a pair (K+, K-). With 1 there is one plain
        machine for each pair of classes.
    partitioner : str, dict or Partitioner, default "equal"
        The stage that splits a class: a name of ``clusterkit.stages("partitioner")``, any recipe by name, a dict with
        "name" and parameters, or a stage. Parts that are left empty are dropped.
    C : float, default 1.0
        Penalty of every machine.
    gamma : {"scale", "auto"} or float, default "scale"
        Parameter of the kernel ``exp(-gamma |x - y|²)``, the same for all machines. "scale" is 1 / (d var(X)), "auto"
        is 1 / d.
    n_jobs : int, optional
        Number of machines that `joblib` trains at once, in threads unless ``joblib.parallel_config`` chooses another
        backend. The fitted model does not depend on this number.
    random_state : int, Generator, RandomState or None
        Seed of the partitions.
    predict_method : {"row_break", "alpha_beta", "shared", "approximate"}, default "row_break"
        How `predict` computes the sign of the min-max value. The first three are exact: "row_break" evaluates only the
        machines that can change the sign, "alpha_beta" only the machines that can change the value, and "shared" all
        machines, by matrix products. Every method computes the kernel value of a sample and a support vector at most
        once. "approximate" follows a staircase through the table of machines, to the right where a value is positive,
        else down: it evaluates at most K+ + K- - 1 machines and may be wrong.
    combine : {"votes", "minimum"}, default "votes"
        How the pairs of more than two classes decide. "votes", which is a choice of ours: each pair has a vote, and
        sums of values decide among equal votes. "minimum", the rule of Lu & Ito: the value of a class is the least of
        its pairs, and the largest value wins. A class that wins all its pairs is the answer of both.
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        Shape of `decision_function` for more than two classes, as in `sklearn.svm.SVC`.
    tol : float, default 1e-3
        Tolerance of the training of every machine.
    cache_size : float, default 200
        Kernel cache of one training, in MB.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    n_parts_ : ndarray of shape (c,)
        Number of parts of each class that are not empty.
    parts_ : ndarray of shape (n,)
        Part of each training row within its class.
    gamma_ : float
    support_ : ndarray of shape (s,)
        Training rows that are support vectors of any machine, ordered by part.
    fit_report_ : dict
        "n_modules"; "partition_seconds"; "sequential_seconds" and "parallel_seconds", the sum and the maximum of the
        processor times of the machines; "n_support", the number of support vectors summed over machines, and
        "n_support_distinct"; "evaluated_modules", the mean number per sample in the last `predict`.

    Raises
    ------
    InvalidData
        Raised by `fit`, if a class has fewer samples than parts, or there is one class only.
    InvalidParameter, UnknownName

    Notes
    -----
    Training is between quadratic and cubic in the size of a part, times the number of machines: in all about n² to
    n³ / K for K parts. Predicting m samples with s distinct support vectors and P parts costs O(m s (d + P)).
    Source: Lu & Ito (1999), IEEE Trans. Neural Networks 10(5), for the rule; Wen, Lu, Zhao (2005), Equal clustering
    makes min-max modular support vector machine more efficient, for parts of equal size.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from clusterkit_min_max import MinMaxModularSVC
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = MinMaxModularSVC(n_parts=3, partitioner="kmeans", C=10.0, gamma=2.0, random_state=0).fit(X, y)
    >>> model.fit_report_["n_modules"], model.score(X, y) > 0.98
    (9, True)
    """

    _always_fitted = frozenset(
        {"classes_", "n_parts_", "parts_", "gamma_", "support_", "fit_report_", "n_features_in_", "_modules"}
    )

    _declared: ClassVar[Mapping[str, Declared]] = {
        "classes_": array("c", any_type=True),
        "n_parts_": array("c", least=1),
        "parts_": array("n", least=0),
        "support_": array("s", least=0, distinct=True),
    }

    classes_: AnyArray
    n_parts_: Labels
    parts_: Labels
    gamma_: float
    support_: Indices
    fit_report_: dict[str, float | None]
    n_features_in_: int

    _slots: ClassVar[Mapping[str, str]] = {"partitioner": "init"}

    def __init__(
        self,
        n_parts: int | Sequence[int] = 2,
        partitioner: InitLike = "equal",
        C: float = 1.0,
        gamma: Literal["scale", "auto"] | float = "scale",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        predict_method: str = "row_break",
        combine: str = "votes",
        decision_function_shape: str = "ovr",
        tol: float = 1e-3,
        cache_size: float = 200,
    ) -> None:
        self.n_parts = n_parts
        self.partitioner = partitioner
        self.C = C
        self.gamma = gamma
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.predict_method = predict_method
        self.combine = combine
        self.decision_function_shape = decision_function_shape
        self.tol = tol
        self.cache_size = cache_size

    def fit(self, X: SamplesLike, y: ArrayLike) -> Self:
        """Split the classes of X, shape (n, d), with labels y, shape (n,), and train all machines.

        Collections of an engine that trains pairs, such as dask arrays, are gathered here to be split; the parts are
        cut out of the collection once, and the machines are trained where the parts lie.
        """
        from clusterkit_min_max.modules import Modules  # compiled functions, which predictions need too

        stage = self._checked_parameters()
        refuse_device("MinMaxModularSVC")
        source, engine = rows_of_engine(X)
        if source is None:
            refuse_unsuited(X)
        else:
            X, y = collected(source), np.asarray(y)  # labels are few
        with only_numbers(X) as plain:
            samples, classes = validate_data(self, plain, y, dtype=np.float64, order="C")
        if source is not None and source.names is not None:
            self.feature_names_in_ = np.array(source.names, dtype=object)
        check_classification_targets(classes)
        self.classes_, of_class = np.unique(classes, return_inverse=True)
        if len(self.classes_) < 2:
            raise InvalidData(
                f"a classifier needs at least two classes; all {len(classes)} samples are of one class, "
                f"{self.classes_.tolist()[0]!r}"
            )
        check_magnitude(samples)
        self.gamma_ = self._width(samples)
        begin = time.perf_counter()
        part_of, first = self._partition(samples, of_class, stage)
        seconds = time.perf_counter() - begin
        rows = [np.flatnonzero(part_of == part) for part in range(first[-1])]
        names = [
            (a, b)
            for p in range(len(self.classes_))
            for q in range(p + 1, len(self.classes_))
            for a in range(first[p], first[p + 1])
            for b in range(first[q], first[q + 1])
        ]
        training = Training(float(self.C), self.gamma_, float(self.tol), float(self.cache_size))
        if source is None or engine is None:
            machines = train_here(training, samples, rows, names, self.n_jobs)
        else:
            machines = train_there(training, engine, source, part_of, rows, names)
        trained = dict(zip(names, machines, strict=True))
        self._modules, self.support_ = Modules.join(samples, part_of, first, trained, self.gamma_)
        self.n_parts_ = np.diff(first)
        self.parts_ = part_of - first[of_class]
        self.fit_report_ = {
            "n_modules": len(machines),
            "partition_seconds": seconds,
            "sequential_seconds": sum(machine.seconds for machine in machines),
            "parallel_seconds": max(machine.seconds for machine in machines),
            "n_support": sum(len(machine.support) for machine in machines),
            "n_support_distinct": len(self.support_),
            "evaluated_modules": None,
        }
        return self

    def predict(self, X: SamplesLike) -> AnyArray:
        """Classes of the rows of X, shape (m, d); of a collection of an engine, such as a dask array, lazily."""
        from clusterkit_min_max.modules import Winners

        if (engine := engine_for(X)) is not None:
            self._check_use()
            source = engine.rows(X)
            if isinstance(source, ArrayRows):
                refuse_unsuited(X)
            engine = engine.base if isinstance(engine, DeviceEngine) else engine  # votes are counted by numpy
            rows = columns_of_the_fit(self, source)
            winners = EngineSamples(rows, engine).labels(
                Winners(self._modules, self.predict_method, self.combine), rows.d
            )
            return engine.named(winners, self.classes_)
        samples = self._samples(X)
        winners, evaluated = Winners(self._modules, self.predict_method, self.combine).of(samples)
        self.fit_report_["evaluated_modules"] = float(evaluated.mean())
        return self.classes_[winners]

    def decision_function(self, X: SamplesLike) -> Floats:
        """Exact min-max values of the rows of X, shape (m, d), whatever `predict_method` is.

        Returns
        -------
        ndarray
            For two classes of shape (m,), positive for ``classes_[1]``. For more classes of shape (m, c), the votes
            plus a sum of values that is squashed to less than a third, or with "ovo" of shape (m, c (c - 1) / 2),
            positive for the first class of a pair; both as in `sklearn.svm.SVC`. With ``combine="minimum"`` the least
            values of the classes take the place of the votes.
        """
        from clusterkit_min_max.modules import values_of_classes

        samples = self._samples(X)
        modules = self._modules
        # the values whose signs row_break finds, to the last bit
        values, _ = modules.shared(samples) if self.predict_method == "shared" else modules.alpha_beta(samples)
        if len(self.classes_) == 2:
            return values[:, 0]
        if self.decision_function_shape == "ovo":
            return -values
        return values_of_classes(values, len(self.classes_), self.combine)

    def _partitioner(self) -> Partitioner:
        stage = self._stage("partitioner")
        if stage is None:
            raise InvalidParameter("partitioner must not be None; 'random' does not look at the data")
        assert isinstance(stage, Partitioner)
        return stage

    def _checked_parameters(self) -> Partitioner:
        for name in ("C", "tol", "cache_size"):
            if not _positive(getattr(self, name)):
                raise InvalidParameter(f"{name} must be a finite number > 0, got {getattr(self, name)!r}")
        if self.gamma not in ("scale", "auto") and not _positive(self.gamma):
            raise InvalidParameter(f"gamma must be 'scale', 'auto' or a finite number > 0, got {self.gamma!r}")
        _choice("predict_method", self.predict_method, METHODS)
        _choice("combine", self.combine, COMBINATIONS)
        _choice("decision_function_shape", self.decision_function_shape, SHAPES)
        n_parts = self.n_parts
        is_sequence = isinstance(n_parts, Sequence) and not isinstance(n_parts, str)
        counts = list(n_parts) if isinstance(n_parts, Sequence) and is_sequence else [n_parts]
        if not all(is_count(k) for k in counts) or (is_sequence and len(counts) != 2):
            raise InvalidParameter(
                f"n_parts must be an integer >= 1, or a pair (K+, K-) of these, got {self.n_parts!r}"
            )
        if not same_place.is_jobs(self.n_jobs):
            raise InvalidParameter(f"n_jobs must be an integer other than 0 or None, got {self.n_jobs!r}")
        return self._partitioner()

    def _width(self, X: Array) -> float:
        if self.gamma == "auto":
            return 1.0 / X.shape[1]
        if self.gamma == "scale":
            variance = float(X.var())
            return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
        return float(self.gamma)

    def _partition(self, X: Array, of_class: Labels, stage: Partitioner) -> tuple[Labels, Labels]:
        """Part of each row, numbered class by class, and where the parts of a class begin."""
        c = len(self.classes_)
        n_parts = self.n_parts
        if isinstance(n_parts, Sequence) and c != 2:
            raise InvalidParameter(
                f"n_parts as a pair (K+, K-) needs two classes, the data have {c}; got n_parts={self.n_parts!r}"
            )
        # the positive class comes first in the pair
        counts = list(n_parts)[::-1] if isinstance(n_parts, Sequence) else [n_parts] * c
        sizes = np.bincount(of_class, minlength=c)
        for name, size, k in zip(self.classes_.tolist(), sizes, counts, strict=True):
            if size < k:
                raise InvalidData(
                    f"class {name!r} has {size} samples, too few for n_parts = {k}; n_parts <= {size} is possible"
                )
        seeds = Seeds.of(self.random_state)
        part_of, first = np.empty(len(X), dtype=np.intp), [0]
        for number, k in enumerate(counts):
            in_class = of_class == number
            labels = _parts(X[in_class], int(k), stage, seeds.child("partition", number))
            part_of[in_class] = first[-1] + labels
            first.append(first[-1] + int(labels.max()) + 1)
        return part_of, np.array(first, dtype=np.intp)

    def _check_parameters(self) -> None:
        """Raise an error if a parameter is wrong, as a fit would."""
        super()._check_parameters()
        self._checked_parameters()

    def _try_out(self) -> None:
        """Classify a row of zeros."""
        report = dict(self.fit_report_)  # predict writes to it
        if self.n_features_in_ != self._modules.points.shape[1]:
            raise ValueError(f"n_features_in_ is {self.n_features_in_}, and the modules have other columns")
        self.decision_function(row := np.zeros((1, self.n_features_in_)))
        if self.predict(row).shape != (1,):
            raise ValueError("the class of a row is no class")
        self.fit_report_ = report

    def _check_use(self) -> None:
        check_is_fitted(self, "fit_report_")
        _choice("predict_method", self.predict_method, METHODS)
        _choice("combine", self.combine, COMBINATIONS)
        _choice("decision_function_shape", self.decision_function_shape, SHAPES)

    def _samples(self, X: SamplesLike) -> Array:
        self._check_use()
        refuse_unsuited(X)
        with only_numbers(X) as plain:
            samples: Array = validate_data(self, plain, dtype=np.float64, order="C", reset=False)
        return samples


def _parts(X: Array, k: int, stage: Partitioner, seeds: Seeds) -> Labels:
    """Part 0, 1, ... of each row of one class, none of them empty."""
    if k == 1:
        return np.zeros(len(X), dtype=np.intp)
    if stage.sees == "space" and not any(issubclass(FeatureSpace, kind) for kind in stage.spaces):
        raise InvalidParameter(f"partitioner '{stage.name}' works on kernels only, but a part has features")
    samples = identity_space(X)
    labels = labels_by_blocks(stage.start(samples, Task(len(X), k), seeds.stream("parts")), samples)
    if labels.shape != (len(X),) or labels.dtype.kind not in "iu":
        raise InvalidParameter(
            f"partitioner '{stage.name}' must give {len(X)} integer labels, got shape {labels.shape} of {labels.dtype}"
        )
    if labels.min() < 0 or labels.max() >= k:
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise InvalidParameter(f"partitioner '{stage.name}' gave the label {wrong}, outside 0..{k - 1}")
    consecutive: Labels = np.unique(labels, return_inverse=True)[1]
    return consecutive


def _positive(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


def _choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidParameter(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
