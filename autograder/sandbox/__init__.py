"""The sandbox that runs a submitted notebook. It contains no answers: it calls functions and returns their results.

    with Box() as box:                       # starts the warm parent once
        result = box.run(Job(name="ada", cells=(Cell(id="q1", source="x = 1"),)))

`job`      requests and results: plain data
`box`      the grader's side: starts the warm parent, and restarts it
`session`  one notebook: sends questions, and reads the answers (`replies`)
`inside`   the student's side: everything that runs inside the sandbox
`probe`    tries whether the sandbox holds here
`tiers`    which isolation this machine offers, and what to do if it offers none
"""

from autograder.sandbox.box import Box
from autograder.sandbox.job import BoxResult, Cell, CellResult, Interview, Job, Limits, Seed
from autograder.sandbox.session import BoxFault
from autograder.sandbox.tiers import IsolationMissing
