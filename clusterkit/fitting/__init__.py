"""The fit of a composition: starts, iterations in memory and by passes over rows, and ensembles of fits.

- ``samples.py``: `Samples`, in memory or read by an engine: the only module that knows where they are;
- ``device_paths.py``: which stages run by passes, and which on a device;
- ``fit.py``: `bind` (checks, feature map, solver), `run` (the starts, the best of them) and `fit`, which does both;
- ``starting.py``: numbers of clusters along a line, for first labels of rows outside memory;
- ``label_iterations.py``, ``pass_iterations.py``: an iteration over labels, in memory and by passes;
- ``ensembles.py``: many labellings of the same samples, and one made of them (`combine`).

The loop that runs the iterations is `clusterkit.contracts.iteration.iterate`.
"""
