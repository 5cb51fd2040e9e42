"""From files and data frames to tables of cells: delimited text, spreadsheets, frames, piece by piece or whole."""
