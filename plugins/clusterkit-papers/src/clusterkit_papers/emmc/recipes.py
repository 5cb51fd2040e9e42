"""The recipes of EMMC from many starts as data."""

from __future__ import annotations

from clusterkit import Recipe

__all__ = ["EMMC_AUTO", "EMMC_MULTISTART"]


CITATION = (
    "Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Transactions on Information and Systems"
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
