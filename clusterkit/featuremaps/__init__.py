"""Feature maps: data to a space."""
