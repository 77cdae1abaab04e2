"""The student's side of the box: the warm parent and the child that runs one notebook.

Standard library, torch, numpy, matplotlib and IPython only, and `autograder.exercise.outcome`. Nothing here knows an
answer, so nothing here is worth stealing; what keeps a child from doing harm is the kernel, not this code.
"""
