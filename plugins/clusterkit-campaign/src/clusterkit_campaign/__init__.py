"""A campaign against stages and recipes: awkward data, odd parameters, relations, references, broken plugins and files.

``python -m clusterkit_campaign --minutes 10 --recipe svc`` runs it in two processes and writes a report with
the smallest data set that shows each failure. The cases follow from the seed alone; the time says only how far it
gets. Where the conformance kit checks one stage against its laws, the campaign checks whole fits of what users can
compose.

- ``data_sets.py``: the corpus of awkward data, with the types and memory layouts that it comes in.
- ``fits.py``: what is fitted, what every fit must hold to, and the smallest data set that shows a problem.
- ``odd_parameters.py``, ``relations.py``, ``comparisons.py``, ``ensembles.py`` (consensus functions),
  ``plugin_breakers.py``, ``hostile_files.py``, ``user_tables.py`` and ``edges.py``: the other areas.
- ``cases.py``: the endless list of cases, and how one is run; ``runner.py``: processes that run them, guarded against
  hanging, and the report.
- ``findings.py``: what a case shows; ``exclusions.toml``: what is excluded with its reason.
- ``faults.py``: killed processes, full disks, Ctrl-C, unusual environments; ``processes.py``: what they are tried in.
- ``oracles``: plain versions of what the library computes, for the comparisons and for the tests of the library.
"""
