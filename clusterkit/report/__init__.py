"""A page about a clustered table: what is in the clusters, how sure that is, and what to look at.

The page is one file that needs no network and no JavaScript, of at most 2 MB whatever the number of rows.

- ``page.py``: `make_report`, from a table to the page: its texts, its tables and its pictures, which are SVG;
- ``analysis.py``: the fits and the numbers (`Analysis`), rows between clusters, and rows far from all others;
- ``sentences.py``: sentences from the numbers: the verdict, how sure it is, caveats.

The report needs jinja2 and matplotlib, the extra ``report``.
"""

from __future__ import annotations

from clusterkit.report.analysis import Analysis, analyse
from clusterkit.report.page import make_report

__all__ = ["Analysis", "analyse", "make_report"]
