"""The gap of ridge labels to data without clusters, and the check in halves, written out plainly."""

from __future__ import annotations

import numpy as np


def unexplained(H, labels, k, C):
    """``|T|² - T' H (I/C + H'H)^-1 H' T``: twice the ridge objective over C, at the best coefficients."""
    T = np.where(labels == 1, 1.0, -1.0)[:, None] if k == 2 else np.eye(k)[labels]
    B = np.linalg.solve(np.eye(H.shape[1]) / C + H.T @ H, H.T @ T)
    return float(np.sum(T * (T - H @ B)))


def degrees(H, C):
    """Effective degrees of freedom."""
    return float(np.trace(np.linalg.solve(np.eye(H.shape[1]) / C + H.T @ H, H.T @ H)))
