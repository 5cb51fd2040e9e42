"""Tuners: parameters left open become values, found without labels before the fit."""
