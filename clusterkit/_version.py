"""The version of the distribution, below all that writes it into a file or a page."""

__version__ = "0.3.0"
