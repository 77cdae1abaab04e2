"""A JupyterHub for the course on one machine: every student with an account, and the exchange between them.

Students run FOLDER/course: a copy of the course without solutions, which belongs to the administrator. The
exchange is open to all, as nbgrader wants it. This checkout, with solutions, submissions and marks, is only for its
owner, whose server has Formgrader.
"""

import json
import pwd
import shutil
import stat
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from string import Template

from autograder import temporary
from autograder.files import write_whole
from autograder.grading.course import Course
from autograder.intake import exchange
from autograder.launcher import requirements
from autograder.release.student_zip import TOP, write_zip
from autograder.texts import notebooks

CONFIG, NEXT = "jupyterhub_config.py", "NEXT.md"
HERE = Path(__file__).resolve().parent
"""Next to this file: the templates of both."""
PANELS = ("create-assignment", "formgrader", "course-list")  # of nbgrader, for instructors


def set_up(
    course: Course, folder: Path, *, graders: Sequence[str] = (), port: int = 8000
) -> tuple[Path, list[str], list[str]]:
    """Write everything that the hub needs into `folder`. Returns the page of next steps, what else was done, and the
    remaining obstacles, in words. Raises ValueError or OSError."""
    folder, root = folder.resolve(), course.root
    if folder.is_relative_to(root) or root.is_relative_to(folder):
        raise ValueError(f"the hub's folder must lie outside the course, which students may not read: {folder}")
    owner = pwd.getpwuid(root.stat().st_uid).pw_name
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    theirs = _students_copy(root, folder)
    settings = folder / "jupyter"
    _settings(settings)
    _, trouble = exchange.set_up(course, folder / "exchange", settings / "nbgrader_config.py")
    done = []
    if owner == "root":
        trouble.append(
            f"{root} belongs to root, whose server JupyterLab does not start: give it to an account, chown -R"
        )
    if root.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        root.chmod(0o700)
        done.append(f"{root} can now be read by {owner} alone (chmod 700): the solutions and the marks are in it.")
    values = {"students": theirs, "course": root, "settings": settings, "state": folder / "state", "owner": owner}
    values["python"] = sys.prefix
    config = Template((HERE / "jupyterhub_config.txt").read_text("utf-8")).substitute(
        {name: repr(str(value)) for name, value in values.items()},
        graders=repr(list(graders)),
        port=port,
        api_port=port + 1,
        hub_port=port + 81,
    )
    write_whole(folder / CONFIG, config)
    packages = " ".join(f"'{each}'" for each in requirements.read(root).extras["hub"])
    also = f"; {', '.join(graders)} can open it as well, at /user/{owner}/" if graders else ""
    page = Template((HERE / NEXT).read_text("utf-8")).substitute(
        folder=folder, config=CONFIG, port=port, packages=packages, owner=owner, course=root, graders=also
    )
    write_whole(folder / NEXT, page)
    return folder / NEXT, done, trouble


def _students_copy(root: Path, folder: Path) -> Path:
    """What `release` gives to students, unpacked and built where they can read it but not change it."""
    target = folder / "course"
    with tempfile.TemporaryDirectory(prefix="hub-", dir=temporary.home()) as place:
        made = Path(place) / TOP
        with zipfile.ZipFile(write_zip(root, Path(place), ())) as archive:
            archive.extractall(place)
        notebooks.build(made)
        for path in [made, *made.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        shutil.copytree(made, target, dirs_exist_ok=True)
    return target


def _settings(folder: Path) -> None:
    """Students' JupyterLab: nbgrader's list of assignments, and none of its panels for instructors."""
    server = {f"nbgrader.server_extensions.{name}": False for name in ("formgrader", "course_list")}
    panels = {f"@jupyter/nbgrader:{name}": name in PANELS for name in (*PANELS, "assignment-list", "menu")}
    for name, facts in {
        "jupyter_server_config.json": {"ServerApp": {"jpserver_extensions": server}},
        "labconfig/page_config.json": {"disabledExtensions": panels},
    }.items():
        write_whole(folder / name, json.dumps(facts, indent=1) + "\n")
        (folder / name).chmod(0o644)
    for path in (folder, folder / "labconfig"):
        path.chmod(0o755)
