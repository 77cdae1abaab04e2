"""The student's side of the box: the warm parent and the child that runs one notebook.

Standard library, torch, numpy, matplotlib and IPython only, and `autograder.exercise.outcome`. Nothing here contains an
answer, so nothing here is worth stealing. The kernel keeps a child from doing harm, not this code.
"""
