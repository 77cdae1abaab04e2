"""A new assignment to fill in. `python -m autograder new NAME`."""
