"""Tuners: values for the parameters left open, found from the rows alone, without labels.

Both tuners are for support vector clustering. Its labels depend on the bandwidth ``gamma`` of the Gaussian kernel and
on the bound ``C`` of the weights, which leaves at most ``1 / C`` rows outside the contour (``nu = 1 / (C n)``). A tuner
solves and labels many pairs (gamma, C), scores every partition and returns the best pair.

- ``svc_auto.py``: score ``ln L + 2 V + ln H``: a partition that lasts over L bandwidths, with separated (V) clusters of
  even sizes (H). The scores are in ``_plateau_score.py`` (`best`), the loop in ``svc_auto.py`` (`SvcAutoSearch.run`).
  Sources: Ben-Hur, Horn, Siegelmann, Vapnik (2001); Moulavi and others (2014).
- ``edsvc.py``: score ``(1/M) Σ I(π, π_m) / √(H(π) H(π_m))``: mean mutual information with an ensemble of k-means
  partitions. The score is in ``_ensemble_agreement.py`` (`Agreement`), the search in ``_edsvc_search.py``, the fits of
  the candidates in ``_candidates.py`` (`CandidateRuns`), the returned table of candidates in ``curves.py``. Source:
  Strehl, Ghosh (2002).
- ``_open_parameters.py``: which parameters are open, and the kernel space that both tuners search.
- ``_nearest_label_jit.py``: the nearest label of each unlabelled row.

The range of bandwidths is in ``numerics/bandwidths.py``, the k-means ensemble in ``core/ensembles.py``.
"""
