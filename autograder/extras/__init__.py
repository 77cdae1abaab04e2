"""What a course can do without. Each has packages of its own to install, and none is imported by the rooms beside.

hub        a JupyterHub with nbgrader's exchange
desk       checks while a student works, limited in rate
imported   assignments of other courses, graded here; and the attacks on them
"""
