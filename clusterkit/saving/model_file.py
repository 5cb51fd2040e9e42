"""The file of a saved model: arrays as tensors of the safetensors format, everything else as JSON in its metadata.

The format is 8 bytes with the length of the header, the header as JSON (dtype, shape and place of every tensor, and
texts as metadata), and the tensors one after the other. It is written by the package safetensors and read here,
because a file that somebody else made is checked more strictly than that package does: nothing is allocated before the
sizes in the header agree with the size of the file, and an entry that occurs twice is an error.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import attrs
import numpy as np

from clusterkit._typing import AnyArray
from clusterkit.errors import InvalidModelFile
from clusterkit.files import replacing

FORMAT = 1
"""Number of the layout of the file; raised when older versions of the library could not read a newer file."""

KEY = "clusterkit"
"""Entry of the metadata that holds the JSON; other entries are refused."""

LONGEST_HEADER = 100_000_000
"""Largest number of bytes of a header, as in the package safetensors."""

DTYPES: Mapping[str, str] = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4",
    "U64": "<u8", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
"""Types of tensors that a model may have, and numpy's names for them."""

LARGEST_EMPTY = 4096
"""Largest dimension of an array without entries beyond the size of the file: such a shape costs no byte, and arrays of
this length may be made from it."""


@attrs.frozen(eq=False)
class Content:
    """Content of a model file.

    Parameters
    ----------
    tree : mapping
        The JSON: a table of nodes, the classes that they use, and facts about the file.
    tensors : mapping of str to ndarray
    """

    tree: Mapping[str, object]
    tensors: Mapping[str, AnyArray]


def write(path: str | os.PathLike[str], content: Content) -> None:
    """Write a file, whole or not at all; equal content gives equal bytes.

    Parameters
    ----------
    path : path
    content : Content
        Tensors in C order, of the types in `DTYPES`.

    Raises
    ------
    OSError
        If the file cannot be written; names path and reason.
    """
    from safetensors.numpy import save

    tree = {**content.tree, "format": FORMAT}
    descriptions = {name: _described(tensor) for name, tensor in content.tensors.items()}
    digest = _started(tree, descriptions)
    for name in sorted(content.tensors):
        digest.update(_bytes_of(content.tensors[name]))
    text = _text({**tree, "sha256": digest.hexdigest()})
    with replacing(Path(path)) as part:
        # the package would open the file itself, and report a full disk as an error of its own
        part.write_bytes(save(dict(content.tensors), {KEY: text}))


def read(path: str | os.PathLike[str]) -> Content:
    """Read a file and compare it with the checksum in it.

    Parameters
    ----------
    path : path

    Raises
    ------
    InvalidModelFile
        If the file is no saved model, was cut short or changed, or is of a newer format.
    OSError
        If it cannot be opened or read.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header, begin = _header(file, size, str(name))
        text = _metadata(header, str(name))
        tree = _parsed(text, str(name), "its description of the model")
        if tree.get("format") != FORMAT:
            version = tree.get("format")
            newer = isinstance(version, int) and not isinstance(version, bool) and version > FORMAT
            advice = "; it was saved by a newer clusterkit, update this one" if newer else ""
            _refuse(str(name), f"it has the format {version!r}, and this version reads {FORMAT}{advice}")
        digest = tree.pop("sha256", None)
        places = _places(header, size - begin, str(name))
        computed = _started(tree, {key: [dtype, list(shape)] for key, (dtype, shape, _) in places.items()})
        tensors: dict[str, AnyArray] = {}
        for key in sorted(places):
            dtype, shape, start = places[key]
            tensor = np.empty(shape, dtype=DTYPES[dtype])
            file.seek(begin + start)
            if file.readinto(_bytes_of(tensor)) != tensor.nbytes:
                _refuse(str(name), "it became shorter while it was read")
            computed.update(_bytes_of(tensor))
            if dtype == "BOOL":
                tensor = np.asarray(tensor.view(np.uint8) != 0)  # a byte that is neither 0 nor 1 is no truth value
            tensors[key] = tensor
    if computed.hexdigest() != digest:
        _refuse(str(name), "its content does not agree with its checksum: it was damaged or changed after saving")
    return Content(tree, tensors)


def _refuse(path: str, reason: str) -> NoReturn:
    raise InvalidModelFile(path, reason)


def _described(tensor: AnyArray) -> list[object]:
    """Type and shape of a tensor as the header has them."""
    names = {np.dtype(text): name for name, text in DTYPES.items()}
    return [names[tensor.dtype], list(tensor.shape)]


def _started(tree: Mapping[str, Any], descriptions: Mapping[str, list[object]]) -> Any:
    """A checksum over the JSON and over type and shape of every tensor; their bytes are added to it."""
    return hashlib.sha256(f"{_text(tree)}\n{_text(descriptions)}\n".encode("utf-8", "surrogatepass"))


def _bytes_of(tensor: AnyArray) -> memoryview:
    """The bytes of an array in C order; no copy."""
    return tensor.reshape(-1).view(np.uint8).data


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _header(file: BinaryIO, size: int, path: str) -> tuple[dict[str, Any], int]:
    """The header, and the place of the first byte after it."""
    length = int.from_bytes(file.read(8), "little") if size >= 8 else -1
    if not 2 <= length <= min(size - 8, LONGEST_HEADER):
        _refuse(path, "it does not begin like a saved model, or was cut short")
    return _parsed(file.read(length), path, "its header"), 8 + length


def _parsed(text: str | bytes, path: str, what: str) -> dict[str, Any]:
    """A JSON object without NaN and without an entry that occurs twice."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except RecursionError:
        _refuse(path, f"{what} is nested too deeply")
    except ValueError as error:
        _refuse(path, f"{what} cannot be read: {error}")
    if not isinstance(value, dict):
        _refuse(path, f"{what} is no JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the entry {twice[:60]!r} occurs twice")
    return entries


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:60]} is beyond the floats")
    return number


def _metadata(header: dict[str, Any], path: str) -> str:
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.keys() != {KEY} or not isinstance(metadata[KEY], str):
        _refuse(path, "it holds tensors, but no model that clusterkit saved")
    return str(metadata[KEY])


def _places(header: Mapping[str, Any], room: int, path: str) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """Type, shape and first byte of every tensor; together they fill the rest of the file without gap or overlap."""
    places: dict[str, tuple[str, tuple[int, ...], int]] = {}
    ends: list[tuple[int, int]] = []
    for name, entry in header.items():
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            _refuse(path, f"the header describes tensor {name[:60]!r} wrongly")
        dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(dtype, str) or dtype not in DTYPES:
            _refuse(path, f"tensor {name[:60]!r} has the type {str(dtype)[:60]!r}, which no saved model has")
        if not (_whole(shape) and _whole(offsets) and len(offsets) == 2 and len(shape) <= 32):
            _refuse(path, f"tensor {name[:60]!r} has a shape or a place that is none")
        n_bytes = math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize
        if offsets[1] - offsets[0] != n_bytes or offsets[1] > room or max(shape, default=0) > max(room, LARGEST_EMPTY):
            what = f"tensor {name[:60]!r} of shape {str(shape)[:60]}"
            _refuse(path, f"{what} does not fit into the file: it was cut short or changed")
        places[name] = dtype, tuple(shape), offsets[0]
        ends.append((offsets[0], offsets[1]))
    last = 0
    for first, end in sorted(ends):
        if first != last:
            _refuse(path, "its tensors overlap, or leave a gap")
        last = end
    if last != room:
        _refuse(path, "it is longer than its tensors, or was cut short")
    return places


def _whole(values: object) -> bool:
    """Whether this is a list of integers that are not negative."""
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 2**63 for value in values)
