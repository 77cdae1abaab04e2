"""From a submitted notebook to marks: what to ask at which cell, what the answers are worth, what nbgrader is told.

    plan       which cells are run in the box, and which functions are asked which questions
    attempt    run a plan in the box, going on after a cell that does not end
    marking    answers -> verdicts -> the outputs that nbgrader reads as marks
    execute    the seam: nbgrader's own Execute replaced, by one line of its configuration; one submission as a task
    course     a course as nbgrader sees it: configuration, folders, masters
    pool       workers: in this process, on several cores, on a cluster
    run        a class: each submission in turn; resumed wherever it was stopped
    gradebook  nbgrader's marks, by its own rules; byhand: those that a person gives
    answers    which answer a mark by hand was given for: it stays confirmed while that is the same
    write      graded notebooks, gradebook, record, in this order, by one process
    incidents  what a student is told of what their code tried
    records    what became of a notebook and of a submission, as plain data that can be kept and sent

Student code runs in `autograder.box` and nowhere else; the verdict is computed here, outside.
"""
