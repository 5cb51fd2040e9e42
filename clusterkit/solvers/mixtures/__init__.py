"""Finite mixtures of columns of several kinds.

`mixed_mixture` maximises the integrated completed likelihood ``ln p(z) + N(z, R) + Σ_j C_j`` of labels z, with a role
for each column.

mixed_mixture.py
    The solver. The criterion is in numerics/mixed/evidence.py, EM in numerics/mixed/expectation.py, the search in
    numerics/mixed/search.py.

Sources: Hunt, Jorgensen (1999), Mixture model clustering using the MULTIMIX program; Raftery, Dean (2006), Variable
selection for model-based clustering; Biernacki, Celeux, Govaert (2010), Exact and Monte Carlo calculations of
integrated likelihoods for the latent class model.
"""
