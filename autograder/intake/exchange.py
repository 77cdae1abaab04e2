"""nbgrader's exchange: the folder for assignments, submissions and feedback, if students have accounts.

nbgrader makes the course's own folders in it: everybody may write into `inbound`, and only its owner may read it.
"""

import os
import stat
from pathlib import Path

from autograder.files import write_whole
from autograder.grading.course import Course
from autograder.nbgrader_config import EXCHANGE

STUDENTS = "students_nbgrader_config.py"  # in grading/
OPEN = 0o1777  # everybody may make a folder, and nobody remove another's


def set_up(course: Course, root: Path, students: Path | None = None) -> tuple[Path, list[str]]:
    """Make the exchange at `root`, let this course use it, and write the settings that students' nbgrader needs.
    Returns their file, and the remaining obstacles, in words. Raises ValueError or OSError."""
    if os.name == "nt":
        raise ValueError("nbgrader's exchange needs the accounts of a Unix machine or a JupyterHub; there is none here")
    root = root.resolve()
    root.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(root.stat().st_mode)
    trouble = []
    if mode != OPEN:
        try:
            root.chmod(OPEN)
        except PermissionError:
            if mode & 0o777 != 0o777:
                raise ValueError(f"{root} is not writable for everybody; its owner says: chmod 1777 {root}") from None
    shut = [folder for folder in root.parents if not folder.stat().st_mode & stat.S_IXOTH]
    if shut:
        trouble.append(f"Other users cannot enter {shut[-1]}: take a folder such as /srv/nbgrader, or chmod o+x it.")
    write_whole(course.root / EXCHANGE, f"{root}\n")
    target = students or course.root / EXCHANGE.parent / STUDENTS
    text = settings(root, course.directory.course_id)
    if students is not None and target.exists() and target.read_text(encoding="utf-8") != text:
        trouble.append(f"{target} is there already, and was left as it is. Add to it:\n{text}")
    else:
        write_whole(target, text)
        target.chmod(0o644)
    return target, trouble


def settings(root: Path, course_id: str) -> str:
    return f"c = get_config()\nc.Exchange.root = {str(root)!r}\nc.CourseDirectory.course_id = {course_id!r}\n"
