"""Hidden checks before the deadline, a few a day: a student sends a notebook, and is told what holds.

    ledger    what each student has had, and when there is more; kept in the course's folder
    trial     one notebook and one question through the same box and engine as `grade`
    window    a small web service: a page, an address for programs, and who is who

Public checks need none of it: they run on the student's machine, as often as they like.
"""
