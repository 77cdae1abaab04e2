"""The student's archive: a zip with the course and no answers. `python -m autograder release`."""
