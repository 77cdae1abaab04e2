"""From a submitted notebook to marks: the questions of each cell, the points of the answers, the marks passed to
nbgrader.

    plan       which cells run in the sandbox, and which functions get which questions
    attempt    run a plan in the sandbox, continuing after a cell that does not end
    marking    answers -> verdicts -> the outputs that nbgrader reads as marks (bound: what must fail again)
    execute    replaces nbgrader's own Execute, by one line of its configuration; one submission as a task
    single     one submission, without a gradebook; drafts: a class graded again, for review
    course     a course as nbgrader sees it: configuration, folders, source notebooks
    pool       workers: in this process, on several cores, on a cluster
    run        a class: each submission in turn; resumed wherever it was stopped
    database   opens nbgrader's gradebook and waits for it; gradebook: its marks, by nbgrader's own rules
    byhand     marks given by hand
    vectors    texts as vectors of MiniLM, for the order in which a person reads them
    beside     small files beside a submission: when it was handed in
    answers    the answer for which a mark was given by hand; the mark stays confirmed while the answer is the same
    write      graded notebooks, gradebook and record, in this order, by one process
    incidents  what a student is told about what their code tried
    records    the results of a notebook and of a submission, as plain data that can be stored and sent

Student code runs only in `autograder.sandbox`; the verdict is computed here, outside.
"""
