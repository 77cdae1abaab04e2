"""The race of the capstone: entries are trained within a budget of processor time and measured on text they never saw.

asking    what is done with an entry's own functions in one process: in the sandbox, and at home
rules     what several processes are asked, and what it is worth: faults with a name, bits per byte, points
parts     which parts of an entry are the student's own
home      `race`: the same for students, with progress, a file of results and a picture
ours      the course's own entries; `measured.json` has their bits
split     which plays are held out: secret while marks are at stake
boxed     an entry in the sandbox, in processes that share nothing but its file
heats     a class: resumable, and the points into the gradebook
board     the table of the class
"""
