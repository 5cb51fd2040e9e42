"""Codecs: labels from scores, and the targets that make a solver produce such scores.

A codec has a codebook of k target vectors t_j and a cost of giving a sample with scores f to cluster j, so that the
label is ``argmin_j cost_j(f)``, ties to the lowest number; a balancer may change the labels by the same costs.

* `threshold.py`: two clusters, targets -1 and +1, label 1 if f > 0.
* `bias_threshold.py`: the same with f + b, the bias b found from the sorted scores. Zhang, Tsang, Kwok (2007).
* `interval.py`: k clusters on a line, targets 1..k, the interval that f falls in.
* `argmax.py`: k clusters, targets e_j, the column with the largest score.

The mathematics is in the methods `costs` and `calibrate` of each class. Source of the codings: Zhang, Xia, Liu, Zhang
(2013), Extreme maximum margin clustering, IEICE Trans., section 3.
"""
