"""
The command line
================

Everything that needs no program of your own can be done from a shell: ``clusterkit fit``, ``predict``, ``search`` and
more. Here the commands are called from Python, as a test would call them.
"""

import contextlib
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from click.testing import CliRunner
from sklearn.datasets import load_iris

from clusterkit import load, plots
from clusterkit.cli import app

run, iris = CliRunner().invoke, load_iris()
names = ",".join(name.removesuffix(" (cm)").replace(" ", "_") for name in iris.feature_names)
with contextlib.chdir(tempfile.mkdtemp()):
    np.savetxt("flowers.csv", iris.data, delimiter=",", header=names, comments="", fmt="%.1f")
    print(run(app, "fit flowers.csv --recipe emmc -k 3 -o labels.csv --save flowers.model").output)
    print(run(app, "predict flowers.model flowers.csv -o again.csv").output)
    print("both files hold the same labels:", Path("labels.csv").read_text() == Path("again.csv").read_text())
    plots.clusters(load("flowers.model"), iris.data)
plt.show()
