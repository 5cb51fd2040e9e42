"""The min-max modular classifier one machine at a time, by scikit-learn's own decision function."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC


def machines(X, negative, positive, **settings):
    """Machines ``[i][j]`` of positive part i and negative part j; both are lists of arrays of rows of X."""
    return [
        [SVC(**settings).fit(X[np.concatenate([b, a])], np.repeat([0, 1], [len(b), len(a)])) for b in negative]
        for a in positive
    ]


def table(machines, Y):
    """Values (n, positive parts, negative parts)."""
    return np.stack([np.stack([m.decision_function(Y) for m in row], axis=1) for row in machines], axis=1)


def min_max(S):
    """Minimum over negative parts, then maximum over positive ones."""
    return S.min(axis=2).max(axis=1)


def staircase(S):
    """From the first machine: right where positive, else down; whether the columns ran out, and the steps."""
    answers, steps = [], []
    for values in S:
        i = j = count = 0
        while i < S.shape[1] and j < S.shape[2]:
            count += 1
            if values[i, j] > 0:
                j += 1
            else:
                i += 1
        answers.append(j == S.shape[2])
        steps.append(count)
    return np.array(answers), np.array(steps)


def parts_of(model, y):
    """Rows of each part of each class of a fitted model."""
    return [
        [np.flatnonzero((y == name) & (model.parts_ == part)) for part in range(count)]
        for name, count in zip(model.classes_, model.n_parts_, strict=True)
    ]
