"""The course's tools. Packages import only downwards (`tests/test_imports.py` has the table):

    launcher      python3 -m autograder: the environment, JupyterLab, all commands; standard library only
    texts         lectures and masters as text, and what is made of them: notebooks, exercises, the glossary
    commands      the verbs around grading: options in words, exit codes
    site          the course as static pages: lectures executed, the states of their widgets drawn
    present       what JupyterLab loads of the course: the presenter's view
    scaffold      a new assignment, with two questions that work; the numbers of lectures; lint, and exact versions
    guide         the instructors' pages, and what writes their tables
    release       source notebooks -> what students get
    race          the capstone: language models trained within a time limit, and their board
    instructor    after grading: the table of marks, what to teach again, which students need attention
    feedback      after grading: a page for every student
    grading       the questions of each cell, the points of the answers, the marks passed to nbgrader
    intake        before grading: who is in the class, and what they have handed in
    preflight     checks and repairs submissions before anything runs
    sandbox       where submissions run: the grader's side, and the student's (`inside`), which contains no answers
    question      a question: its parts, its verdict, its report, its form for students; `solutions` declares them
    extras        what a course can do without: a JupyterHub, a desk for checks before the deadline, foreign assignments
    pages         all HTML templates, and how the two small servers serve them
    check         what students import: from autograder.check import check, failing, passes
    mine          a student's library: functions that passed their checks, for later notebooks
    parsons       the lines of a solution, to sort after a check that has failed
    assignments   for all: what lies where in `solutions/NAME/`, and which of it students get
    files, guard, reach, seal, temporary    for all: writing a file whole, parsing in a child with limits, what a file
                  imports, what must not change unseen, folders that disappear
    nbgrader_config    nbgrader's settings: its commands and buttons go through the sandbox

Importing `autograder` imports nothing else: the launcher runs before anything is installed.
"""

import sys

if "jsonschema" not in sys.modules:
    # It reads notebooks' form, and would compile grammars of addresses in all alphabets, at every start for more than a
    # second. No notebook holds such an address.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
