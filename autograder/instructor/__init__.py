"""What an instructor reads after grading: a table for programs and the LMS, and a page to read.

rows          one row per student, from the gradebook and the records; an unmarked question is not a zero
table         the rows as CSV or JSON; lms: as another system takes them; ags: sent to it; results: to Gradescope
totals        the whole course: weights, and the lowest dropped
lessons       what to teach again: questions, properties, misconceptions; submissions that need attention
likeness      the students' texts; answers that are nearly the same (winnowing, indexed): a hint, never a mark
overview      all of it on one page
written       the questions marked by hand, and the class's answers
clusters      these in groups of alike ones, the most different first: an order to read them in
marking_page  a page to mark them, served only to this machine
changed       what grading again would change, and why
"""

from autograder.instructor.overview import write_overview
from autograder.instructor.rows import Row, report_rows
from autograder.instructor.table import write_report
