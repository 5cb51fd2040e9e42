"""Fitted models as data: arrays and a table of registered frozen classes, which loads without running code.

`values.py` turns an object into a table of JSON nodes and a set of arrays, and back; `model_file.py` writes and reads
the file (the safetensors format); `savable.py` knows which class has which name, schema number and migration, and
compares what a file holds with the types that a class declares.
"""

from clusterkit.saving.model_file import FORMAT, Content, read, write
from clusterkit.saving.savable import Savable, name_of
from clusterkit.saving.values import Packed, pack, unpack

__all__ = ["FORMAT", "Content", "Packed", "Savable", "name_of", "pack", "read", "unpack", "write"]
