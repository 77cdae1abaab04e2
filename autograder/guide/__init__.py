"""The instructors' guide, in Markdown. `python -m autograder.guide.renew` writes what it repeats from other sources:
the page of commands (`manual.py`), and the tables of TEACHING.md (`teaching.py`). A test compares them."""
