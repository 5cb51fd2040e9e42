"""Estimators with the interface of scikit-learn, the only modules that import it at their top.

An estimator holds parameters, validates data, runs a driver (``clusterkit/drivers``) and sets fitted attributes; the
mathematics is in the stages and drivers.

- ``pipeline.py``: `Pipeline`, one composition of stages. ``driven.py``: `Driven`, any driver
  over a pipeline. ``auto.py``: `Auto`. ``build.py``: `recipe` and `recipes`.
- ``search.py``: `search` over a grid; ``_search_run.py`` fits its candidates, ``_search_scores.py`` scores them,
  ``_search_results.py`` has the grid, the file of finished candidates and the result.
- ``ensemble.py``: many labellings, and one labelling from them. ``as_partitioner.py``: a recipe as a start.
- ``base.py``: fitted attributes, and parameters of stages. ``outputs.py``: methods such as `predict` that may be
  absent.
- ``samples.py``, ``units.py``, ``preparing.py``: validation of samples, columns in different units, tables.
- ``place.py``, ``same_place.py``: where samples and answers lie; thread limits, logs and progress bars.
- ``saving.py``, ``loading.py``: fitted estimators to files of data, and back.
"""
