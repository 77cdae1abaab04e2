"""From a submitted notebook to marks: what to ask at which cell, what the answers are worth, what nbgrader is told.

    plan       which cells are run in the box, and which functions are asked which questions
    attempt    run a plan in the box, going on after a cell that does not end
    marking    answers -> verdicts -> the outputs that nbgrader reads as marks
    execute    the seam: nbgrader's own Execute replaced, by one line of its configuration
    results    what became of one notebook, as plain data that can be kept and sent

Student code runs in `autograder.box` and nowhere else; the verdict is computed here, outside.
"""
