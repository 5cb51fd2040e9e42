"""The headline claims of the papers, each answered by the rule of `answers` from the rows of records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clusterkit_papers.claims.answers import Claim
from clusterkit_papers.claims.comparisons import (
    COMPARABLE,
    Compare,
    alike,
    another_width,
    below,
    beside,
    beside_best,
    beside_best_width,
    beside_consensus,
    beside_members,
    beside_plain,
    differences,
    faster,
    few_equilibria,
    grows,
    growth,
    near,
    on,
    pairs_of_rows,
    scales_better,
    sensitive,
    several,
    shapes,
    stable,
    starts_beside,
    subproblems,
    turns,
    varies,
    within_bound,
    worse_when_wide,
)

__all__ = ["CLAIMS"]

TWO, MORE = ("MMC", "GMMC", "IterSVR", "CPMMC"), ("MMC", "CPMMC")
"""The margin methods beside EMMC for two clusters and for more."""

TWO_SETS = ("Ionosphere", "Digits1-7", "Digits8-9", "LetterA-B", "SatelliteC1-C2", "Svmguide1-a", "Ringnorm")
"""EMMC's data sets with two classes."""

MORE_SETS = ("Digits0689", "Digits1279", "LetterABCD", "USPS")
"""EMMC's data sets with more classes."""

KMEANS, NMF = ("elm-table2", "elm-table3", "elm-table4"), ("elm-table5", "elm-table6", "elm-table7")
"""The tables of k-means and of nonnegative matrix factorisation in ELM space."""

INDICES = (" purity (%)", " NMI")
"""The columns of a method there."""


MARGIN = ("emmc-table7", "emmc-table8")
"""The tables of margin methods for two clusters and for more."""


def beside_margin(slack: float = 0.0) -> Compare:
    """EMMC beside the margin methods, in accuracy."""
    each = zip(MARGIN, (TWO, MORE), strict=True)
    return several(*(partial(beside, table, "EMMC", others, kind=" Acc", slack=slack) for table, others in each))


def elm_beside(tables: Sequence[str], others: Sequence[str]) -> Compare:
    """The ELM methods beside others, in purity and NMI."""
    return several(*(partial(beside, table, "ELM", others, kind=kind) for table in tables for kind in INDICES))


def svc_beside(
    kinds: Sequence[str], others: Sequence[str], table: str, *, better: int = 1, slack: float = 0.0
) -> Compare:
    """SGD-LMSVC beside others, in several columns."""
    each = (partial(beside, table, "SGD-LMSVC", others, kind=kind, better=better, slack=slack) for kind in kinds)
    return several(*each)


EXTERNAL = (" purity, formula as printed", " Rand", " NMI")
"""The columns of a method in the table of indices with known classes."""

UNBALANCED = ("Ionosphere", "SatelliteC1-C2", "Svmguide1-a")
"""The sets that the EMMC paper calls unbalanced."""

OUTPUTS = ("emmc-table5", "emmc-table6")
"""The tables of EMMC with one output and with several."""

LARGE = ("LetterA-B", "SatelliteC1-C2", "Svmguide1-a", "LetterABCD")
"""The sets of more than 1,000 rows, as in figures 1 and 2 of the EMMC paper, without Ringnorm and USPS."""

AS_IN_PRINT = ("Banana: ", "Banana 40,000: ", "Letter: ")
"""The problems with attributes in [0, 1], as in the paper on equal clustering."""

TIMES = (" training (s)", " labelling (s)")
"""The columns of a method in the table of times."""

CLAIMS = (
    Claim(
        "emmc",
        "abstract; section 5.3, tables 7 and 8",
        "EMMC performs better than traditional maximum margin clustering (MMC, GMMC, IterSVR, CPMMC)",
        MARGIN,
        beside_margin(),
        reason="accuracy above that of each other method",
    ),
    Claim(
        "emmc",
        "section 5.3, table 7",
        "of seven data sets with two classes EMMC is best on four",
        ("emmc-table7",),
        partial(beside_best, ("emmc-table7",), "EMMC", TWO, " Acc"),
        share=4 / 7,
    ),
    Claim(
        "emmc",
        "section 5.3, table 8",
        "of four data sets with more classes EMMC is best on three",
        ("emmc-table8",),
        partial(beside_best, ("emmc-table8",), "EMMC", MORE, " Acc"),
        share=3 / 4,
    ),
    Claim(
        "emmc",
        "section 6",
        "its clustering performance is comparable to that of the other methods",
        MARGIN,
        beside_margin(100 * COMPARABLE),
        reason="no more than 5 points below",
    ),
    Claim(
        "emmc",
        "section 5.3, table 10",
        "of eleven data sets EMMC is best on seven beside NC and LapGMM",
        ("emmc-table10",),
        partial(beside_best, ("emmc-table10",), "EMMC", ("NC", "LapGMM"), " Acc"),
        share=7 / 11,
    ),
    Claim(
        "emmc",
        "section 5.3, table 9",
        "for two classes EMMC is at least 3 times faster than CPMMC",
        ("emmc-table9",),
        partial(faster, "emmc-table9", "EMMC CPU (s)", "CPMMC CPU (s)", 3.0, TWO_SETS),
        name="three-times-faster",
    ),
    Claim(
        "emmc",
        "section 5.3, table 9",
        "for more classes EMMC is faster than CPMMC too",
        ("emmc-table9",),
        partial(faster, "emmc-table9", "EMMC CPU (s)", "CPMMC CPU (s)", 1.0, MORE_SETS),
    ),
    Claim(
        "emmc",
        "section 6",
        "EMMC is much faster than the other margin methods",
        ("emmc-table9",),
        several(
            *(
                partial(faster, "emmc-table9", "EMMC CPU (s)", f"{other} CPU (s)", 2.0, (*TWO_SETS, *MORE_SETS))
                for other in TWO
            )
        ),
        reason="at most half the seconds of each",
    ),
    Claim(
        "emmc",
        "section 5.3, table 9",
        "EMMC ends within fewer than 16 iterations",
        ("emmc-table9",),
        partial(below, "emmc-table9", "EMMC iterations", 16.0),
    ),
    Claim(
        "emmc",
        "section 5.3, table 3",
        "the squared loss of IterSVR and EMMC is better than the hinge loss of IterSVM",
        ("emmc-table3",),
        several(
            partial(beside, "emmc-table3", "IterSVR", ("IterSVM",), better=-1),
            partial(beside, "emmc-table3", "EMMC", ("IterSVM",), better=-1),
        ),
    ),
    Claim(
        "emmc",
        "section 5.3, table 4",
        "k-means is better in ELM space, and EMMC is best from that start",
        ("emmc-table4",),
        several(
            partial(starts_beside, "k-means in ELM space", ("k-means",)),
            partial(
                starts_beside,
                "k-means in ELM space + EMMC",
                ("k-means + EMMC", "Random + EMMC", "k-means in ELM space"),
            ),
        ),
    ),
    Claim(
        "emmc",
        "section 5.3, after table 3",
        "EMMC cannot recover from a very poor start, but takes about 20 points off its error",
        ("emmc-table4",),
        partial(starts_beside, "Random + EMMC", ("Random only",), slack=-20.0),
        reason="at least 20 points less error than random labels",
    ),
    Claim(
        "emmc",
        "section 5.3, tables 5 and 6",
        "one output is slightly less accurate than several",
        OUTPUTS,
        several(
            *(partial(beside, table, "multi", ("single",), kind=" Acc") for table in OUTPUTS),
            *(partial(beside, table, "single", ("multi",), kind=" Acc", slack=100 * COMPARABLE) for table in OUTPUTS),
        ),
        reason="less accurate, and by no more than 5 points",
    ),
    Claim(
        "emmc",
        "section 5.3, tables 5 and 6",
        "one output is a little faster than several",
        OUTPUTS,
        several(*(partial(beside, table, "single", ("multi",), kind=" CPU (s)", better=-1) for table in OUTPUTS)),
    ),
    Claim(
        "emmc",
        "section 5.3, tables 5 and 6",
        "the accuracy grows with the number of nodes",
        OUTPUTS,
        several(*(partial(grows, table, f"{output} Acc") for table in OUTPUTS for output in ("single", "multi"))),
        reason="from each printed number of nodes to the next, as in print",
    ),
    Claim(
        "emmc",
        "section 5.3, figure 1",
        "the accuracy grows quickly with the number of nodes, then slowly",
        ("emmc-figures",),
        on(
            LARGE,
            several(
                partial(growth, "rise to L = 100 (points)", 1.0, 1),
                partial(growth, "largest change after that (points)", 2.0, -1),
            ),
        ),
        reason="a point or more from 10 to 100 nodes, and later no change of more than 2 points, up or down; on four "
        "sets of more than 1,000 rows, as in the figure",
    ),
    Claim(
        "emmc",
        "section 5.3, figure 2",
        "the seconds grow nonlinearly with the number of nodes",
        ("emmc-figures",),
        on(LARGE, partial(growth, "exponent of the time from L = 300 on", 1.0, 1)),
        reason="an exponent above 1; on the same four sets",
    ),
    Claim(
        "emmc",
        "section 5.3, after table 3",
        "EMMC is robust against its start",
        ("claim-emmc-starts",),
        several(*(partial(differences, start) for start in ("random labels", "one k-means"))),
        reason="two runs from random labels or one k-means differ less than two of IterSVM and of IterSVR; the best of "
        "ten k-means is nearly one start, so not compared",
    ),
    Claim(
        "emmc",
        "section 5.3, after table 6",
        "by its balance EMMC handles unbalanced data well, such as Ionosphere, SatelliteC1-C2 and Svmguide1-a",
        ("emmc-table7",),
        several(
            on(UNBALANCED, partial(beside_best, ("emmc-table7",), "EMMC", TWO, " Acc")),
            partial(
                pairs_of_rows,
                "emmc-table7",
                "emmc-paper",
                "emmc-paper without balancer",
                ("EMMC Acc",),
                begins=UNBALANCED,
            ),
        ),
        reason="more accurate there than each other margin method, and at C = 500 than without the balance",
    ),
    Claim(
        "emmc",
        "section 5.3, after table 3; section 6",
        "the hinge loss of IterSVM converges prematurely",
        reason="no row counts the labels that change; what it does to the error is the sentence on the squared loss",
    ),
    Claim(
        "emmc",
        "section 5.3, table 3",
        "the error of EMMC is not monotone in C",
        ("emmc-table3",),
        partial(turns, "emmc-table3", "EMMC"),
        reason="it rises and falls along the printed C",
    ),
    Claim(
        "emmc",
        "section 5.3, tables 7 and 8",
        "EMMC, IterSVR and CPMMC are more effective than GMMC and MMC",
        MARGIN,
        several(
            *(
                partial(beside, table, one, ("MMC", "GMMC"), kind=" Acc")
                for table in MARGIN
                for one in ("EMMC", "IterSVR", "CPMMC")
            )
        ),
    ),
    Claim(
        "emmc",
        "section 5.3, table 9",
        "MMC and GMMC are the slowest",
        ("emmc-table9",),
        several(
            *(
                partial(beside, "emmc-table9", one, ("EMMC", "IterSVR", "CPMMC"), kind=" CPU (s)")
                for one in ("MMC", "GMMC")
            )
        ),
    ),
    Claim(
        "emmc",
        "section 5.3, table 9",
        "EMMC scales much better with the number of samples than the other margin methods",
        ("emmc-table9", "emmc-table2"),
        partial(scales_better, "EMMC", ("GMMC", "IterSVR", "CPMMC")),
        reason="the exponent of its seconds over the rows of the sets is smaller; L is n on the small sets",
    ),
    Claim(
        "emmc",
        "section 5.3, table 10",
        "the accuracy of LapGMM is close to that of NC",
        ("emmc-table10",),
        partial(near, "emmc-table10", "LapGMM Acc", "NC Acc"),
        reason="no more than 5 points apart",
    ),
    Claim(
        "emmc",
        "section 5.3, table 10",
        "NC cannot be run on Ringnorm and USPS",
        reason="a limit of the memory of their machine; here `ncut` has values on both, in table 10",
    ),
    Claim(
        "emmc",
        "abstract",
        "kernel parameters need not be tuned",
        reason="the text gives no comparison; the widths of the nodes are drawn, and C is still chosen",
    ),
    Claim(
        "svc",
        "abstract; sections 4.2.3 and 5, table 2",
        "the clusters of SGD-LMSVC are comparable with those of SVC and FSVC",
        ("svc-table2",),
        svc_beside(EXTERNAL, ("SVC", "FSVC"), "svc-table2", slack=COMPARABLE),
        reason="no index more than .05 below",
        name="svc-comparable",
    ),
    Claim(
        "svc",
        "section 4.2.3, table 2",
        "SGD-LMSVC is slightly better than the others in purity, Rand index and NMI",
        ("svc-table2",),
        svc_beside(EXTERNAL, ("SVC", "FSVC"), "svc-table2"),
    ),
    Claim(
        "svc",
        "section 4.2.3, table 3",
        "SGD-LMSVC totally surpasses the others in compactness",
        ("svc-table3",),
        svc_beside((" compactness",), ("SVC", "FSVC"), "svc-table3", better=-1),
    ),
    Claim(
        "svc",
        "section 4.2.3, table 3",
        "SGD-LMSVC is slightly worse than SVC in the Davies-Bouldin index, which the paper reads as higher is better",
        ("svc-table3",),
        svc_beside((" DB",), ("SVC",), "svc-table3", better=-1),
        reason="the index is below that of SVC, so by its usual reading better",
    ),
    Claim(
        "svc",
        "abstract; sections 4.2.3 and 5, table 4",
        "SGD-LMSVC is totally superior in the times of training and of labelling",
        ("svc-table4",),
        svc_beside(TIMES, ("SVC", "FSVC"), "svc-table4", better=-1),
        name="svc-times",
    ),
    Claim(
        "svc",
        "section 4.2.3, table 4",
        "the speed-up of training is significant on each of Shuttle, Musk and Abalone",
        ("svc-table4",),
        partial(
            faster, "svc-table4", "SGD-LMSVC training (s)", "SVC training (s)", 2.0, ("Shuttle", "Musk", "Abalone")
        ),
        reason="at most half the seconds of SVC",
    ),
    Claim(
        "svc",
        "section 4.2.3, table 4",
        "the speed-up of labelling is really significant",
        ("svc-table4",),
        several(
            lambda values: faster(
                "svc-table4", "SGD-LMSVC labelling (s)", "SVC labelling (s)", 2.0, values.places("svc-table4"), values
            )
        ),
        reason="at most half the seconds of SVC",
    ),
    Claim(
        "svc",
        "section 4.1, figures 1 to 3",
        "SGD-LMSVC finds rings, moons and four Gaussians without an error",
        ("svc-figures",),
        partial(shapes, "sgd-lmsvc-strip, constants as printed", 1),
        reason="with the printed constants, in every draw of data of the kind",
    ),
    Claim(
        "svc",
        "section 4.1, figures 1 and 2",
        "k-means (C-means) and fuzzy C-means fail on rings and moons",
        ("svc-figures",),
        several(
            partial(shapes, "cmeans, k given", -1, only=("two rings and a Gaussian", "two moons")),
            partial(shapes, "fuzzy-cmeans, k given", -1, only=("two rings and a Gaussian", "two moons")),
        ),
        reason="in more than half of the draws",
    ),
    Claim(
        "svc",
        "section 2.3, theorem 2",
        "the objective of a random iterate is within a bound with probability 1 - δ",
        ("claim-lmsvc",),
        within_bound,
        reason="δ = 0.1: in at most 10 of 100 runs above. A test can refute a theorem, not prove it; the algorithm "
        "returns the last iterate, of which the theorem says nothing",
    ),
    Claim(
        "svc",
        "sections 1 and 3",
        "there are far fewer equilibrium points than samples",
        ("claim-equilibria",),
        few_equilibria,
        reason="at most a tenth, on the ten sets of fewer than 1,000 rows",
    ),
    Claim(
        "svc",
        "section 3",
        "labelling costs M(M - 1)ms for M equilibria in place of N(N - 1)ms for N samples",
        reason="it counts tests of segments, not ascents; how M and N stand is the sentence above",
    ),
    Claim(
        "svc",
        "section 2.3",
        "T₀ steps are enough for a precision with probability 1 - δ",
        reason="theorem 2 solved for T, so its answer is that of the theorem; `clusterkit_papers.svc.steps.steps_for` "
        "computes it",
    ),
    Claim(
        "edsvc",
        "section 3.2, figure 1",
        "EDSVC is better than its base clusterings in the mean, on all six data sets",
        ("edsvc-figures",),
        partial(beside_members, "mean member", "EDSVC"),
        name="mean-member",
    ),
    Claim(
        "edsvc",
        "stronger than section 3.2",
        "EDSVC is better than the best of its base clusterings, on all six data sets",
        ("edsvc-figures",),
        partial(beside_members, "best member", "EDSVC"),
        reason="the paper compares with the mean only",
    ),
    Claim(
        "edsvc",
        "the same by the adjusted Rand index",
        "EDSVC is better than the best of its base clusterings, on all six data sets",
        ("edsvc-figures",),
        partial(beside_members, "best member ARI", "EDSVC ARI"),
        reason="NMI grows with the number of clusters by itself, this index does not",
    ),
    Claim(
        "edsvc",
        "section 3.3, table 2; section 4",
        "EDSVC outperforms COMUSA, DICLENS, COMUSACL and COMUSACL-DEW on all six data sets",
        ("edsvc-table2",),
        partial(beside_consensus, ()),
        reason="COMUSACL and COMUSACL-DEW are variants of our own under these names",
        name="consensus",
    ),
    Claim(
        "edsvc",
        "section 3.3, table 2",
        "on each of Wine, Ionosphere, Banknote and Semeion EDSVC is significantly better than these",
        ("edsvc-table2",),
        partial(beside_consensus, ("Wine", "Ionosphere", "Banknote Authentication", "Semeion"), slack=-COMPARABLE),
        reason="by more than .05: the text names no test",
    ),
    Claim(
        "edsvc",
        "section 3.4, figure 2; section 4",
        "EDSVC is better than PSVC at its best width, on each data set",
        ("edsvc-figures",),
        partial(beside_best_width, "PSVC"),
        reason="the best of the 100 widths that EDSVC tries, chosen by the classes. Our PSVC has weights of our own",
        name="best-psvc",
    ),
    Claim(
        "edsvc",
        "the same by the adjusted Rand index",
        "EDSVC is better than PSVC at its best width, on each data set",
        ("edsvc-figures",),
        partial(beside_best_width, "PSVC ARI"),
        reason="at the width of highest NMI",
    ),
    Claim(
        "edsvc",
        "section 3.4, figure 2",
        "PSVC is sensitive to its width",
        ("edsvc-figures",),
        sensitive,
        reason="its best NMI is more than .05 above the median of the widths",
    ),
    Claim(
        "elm",
        "abstract; section 4.4, tables 2 to 4",
        "ELM k-means is better than k-means and kernel k-means for all numbers of clusters on all three data sets",
        KMEANS,
        elm_beside(KMEANS, ("k-means", "kernel")),
    ),
    Claim(
        "elm",
        "the same with ridge nodes",
        "ELM k-means is better than k-means and kernel k-means for all numbers of clusters on all three data sets",
        KMEANS,
        elm_beside(KMEANS, ("k-means", "kernel")),
        reading="ridge nodes",
        reason="exp(-(a · x + b)²), what ELM programs call radial basis; it is nearer to the printed numbers",
    ),
    Claim(
        "elm",
        "section 4.4, table 5",
        "ELM NMF is better than NMF and kernel NMF for all numbers of clusters on Synthetic Control",
        ("elm-table5",),
        elm_beside(("elm-table5",), ("NMF", "kernel")),
    ),
    Claim(
        "elm",
        "section 4.4, tables 6 and 7",
        "on Libras and TDT2 ELM NMF is better most of the time",
        ("elm-table6", "elm-table7"),
        elm_beside(("elm-table6", "elm-table7"), ("NMF", "kernel")),
    ),
    Claim(
        "elm",
        "the same with ridge nodes",
        "ELM NMF is better than NMF and kernel NMF most of the time",
        NMF,
        elm_beside(NMF, ("NMF", "kernel")),
        reading="ridge nodes",
    ),
    Claim(
        "elm",
        "section 4.4; section 5",
        "over all, the ELM methods are better than the kernel methods on all three data sets",
        (*KMEANS, *NMF),
        elm_beside((*KMEANS, *NMF), ("kernel",)),
    ),
    Claim(
        "elm",
        "sections 4.5 and 5, figure 2",
        "from 300 nodes on the ELM methods are stable",
        ("elm-figures",),
        partial(stable, ("elm-kmeans", "elm-nmf")),
        reason="purity within 5 points",
    ),
    Claim(
        "elm",
        "section 4.5, figure 2",
        "kernel NMF is very sensitive to the width of the kernel",
        ("elm-figures",),
        partial(varies, "kernel-nmf"),
        reason="the highest purity more than 5 points above the median over the widths",
    ),
    Claim(
        "elm",
        "section 4.5, figure 2",
        "kernel NMF needs another width on each data set",
        ("elm-figures",),
        partial(another_width, "kernel-nmf"),
        reason="the width of highest purity differs",
    ),
    Claim(
        "elm",
        "section 4.5, figure 2",
        "kernel k-means is relatively stable for σ > 1",
        ("elm-figures",),
        partial(stable, ("kernel-kmeans",), what="sigma", least=2),
        reason="purity within 5 points",
    ),
    Claim(
        "elm",
        "section 4.5, figure 2",
        "kernel k-means is worse for very large σ",
        ("elm-figures",),
        partial(worse_when_wide, "kernel-kmeans"),
        reason="at 2^8, the largest, more than 5 points below the highest purity",
    ),
    Claim(
        "elm",
        "abstract; section 5",
        "the ELM methods are more convenient to implement and to compute",
        reason="the text gives no measure of it",
    ),
    Claim(
        "m3",
        "section IV, figure 4",
        "the modular machine generalises better than the plain one",
        ("m3-figures",),
        several(*(partial(beside_plain, problem) for problem in ("Banana 40,000", "Banana", "Letter"))),
        reason="with equal parts, attributes in [0, 1] as in the paper",
        name="plain-scaled",
    ),
    Claim(
        "m3",
        "the same with attributes as they are",
        "the modular machine generalises better than the plain one",
        ("m3-figures",),
        several(*(partial(beside_plain, problem) for problem in ("Banana raw", "Letter raw"))),
        reason="which the printed kernels suit; in [0, 1] they are too wide, and the plain machine is weak",
        name="plain-as-they-are",
    ),
    Claim(
        "m3",
        "abstract; section IV, figure 4",
        "equal clustering is more accurate than random parts, most of the time",
        ("m3-figures",),
        partial(pairs_of_rows, "m3-figures", "equal", "random", ("accuracy (%)",), begins=AS_IN_PRINT),
        name="random-accuracy",
    ),
    Claim(
        "m3",
        "abstract; section IV, figure 5",
        "equal clustering has fewer support vectors than random parts",
        ("m3-figures",),
        partial(pairs_of_rows, "m3-figures", "equal", "random", ("support vectors",), better=-1, begins=AS_IN_PRINT),
        name="random-vectors",
    ),
    Claim(
        "m3",
        "abstract; section IV, figure 6",
        "one after the other, with the time of the partition, equal clustering takes less time than random parts",
        ("m3-figures",),
        partial(
            pairs_of_rows,
            "m3-figures",
            "equal",
            "random",
            ("sequential (s)", "partition (s)"),
            better=-1,
            begins=AS_IN_PRINT,
        ),
        name="random-sequential",
    ),
    Claim(
        "m3",
        "section IV, figure 6",
        "in parallel, without the time of the partition, equal clustering is faster than random parts",
        ("m3-figures",),
        partial(pairs_of_rows, "m3-figures", "equal", "random", ("parallel (s)",), better=-1, begins=AS_IN_PRINT),
        name="random-parallel",
    ),
    Claim(
        "m3",
        "section III, figure 3",
        "height times iterations is smaller than that of GeoClust",
        ("m3-figure3",),
        partial(pairs_of_rows, "m3-figure3", "equal", "geoclust", ("h × iterations",), better=-1),
        name="geoclust",
    ),
    Claim(
        "m3",
        "section V",
        "equal clustering partitions the data more evenly than GeoClust",
        ("m3-figure3",),
        partial(pairs_of_rows, "m3-figure3", "equal", "geoclust", ("h (rows)",), better=-1, slack=1e-9),
        reason="the height, which is how far a part is from the mean size, is no larger",
    ),
    Claim(
        "m3",
        "section III",
        "the height h does not fall monotonically with the iterations",
        reason="no row has the heights of single iterations; it is why the best one is returned by default",
    ),
    Claim(
        "m3",
        "section III",
        "the cost of equal clustering is at most O(m · maxiter)",
        reason="as printed it lacks the number of rows, all of which are assigned again in each iteration",
    ),
    Claim(
        "m3",
        "section IV, figure 7",
        "the subproblems of random parts look like the whole problem",
        ("m3-figures7-8",),
        alike,
        reason="the spread of their rows is at least 95 % of that of the classes",
    ),
    Claim(
        "m3",
        "section IV, figures 7 and 8",
        "equal clustering makes the subproblems more separable than random parts",
        ("m3-figures7-8",),
        several(
            *(
                partial(subproblems, column)
                for column in ("support vectors (% of rows)", "rows nearest to the other class (%)")
            )
        ),
        reason="two parts of each class: fewer support vectors, and fewer rows whose nearest row is of the other class",
    ),
)
"""The headline claims, paper by paper."""
