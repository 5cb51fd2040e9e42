"""The fit: the starts, the iterations in memory and by passes, batches, and ensembles of fits."""
