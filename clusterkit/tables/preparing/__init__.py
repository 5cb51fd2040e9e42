"""What is done to the columns of a table, decided from sums over the rows, and applied to new rows again."""
