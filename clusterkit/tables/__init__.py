r"""Tables with gaps, categories, dates and units become features: read, prepared, and applied again to new rows.

`clusterkit.tables.reading` makes typed columns of files and data frames, `clusterkit.tables.cells` says what their
cells mean, and `clusterkit.tables.preparing` makes a plan for each column from sums over the rows and applies it.

>>> import io
>>> from clusterkit.tables import Preparation, read_table
>>> table = read_table(io.BytesIO(b"id;income;since\n1;45.920,5;2019-04-01\n2;;2021-10-12\n3;61.300,0;2020-01-30\n"))
>>> fitted = Preparation().fit(table)
>>> fitted.used, fitted.left_out, fitted.transform(table).shape
(('income', 'since'), {'id': 'an identifier, by its name'}, (3, 2))
"""

from clusterkit.errors import NotNumeric, TableError, TableWarning
from clusterkit.tables.cells.column_names import select
from clusterkit.tables.preparing.preparation import FittedPreparation, Preparation
from clusterkit.tables.reading.files import known_endings, read_table, table_of_arrays
from clusterkit.tables.reading.frames import Column, columns_of, is_frame
from clusterkit.tables.reading.table import Table

__all__ = [
    "Column",
    "FittedPreparation",
    "NotNumeric",
    "Preparation",
    "Table",
    "TableError",
    "TableWarning",
    "columns_of",
    "is_frame",
    "known_endings",
    "read_table",
    "select",
    "table_of_arrays",
]
