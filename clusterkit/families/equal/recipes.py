"""The recipes of equal clustering as data."""

from __future__ import annotations

from clusterkit.contracts.providers import Recipe

EQUAL_CLUSTERING = Recipe(
    name="equal-clustering",
    title="Compact clusters of equal size",
    citation="Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, "
    "International Conference on Neural Information Processing",
    parameters={"featuremap": "identity", "solver": "equal", "solver__repair": True, "labeler": "argmax"},
    use_when="Compact parts of even size are wanted, whatever gaps the data have.",
)

GEOCLUST = Recipe(
    name="geoclust",
    title="The original GeoClust rule, which equal clustering modifies",
    citation="Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, "
    "International Conference on Neural Information Processing: its account of GeoClust",
    parameters={"featuremap": "identity", "solver": "geoclust", "labeler": "argmax"},
    use_when="Comparisons with equal clustering.",
)
