"""Laws that outputs are held to, one module per assignment or kind of answer. Students have these files: they hold no
answer.

A law is a judge that needs no reference: it holds a student's output to the student's own earlier step, so that one
mistake costs points once. A rule that takes more than the case and the outcomes has `@travels`
(`autograder.exercise.travel`) above it. Numbers that would be half an answer are not computed here but compared with
the case's `known`.
"""
