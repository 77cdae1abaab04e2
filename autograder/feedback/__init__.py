"""What a student gets back: one HTML file per notebook, which says what holds, what does not, and why.

    hide          what a student must not see is taken out of the graded notebook, and what could carry it
    facts         marks, comments, penalty and what happened to the submission, from the gradebook and the record
    page          both -> the page (question: its parts; heatmap: a picture of a difference)
    clean         a student's text, pictures and HTML, made harmless (mathematics: LaTeX -> MathML)
    formgrader    the same for nbgrader's own page of a submission and the server that shows it
    deliver       the pages of a class, by our own command; the seam to `nbgrader generate_feedback` and formgrader

Nothing in a page is fetched, and nothing in it runs: there is no script, and a policy in its head forbids both.
"""

from autograder.feedback.deliver import write_feedback
from autograder.feedback.hide import HideFromStudents
