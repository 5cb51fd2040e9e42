"""A page about a clustered table: what is in the clusters, how sure that is, and what to look at.

The page is one file that needs no network and no JavaScript, of at most 2 MB whatever the number of rows.

=============  =======================================================================================================
`making`       `make_report`: from a table to the page.
`analysis`     The fits and the numbers: `Analysis`.
`neighbours`   Rows between clusters, and rows far from all others.
`sentences`    Sentences from the numbers: the verdict, how sure, caveats.
`pictures`     The pictures, as SVG in the colours of the page.
`page`         The template, and the texts and tables that it shows.
=============  =======================================================================================================

It needs jinja2 and matplotlib, the extra ``report``.
"""

from __future__ import annotations

from clusterkit.report.analysis import Analysis, analyse
from clusterkit.report.page import make_report

__all__ = ["Analysis", "analyse", "make_report"]
