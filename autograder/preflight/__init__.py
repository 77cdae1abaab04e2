"""What is looked at before any code of a submission runs, and put right where the intent is plain.

    scan       what plain files lie below a folder; nothing is followed
    archive    a zip or tar that was handed in: unpacked without its tricks
    read       a file that may be anything -> a notebook, or a sentence that says why not (skim: a very large one)
    choose     which file is which notebook
    folder     all of it for one submission: notebooks, data files, findings
    repair     the master's cells are what they were; the student's own are left alone (names, restore, order)
    sanitise   the same for `nbgrader autograde` and formgrader
    say        the findings in words; a whole class

Nothing here runs code, follows a link, or stops a batch: what cannot be put right becomes a `Finding` of that one
submission. Nothing here gives a mark.
"""

from autograder.preflight.finding import Finding
from autograder.preflight.folder import Prepared, prepare
from autograder.preflight.master import Master, MasterCell
from autograder.preflight.read import Unreadable, read_notebook
from autograder.preflight.repair import repair
from autograder.preflight.say import check_folder, report

__all__ = [
    "Finding",
    "Master",
    "MasterCell",
    "Prepared",
    "Unreadable",
    "check_folder",
    "prepare",
    "read_notebook",
    "repair",
    "report",
]
