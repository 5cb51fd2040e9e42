"""Estimators with the interface of scikit-learn, the only modules that import it at their top.

An estimator holds parameters, validates data, runs a driver (``clusterkit/drivers``) and sets fitted attributes; the
mathematics is in the stages and drivers.

- ``pipeline.py``: `Pipeline`, one composition of stages. ``driven.py``: `Driven`, any driver over a pipeline, with
  ``auto.py`` and ``auto.py`` as its forms for two drivers. ``build.py``: `recipe` and `recipes`.
- ``search.py``: `search` over a grid; ``_search_*.py`` are its grid, scores, file and table.
- ``ensemble.py``, ``ensemble.py``: many labellings, and one labelling from them.
- ``width_path.py``: support vector clustering at many widths.
- ``min_max_svc.py``, ``_modules.py``: the min-max modular classifier, ``max_i min_j S_ij(x)`` (Lu, Ito 1999);
  ``_module_training.py`` trains its modules, ``_modules.py`` reads classes from them.
- ``nested_params.py``, ``base.py``, ``outputs.py``, ``samples.py``, ``same_place.py``, ``same_place.py``: nested
  parameters, attributes, a `predict` that may be absent, validation of samples, thread limits, and progress bars.
"""
