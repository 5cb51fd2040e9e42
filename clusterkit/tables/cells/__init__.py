"""What the cells of a column say: numbers, dates, times, magnitudes, measures, and words."""
