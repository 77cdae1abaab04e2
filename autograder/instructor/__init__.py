"""What an instructor reads after grading: a table for programs and the LMS, and a page to read.

rows        one row per student, from the gradebook and the records; an unmarked question is not a zero
table       the rows as CSV or JSON, in this course's own form or in that of an LMS
lessons     what to teach again: questions, properties, misconceptions; submissions that need attention
likeness    the students' texts; answers that are nearly the same (winnowing, indexed): a hint, never a mark
written     the questions marked by hand, and the class's answers
desk        a page to mark them, served only to this machine
overview    all of it on one page
"""

from autograder.instructor.overview import write_overview
from autograder.instructor.rows import Row, report_rows
from autograder.instructor.table import write_report
