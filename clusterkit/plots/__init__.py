"""Pictures; matplotlib (the extra ``plots``) is imported only when one is drawn."""
