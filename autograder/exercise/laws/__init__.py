"""Laws that outputs are held to, one module per assignment. Students have these files: no answer stands in them.

A law is a judge that needs no reference: it holds a student's output to the student's own earlier step, so that one
mistake costs points once. Write it as a function that makes rules, with `@travels`
(`autograder.exercise.travel`) above it, or as a plain rule; numbers that would give an answer
away go into the case's `known`.
"""
