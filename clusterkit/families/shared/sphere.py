"""The feature map `sphere`: latitude and longitude in degrees to points in space."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, FittedMap, Task, params
from clusterkit.errors import InvalidData
from clusterkit.numerics.shapes import scalar
from clusterkit.samples import FeatureSpace
from clusterkit.samples.array_libraries import BlockFunction
from clusterkit.samples.survey import extremes


@final
@attrs.frozen(eq=False)
class SpherePoints(BlockFunction):
    """Row map from latitude and longitude in degrees, (m, 2), to points on a sphere, (m, 3).

    Parameters
    ----------
    radius : float
    """

    radius: float = attrs.field(validator=scalar())

    @property
    def width(self) -> int:
        """Three coordinates."""
        return 3

    def __call__(self, Y: Array) -> Array:
        """Points, in the type of Y; computed in float64."""
        latitude, longitude = np.radians(Y[:, 0].astype(np.float64)), np.radians(Y[:, 1].astype(np.float64))
        across = np.cos(latitude)
        points = np.stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)], axis=1)
        return (self.radius * points).astype(Y.dtype)

    def inverse(self, H: Array) -> Array:
        """Latitude and longitude of points in space, (m, 3) to (m, 2): of their directions, whatever their length."""
        H = H.astype(np.float64)
        latitude = np.degrees(np.arctan2(H[:, 2], np.hypot(H[:, 0], H[:, 1])))
        return np.stack([latitude, np.degrees(np.arctan2(H[:, 1], H[:, 0]))], axis=1)


@final
@attrs.frozen
class Sphere(FeatureMap):
    """Maps latitude and longitude in degrees to points on a sphere, whose distances order as those over the ground do.

    For places: 179° and −179° are neighbours, and a degree of longitude is shorter near the poles. The straight
    distance between two points is ``2 r sin(a / 2)`` for the angle a between them, which grows with the great-circle
    distance ``r a``; ``metric="haversine"`` puts this map in front of any pipeline. Centres come back as latitude and
    longitude.
    O(n).

    Parameters
    ----------
    radius : float, default 1.0
        Radius of the sphere. 6371 gives distances in kilometres on the earth, short by a thousandth for 1,000 km and by
        a hundredth for 3,100 km; labels of methods without a scale of their own do not depend on it. At most 1e18,
        whose squares are numbers in float32 too.

    Raises
    ------
    InvalidData
        If there are not two columns, the first within −90 and 90, the second within −180 and 360.
    """

    name: ClassVar[str] = "sphere"
    synonyms: ClassVar[tuple[str, ...]] = ("haversine", "great_circle", "latitude_longitude")
    reads: ClassVar[Literal["passes", "all"]] = "passes"
    nonnegative: ClassVar[bool | None] = False
    takes_degrees: ClassVar[bool] = True

    radius: float = params.real(1.0, above=0, at_most=1e18)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> FittedMap:
        """The map; one pass over the samples looks at their range."""
        if samples.width != 2:
            raise InvalidData(
                "featuremap 'sphere' takes two columns, latitude and longitude in degrees, and there are "
                f"{samples.width}"
            )
        ends = extremes(samples)
        low, high = ends.low.astype(np.float64), ends.high.astype(np.float64)
        for column, word, least, most in ((0, "latitudes", -90.0, 90.0), (1, "longitudes", -180.0, 360.0)):
            if low[column] < least or high[column] > most:
                hint = ". The columns may be in the wrong order" if -90 <= low[1] <= high[1] <= 90 else ""
                if word == "longitudes":
                    hint = ". Whole turns are taken off by (x + 180) % 360 - 180"
                raise InvalidData(
                    f"featuremap 'sphere': column {column + 1} has values from {low[column]:g} to {high[column]:g}, "
                    f"and {word} are {least:g} to {most:g} degrees{hint}"
                )
        return FittedMap(SpherePoints(self.radius))
