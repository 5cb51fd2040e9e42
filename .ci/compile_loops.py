"""Compile the loops of usual fits for any processor of a kind, into the folder of the package that wheels bring.

Run by each version of Python that a wheel is for, in the release of numba that its users will have: the code is looked
up in `clusterkit/_jit.py`, which ignores what belongs to others. A run replaces the files of its own version.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from numba.core.caching import _CacheLocator

from clusterkit._jit import PROCESSOR, SHIPPED

FITS = """
import numpy as np
from sklearn.datasets import make_blobs, make_moons

from clusterkit import Auto, recipe

moons, _ = make_moons(300, noise=0.06, random_state=0)
numbers, _ = make_blobs(300, 6, centers=4, random_state=0)
wide, _ = make_blobs(300, 384, centers=5, random_state=0)
for X in (moons, numbers):
    Auto(random_state=0).fit(X)
    for name in ("svc", "hdbscan"):
        recipe(name).fit(X)
    for name in ("kmeans", "mixture", "emmc", "spectral", "genie"):
        recipe(name, n_clusters=3).set_params(random_state=0).fit(X)
for X in (wide, wide.astype(np.float32)):
    recipe("embeddings").set_params(random_state=0).fit(X)
"""
"""What a user may begin with; the demo and a mixed table compile nothing more."""


def main() -> None:
    """Compile, and lay the files of each package of the library into a folder of its own."""
    tag = f"py{sys.version_info[0]}{sys.version_info[1]}"
    root = Path(SHIPPED).parent
    for old in Path(SHIPPED).glob(f"*/*.{tag}*.nb?"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        target = {"NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, "-c", FITS], env={**os.environ, **target}, check=True)
        count = 0
        for package in {path.parent for path in root.rglob("*_jit.py")}:
            files = Path(folder, _CacheLocator.get_suitable_cache_subpath(str(package / "any.py")))
            place = Path(SHIPPED, ".".join(("clusterkit", *package.relative_to(root).parts)))
            for file in files.glob("*.nb?"):
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, place)
                count += file.suffix == ".nbi"
    size = sum(path.stat().st_size for path in Path(SHIPPED).rglob(f"*.{tag}*"))
    print(f"{count} functions for {PROCESSOR}, {tag}: {size / 1e6:.1f} MB in {SHIPPED}")


if __name__ == "__main__":
    main()
