"""Exercises as students have them: public examples, what they should give, and the mistakes that have a name. Data.

`write` puts a declared exercise into JSON and tensors; `read` makes an `Exercise` of them again, whose reference and
misconceptions are `Recording`s. So the visible check says the same words from a declaration and from the data: there
is one code path, and only the source of the answers differs. Hidden inputs cannot be drawn from the data.

Beside this file, in a student's copy: `<assignment>.json` and `<assignment>.safetensors`.
"""

from autograder.exercise.public.form import read, read_exercises, write

__all__ = ["read", "read_exercises", "write"]
