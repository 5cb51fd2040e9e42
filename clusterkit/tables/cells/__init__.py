"""Reading of cells: numbers, dates, times, magnitudes, measures, and words.

- ``parsing.py``: texts as numbers and dates; ``times.py``: times of day and durations;
- ``measures.py``, ``magnitudes.py``: what stands beside a number: units, currencies, thousands and millions;
- ``readings.py``: a whole column as numbers, levels or moments in time;
- ``text_counts.py``, ``moments.py``: sums over the cells of a column, and the decimal mark that they show;
- ``column_names.py``: names of columns, and their choice by name, position or range.
"""
