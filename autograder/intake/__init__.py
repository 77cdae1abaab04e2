"""Before grading: who is in the class, and what they have handed in.

spreadsheet   a CSV file as spreadsheets and learning management systems write it, in whatever encoding
roster        its rows are people, by the headings of its columns; into nbgrader's gradebook
naming        which student is meant by a name in a download
handed        what a download holds: Moodle's, Canvas's, Gradescope's, a plain folder's
when          times as Moodle writes them; its grading worksheet, and other lists of who is who
collect       a download into submitted/STUDENT/ASSIGNMENT/; nothing that was there is lost
exchange      nbgrader's exchange folder, for this course and for students

Everything here was written by others: names, paths and times are looked at, none of it is run.
"""
