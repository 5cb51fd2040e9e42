"""Conversion of an object to a table of JSON nodes and a set of arrays, and back.

A value is written as it is (None, a truth value, a number, a text), or as ``{"node": i}``, the i-th entry of the table.
A node refers to earlier nodes only, so a file cannot describe a circle and is read in one pass without recursion; an
object that is reached twice has one node. `unpack` checks every part and executes nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, NoReturn

import attrs
import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.errors import InvalidModelFile, NotSavable, UnknownName
from clusterkit.numerics.shapes import saved_fields
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.saving.model_file import Content
from clusterkit.saving.savable import SavedClass, check_declared, check_fields, class_of, fields_of, name_of, schema_of

DEEPEST = 100
"""Largest number of objects one inside the other: far more than any fit leaves behind, and far from the limit of
recursion."""

LONGEST_INTEGER = 256
"""Largest number of bits of an integer: states of random generators have 128."""


@attrs.frozen(eq=False)
class Packed:
    """An object as data.

    Parameters
    ----------
    root : object
        The value that represents the object.
    nodes : list of dict
    classes : list of SavedClass
        Classes of the nodes, which refer to them by number.
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
        Object of a registered class, or a tuple, list, dict, set, array, number or text of such objects.

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
        """The value that represents an object in the JSON."""
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
            check_declared(cls, fields)
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
    """Key by which arrays are told apart: two views of the same memory with the same shape are one array."""
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


DTYPE = re.compile(r"[<>|=]?([biu]1|[iuf][248]|c8|c16|U\d{1,9}|[mM]8(\[\w{1,12}\])?)")
"""Pattern of the numpy types that a file may name."""

GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""Algorithms of random numbers whose state a file may have: those of numpy."""


def unpack(content: Content, path: str) -> object:
    """The object that a file describes.

    Parameters
    ----------
    content : Content
    path : str
        Name of the file, for the error.

    Raises
    ------
    InvalidModelFile
        If a class is not registered, a value is refused by its class, or the description is no description at all.
    """
    tree = content.tree
    nodes, classes = tree.get("nodes"), tree.get("classes")
    if not isinstance(nodes, list) or not isinstance(classes, list) or "root" not in tree:
        raise InvalidModelFile(path, "its description of the model lacks the nodes, the classes or the root")
    reader = _ObjectBuilder(content.tensors, [_class_named(entry, path) for entry in classes])
    what = ""
    try:
        # a file may hold any numbers: what is computed from them on the way must not warn
        with np.errstate(all="ignore"):
            for number, node in enumerate(nodes):
                what = f"entry {number}"
                what += reader.title(node)
                reader.objects.append(reader.build(node))
            what = "the root"
            value: object = reader.value(tree["root"])
            return value
    except Exception as error:  # classes, those of plugins too, may refuse a value in any way
        text = str(error) or type(error).__name__
        raise InvalidModelFile(path, f"{what} is wrong: {text}") from error


def _class_named(entry: Any, path: str) -> tuple[type, int]:
    """The class and the schema number that an entry of the file names."""
    fine = isinstance(entry, list) and len(entry) == 4 and all(isinstance(part, str) for part in (*entry[:2], entry[3]))
    if not fine or type(entry[2]) is not int or entry[2] < 1:
        raise InvalidModelFile(path, f"{str(entry)[:80]} names no class")
    kind, name, schema, distribution = entry
    try:
        cls = class_of(kind, name)
    except Exception as error:  # a plugin may fail in any way
        hint = f" The file says that it is from {distribution[:80]!r}." if isinstance(error, UnknownName) else ""
        raise InvalidModelFile(path, f"it needs the class {kind[:80]} {name[:80]!r}: {error}{hint}") from error
    present = schema_of(cls)
    if schema > present:
        newer = "the library" if distribution.startswith("clusterkit") else distribution[:80]
        raise InvalidModelFile(
            path,
            f"it has schema {schema} of the class {name!r}, and this version reads up to {present}; update {newer}",
        )
    return cls, schema


@attrs.frozen(eq=False)
class _ObjectBuilder:
    """Builds the objects of a file one after the other.

    Parameters
    ----------
    tensors : mapping of str to ndarray
    classes : list of (type, int)
        Class and schema number.
    objects : list
        The objects of the entries before.
    """

    tensors: Mapping[str, AnyArray]
    classes: list[tuple[type, int]]
    objects: list[Any] = attrs.field(factory=list)

    def value(self, text: Any) -> Any:
        """The value that a part of the JSON represents."""
        if text is None or type(text) in (bool, str, int):
            return text
        if type(text) is float:
            if not math.isfinite(text):
                raise ValueError("a number is too large")
            return text
        if isinstance(text, dict) and text.keys() == {"node"}:
            number = text["node"]
            if type(number) is not int or not 0 <= number < len(self.objects):
                raise ValueError(f"it refers to entry {str(number)[:40]}, which is none before it")
            return self.objects[number]
        if isinstance(text, dict) and text.keys() == {"float"} and text["float"] in ("nan", "inf", "-inf"):
            return float(text["float"])
        raise ValueError(f"{str(text)[:60]} stands for no value")

    def title(self, node: Any) -> str:
        """The class of an entry, in brackets, for messages."""
        number = node.get("class") if isinstance(node, dict) else None
        if not isinstance(number, int) or not 0 <= number < len(self.classes):
            return ""
        return f" ({self.classes[number][0].__name__})"

    def build(self, node: Any) -> Any:
        """The object of an entry."""
        if not isinstance(node, dict):
            raise ValueError(f"{str(node)[:60]} is no JSON object")
        kinds: dict[str, tuple[set[str], Callable[[dict[str, Any]], Any]]] = {
            "class": ({"class", "fields"}, self._object),
            "tensor": ({"tensor", "dtype", "order", "readonly"}, self._array),
            "texts": ({"texts", "shape"}, self._texts),
            "dict": ({"dict"}, self._dict),
            "scalar": ({"scalar"}, self._scalar),
            "dtype": ({"dtype"}, lambda node: _dtype(node["dtype"])),
            "sparse": ({"sparse", "shape", "data", "indices", "indptr"}, self._sparse),
            "sparse_rows": ({"sparse_rows"}, self._sparse_rows),
            "generator": ({"generator", "state"}, self._generator),
            "random_state": ({"random_state", "state"}, self._generator),
            **{cls.__name__: ({cls.__name__}, partial(self._items, cls)) for cls in (tuple, list, set, frozenset)},
        }
        for kind, (names, make) in kinds.items():
            if kind in node and node.keys() <= names:
                return make(node)
        raise ValueError(f"an entry with {', '.join(map(str, node))[:80]} stands for no object")

    def _items(self, cls: Callable[[list[Any]], Any], node: dict[str, Any]) -> Any:
        return cls([self.value(item) for item in _list(node[getattr(cls, "__name__", "")])])

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        pairs = [(self.value(key), self.value(item)) for key, item in map(_pair, _list(node["dict"]))]
        entries = dict(pairs)
        if len(entries) != len(pairs):
            raise ValueError("a mapping has a key twice")
        return entries

    def _object(self, node: dict[str, Any]) -> Any:
        number, fields = node["class"], node.get("fields")
        if type(number) is not int or not 0 <= number < len(self.classes) or not isinstance(fields, dict):
            raise ValueError("it has no class or no fields")
        cls, schema = self.classes[number]
        return _restored(cls, {name: self.value(item) for name, item in fields.items()}, schema)

    def _array(self, node: dict[str, Any]) -> AnyArray:
        name = node["tensor"]
        if not isinstance(name, str) or name not in self.tensors:
            raise ValueError(f"there is no tensor {str(name)[:40]!r}")
        array = self.tensors[name]
        if "dtype" in node:
            array = _of_dtype(array, _dtype(node["dtype"]))
        if node.get("order", "C") not in ("C", "F"):
            raise ValueError(f"order {str(node['order'])[:40]!r} is neither C nor F")
        if node.get("order") == "F":
            array = array.T
        if node.get("readonly") is True:
            array = array.view()
            array.flags.writeable = False
        elif "readonly" in node:
            raise ValueError("readonly is not true")
        return array

    def _texts(self, node: dict[str, Any]) -> AnyArray:
        texts, shape = _list(node["texts"]), _shape(node.get("shape"))
        if not all(type(text) is str for text in texts) or math.prod(shape) != len(texts):
            raise ValueError("an array of texts has other entries than its shape says")
        array = np.empty(len(texts), dtype=object)
        array[:] = texts
        return array.reshape(shape)

    def _scalar(self, node: dict[str, Any]) -> Any:
        array = self.value(node["scalar"])
        if not isinstance(array, np.ndarray) or array.shape != ():
            raise ValueError("a number is no array without dimensions")
        return array[()]

    def _sparse(self, node: dict[str, Any]) -> Any:
        import scipy.sparse

        data, indices, indptr = (self.value(node.get(name)) for name in ("data", "indices", "indptr"))
        shape = _shape(node.get("shape"))
        kinds = {"array": scipy.sparse.csr_array, "matrix": scipy.sparse.csr_matrix}
        if node["sparse"] not in kinds or len(shape) != 2:
            raise ValueError("it is no sparse matrix of two dimensions")
        parts = (data, indices, indptr)
        if not all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts):
            raise ValueError("the parts of a sparse matrix must be arrays of one dimension")
        if data.dtype.kind not in "biuf" or any(part.dtype.kind != "i" for part in (indices, indptr)):
            raise ValueError("the parts of a sparse matrix have wrong types")
        # compiled loops of scipy trust these numbers
        if len(indptr) != shape[0] + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or len(data) != len(indices):
            raise ValueError("the parts of a sparse matrix do not fit each other")
        if (indptr[1:] < indptr[:-1]).any() or (len(indices) and not 0 <= indices.min() <= indices.max() < shape[1]):
            raise ValueError("a sparse matrix has an entry outside its shape")
        return kinds[node["sparse"]]((data, indices, indptr), shape=shape, copy=False)

    def _sparse_rows(self, node: dict[str, Any]) -> SparseRows:
        import scipy.sparse

        csr = self.value(node["sparse_rows"])
        if not isinstance(csr, scipy.sparse.csr_array) or csr.dtype not in (np.float32, np.float64):
            raise ValueError("sparse rows must be a sparse array of float32 or float64")
        if csr.shape[1] > 2**31 or not csr.has_canonical_format:
            raise ValueError("sparse rows must be sorted, without an entry that occurs twice")
        return SparseRows(csr)

    def _generator(self, node: dict[str, Any]) -> Any:
        kind = "generator" if "generator" in node else "random_state"
        algorithm, state = node[kind], self.value(node.get("state"))
        if algorithm not in GENERATORS:
            raise ValueError(f"there is no generator of random numbers {str(algorithm)[:40]!r}")
        source = getattr(np.random, algorithm)(0)
        if kind == "generator":
            source.state = state
            return np.random.Generator(source)
        legacy = np.random.RandomState(source)
        legacy.set_state(state)
        return legacy


def _restored(cls: type[Any], fields: Mapping[str, Any], schema: int) -> Any:
    """An object of a registered class from its saved fields, after all that it declares of them is checked."""
    value = _made(cls, fields, schema)
    if hasattr(value, "check_saved"):
        value.check_saved()
    return value


def _made(cls: type[Any], fields: Mapping[str, Any], schema: int) -> Any:
    if schema < schema_of(cls):
        if not hasattr(cls, "migrated"):
            raise ValueError(f"{cls.__name__} has no way from schema {schema} to {schema_of(cls)}")
        fields = cls.migrated(dict(fields), schema)
    fields = {name: value for name, value in fields.items() if name not in getattr(cls, "saved_before", ())}
    check_fields(cls, fields)
    if hasattr(cls, "from_saved_fields"):
        return cls.from_saved_fields(fields)
    if issubclass(cls, Enum):
        return cls[fields["member"]]
    if not attrs.has(cls):
        raise ValueError(f"{cls.__name__} is no attrs class and has no method from_saved_fields")
    attributes = saved_fields(cls)
    aliases = {field.name.lstrip("_"): field.alias for field in attributes}
    unknown = sorted(fields.keys() - aliases.keys())
    missing = [
        field.name for field in attributes if field.default is attrs.NOTHING and field.name.lstrip("_") not in fields
    ]
    if unknown or missing:
        which = f"does not know {', '.join(unknown)[:80]}" if unknown else f"lacks {', '.join(missing)}"
        raise ValueError(f"{cls.__name__} {which}")
    return cls(**{str(aliases[name]): value for name, value in fields.items()})


def _of_dtype(array: AnyArray, dtype: np.dtype) -> AnyArray:
    """The array of the given type that a tensor represents."""
    if dtype.kind == "U":
        length = dtype.itemsize // 4
        if array.dtype != np.uint32 or array.ndim < 1 or array.shape[-1] != length or not length:
            _wrong_dtype(array, dtype)
        if array.size and array.max() > 0x10FFFF:
            raise ValueError("an array of texts has a character that does not exist")
        return np.ascontiguousarray(array).view(dtype)[..., 0]
    if dtype.kind == "c":
        if array.dtype != np.dtype(f"f{dtype.itemsize // 2}") or array.ndim < 1 or array.shape[-1] != 2:
            _wrong_dtype(array, dtype)
        return np.ascontiguousarray(array).view(dtype.newbyteorder("="))[..., 0].astype(dtype)
    if dtype.kind in "mM":
        if array.dtype != np.int64:
            _wrong_dtype(array, dtype)
        return array.view(dtype.newbyteorder("=")).astype(dtype)
    if (array.dtype.kind, array.dtype.itemsize) != (dtype.kind, dtype.itemsize):
        _wrong_dtype(array, dtype)
    return array.astype(dtype)


def _wrong_dtype(array: AnyArray, dtype: np.dtype) -> NoReturn:
    raise ValueError(f"a tensor of {array.dtype} cannot stand for {dtype}")


def _dtype(text: Any) -> np.dtype:
    if not isinstance(text, str) or DTYPE.fullmatch(text) is None:
        raise ValueError(f"{str(text)[:40]!r} is no type of numbers or texts")
    return np.dtype(text)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{str(value)[:60]} is no list")
    return value


def _pair(value: Any) -> list[Any]:
    if len(_list(value)) != 2:
        raise ValueError("a mapping has an entry that is no pair")
    return list(value)


def _shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(size) is int and 0 <= size < 2**63 for size in value):
        raise ValueError(f"{str(value)[:60]} is no shape")
    return tuple(value)
