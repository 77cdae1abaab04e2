"""The commands around grading, `python3 -m autograder VERB`: their words, options, exit codes. The work is elsewhere.

A command is a parser, which needs nothing but the standard library, so that `--help` is quick, and a function that gets
what the parser has read (`shared.Command`). Exit codes: 0 done, 1 failed or something missing, 2 misuse.
"""
