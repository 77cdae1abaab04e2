"""Laws that outputs must obey and several assignments use, one module per kind of answer; what one assignment alone
uses is in its `laws.py`. Students have these files, so they contain no answer.

A law is a judge that needs no reference: it checks a student's output against the student's own earlier step, so that
one mistake costs points only once. A rule that takes more than the case and the outcomes is decorated with `@travels`
(`autograder.question.travel`). Values that would be half an answer are not computed here but compared with the case's
`known`.
"""
