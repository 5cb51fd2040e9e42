"""Generalised maximum margin clustering (Valizadegan, Jin 2006) as the semidefinite program of maximum cuts.

    minimise  <S, W>  over  W ⪰ 0,  W_ii >= 1;      dual:  maximise  Σ g_i  over  S - diag(g) ⪰ 0,  g >= 0

W stands for ``f f'`` of the margins f of the samples; S is the inverse of the regularised kernel matrix with the offset
eliminated and a price of imbalance added. The scores are the leading vector of W.

- ``gmmc.py``: the solver; S and its inverse (`_max_cut_problem`), rounding and the function of new samples.
- ``_programs.py``: the program itself (`MaxCutProblem`, with its dual bound), a primal-dual interior point method,
  whose step is `_next_point`, and coordinate descent on ``W = VV'``, whose step is ``_low_rank_jit.sweep``.
"""
