"""Files that somebody else made: saved models taken apart, changed, and put together with a checksum that agrees."""

import hashlib
import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def parts(content: bytes) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """The header without the metadata, the description of the model, and the bytes of the tensors."""
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    tree = json.loads(header.pop("__metadata__")["clusterkit"])
    return header, tree, content[8 + length :]


def joined(header: Mapping[str, Any], tree: Mapping[str, Any], data: bytes) -> bytes:
    """A file of these parts; its checksum is made to agree, as somebody who means harm would."""
    tree = {name: value for name, value in tree.items() if name != "sha256"}
    described = {name: [entry["dtype"], entry["shape"]] for name, entry in header.items()}
    digest = hashlib.sha256(f"{dumped(tree)}\n{dumped(described)}\n".encode())
    for name in sorted(header):
        first, end = header[name]["data_offsets"]
        digest.update(data[first:end])
    text = dumped({**tree, "sha256": digest.hexdigest()})
    return framed(json.dumps({"__metadata__": {"clusterkit": text}, **header}).encode(), data)


def framed(header: bytes, data: bytes = b"") -> bytes:
    """A file with any bytes as its header."""
    return struct.pack("<Q", len(header)) + header + data


def dumped(value: object) -> str:
    """JSON as the file has it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def changed(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """The same file after a change of its header and its description."""
    header, tree, data = parts(path.read_bytes())
    change(header, tree)
    other = path.with_name("changed.clusterkit")
    other.write_bytes(joined(header, tree, data))
    return other
