"""The bytes of a file, decompressed up to a cap, and the text that they are."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, BinaryIO, cast

from clusterkit.errors import TableError, TableWarning, first_names
from clusterkit.samples import memory

TEXT = frozenset({"", ".csv", ".tsv", ".tab", ".txt", ".dat", ".data"})
"""Endings of delimited text, for which no plugin is asked; each may be followed by one of `COMPRESSED`."""

COMPRESSED = (".gz", ".bz2", ".xz", ".zip")
"""Endings of compressed text."""

SHOWN = 5
"""Files of an archive that an error names."""

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
"""Byte order marks at the beginning of a text, and their encodings; marks of 4 bytes come before their prefixes."""

MOST_CONTROLS = 0.05
"""Share of control characters above which bytes are no text; compressed bytes have twice as many."""

LOOKED_AT = 4000
"""Bytes from which a text without a mark is told from other files."""

CONTROLS = frozenset(range(32)) - {9, 10, 12, 13, 26, 27}
"""Bytes that no text has: control characters but tabs, line ends, form feeds, the old end of a file, and escape."""


def without_compression(name: str) -> str:
    """The name of a file in lower case, without the ending that says how it is compressed.

    Examples
    --------
    >>> without_compression("A.csv.XZ"), without_compression("a.csv")
    ('a.csv', 'a.csv')
    """
    name = name.lower()
    ending = Path(name).suffix
    return name.removesuffix(ending) if ending in COMPRESSED else name


WESTERN = ("cp1252", "latin-1")
"""Encodings of Western languages, which are taken where a text shows no other one."""

FOREIGN = re.compile(rb"[\x80-\xff]{3,}")
"""Several bytes above 127 in a row, which words of Western languages hardly have."""

ABOVE = re.compile(rb"[\x80-\xff]")
"""A byte above 127."""

SEARCHED = 2**20
"""Bytes that are searched for such rows."""

MOST_FOREIGN = 0.5
"""Share of the bytes above 127 that may stand in such rows."""

SHOWN_LETTERS = 12
"""Letters of such a row that a warning shows."""


def content_of(source: str | os.PathLike[str] | BinaryIO, title: str) -> bytes:
    """The bytes of a file or a stream, decompressed if they are: gzip, bzip2, xz, or a ZIP archive of one text.

    Raises
    ------
    TableError
        If they are damaged, or larger than `clusterkit.samples.memory.unpacked_cap` when they are decompressed; if an
        archive holds several files, or none that is text.
    """
    content = Path(source).read_bytes() if isinstance(source, str | os.PathLike) else source.read()
    unpack = next((unpack for mark, unpack in PACKED.items() if mark.match(content)), None)
    if unpack is None:
        return content
    allowed = memory.unpacked_cap()
    try:
        # read no further than the cap: a few thousand bytes may unpack to gigabytes
        with unpack(io.BytesIO(content), title) as file:
            text = file.read(allowed + 1)
    except TableError:
        raise
    except (EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise TableError(f"{title} cannot be unpacked: {error}") from None
    if len(text) > allowed:
        raise TableError(
            f"{title} is larger than {memory.human(allowed)} when it is unpacked. If that is right, raise the cap: "
            f"{memory.setting(memory.UNPACKED_VARIABLE, 4 * allowed)}"
        )
    return text


def _member(content: BinaryIO, title: str) -> IO[bytes]:
    """The only file of a ZIP archive, if it is text by its ending."""
    archive = zipfile.ZipFile(content)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(names) != 1:
        if not names:
            raise TableError(f"{title} is an archive without a file")
        shown = first_names(names, SHOWN)
        raise TableError(f"{title} is an archive of {len(names)} files: {shown}; unpack the one to be read")
    if Path(names[0].lower()).suffix not in TEXT:
        raise TableError(f"{title} is an archive with {names[0][:80]}, which is no text by its ending; unpack it")
    return archive.open(names[0])


PACKED: Mapping[re.Pattern[bytes], Callable[[BinaryIO, str], IO[bytes]]] = MappingProxyType(
    {
        re.compile(rb"\x1f\x8b"): lambda content, _: cast("IO[bytes]", gzip.GzipFile(fileobj=content)),
        re.compile(rb"BZh[1-9]1AY&SY"): lambda content, _: bz2.BZ2File(content),
        re.compile(rb"\xfd7zXZ\x00"): lambda content, _: lzma.LZMAFile(content),  # noqa: SIM115 - closed by the caller
        re.compile(rb"PK(\x03\x04|\x05\x06)"): _member,
    }
)
"""First bytes of compressed files, and the function that unpacks each kind."""


def check_archive(title: str) -> None:
    """Raise `TableError` for a spreadsheet, an archive, that would be too large when it is unpacked."""
    try:
        with zipfile.ZipFile(title) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise TableError(f"{title} is no spreadsheet: {error}") from None
    check_size(size, title)


def check_size(size: int, title: str) -> None:
    """Raise `TableError` for a file of so many bytes, once it is unpacked, above the cap."""
    allowed = memory.unpacked_cap()
    if size > allowed:
        raise TableError(
            f"{title} has {memory.human(size)} when it is unpacked, above the cap of {memory.human(allowed)}. If that "
            f"is right, raise the cap: {memory.setting(memory.UNPACKED_VARIABLE, 2 * size)}"
        )


def decoded(content: bytes, title: str, encoding: str | None = None) -> tuple[str, str]:
    """The text, with line ends of one kind, and the name of its encoding.

    UTF-8, UTF-16 and UTF-32 are told by their marks, UTF-16 without one by its zeros; what is none of them is taken for
    Windows-1252, or Latin-1 where a byte has no letter in that.

    Parameters
    ----------
    content : bytes
    title : str
        The name in messages.
    encoding : str, optional
        Detected if None.

    Raises
    ------
    TableError
        If it is no text, or not in this encoding.
    """
    name = encoding or _encoding(content, title)
    if encoding is None and name in WESTERN:
        _tell_of_letters(content, title, name)
    try:
        text = content.decode(name)
    except LookupError:
        raise TableError(
            f"there is no encoding named {name!r}; names are, for example, utf-8, utf-16, latin-1"
        ) from None
    except UnicodeError as error:
        raise TableError(f"{title} is no text in {name}: {error}") from None
    # lines of old Macs end in CR alone, which the readers of CSV take for a part of a cell
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), name


def _tell_of_letters(content: bytes, title: str, name: str) -> None:
    """Warn of a text that is taken for a Western one, in which letters above 127 stand alone among others."""
    words = FOREIGN.findall(content, 0, SEARCHED)
    if sum(map(len, words)) > MOST_FOREIGN * len(ABOVE.findall(content, 0, SEARCHED)):
        shown = words[0][:SHOWN_LETTERS].decode(name, "replace")
        warnings.warn(
            f"{title}: its text is taken for {name}, in which it has words such as {shown!r}; if these are no words, "
            "--encoding (encoding= in Python) says what it is written in: cp1251 or koi8-r for Cyrillic, shift_jis for "
            "Japanese, gb18030 for Chinese, euc_kr for Korean, cp1253 for Greek, cp1256 for Arabic",
            TableWarning,
            stacklevel=5,
        )


def _encoding(content: bytes, title: str) -> str:
    for mark, name in MARKS:
        if content.startswith(mark):
            return name
    head = content[:LOOKED_AT]
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = head[first::2].count(0)
        if len(head) > 3 and zeros > 0.7 * (len(head) // 2) and head[1 - first :: 2].count(0) == 0:
            return name
    if sum(byte in CONTROLS for byte in head) > MOST_CONTROLS * len(head):
        raise TableError(f"{title} is no text. Formats: CSV, TSV (also compressed), Excel, Parquet, NPY")
    for name in ("utf-8", "cp1252"):
        try:
            content.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    return "latin-1"
