"""Names of folders: whatever an export of a learning management system makes of them."""

import os
from pathlib import Path

import pytest

from autograder.grading.course import Course
from autograder.grading.records import Record
from autograder.grading.run import Line


def test_a_name_is_said_on_one_line_without_what_a_terminal_obeys() -> None:
    record = Record(student="a\x1b[2J\nb: 26 of 26", assignment="one", fingerprint="", state="graded", words="0 of 26")
    assert Line(record, 1, 1, new=True).words.isprintable()


def test_a_name_that_no_gradebook_can_hold_is_said_before_anything_is_graded(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    course = Course.load(tmp_path)
    for name in (b"anna", "zo\N{LATIN SMALL LETTER E WITH DIAERESIS}".encode()):
        (tmp_path / "submitted" / os.fsdecode(name) / "one").mkdir(parents=True)
    assert course.students("one") == ["anna", "zo\N{LATIN SMALL LETTER E WITH DIAERESIS}"]
    try:
        (tmp_path / "submitted" / os.fsdecode(b"bad\xff") / "one").mkdir(parents=True)
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    with pytest.raises(ValueError, match=r"bad\\udcff.*rename"):
        course.students("one")
