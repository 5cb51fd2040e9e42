"""The abstract driver with what a fit and a driver return, and the abstract tuner with what it decides."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self, final

import attrs

from clusterkit._typing import Array, Indices, Labels, Rng
from clusterkit.contracts.labelings import ClusterLayer
from clusterkit.contracts.outcomes import Ending, Outcome
from clusterkit.contracts.seeds import Seeds
from clusterkit.contracts.stage import Stage
from clusterkit.errors import InvalidParameter
from clusterkit.samples.array_libraries import to_host

if TYPE_CHECKING:
    from clusterkit.contracts.composition import Composition
    from clusterkit.contracts.labeler import Predict
    from clusterkit.samples import Space

__all__ = [
    "Driver",
    "DriverResult",
    "FitResult",
    "Tuned",
    "Tuner",
]


@attrs.frozen(eq=False)
class FitResult:
    """Result of a fit.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    n_iter : int
    ending : Ending
        How it ended: `Ending.INTERRUPTED` if Ctrl-C came at any time, else how the best start ended.
    reason : str
        The end of the fit as a sentence.
    objective : float
        Objective of the labels; nan if the solver has none.
    history : tuple of float
        Objective iteration by iteration, of the winning start.
    space : Space or None
        None if nothing was fitted: one cluster, where no method of a pool takes a number.
    outcome : Outcome or None
    predict : callable or None
        Raw rows to labels.
    exact : bool
        Whether `predict` on the training rows gives `labels`.
    resolved : mapping
        Slot to the parameters that the fit decided.
    objectives : tuple of float
        Final objective of every start.
    memberships : ndarray of shape (n, k) or None
    outlier_scores : ndarray of shape (n,) or None
    probabilities : ndarray of shape (n,) or None
        Probabilities from the labeler, where it gives them.
    layers : tuple of ClusterLayer
        Clusterings from coarse to fine, where the labeler gives them.
    missing_clusters : str or None
        The sentence about missing clusters, if a number of clusters was asked for and fewer have samples. It is no
        warning yet: of a driver's fits only that of the answer counts, and where the number is left open nothing is
        missing.
    """

    labels: Labels
    n_iter: int
    ending: Ending
    reason: str
    objective: float
    history: tuple[float, ...]
    space: Space | None
    outcome: Outcome | None
    predict: Predict | None
    exact: bool
    resolved: Mapping[str, Mapping[str, object]] = attrs.field(factory=dict)
    objectives: tuple[float, ...] = ()
    memberships: Array | None = None
    outlier_scores: Array | None = None
    probabilities: Array | None = None
    layers: tuple[ClusterLayer, ...] = ()
    missing_clusters: str | None = None

    @property
    def converged(self) -> bool:
        """Whether the labels are final."""
        return self.ending.converged

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the fit early."""
        return self.ending is Ending.INTERRUPTED

    def on_host(self) -> FitResult:
        """A copy with the labels on the host, where drivers compare them."""
        return attrs.evolve(self, labels=to_host(self.labels))


@attrs.frozen(eq=False)
class DriverResult:
    """The fit that a driver returns and what the driver reports about it.

    Parameters
    ----------
    fit : FitResult
        The fit whose labels are the answer.
    report : mapping
        Further findings by name, for example the agreement of several fits. An estimator offers the entry ``name`` as
        its fitted attribute ``name_``.
    """

    fit: FitResult
    report: Mapping[str, object] = attrs.field(factory=dict)


class Driver(Stage):
    """Decides which fits of a composition are made, and which of them is the answer.

    A single fit is the simplest driver (`clusterkit.drivers.single`). Another one compares
    clusterings of several methods (`clusterkit.drivers.auto`). A driver works on stages and arrays
    only; the interface of scikit-learn is added by the estimator that runs it.
    """

    kind: ClassVar[str] = "driver"
    estimator: ClassVar[str] = "clusterkit.estimators.driven:Driven"
    """The estimator that `clusterkit.recipe` builds for this driver, as ``"module:Class"``; the default serves any
    driver."""
    weighted: ClassVar[bool] = False
    """True if it compares fits whose compositions have sample weights (`Composition.sample_weight`)."""
    linked: ClassVar[bool] = False
    """True if it compares fits whose compositions have links (`Composition.links`)."""
    on_devices: ClassVar[bool] = False
    """True if `run` also takes samples that a device computes, `clusterkit.fitting.samples.EngineSamples`, in
    the place of an array."""

    @abstractmethod
    def run(self, compositions: Sequence[Composition], X: Array, seeds: Seeds) -> DriverResult:
        """Fit compositions to data and return the chosen fit.

        Parameters
        ----------
        compositions : sequence of Composition
            An estimator passes exactly one, which is checked and tuned. It may ask for a single cluster.
        X : ndarray of shape (n, d)
            Finite float64 or float32 values, C-ordered.
        seeds : Seeds
            The source of all random streams. The same seeds give the same result bit for bit.

        Returns
        -------
        DriverResult

        Raises
        ------
        IncompatibleStages
            If the driver cannot work with a stage, for example with a solver that has no objective.
        KeyboardInterrupt
            If it is pressed before there is any fit. Later the best fit so far is returned, with ``interrupted`` set.
        """

    @final
    def single(self, compositions: Sequence[Composition]) -> Composition:
        """The composition, for a driver that takes exactly one.

        Raises
        ------
        InvalidParameter
            If there are none or several.
        """
        if len(compositions) != 1:
            raise InvalidParameter(f"driver '{self.name}' takes one composition, got {len(compositions)}")
        return compositions[0]


@attrs.frozen(eq=False)
class Tuned:
    """Decision of a tuner.

    Parameters
    ----------
    stages : mapping
        Slot to stage: the slots that were given, parameters left at None replaced.
    facts : mapping
        How the decision was made, for `resolved_`: the rule, rows used, runs, seconds.
    interrupted : bool, default False
        Whether Ctrl-C ended the search early, so that the values are the best of the candidates tried by then.
    rows : ndarray of int or None, default None
        Rows to fit, where a fit of all rows costs too much; the others are labelled from the outcome on these.
    """

    stages: Mapping[str, Stage]
    facts: Mapping[str, object] = attrs.field(factory=dict)
    interrupted: bool = False
    rows: Indices | None = None


class Tuner(Stage):
    """Turns parameters left at None into values, without labels, before the fit."""

    kind: ClassVar[str] = "tuner"

    def for_clusters(self, n_clusters: int | None) -> Self:
        """The tuner for a fit with `n_clusters`, None where the fit finds the number; itself unless overridden."""
        return self

    @abstractmethod
    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """Replace tunable parameters that are None, and report how they were chosen.

        Parameters with a value stay as they are, and so do stages that the tuner does not know. If the data allow no
        decision, for example a single row, every parameter may stay None.

        Parameters
        ----------
        stages : mapping
            The stages under "featuremap", "solver" and "labeler". Of a chain of feature maps it is the last one.
        X : ndarray or SparseRows of shape (n, d)
            Input of the feature map: the data, or in a chain the features that its first maps make of them.
        rng : Generator
            The only source of randomness.
        """
