"""Reading of files and data frames as tables of cells, whole or piece by piece.

- ``files.py``: a table from a file by its ending; ``unpacking.py``: decompressed bytes, and the text they are;
- ``delimited.py``, ``headers.py``: text with a delimiter, and whether its first row has names;
- ``spreadsheets.py``, ``grids.py``: Excel files, and the filled cells of a sheet;
- ``frames.py``: data frames of pandas, Polars and PyArrow;
- ``table.py``: the table that all of them give; ``chunks.py``, ``row_sample.py``: large tables in pieces, and a sample
  of their rows;
- ``opening.py``: `clusterkit.open`, which gives the rows of a file block by block.
"""
