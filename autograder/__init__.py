"""The course's tools. Rooms import downward only (`tests/test_imports.py` has the table):

    launcher      python -m autograder: the environment, the notebooks, JupyterLab; standard library alone
    commands      the verbs around grading: options in words, exit codes
    release       masters -> what students get
    instructor    after grading: the table of marks, what to teach again, whom to look at
    feedback      after grading: a page for every student
    engine        grading: what is asked at which cell, what the answers are worth, what nbgrader is told
    preflight     what was handed in, looked at and repaired before anything runs
    box           the sandbox: the grader's side, and the student's (`inside`), which knows no answer
    exercise      an exercise: its parts, its verdict, its report, its form for students; `checks` declares them
    pages         templates of everything that is HTML
    check         the students' door: from autograder.check import check, passes

Importing `autograder` imports nothing else: the launcher runs before anything is installed.
"""

import sys

if "jsonschema" not in sys.modules:
    # It reads notebooks' form, and would compile grammars of addresses in all alphabets, at every start for more than a
    # second. No notebook holds such an address.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
