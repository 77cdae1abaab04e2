"""How often is a model right, with k examples of the task in its prompt?

For every question of the test set, k examples are drawn from the others (Brown et al. 2020, section 2.4), written down
before it, and the model answers. A share of few answers is uncertain; Wilson's interval says how much:

    ( p̂ + z²/2n  ±  z √( p̂(1−p̂)/n + z²/4n² ) ) / (1 + z²/n)           p̂ = right / n, z = 1.96 for 95 %

Wilson (1927), "Probable inference, the law of succession, and statistical inference". Unlike p̂ ± z √(p̂(1−p̂)/n) it
stays in [0, 1], and is not empty where everything was right. It speaks of new questions of the kind, with new examples
before them; not of other wordings of the prompt, which may matter as much.

Departs from the paper: examples come from the task's other items, since there is no separate training set.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from nlmcore.checks import Amount, Count, Size, check_sizes, door
from nlmcore.language_model import LanguageModel
from nlmcore.prompting.checks import Tokenizer, check_parts, check_text
from nlmcore.prompting.completing import complete
from nlmcore.prompting.options import check_options, choose
from nlmcore.prompting.templates import Example, Template, as_examples, check_template, few_shot_prompt


@dataclass(frozen=True)
class Task:
    """Questions with their answers, and how they are put.

    Raises ValueError for an empty question or one asked twice, TypeError for examples that are no pairs of strings.
    """

    name: str
    examples: Sequence[Example | tuple[str, str]]
    """Pairs (input, output); kept as a list of `Example`s."""
    template: Template = field(default_factory=Template)
    options: Sequence[str] = ()
    """What may be answered; empty: the answers of all examples."""
    n_options: int | None = None
    """How many of them are offered for one question, the right one among them; None: all."""

    def __post_init__(self) -> None:
        check_text("name", self.name)
        examples = as_examples(self.examples)
        object.__setattr__(self, "examples", examples)
        check_template(self.template)
        if not isinstance(self.options, tuple) or self.options:
            check_options(self.options)
        inputs = [example.input for example in examples]
        if not inputs or len(set(inputs)) < len(inputs):
            raise ValueError(f"examples of {self.name} must be different questions, at least one, got {len(inputs)}")
        if "" in inputs:
            raise ValueError(f"input of examples[{inputs.index('')}] must be a question, got ''")
        if missing := {example.output for example in examples} - set(self.all_options):
            raise ValueError(f"options of {self.name} must hold every answer, they lack {sorted(missing)[:3]}")
        if self.n_options is not None:
            check_sizes(n_options=self.n_options)
        if self.n_options is not None and not 2 <= self.n_options <= len(self.all_options):
            raise ValueError(
                f"n_options of {self.name} must lie in [2, {len(self.all_options)}], the options, got {self.n_options}"
            )

    @property
    def items(self) -> list[Example]:
        """The examples, each an `Example`."""
        return cast(list[Example], self.examples)

    @property
    def all_options(self) -> list[str]:
        """Every answer there is, each once."""
        return list(self.options) or list(dict.fromkeys(example.output for example in self.items))

    @property
    def chance(self) -> float:
        """The share right of who chooses blindly."""
        return 1 / (self.n_options or len(self.all_options))


@dataclass(frozen=True)
class Accuracy:
    """Right answers out of so many, with Wilson's 95 % interval."""

    right: int
    asked: int
    low: float
    high: float
    answers: list[tuple[str, str, str]] = field(repr=False)
    """(question, right answer, the model's answer)."""

    @property
    def share(self) -> float:
        return self.right / self.asked


Answer = Callable[[LanguageModel, Tokenizer, str, Template, list[str]], str]
"""(model, tokenizer, prompt, template, the options of this question) -> the model's answer."""


def by_choosing(normalise: str = "none", neutral: str = "Answer:") -> Answer:
    """The most probable of the options, as in `score_options`."""
    return lambda model, tokenizer, prompt, template, options: choose(
        model, tokenizer, prompt, options, normalise=normalise, neutral=neutral, separator=template.separator
    )


def by_writing(max_new_tokens: int = 12, eos: int | None = None) -> Answer:
    """What the model writes of itself, up to where the next example would begin, or to `eos` if that is given. It is
    right if it is the answer, letter by letter, white space around it aside."""
    return lambda model, tokenizer, prompt, template, options: complete(
        model, tokenizer, prompt, max_new_tokens, stop=(template.between,), eos=eos
    ).text.strip()


def accuracy(
    model: LanguageModel,
    tokenizer: Tokenizer,
    task: Task,
    shots: int,
    *,
    answer: Answer | None = None,
    questions: int | None = None,
    seed: int = 0,
) -> Accuracy:
    """The share of `questions` of the task (None: all) that are answered right after `shots` examples.

    answer: `by_choosing()` by default. The questions, their options and the order of the examples follow from the
    seed alone: with more shots the same examples come first, so that the number of shots is all that differs.

    Raises ValueError if the task has not so many examples besides the question, TypeError for what is no task, whole
    number, or function.
    """
    check_parts(model, tokenizer)
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, got {type(task).__name__} {task!r:.60}")
    if answer is not None and not callable(answer):
        raise TypeError(f"answer must be a function, such as by_choosing(), or None, got {answer!r:.60}")
    total = len(task.items)
    questions = total if questions is None else questions
    for name, number in {"shots": shots, "questions": questions, "seed": seed}.items():
        if not isinstance(number, int) or isinstance(number, bool):
            raise TypeError(f"{name} must be a whole number, got {type(number).__name__} {number!r:.60}")
    if not 0 <= shots < total:
        raise ValueError(f"shots must lie in [0, {total - 1}], the other examples of {task.name}, got {shots}")
    if not 1 <= questions <= total:
        raise ValueError(f"questions must lie in [1, {total}], the examples of {task.name}, got {questions}")
    answer = by_choosing() if answer is None else answer
    asked = random.Random(f"{seed}/{task.name}").sample(task.items, questions)
    answers = []
    for example in asked:
        draw = random.Random(f"{seed}/{task.name}/{example.input}")
        options = offered(task, example, draw)
        others = [other for other in task.items if other != example]
        draw.shuffle(others)
        prompt = few_shot_prompt(others[:shots], example.input, task.template)
        given = answer(model, tokenizer, prompt, task.template, options)
        check_text("what answer returns", given)
        answers.append((example.input, example.output, given))
    right = sum(given == wanted for _, wanted, given in answers)
    return Accuracy(right, questions, *wilson_interval(right, questions), answers)


def offered(task: Task, example: Example, draw: random.Random) -> list[str]:
    """The options of one question: the right one and others, in any order."""
    wrong = [option for option in task.all_options if option != example.output]
    chosen = wrong if task.n_options is None else draw.sample(wrong, task.n_options - 1)
    options = [example.output, *chosen]
    draw.shuffle(options)
    return options


@door
def wilson_interval(right: Count, asked: Size, z: Amount = 1.96) -> tuple[float, float]:
    """Where the true share lies, for `right` out of `asked`. Raises ValueError for more right than asked.

    z, at least 0, is how many standard deviations the interval reaches: 1.96 holds 95 % of a normal distribution.
    """
    if right > asked:
        raise ValueError(f"right must lie in [0, {asked}], the number asked, got {right}")
    share = right / asked
    middle = share + z * z / (2 * asked)
    reach = z * math.sqrt(share * (1 - share) / asked + z * z / (4 * asked * asked))
    scale = 1 + z * z / asked
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
