"""From an object to a table of JSON nodes and a set of arrays.

A value is written as it is (None, a truth value, a number, a text), or as ``{"node": i}``, the i-th entry of the table.
A node refers to earlier nodes only, so a file cannot describe a circle and is read in one pass without recursion; an
object that is reached twice has one node.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.core.errors import NotSavable
from clusterkit.core.saving.savable import SavedClass, fields_of, name_of
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["Packed", "pack"]

DEEPEST = 100
"""Most objects one inside the other: far more than any fit leaves behind, and far from the limit of recursion."""

LONGEST_INTEGER = 256
"""Most bits of an integer: states of random generators have 128."""


@attrs.frozen(eq=False)
class Packed:
    """An object as data.

    Parameters
    ----------
    root : object
        The value that stands for the object.
    nodes : list of dict
    classes : list of SavedClass
        What the nodes refer to by number.
    tensors : dict of str to ndarray
    """

    root: object
    nodes: list[dict[str, object]]
    classes: list[SavedClass]
    tensors: dict[str, AnyArray]

    def tree(self) -> dict[str, object]:
        """Everything but the tensors, for JSON."""
        classes = [[c.kind, c.name, c.schema, c.distribution] for c in self.classes]
        return {"root": self.root, "nodes": self.nodes, "classes": classes}


def pack(value: object) -> Packed:
    """An object as data.

    Parameters
    ----------
    value : object
        Of a registered class, or a tuple, list, dict, set, array, number or text of such objects.

    Raises
    ------
    NotSavable
        If a part is of no such class, or contains itself; names its place.
    """
    packer = _Packer()
    root = packer.value(value, "the model", 0)
    return Packed(root, packer.nodes, list(packer.classes), packer.tensors)


@attrs.define(eq=False)
class _Packer:
    nodes: list[dict[str, Any]] = attrs.field(factory=list)
    classes: dict[SavedClass, int] = attrs.field(factory=dict)
    tensors: dict[str, AnyArray] = attrs.field(factory=dict)
    # number of the node of an object by its identity; None while it is being written. The objects are kept alive,
    # because an identity is free again after an object is gone.
    _numbers: dict[object, int | None] = attrs.field(factory=dict)
    _alive: list[object] = attrs.field(factory=list)
    _names: dict[type, SavedClass] = attrs.field(factory=dict)

    def value(self, value: Any, place: str, depth: int) -> Any:
        """What stands for an object in the JSON."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            if value.bit_length() > LONGEST_INTEGER:
                raise NotSavable(f"{place} is an integer of {value.bit_length()} bits, more than a file holds")
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        key: object = _memory_of(value) if type(value) is np.ndarray else id(value)
        if key in self._numbers:
            number = self._numbers[key]
            if number is None:
                raise NotSavable(f"{place} contains itself")
            return {"node": number}
        if depth > DEEPEST:
            raise NotSavable(f"{place} is nested more than {DEEPEST} deep")
        self._numbers[key] = None
        self._alive.append(value)
        node = self._node(value, place, depth + 1)
        self._numbers[key] = len(self.nodes)
        self.nodes.append(node)
        return {"node": len(self.nodes) - 1}

    def _node(self, value: Any, place: str, depth: int) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            return self._array(value, place)
        if isinstance(value, np.generic):
            return {"scalar": self.value(np.asarray(value), place, depth)}
        if isinstance(value, np.dtype):
            return {"dtype": _dtype_text(value, place)}
        if type(value) in (tuple, list):
            items = [self.value(item, f"{place}[{i}]", depth) for i, item in enumerate(value)]
            return {type(value).__name__: items}
        if type(value) in (set, frozenset):
            items = [self.value(item, f"a member of {place}", depth) for item in sorted(value, key=repr)]
            return {type(value).__name__: items}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return self._random_source(value, place, depth)
        if isinstance(value, SparseRows):
            return {"sparse_rows": self.value(value.csr, place, depth)}
        if hasattr(value, "tocsr") and hasattr(value, "format"):
            return self._sparse(value, place, depth)
        if isinstance(value, Mapping) and not hasattr(value, "saved_fields"):
            pairs = [
                [self.value(key, f"a key of {place}", depth), self.value(item, f"{place}[{key!r}]", depth)]
                for key, item in value.items()
            ]
            return {"dict": pairs}
        return self._object(value, place, depth)

    def _object(self, value: Any, place: str, depth: int) -> dict[str, Any]:
        """A node of a registered class."""
        cls = type(value)
        try:
            if cls not in self._names:
                self._names[cls] = name_of(cls)
            fields = fields_of(value)
        except NotSavable as error:
            raise NotSavable(f"{place} cannot be saved: {error}") from None
        saved = self._names[cls]
        number = self.classes.setdefault(saved, len(self.classes))
        inner = f"{place}." if depth > 1 else ""
        return {
            "class": number,
            "fields": {name: self.value(item, f"{inner}{name}", depth) for name, item in fields.items()},
        }

    def _array(self, value: AnyArray, place: str) -> dict[str, Any]:
        """A node of an array; its memory order and byte order are kept."""
        if type(value) not in (np.ndarray, np.memmap):
            raise NotSavable(f"{place} cannot be saved: it is an array of the class {type(value).__name__}")
        node: dict[str, Any] = {}
        if value.dtype == object:
            if not all(isinstance(item, str) for item in value.flat):
                raise NotSavable(f"{place} cannot be saved: it is an array of objects that are no texts")
            return {"texts": [str(item) for item in value.flat], "shape": list(value.shape)}
        text = _dtype_text(value.dtype, place)
        plain = value
        if value.dtype.byteorder == ">" or (value.dtype.byteorder == "=" and np.little_endian is False):
            plain = value.astype(value.dtype.newbyteorder("<"))
        fortran = plain.flags.f_contiguous and not plain.flags.c_contiguous
        plain = np.ascontiguousarray(plain.T if fortran else plain).reshape(plain.T.shape if fortran else plain.shape)
        if plain.dtype.kind == "U":
            plain = plain.reshape(-1).view(np.uint32).reshape(*plain.shape, plain.dtype.itemsize // 4)
        elif plain.dtype.kind == "c":
            plain = plain.reshape(-1).view(f"<f{plain.dtype.itemsize // 2}").reshape(*plain.shape, 2)
        elif plain.dtype.kind in "mM":
            plain = plain.view(np.int64)
        name = f"{len(self.tensors):06d}"
        self.tensors[name] = plain
        node["tensor"] = name
        if plain.dtype.str != text:
            node["dtype"] = text
        if fortran:
            node["order"] = "F"
        if not value.flags.writeable:
            node["readonly"] = True
        return node

    def _sparse(self, value: Any, place: str, depth: int) -> dict[str, Any]:
        """A node of a sparse matrix or array, in CSR form."""
        import scipy.sparse

        csr = value if value.format == "csr" else scipy.sparse.csr_array(value)
        parts = {name: self.value(getattr(csr, name), place, depth) for name in ("data", "indices", "indptr")}
        kind = "array" if isinstance(value, scipy.sparse.sparray) else "matrix"
        return {"sparse": kind, "shape": [int(size) for size in csr.shape], **parts}

    def _random_source(self, value: Any, place: str, depth: int) -> dict[str, Any]:
        """A node of a random generator: the name of its algorithm and its state."""
        if isinstance(value, np.random.Generator):
            state: Any = value.bit_generator.state
            return {"generator": str(state["bit_generator"]), "state": self.value(state, place, depth)}
        state = value.get_state(legacy=False)
        return {"random_state": str(state["bit_generator"]), "state": self.value(state, place, depth)}


def _memory_of(value: AnyArray) -> object:
    """What tells arrays apart: two views of the same memory with the same shape are one array."""
    if value.dtype.hasobject or value.size == 0:
        return id(value)
    place: int = value.__array_interface__["data"][0]
    return place, value.shape, value.strides, value.dtype.str, value.flags.writeable


def _dtype_text(dtype: np.dtype, place: str) -> str:
    if dtype.names is not None or dtype.subdtype is not None or dtype.kind not in "biufcUmM" or dtype.itemsize == 0:
        raise NotSavable(f"{place} cannot be saved: {dtype} is no type of numbers or texts")
    if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
        raise NotSavable(f"{place} cannot be saved: {dtype} has no form that all machines share")
    return dtype.str
