"""A prompt that shows a task: examples of it, one after the other, and an open question.

    Q: France\n A: Paris\n\n Q: Italy\n A: Rome\n\n Q: Japan\n A:          k examples are "k-shot", none is zero-shot

Brown et al. (2020), section 2: the examples are not training data, since no weight changes; figure 2.1 has the form.

Departs from the paper: nothing.
"""

import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nlmcore.checks import check_fields, described, checked


class _Pair(NamedTuple):
    input: str
    output: str


class Example(_Pair):
    """A question of a task and its answer: a pair of strings. Raises TypeError for anything else."""

    __slots__ = ()

    @checked
    def __new__(cls, input: str, output: str) -> "Example":
        return super().__new__(cls, input, output)


def as_examples(examples: Iterable[Example | tuple[str, str]]) -> list[Example]:
    """Pairs (input, output) as `Example`s. Raises TypeError, with the number of the one that is no pair of strings."""
    if isinstance(examples, str) or not isinstance(examples, Iterable):
        raise TypeError(f"examples must be pairs (input, output), got {described(examples)}")
    found = []
    for i, example in enumerate(examples):
        if not isinstance(example, tuple | list) or len(example) != 2:
            raise TypeError(f"examples[{i}] must be a pair (input, output), got {example!r:.60}")
        for name, text in zip(Example._fields, example, strict=True):
            if not isinstance(text, str):
                raise TypeError(f"{name} of examples[{i}] must be a string, got {described(text)}")
        found.append(Example(*example))
    return found


@dataclass(frozen=True)
class Template:
    """How examples are written down. Raises ValueError for a form without {input} before {output}."""

    form: str = "{input} -> {output}"
    """One example. A question ends before {output} and the spaces before it."""
    between: str = "\n"
    """The separator of two examples; the model's answer ends where this begins."""
    instruction: str = ""
    """The task in words, before the first example; empty for none."""

    def __post_init__(self) -> None:
        check_fields(self)
        fields = [field for _, field, _, _ in string.Formatter().parse(self.form) if field is not None]
        if fields != ["input", "output"]:
            raise ValueError(f"form must have {{input}} and then {{output}}, once each, got {self.form!r}")
        if not self.between:
            raise ValueError("between must not be empty: two examples would run into one another")

    @property
    def separator(self) -> str:
        """The spaces before {output}: part of the answer, since a byte-pair tokenizer writes them into its word."""
        before = self.form[: self.form.index("{output}")]
        return before[len(before.rstrip(" ")) :]

    def answered(self, example: Example) -> str:
        """One example with its answer."""
        return self.form.format(input=example.input, output=example.output)

    def asked(self, query: str) -> str:
        """A question, up to where the answer begins."""
        return self.form[: self.form.index("{output}")].format(input=query).rstrip(" ")


@checked
def few_shot_prompt(examples: Iterable[Example | tuple[str, str]], query: str, template: Template | None = None) -> str:
    """The instruction, the examples (input, output), and the question, which ends where its answer begins.

    The prompt does not end in a space, even if the form has one there; see `lectures.prompting.options`.

    Raises TypeError for examples that are not pairs of strings, or not a template; ValueError for an empty query.
    """
    template = Template() if template is None else template
    if not query:
        raise ValueError("query must be a question of at least one character, got ''")
    lines = [template.instruction] if template.instruction else []
    lines += [template.answered(example) for example in as_examples(examples)]
    return template.between.join([*lines, template.asked(query)])
