"""Hidden checks before the deadline, a few a day: a student sends a notebook, and is told which properties hold.

    ledger    the tries of each student, and when there are more; kept in the course's folder
    trial     one notebook and one question, with the same sandbox and engine as `grade`
    receipts  a notebook that is handed in, and its receipt
    window    a small web service: a page, an address for programs, and identification of students

Public checks need none of this: they run on the student's machine, as often as they like.
"""
