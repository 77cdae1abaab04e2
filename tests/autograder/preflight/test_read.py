"""A file that may be anything: read, or refused in words; never more memory or time than a notebook needs."""

import json
import os
import resource
import time
from pathlib import Path

import nbformat
import pytest

from autograder.preflight import read
from autograder.preflight.read import TooMuch, Unreadable, read_notebook, skim

NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"kernelspec": {"name": "x", "deep": [[[[]]]]}},
    "cells": [
        {"cell_type": "code", "id": "a", "metadata": {}, "source": ["x = 'é'\n", "y"], "outputs": [{}]},
        {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "text"},
    ],
}
SOURCES = ["x = 'é'\ny", "text"]


def variant(**changes):
    return {**NOTEBOOK, **changes}


def with_cell(cell):
    return variant(cells=[*NOTEBOOK["cells"], cell])


def dump(content) -> bytes:
    return json.dumps(content).encode()


def v3() -> bytes:
    cells = [
        {"cell_type": "code", "language": "python", "input": "x = 'é'\ny", "outputs": [], "metadata": {}},
        {"cell_type": "markdown", "source": "text", "metadata": {}},
    ]
    return dump({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]})


def read_bytes(tmp_path, content: bytes):
    (tmp_path / "attention.ipynb").write_bytes(content)
    return read_notebook(tmp_path / "attention.ipynb")


UTF8 = json.dumps(NOTEBOOK, ensure_ascii=False)


@pytest.mark.parametrize(
    ("content", "damaged"),
    [
        (dump(NOTEBOOK), False),
        (b"\xef\xbb\xbf" + dump(NOTEBOOK), False),
        *((UTF8.encode(encoding), False) for encoding in ("utf-8", "utf-16", "utf-16-le", "utf-16-be")),
        (b"\r\n  " + dump(NOTEBOOK) + b"\r\n\r\n", False),
        (v3(), False),
        (dump(variant(metadata=7)), False),
        (dump(variant(metadata={"x": float("nan"), "y": float("inf")})), False),
        (dump(variant(nbformat_minor="five")), False),
        *((dump(with_cell(cell)), True) for cell in (7, None, [], {})),
        (dump(with_cell({"cell_type": "code"})), None),
        (dump(with_cell({"cell_type": ["code"], "source": ""})), True),
        (dump(with_cell({"cell_type": "raw", "source": None, "metadata": None})), None),
    ],
)
def test_what_can_be_read_is_read(tmp_path, content, damaged):
    notebook, found = read_bytes(tmp_path, content)
    assert [cell.source for cell in notebook.cells if cell.source] == SOURCES
    if damaged is not None:
        assert [finding.what for finding in found] == ["damaged-cell"] * damaged
    assert all(cell.outputs == [] for cell in notebook.cells if cell.cell_type == "code")
    nbformat.validate(notebook)
    assert nbformat.reads(nbformat.writes(notebook), as_version=4) == notebook


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\0\0", "is empty"),
        (b"<!DOCTYPE html><html>", "is a web page"),
        (dump(NOTEBOOK)[:-40], "ends early"),
        (dump(NOTEBOOK) + b"}", "ends early"),
        (b"\x80\x04\x95", "not text in UTF-8"),
        (b"\xff\xfe\x00\xd8", "not text in UTF-8"),
        ("é".encode("latin-1") * 9, "not text in UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "not text in UTF-8"),
        *((content, "not a notebook") for content in (b"7", b"[]", b'"text"', b"null", b"NaN", b"{}")),
        *((dump(variant(nbformat=version)), "not a notebook") for version in (True, "4", float("nan"))),
        (dump(variant(nbformat=5)), "newest"),
        *((dump(variant(nbformat=version)), "damaged") for version in (3, 0, -1)),
        (dump({"nbformat": 3, "worksheets": [{"cells": [7]}]}), "damaged"),
        (dump({"nbformat": 4}), "has no cells"),
        (dump(variant(cells={})), "has no cells"),
        (dump(variant(cells=[{}] * 100_000)), "100000 cells"),
        (b"[" * 100_000, "ends early"),
        (b'{"a":' * 100_000, "ends early"),
        (b'{"nbformat": ' + b"9" * 100_000 + b"}", "ends early"),
        (b'{"nbformat": 3, "x": ' + b"[" * 900 + b"]" * 900 + b"}", "damaged"),
    ],
)
def test_what_cannot_is_refused_in_words(tmp_path, content, words):
    with pytest.raises(Unreadable, match=words) as caught:
        read_bytes(tmp_path, content)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_deep_metadata_and_half_surrogates_are_left_out(tmp_path):
    cell = (
        r'{"cell_type": "code", "id": "\ud800", "source": ["a = \"\ud83d\"", 7], "metadata": {"nbgrader": {"grade_id": '
    )
    cell += r'"x\udc00", "points": ' + "[" * 600 + "]" * 600 + r'}, "tags": ["t\ud800", {}]}}'
    notebook, found = read_bytes(tmp_path, f'{{"nbformat": 4, "cells": [{cell}]}}'.encode())
    assert notebook.cells[0].source == 'a = "?"'
    assert notebook.cells[0].metadata == {"nbgrader": {"grade_id": "x?"}, "tags": ["t?"]}
    assert [finding.what for finding in found] == ["damaged-cell"]
    nbformat.writes(notebook).encode("utf-8")


def test_a_cell_of_an_unknown_type_keeps_its_text(tmp_path):
    cells = [{"source": "x", "outputs": []}, {"cell_type": "prompt", "source": "y"}]
    notebook, found = read_bytes(tmp_path, dump(variant(cells=cells)))
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == [("code", "x"), ("raw", "y")]
    assert "2 damaged cells" in found[0].words


def test_pictures_in_a_written_answer_are_kept(tmp_path):
    given = {"photo.png": {"image/png": "AAAA", "text/plain": 7}, "x": 7}
    cell = {"cell_type": "markdown", "source": "![](attachment:photo.png)", "attachments": given}
    notebook, _ = read_bytes(tmp_path, dump(with_cell(cell)))
    assert notebook.cells[-1].attachments == {"photo.png": {"image/png": "AAAA"}}


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "absent", "device"])
def test_only_a_plain_file_is_opened(tmp_path, kind):
    path = tmp_path / "attention.ipynb"
    other = tmp_path / "other.ipynb"
    other.write_bytes(dump(NOTEBOOK))
    if kind == "link":
        path.symlink_to(other)
    elif kind == "fifo":
        os.mkfifo(path)  # to open it would wait for ever
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path = Path("/dev/zero")
    with pytest.raises(Unreadable, match="cannot be opened"):
        read_notebook(path)


# --- very large files ---------------------------------------------------------------------------------------


def test_a_notebook_with_100_megabytes_of_outputs_is_read_in_seconds(tmp_path):
    outputs = [{"output_type": "display_data", "data": {"image/png": "A" * 10_000_000}}] * 10
    cell = {"cell_type": "code", "source": 'x = "\\"outputs\\": [{"', "outputs": outputs, "metadata": {}}
    path = tmp_path / "attention.ipynb"
    path.write_bytes(dump(variant(cells=[cell, *NOTEBOOK["cells"]], metadata={"widgets": {"state": ["}", {}]}})))
    del outputs, cell
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    notebook, found = read_notebook(path)
    assert [cell.source for cell in notebook.cells] == ['x = "\\"outputs\\": [{"', *SOURCES]
    assert found == []
    assert time.process_time() - start < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KB


def test_a_file_larger_than_the_limit_is_not_read(tmp_path):
    path = tmp_path / "attention.ipynb"
    with open(path, "wb") as file:
        file.truncate(read.MOST_BYTES * 4)  # sparse: takes no room
    with pytest.raises(Unreadable, match="300 MB"):
        read_notebook(path)


def test_five_megabytes_of_brackets_are_not_parsed(tmp_path):
    start = time.process_time()
    with pytest.raises(Unreadable, match="more than a notebook can"):
        read_bytes(tmp_path, b'{"nbformat": 4, "cells": [' + b"{}," * 3_000_000 + b"{}]}")
    assert time.process_time() - start < 5


def test_megabytes_of_source_are_not_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "MOST_TEXT", 5_000_000)
    with pytest.raises(Unreadable, match="more than a notebook can"):
        read_bytes(tmp_path, dump(with_cell({"cell_type": "raw", "source": "x" * 5_000_000})))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"outputs": [1, [2, "]"], {"a": "}"}], "b": 3}', '{"outputs": [], "b": 3}'),
        ('{"outputs" : {"a": [1]}, "b": []}', '{"outputs" : [], "b": []}'),
        ('{"outputs": 7, "widgets": "x"}', '{"outputs": 7, "widgets": "x"}'),
        (r'{"a": "\"outputs\": [1]", "c": [1]}', r'{"a": "\"outputs\": [1]", "c": [1]}'),
        (r'{"a": "\\", "outputs": [1]}', r'{"a": "\\", "outputs": []}'),
        ('["outputs", [1]]', '["outputs", [1]]'),
        ('[{"outputs": [1]}, {"outputs": []}]', '[{"outputs": []}, {"outputs": []}]'),
        ('{"outputs": [1, 2', '{"outputs": []'),  # breaks off: no JSON before, none after
        ('{"a": "never closed', '{"a": "never closed'),
        ("", ""),
    ],
)
def test_skim(text, expected):
    assert skim(text.encode()).decode() == expected


def test_skim_stops():
    with pytest.raises(TooMuch):
        skim(b"[" * 1_000_002)
