"""The min-max modular support vector machine: tables I and II and the figures of the paper on equal clustering.

Each class is split into K parts, a machine f_ij separates part i of the one class from part j of the other, and the
answer is ``max over i of min over j of f_ij(x)``. The paper compares ways to split the classes.

=============  ========================================================================================================
problems       Table I: the two problems, their splits, numbers of rows and parameters.
figures        Accuracy, support vectors and times against K, the claims of the paper, and the picture.
heights        Figure 3: height times iterations of equal clustering and of GeoClust.
times          Figure 6: times of one machine after the other with the partition, and of all at once.
decomposition  Figures 7 and 8: the Banana data and their subproblems with two parts of each class.
=============  ========================================================================================================

The machine is plugins/clusterkit-min-max, the partitions are in clusterkit/families/{means,equal,shared}/.
The page docs/min-max-svm.md describes it, docs/results/prose/readings-m3.txt what the paper leaves open.
"""
