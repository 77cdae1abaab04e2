"""Before grading: who is in the class, and what they have handed in.

spreadsheet   a CSV file as spreadsheets and learning management systems write it, in whatever encoding
roster        its rows are people, by the headings of its columns; into nbgrader's gradebook
naming        which student a name in a download refers to
handed        the contents of a download: Moodle's, Canvas's, Gradescope's, a plain folder's
when          times as Moodle writes them; its grading worksheet, and other lists that identify students
collect       a download into submitted/STUDENT/ASSIGNMENT/; no existing file is lost
exchange      nbgrader's exchange folder, for this course and for students

Everything read here was written by others: names, paths and times are inspected, nothing is run.
"""
