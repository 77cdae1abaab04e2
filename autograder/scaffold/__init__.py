"""A new assignment to fill in. `python3 -m autograder new NAME`."""
