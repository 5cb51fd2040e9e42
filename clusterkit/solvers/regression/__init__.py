"""Regularised regression and classification of the current labels: one vector of scores per target column.

All three solvers minimise ``|w|²/2 + C Σ_i loss(w'h_i, t_i)`` for the targets t that a codec makes of the labels:
`ridge` with the square loss and without a bias, `svm` with the hinge loss and a bias, `svr` with a regression loss and
a bias. A labeler then reads new labels off the scores ``w'h_i``.

ridge.py
    Ridge regression, the solver of EMMC. The mathematics is in `RegularisedInverse.solve` and `_factorise` (one
    factorisation of ``M + I/C`` for all iterations, and C from the effective degrees of freedom), which
    `RidgeSums.finish` applies to H'T and `_DualRidge.solve` to T.
support_vector.py
    The solvers of IterSVM and IterSVR. The quadratic programs are solved by LIBSVM, called in
    `PreparedMachine._dual_variables` of _libsvm.py; least squares by `_PrimalLeastSquares` and `_DualLeastSquares`.
_libsvm.py
    The matrix of inner products about the mean, scores from dual variables, and the call of scikit-learn.

Sources: Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering; Zhang, Tsang, Kwok (2009), Maximum margin
clustering made practical.
"""
