"""The course's tools. Packages import only downwards (`tests/test_imports.py` has the table):

    launcher      python3 -m autograder: the environment, the notebooks, JupyterLab; standard library only
    commands      the verbs around grading: options in words, exit codes
    site          the course as static pages: lectures executed, the states of their widgets drawn
    release       source notebooks -> what students get
    instructor    after grading: the table of marks, what to teach again, which students need attention
    feedback      after grading: a page for every student
    engine        grading: the questions of each cell, the points of the answers, the marks passed to nbgrader
    preflight     checks and repairs submissions before anything runs
    box           the sandbox: the grader's side, and the student's (`inside`), which contains no answers
    exercise      an exercise: its parts, its verdict, its report, its form for students; `solutions` declares them
    assignments   for all: what lies where in `solutions/NAME/`, and which of it students get
    files, guard, temporary     for all: writing a file whole, parsing in a child with limits, folders that disappear
    pages         all HTML templates, and how the two small servers serve them
    check         what students import: from autograder.check import check, failing, passes

Importing `autograder` imports nothing else: the launcher runs before anything is installed.
"""

import sys

if "jsonschema" not in sys.modules:
    # It reads notebooks' form, and would compile grammars of addresses in all alphabets, at every start for more than a
    # second. No notebook holds such an address.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
