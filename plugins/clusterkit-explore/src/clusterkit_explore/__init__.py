"""A page on this machine on which a clustering is corrected: what people say becomes part of the next fit.

===============  ======================================================================================================
fitting          One fit in a child process: `Task` goes in, an `Answer` and then the page of the report come out.
statements       What people say about clusters, rows and columns, as links, roles and numbers of the next fit.
session          `Session`: the statements, the present answer, the fit that runs, and the two files.
server           The session over HTTP, for nobody without the token; the page itself is in ``static``.
command          ``clusterkit explore``; `plugin` tells clusterkit about it.
===============  ======================================================================================================
"""
