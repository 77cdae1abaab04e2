"""Feedback for students: one HTML file per notebook, which says what is right, what is not, and why.

    hide          removes from the graded notebook everything that a student must not see
    facts         marks, comments, penalty and the state of the submission, from the gradebook and the record
    page          both -> the page (question: its parts; heatmap: a picture of a difference)
    clean         makes a student's text, pictures and HTML harmless (mathematics: LaTeX -> MathML)
    formgrader    the same for nbgrader's own page of a submission and the server that shows it (handed_in: JupyterLab)
    deliver       the pages of a class, by our own command; `nbgrader generate_feedback` and formgrader get the same

A page fetches nothing and runs nothing: it has no script, and a policy in its head forbids both.
"""

from autograder.feedback.deliver import write_feedback
from autograder.feedback.hide import HideFromStudents
