"""Exercises in the form that students get: public examples, the right results, and the named mistakes, as data.

`write` puts a declared exercise into JSON and tensors; `read` turns them back into an `Exercise` whose reference and
misconceptions are `Recording`s. So the visible check says the same for a declaration and for the data: there is one
code path, and only the source of the answers differs. Hidden inputs cannot be generated from the data.

Next to this file, in a student's copy, are `<assignment>.json` and `<assignment>.safetensors`.
"""

from autograder.exercise.public.form import read, read_exercises, write

__all__ = ["read", "read_exercises", "write"]
