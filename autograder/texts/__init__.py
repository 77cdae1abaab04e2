"""What is written as text: lectures and the masters of assignments, and what is made of it.

`text` is a notebook as text and back; `notebooks` keeps both alike; `figures` are values in the prose of a lecture,
`glossary` its words, `executed` its run in a kernel; `exercises` are the students' notebooks, and their own copies.
Standard library only at import, because the launcher asks, before anything is installed, what has to be built.
"""
