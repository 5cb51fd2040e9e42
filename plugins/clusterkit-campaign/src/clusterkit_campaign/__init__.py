"""A campaign against stages and recipes: awkward data, odd parameters, relations, references, broken plugins and files.

``python -m clusterkit_campaign --minutes 10 --recipe svc`` runs it in two processes and writes a report with
the smallest data set that shows each failure. The cases follow from the seed alone; the time says only how far it
gets. Where the conformance kit checks one stage against its laws, the campaign checks whole fits of what users can
compose.

- ``data_sets.py``: the corpus of awkward data, with the types and memory layouts that it comes in.
- ``subjects.py``: what is fitted, a recipe or a composition; ``fits.py``: what every fit must hold to.
- ``odd_parameters.py``, ``relations.py``, ``comparisons.py``, ``ensembles.py`` (consensus functions),
  ``plugin_breakers.py`` and ``hostile_files.py`` (the changes to files are in ``mutators.py``): the other areas.
- ``plan.py``: the endless list of cases; ``worker.py``, ``runner.py``: processes that run it, guarded against
  hanging.
- ``shrinking.py``, ``report.py``, ``exclusions.toml``: smallest data sets, the report, and what is excluded with its
  reason.
- ``faults``: killed processes, full disks, Ctrl-C, unusual environments.
"""
