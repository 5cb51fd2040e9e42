"""Balancers: costs to labels of allowed cluster sizes."""
