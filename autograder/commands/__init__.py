"""The commands around grading, `python -m autograder VERB`: their words, options, exit codes. The work is elsewhere.

Every module has `parser()`, which needs nothing but the standard library, so that `--help` is quick, and `main(place,
words)`. Exit codes: 0 done, 1 failed or something is missing, 2 misuse.
"""
