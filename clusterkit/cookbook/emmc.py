"""Extreme maximum margin clustering (EMMC) and its variants."""

from __future__ import annotations

from clusterkit.core.recipe import Recipe

__all__ = ["EMMC", "EMMC_AUTO", "EMMC_GRAPH", "EMMC_MULTI", "EMMC_MULTISTART", "EMMC_PAPER", "EMMC_SINGLE"]

CITATION = (
    "Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Transactions on Information and Systems"
)
BASE = {"featuremap": "elm", "solver": "ridge", "balancer": "band", "init": "kmeans"}
"""The stages that all variants share; they differ in labeler, coding and starts."""

EMMC = Recipe(
    name="emmc",
    title="Extreme maximum margin clustering with defaults that need no labels",
    citation=CITATION,
    parameters={**BASE, "labeler": "auto"},
    use_when="The first choice for clusters of similar size that a smooth surface separates; linear in n.",
)
EMMC_SINGLE = Recipe(
    name="emmc-single",
    title="EMMC with one output for all clusters",
    citation=CITATION,
    parameters={**BASE, "labeler": "interval"},
    use_when="To reproduce the published multi-class tables; otherwise prefer emmc-multi.",
)
EMMC_MULTI = Recipe(
    name="emmc-multi",
    title="EMMC with one output a cluster",
    citation=CITATION,
    parameters={**BASE, "labeler": "argmax"},
    use_when="More than two clusters of similar size.",
)
EMMC_MULTISTART = Recipe(
    name="emmc-multistart",
    title="EMMC from many random starts under several random maps, best pooled objective",
    citation=CITATION,
    driver="pooled",
    parameters={
        "n_maps": 5,
        "featuremap": "elm",
        "solver": "ridge",
        "balancer": "band",
        "init": "random",
        "n_init": 60,
        "max_iter": 60,
        "solver__df": 25.0,
        "labeler": "auto",
    },
    use_when=(
        "When k-means starts in the wrong basin and clusters are of similar size (handwritten digits: half the error "
        "of emmc). About a hundred times the work of emmc; look at the agreement of the maps."
    ),
)
EMMC_AUTO = Recipe(
    name="emmc-auto",
    title="EMMC from many starts, with complexity and start chosen without labels",
    citation=CITATION
    + "; Tibshirani, Walther, Hastie (2001), Estimating the number of clusters in a data set via the gap statistic, "
    "Journal of the Royal Statistical Society B 63",
    driver="auto_pooled",
    parameters={
        "featuremap": "elm",
        "solver": "ridge",
        "balancer": "band",
        "init": "random",
        "n_init": 60,
        "max_iter": 60,
        "solver__df": None,
        "labeler": "auto",
    },
    use_when=(
        "As emmc-multistart, but falling back on the k-means start where the lower objective rests on few attributes. "
        "About twice the work of emmc-multistart."
    ),
)
EMMC_GRAPH = Recipe(
    name="emmc-graph",
    title="EMMC on the leading eigenvectors of a self-tuned graph of nearest neighbours",
    citation=CITATION + "; Zelnik-Manor, Perona (2004), Self-tuning spectral clustering, NIPS 17",
    parameters={
        "featuremap": "graph",
        "solver": "ridge",
        # weak: the columns are orthogonal and of like weight, and any C from 1 to 10^6 gives nearly the same labels
        "solver__C": 10.0,
        "balancer": None,
        "init": "kmeans_mapped",
        "labeler": "auto",
    },
    use_when="Clusters of any shape and size with gaps between them; margins instead of the means of spectral.",
)
EMMC_PAPER = Recipe(
    name="emmc-paper",
    title="EMMC as published",
    citation=CITATION,
    parameters={
        **BASE,
        "init": "kmeans_mapped",
        "labeler": "auto",
        "featuremap__centers": "uniform",
        "featuremap__width": 1.0,
        "solver__C": 500.0,
    },
    use_when="To reproduce the paper; its uniform nodes suit data of low dimension only.",
)
