"""Source files as bytes: read once, hashed, expanded within limits.

A source comes from a stranger as much as an audit file does. Its size is limited as it stands and as it
expands, it must be UTF-8 where it is text, and it must be a plain file.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from auditkit.errors import SourceError, no_file

MAX_BYTES = 2**30
"""The most that a source may take, as it stands or expanded."""

MAX_TEXT = 256 * 2**20
"""The most that a source of text may take once expanded: parsed, its cells take several times that."""

_SMALL = 64 * 2**20  # below this a source may be as compressible as it likes
_MOST_COMPRESSIBLE = 200  # times the bytes stored
_BLOCK = 2**20

StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Source:
    """One source file.

    Attributes
    ----------
    path
        Where it was read from.
    sha256
        SHA-256 of the file as it stands.
    content
        Its bytes, expanded where it was a ``.gz``.
    """

    path: Path
    sha256: str
    content: bytes

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return self.path.name

    @property
    def stem(self) -> str:
        """The name without ``.gz`` and without its ending."""
        return (
            self.path.with_suffix("").stem if self.path.suffix.lower() == ".gz" else self.path.stem
        )

    @property
    def suffix(self) -> str:
        """The ending in lower case, the one before ``.gz`` where it is compressed."""
        path = self.path.with_suffix("") if self.path.suffix.lower() == ".gz" else self.path
        return path.suffix.lower()

    def where(
        self, line: int | None = None, column: str | int | None = None, *, row: str = "line"
    ) -> str:
        """The place in words: file, line (from 1) and column (a name, or a number from 1)."""
        parts = [os.fspath(self.path)]
        if line is not None:
            parts.append(f"{row} {line}")
        if column is not None:
            parts.append(f"column {column if isinstance(column, int) else repr(column)}")
        return ", ".join(parts)

    def text(self) -> str:
        """The content as text, a byte order mark taken off.

        Raises
        ------
        SourceError
            It is empty, too large, not UTF-8, or holds NUL characters.
        """
        if not self.content.strip():
            raise SourceError(
                "empty file", expected="a table with a header", where=self.where(1, 1)
            )
        if len(self.content) > MAX_TEXT:
            raise SourceError(
                "source too large", found=f"{len(self.content):,} bytes of text",
                expected=f"at most {MAX_TEXT:,}", where=self.where(),
            )  # fmt: skip
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SourceError(
                "not UTF-8",
                found=f"byte 0x{self.content[error.start]:02x}",
                where=self._where_byte(error.start),
            ) from None
        if "\x00" in text:
            raise SourceError(
                "not a text file",
                found="a NUL character",
                where=self._where_byte(self.content.find(b"\0")),
            )
        return text

    def _where_byte(self, position: int) -> str:
        before = self.content[:position]
        return self.where(before.count(b"\n") + 1, position - before.rfind(b"\n"))


def read_source(path: StrPath) -> Source:
    """Read a file whole, hash it, and expand it where it is gzip.

    Raises
    ------
    SourceError
        It is no regular file, it is too large, or it expands without end.
    """
    path = Path(path)
    if not path.is_file():
        raise SourceError(no_file(path), expected="a plain file", where=os.fspath(path))
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise SourceError(
                "source too large",
                found=f"{size:,} bytes",
                expected=f"at most {MAX_BYTES:,}",
                where=os.fspath(path),
            )
        content = path.read_bytes()
    except OSError as error:
        raise SourceError("cannot read", found=error.strerror, where=os.fspath(path)) from None
    sha256 = hashlib.sha256(content).hexdigest()
    if path.suffix.lower() == ".gz":
        content = _gunzip(content, os.fspath(path))
    return Source(path, sha256, content)


def _gunzip(content: bytes, where: str) -> bytes:
    out = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            while block := file.read(_BLOCK):
                out += block
                check_expansion(len(out), len(content), where)
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError("not a readable gzip file", found=str(error), where=where) from None
    return bytes(out)


def check_expansion(expanded: int, stored: int, where: str) -> None:
    """Refuse what expands beyond the limit, or far more than measured values do.

    Raises
    ------
    SourceError
        It does.
    """
    if expanded > MAX_BYTES or (expanded > _SMALL and expanded > _MOST_COMPRESSIBLE * stored):
        raise SourceError(
            "compressed source expands without end", found=f"over {expanded:,} bytes from {stored:,}",
            expected=f"at most {MAX_BYTES:,} bytes and {_MOST_COMPRESSIBLE} times those stored", where=where,
        )  # fmt: skip


def unzip(source: Source) -> dict[str, bytes]:
    """The members of a zip file by name, each expanded within the limits whatever the directory claims.

    Raises
    ------
    SourceError
        It is no zip file, is encrypted, names a member twice, or expands without end.
    """
    members: dict[str, bytes] = {}
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            for info in archive.infolist():
                where = f"{source.where()}, member {info.filename!r}"
                if info.filename in members:
                    raise SourceError(
                        "a member occurs twice", expected="distinct names", where=where
                    )
                if info.flag_bits & 1:
                    raise SourceError("encrypted member", expected="plain arrays", where=where)
                out = bytearray()
                with archive.open(info) as file:
                    while block := file.read(_BLOCK):
                        out += block
                        check_expansion(total + len(out), len(source.content), where)
                total += len(out)
                members[info.filename] = bytes(out)
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        NotImplementedError,
        ValueError,
    ) as error:
        raise SourceError(
            "not a readable zip file",
            found=str(error) or type(error).__name__,
            where=source.where(),
        ) from None
    return members
