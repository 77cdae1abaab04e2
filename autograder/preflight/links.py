"""nbgrader's `collect`, without following links: what a student lays into the exchange may point to files of yours."""

import os
import shutil
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns


class CollectPlainFiles(ExchangeCollect):  # type: ignore[misc]
    """Links are copied as links, and the preflight leaves those behind."""

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        if os.path.islink(src):
            self.log.error("%s is a link, and was not collected", src)
            return
        course = self.coursedir
        if self.get_size(src) > 1000 * course.max_dir_size:
            self.log.error("%s has more than %s KB, and was not collected", src, course.max_dir_size)
            return
        chosen = {"exclude": course.ignore, "include": course.include, "max_file_size": course.max_file_size}
        shutil.copytree(src, dest, symlinks=True, ignore=ignore_patterns(**chosen, log=self.log))
