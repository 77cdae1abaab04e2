"""Checks a submission before any of its code runs, and repairs it if the intent is clear.

    archive    unpacks a submitted zip or tar safely
    read       a file that may be anything -> a notebook, or a sentence that says why not
    choose     which file is which notebook
    folder     all of this for one submission (notebooks, data files, findings), with messages; and for a class
    repair     restores the source notebook's cells; leaves the student's own alone (names, order)
    sanitise   the same for `nbgrader autograde` and formgrader
    finding    one finding

Nothing here runs code, follows a link, or stops a batch: a fault that cannot be repaired becomes a `Finding` of that
one submission. Nothing here gives a mark.
"""

from autograder.preflight.finding import Finding, Prepared
from autograder.preflight.folder import check_folder, prepare, prepare_guarded, report
from autograder.preflight.master import Master, MasterCell
from autograder.preflight.read import Unreadable, read_notebook
from autograder.preflight.repair import repair
