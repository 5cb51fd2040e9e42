"""Estimators with scikit-learn's interface; the only place that imports it at module level."""
