"""What an instructor reads after grading: a table for the machine and the LMS, and a page for the person.

rows        one row per student, from the gradebook and the records; not marked is not zero
table       the rows as CSV or JSON, as this course's own or as an LMS takes them
lessons     what to teach again: questions, properties, misconceptions; submissions that a person should look at
likeness    what the students wrote; answers that are nearly the same (winnowing, indexed): a hint, never a mark
written     the questions that a person marks, and what the class answered
desk        a page to mark them, served to this machine alone
overview    all of it on one page
"""

from autograder.instructor.overview import write_overview
from autograder.instructor.rows import Row, report_rows
from autograder.instructor.table import write_report
