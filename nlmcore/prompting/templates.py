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


class Example(NamedTuple):
    """A question of a task and its answer."""

    input: str
    output: str


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

    Raises TypeError for examples that are no pairs of strings.
    """
    template = Template() if template is None else template
    check_text("query", query)
    lines = [template.instruction] if template.instruction else []
    for i, example in enumerate(examples):
        if not isinstance(example, tuple | list) or len(example) != 2:
            raise TypeError(f"examples[{i}] must be a pair (input, output), got {example!r:.60}")
        for name, text in zip(Example._fields, example, strict=True):
            check_text(f"{name} of examples[{i}]", text)
        lines.append(template.answered(Example(*example)))
    return template.between.join([*lines, template.asked(query)])
