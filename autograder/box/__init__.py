"""The sandbox that runs a submitted notebook. It holds no answers: functions are called, results come back.

    with Box() as box:                       # starts the warm parent once
        result = box.run(Job(name="ada", cells=(Cell(id="q1", source="x = 1"),)))

`job`      what is asked and what comes back: plain data
`box`      the grader's side: starts the warm parent, and restarts it
`session`  one notebook: questions are put, and their answers read (`replies`)
`inside`   the student's side: all that runs behind the walls
`probe`    whether the walls hold here, tried
`tiers`    which walls this machine offers, and what to do where it offers none
"""

from autograder.box.box import Box
from autograder.box.job import BoxResult, Cell, CellResult, Interview, Job, Limits, Seed
from autograder.box.probe import Attempt, Facts, probe
from autograder.box.session import BoxFault
from autograder.box.tiers import IsolationMissing
