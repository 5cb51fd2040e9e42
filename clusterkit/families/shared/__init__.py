"""Stages that several families compose: plain feature maps, codecs of scores, balancers, random starts.

- ``elm.py``: random hidden nodes, ``H_il = g(a_l · x_i + b_l)``. Huang, Zhou, Ding, Zhang (2012).
- ``rbf.py``: the Gaussian kernel ``exp(-γ ‖x - y‖²)``. ``precomputed.py``: distances by the metrics of scipy,
  or a matrix of distances or of a kernel.
- ``pca.py``, ``scaling.py`` (z-scores, ranges, weights, unit rows), ``log_tfidf.py`` (counts of words), ``sphere.py``
  (places on the earth).
- ``codecs.py``: labels from scores, ``label_i = argmin_j cost_j(f(x_i))``, with costs that belong to the coding of the
  solver's targets: signs, numbers on a line, unit vectors. The largest posterior of a mixture.
- ``band.py``, ``transport.py``, ``links.py``: labels of least total cost under bounds on sizes and under links.
- ``random.py``: random first labels.
"""

from __future__ import annotations

from clusterkit.contracts.hookspecs import hookimpl

API_VERSION = 3


@hookimpl
def clusterkit_featuremaps() -> dict[str, str]:
    """Feature maps by name."""
    return {
        "distances": "clusterkit.families.shared.precomputed:Distances",
        "elm": "clusterkit.families.shared.elm:Elm",
        "identity": "clusterkit.families.shared.scaling:Identity",
        "log_tfidf": "clusterkit.families.shared.log_tfidf:LogTfIdf",
        "minmax": "clusterkit.families.shared.scaling:MinMax",
        "pca": "clusterkit.families.shared.pca:Pca",
        "rbf": "clusterkit.families.shared.rbf:Rbf",
        "sphere": "clusterkit.families.shared.sphere:Sphere",
        "precomputed": "clusterkit.families.shared.precomputed:Precomputed",
        "unit": "clusterkit.families.shared.scaling:Unit",
        "weighted": "clusterkit.families.shared.scaling:Weighted",
        "zscore": "clusterkit.families.shared.scaling:ZScore",
    }


@hookimpl
def clusterkit_labelers() -> dict[str, str]:
    """Labelers by name."""
    return {
        "argmax": "clusterkit.families.shared.codecs:Argmax",
        "bias_threshold": "clusterkit.families.shared.codecs:BiasThreshold",
        "interval": "clusterkit.families.shared.codecs:Interval",
        "most_probable": "clusterkit.families.shared.codecs:MostProbable",
        "threshold": "clusterkit.families.shared.codecs:Threshold",
    }


@hookimpl
def clusterkit_balancers() -> dict[str, str]:
    """Balancers by name."""
    return {
        "band": "clusterkit.families.shared.band:Band",
        "links": "clusterkit.families.shared.links:LinksBalancer",
        "transport": "clusterkit.families.shared.transport:Transport",
    }


@hookimpl
def clusterkit_partitioners() -> dict[str, str]:
    """Partitioners by name."""
    return {
        "random": "clusterkit.families.shared.random:Random",
    }


@hookimpl
def clusterkit_savables() -> dict[str, str]:
    """Classes other than stages that a saved model may contain, by their names in the file."""
    return {
        "Affine": "clusterkit.families.shared.scaling:Affine",
        "DistancesTo": "clusterkit.families.shared.precomputed:DistancesTo",
        "GaussianNodes": "clusterkit.families.shared.elm:GaussianNodes",
        "PcaProjection": "clusterkit.families.shared.pca:_PcaProjection",
        "RidgeNodes": "clusterkit.families.shared.elm:RidgeNodes",
        "SigmoidNodes": "clusterkit.families.shared.elm:SigmoidNodes",
        "TfIdfWeights": "clusterkit.families.shared.log_tfidf:_TfIdfWeights",
        "SpherePoints": "clusterkit.families.shared.sphere:SpherePoints",
        "UnitRows": "clusterkit.families.shared.scaling:UnitRows",
    }
