"""A safer `collect` for nbgrader, because everybody may write into the exchange, under any name, and link to your
files."""

import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns, parse_utc

if sys.platform != "win32":
    import pwd


class CollectPlainFiles(ExchangeCollect):  # type: ignore[misc]
    """Links are copied as links, and the preflight leaves those behind. A folder that is not what its name says is left
    where it is, and does not stop the others."""

    src_records: list[dict[str, Any]]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        why = _wrong(Path(path))
        if why:
            self.log.error("%s was not collected: %s", path, why)
            return {"username": "", "filename": "", "timestamp": datetime.min}
        record: dict[str, Any] = super()._path_to_record(path)
        return record

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        course = self.coursedir
        if self.get_size(src) > 1000 * course.max_dir_size:
            self.log.error("%s was not collected: it has more than %s KB", src, course.max_dir_size)
            return
        chosen = {"exclude": course.ignore, "include": course.include, "max_file_size": course.max_file_size}
        shutil.copytree(src, dest, symlinks=True, ignore=ignore_patterns(**chosen, log=self.log))
        more = 0o770 if course.groupshared else 0o700
        for path in (Path(dest), *Path(dest).rglob("*")):  # in the exchange everybody may write into the folder
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o022 | (more if path.is_dir() else more & 0o660))


def _wrong(path: Path) -> str:
    """Why a folder of the exchange cannot be what its name says: STUDENT+ASSIGNMENT+TIME+CHANCE."""
    student, _, time = (*path.name.rsplit("+", 3), "", "")[:3]
    try:
        parse_utc(time)
    except (ValueError, OverflowError, TypeError):
        return "its name holds no time"
    if path.is_symlink() or not path.is_dir():
        return "it is no folder"
    if not student or student.startswith("."):
        return f"{student!r} is no student"
    if sys.platform != "win32":
        try:
            account = pwd.getpwnam(student)
        except KeyError:  # the students' accounts are in containers, and all files have one owner
            return ""
        if path.stat().st_uid != account.pw_uid:
            return f"it is not {student} who made it"
    return ""
