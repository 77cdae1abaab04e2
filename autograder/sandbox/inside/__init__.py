"""The student's side of the box: the warm parent and the child that runs one notebook.

Standard library, numpy, IPython, and in one of the two boxes torch and matplotlib; of ours, `outcome` and `closed` of
`autograder.question`. Nothing here contains an answer, so nothing here is worth stealing. The kernel keeps a child from
doing harm, not this code.
"""
