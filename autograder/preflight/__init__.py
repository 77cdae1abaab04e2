"""What is looked at before any code of a submission runs, and put right where the intent is plain.

    archive    a zip or tar that was handed in: unpacked without its tricks
    read       a file that may be anything -> a notebook, or a sentence that says why not
    choose     which file is which notebook
    folder     all of it for one submission (notebooks, data files, findings); in words; for a class
    repair     the master's cells are what they were; the student's own are left alone (names, order)
    sanitise   the same for `nbgrader autograde` and formgrader
    finding    one thing that was found

Nothing here runs code, follows a link, or stops a batch: what cannot be put right becomes a `Finding` of that one
submission. Nothing here gives a mark.
"""

from autograder.preflight.finding import Finding, Prepared
from autograder.preflight.folder import check_folder, prepare, prepare_guarded, report
from autograder.preflight.master import Master, MasterCell
from autograder.preflight.read import Unreadable, read_notebook
from autograder.preflight.repair import repair
