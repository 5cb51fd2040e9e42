"""The abstract driver and the record that it returns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, final

import attrs

from clusterkit._typing import Array
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.seeds import Seeds
from clusterkit.core.stages.stage import Stage

if TYPE_CHECKING:
    from clusterkit.core.compat import Composition
    from clusterkit.core.run import FitResult

__all__ = ["Driver", "DriverResult"]


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

    A single fit is the simplest driver (`clusterkit.drivers.single`). Another one fits the composition under several
    random feature maps and compares the results (`clusterkit.drivers.pooled`). A driver works on stages and arrays
    only; the interface of scikit-learn is added by the estimator that runs it.
    """

    kind: ClassVar[str] = "driver"
    estimator: ClassVar[str] = "clusterkit.estimators.driven:Driven"
    """the estimator that `clusterkit.recipe` builds for this driver, as ``"module:Class"``; the default serves any
    driver"""
    weighted: ClassVar[bool] = False
    """True if it compares fits whose compositions have sample weights (`Composition.sample_weight`)."""
    on_devices: ClassVar[bool] = False
    """True if `run` also takes samples that a device computes, `clusterkit.core.samples.EngineSamples`, in
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
