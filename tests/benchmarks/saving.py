"""Size of a saved model, and processor seconds of saving and loading it, beside joblib.

``python tests/benchmarks/saving.py [ROWS]``: 20,000 rows of 20 attributes by default, fitted by svc and emmc. Times are
the least of five; nothing is asserted.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import joblib
import numpy as np
from machine import describe
from sklearn.datasets import make_blobs

import clusterkit

REPEATS = 5
"""Times that each step is repeated; the least time is that with the least disturbance."""


def least(step: Callable[[], object]) -> float:
    """Least processor time of a step, in seconds."""
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        step()
        times.append(time.process_time() - begin)
    return min(times)


def main(n: int) -> int:
    """Print a row for each recipe."""
    print(describe())
    X, _ = make_blobs(n, n_features=20, centers=5, random_state=0)
    print(f"{n} x {X.shape[1]} rows, {X.nbytes / 1e6:.1f} MB        save as data          joblib")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", clusterkit.ClusterkitWarning)
        for name, settings in (("svc", {}), ("emmc", {"n_clusters": 5})):
            model = clusterkit.recipe(name, random_state=0, **settings).fit(X)
            data, pickled = Path(folder) / "model.clusterkit", Path(folder) / "model.joblib"
            saved, dumped = (
                least(lambda m=model, p=data: m.save(p)),
                least(lambda m=model, p=pickled: joblib.dump(m, p)),
            )
            loaded, undumped = least(lambda p=data: clusterkit.load(p)), least(lambda p=pickled: joblib.load(p))
            sizes = [path.stat().st_size / 1e6 for path in (data, pickled)]
            assert np.array_equal(clusterkit.load(data).predict(X[:1000]), model.predict(X[:1000]))
            print(f"{name:6} size      {sizes[0]:12.2f} MB {sizes[1]:14.2f} MB")
            print(f"{name:6} save      {saved:12.3f} s  {dumped:14.3f} s")
            print(f"{name:6} load      {loaded:12.3f} s  {undumped:14.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
