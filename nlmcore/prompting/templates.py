"""A prompt that shows a task: examples of it, one after the other, and a question that is left open.

    Q: France\n A: Paris\n\n Q: Italy\n A: Rome\n\n Q: Japan\n A:          k examples are "k-shot", none is zero-shot

Brown et al. (2020), section 2: the examples are no training data, since no weight changes; figure 2.1 has the form.

Departs from the paper: nothing.
"""

import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nlmcore.prompting.checks import check_text


class _Pair(NamedTuple):
    input: str
    output: str


class Example(_Pair):
    """A question of a task and its answer: a pair of strings. Raises TypeError for anything else."""

    __slots__ = ()

    def __new__(cls, input: str, output: str) -> "Example":
        check_text("input", input)
        check_text("output", output)
        return super().__new__(cls, input, output)


def as_examples(examples: Iterable[Example | tuple[str, str]]) -> list[Example]:
    """Pairs (input, output) as `Example`s. Raises TypeError, with the number of the one that is no pair of strings."""
    if isinstance(examples, str) or not isinstance(examples, Iterable):
        raise TypeError(f"examples must be pairs (input, output), got {type(examples).__name__} {examples!r:.60}")
    found = []
    for i, example in enumerate(examples):
        if not isinstance(example, tuple | list) or len(example) != 2:
            raise TypeError(f"examples[{i}] must be a pair (input, output), got {example!r:.60}")
        for name, text in zip(Example._fields, example, strict=True):
            check_text(f"{name} of examples[{i}]", text)
        found.append(Example(*example))
    return found


def check_template(template: object) -> None:
    """Refuse what is no template, with TypeError."""
    if not isinstance(template, Template):
        raise TypeError(f"template must be a Template, got {type(template).__name__} {template!r:.60}")


@dataclass(frozen=True)
class Template:
    """How examples are written down. Raises ValueError for a form without {input} before {output}."""

    form: str = "{input} -> {output}"
    """One example. In a question everything from {output} on is left away, with the spaces before it."""
    between: str = "\n"
    """What stands between two examples; what a model writes of an answer ends where this begins."""
    instruction: str = ""
    """The task in words, before the first example; empty for none."""

    def __post_init__(self) -> None:
        for name in ("form", "between", "instruction"):
            check_text(name, getattr(self, name))
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
        """One example, written down."""
        return self.form.format(input=example.input, output=example.output)

    def asked(self, query: str) -> str:
        """A question, up to where the answer begins."""
        return self.form[: self.form.index("{output}")].format(input=query).rstrip(" ")


def few_shot_prompt(examples: Iterable[Example | tuple[str, str]], query: str, template: Template | None = None) -> str:
    """The instruction, the examples (input, output), and the question, which ends where its answer begins.

    The prompt does not end in a space, even if the form has one there: see `nlmcore.prompting.options`.

    Raises TypeError for examples that are no pairs of strings, or no template; ValueError for an empty query.
    """
    template = Template() if template is None else template
    check_template(template)
    check_text("query", query)
    if not query:
        raise ValueError("query must be a question of at least one character, got ''")
    lines = [template.instruction] if template.instruction else []
    lines += [template.answered(example) for example in as_examples(examples)]
    return template.between.join([*lines, template.asked(query)])
