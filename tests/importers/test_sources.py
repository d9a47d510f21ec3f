"""Sources within limits: sizes, compression, encodings."""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from auditkit.errors import SourceError
from auditkit.importers import sources
from auditkit.importers.sources import read_source, unzip


def test_the_hash_is_of_the_file_and_the_content_is_expanded(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
    source = read_source(path)
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert source.text() == "a,b\n1,2\n3,4\n"
    assert (source.name, source.stem, source.suffix) == ("t.csv.gz", "t", ".csv")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa\n1\n")
    assert read_source(path).text() == "a\n1\n"


@pytest.mark.parametrize(
    ("kind", "what"),
    [("missing", "no such file"), ("folder", "a folder"), ("fifo", "not a regular file")],
)
def test_only_plain_files(tmp_path: Path, kind: str, what: str) -> None:
    path = tmp_path / "t.csv"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    with pytest.raises(SourceError, match=rf"t\.csv: {what}, expected a plain file"):
        read_source(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"t\.csv, line 1, column 1: empty file"),
        (b" \n\n", r"t\.csv, line 1, column 1: empty file"),
        (b"a,b\nx,\xff\n", r"t\.csv, line 2, column 3: not UTF-8, found byte 0xff"),
        (b"a,b\nx,\x00\n", r"t\.csv, line 2, column 3: not a text file, found a NUL"),
        ("a,b\n".encode("utf-16"), r"t\.csv, line 1, column 1: not UTF-8"),
    ],
)
def test_texts_that_are_none(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message):
        read_source(path).text()


def test_a_gzip_that_expands_without_end(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", 9) as file:
        for _ in range(96):
            file.write(bytes(2**20))
    assert path.stat().st_size < 200_000
    with pytest.raises(SourceError, match=r"bomb\.csv\.gz: compressed source expands without end"):
        read_source(path)


@pytest.mark.parametrize("cut", [5, 30])
def test_a_gzip_that_is_broken(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(os.urandom(100))[:cut])
    with pytest.raises(SourceError, match="not a readable gzip file"):
        read_source(path)
    path.write_bytes(b"plain text")
    with pytest.raises(SourceError, match="not a readable gzip file"):
        read_source(path)


def test_sizes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n" * 100)
    monkeypatch.setattr(sources, "MAX_TEXT", 150)
    with pytest.raises(SourceError, match="200 bytes of text, expected at most 150"):
        read_source(path).text()
    monkeypatch.setattr(sources, "MAX_BYTES", 150)
    with pytest.raises(SourceError, match="200 bytes, expected at most 150"):
        read_source(path)


def test_a_zip_that_expands_without_end(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in range(2):  # neither member alone is too large
            archive.writestr(f"{member}.npy", bytes(48 * 2**20))
    with pytest.raises(
        SourceError, match=r"member '1\.npy': compressed source expands without end"
    ):
        unzip(read_source(path))


def test_a_zip_that_lies_about_sizes(tmp_path: Path) -> None:
    path = tmp_path / "lie.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1000))
    content = path.read_bytes().replace((1000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(content)
    with pytest.raises(SourceError, match="not a readable zip file"):
        unzip(read_source(path))


def test_a_zip_with_a_member_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.npy", b"2")
    with pytest.raises(SourceError, match="a member occurs twice"):
        unzip(read_source(path))
