"""How often is a model right, with k examples of the task in its prompt?

For every question of the test set, k examples are sampled from the others (Brown et al. 2020, section 2.4) and put
before it, and the model answers. A fraction of few answers is uncertain; Wilson's interval says how much:

    ( p̂ + z²/2n  ±  z √( p̂(1−p̂)/n + z²/4n² ) ) / (1 + z²/n)           p̂ = right / n, z = 1.96 for 95 %

Wilson (1927), "Probable inference, the law of succession, and statistical inference". Unlike p̂ ± z √(p̂(1−p̂)/n) it
stays in [0, 1], and is not empty where everything was right. It holds for new questions of the same kind with new
examples, not for other wordings of the prompt, which may matter as much.

Departs from the paper: examples come from the task's other items, since there is no separate training set.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from nlmcore.checks import Amount, Count, Size, check_fields, described, checked
from nlmcore.language_model import LanguageModel
from lectures.prompting.checks import Tokenizer, check_parts
from lectures.prompting.completing import complete
from lectures.prompting.options import check_options, choose
from lectures.prompting.templates import Example, Template, as_examples, few_shot_prompt


@dataclass(frozen=True)
class Task:
    """Questions with their answers, and the form of the prompt.

    Raises ValueError for an empty or repeated question, TypeError for examples that are not pairs of strings.
    """

    name: str
    examples: Sequence[Example | tuple[str, str]]
    """Pairs (input, output); kept as a list of `Example`s."""
    template: Template = field(default_factory=Template)
    options: Sequence[str] = ()
    """The possible answers; empty: the answers of all examples."""
    n_options: Size | None = None
    """How many of them one question offers, the right one included; None: all."""

    def __post_init__(self) -> None:
        check_fields(self)
        examples = as_examples(self.examples)
        object.__setattr__(self, "examples", examples)
        if not isinstance(self.options, tuple) or self.options:
            check_options(self.options)
        inputs = [example.input for example in examples]
        if not inputs or len(set(inputs)) < len(inputs):
            raise ValueError(f"examples of {self.name} must be different questions, at least one, got {len(inputs)}")
        if "" in inputs:
            raise ValueError(f"input of examples[{inputs.index('')}] must be a question, got ''")
        if missing := {example.output for example in examples} - set(self.all_options):
            raise ValueError(f"options of {self.name} must hold every answer, they lack {sorted(missing)[:3]}")
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
        """Every possible answer, each once."""
        return list(self.options) or list(dict.fromkeys(example.output for example in self.items))

    @property
    def chance(self) -> float:
        """The accuracy of choosing at random."""
        return 1 / (self.n_options or len(self.all_options))


@dataclass(frozen=True)
class Accuracy:
    """The right answers out of all, with Wilson's 95 % interval."""

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


def by_choosing(normalise: str = "none", baseline_prompt: str = "Answer:") -> Answer:
    """The most probable of the options, as in `score_options`."""
    given = {"normalise": normalise, "baseline_prompt": baseline_prompt}
    return lambda model, tokenizer, prompt, template, options: choose(
        model, tokenizer, prompt, options, separator=template.separator, **given
    )


def by_writing(max_new_tokens: int = 12, eos: int | None = None) -> Answer:
    """What the model writes, up to where the next example would begin, or to `eos` if that is given. It is right if it
    equals the answer, apart from white space around it."""
    return lambda model, tokenizer, prompt, template, options: complete(
        model, tokenizer, prompt, max_new_tokens, stop=(template.between,), eos=eos
    ).text.strip()


@checked
def accuracy(
    model: LanguageModel,
    tokenizer: Tokenizer,
    task: Task,
    shots: int,
    *,
    answer: Annotated[Answer, "by_choosing() is one"] | None = None,
    questions: int | None = None,
    seed: int = 0,
) -> Accuracy:
    """The fraction of `questions` of the task (None: all) that are answered right after `shots` examples.

    answer: `by_choosing()` by default. The questions, their options and the order of the examples follow only from
    the seed: with more shots the same examples come first, so that only the number of shots differs.

    Raises ValueError if the task has too few examples besides the question, TypeError for what is not a task, an
    integer, or a function.
    """
    check_parts(model, tokenizer)
    total = len(task.items)
    questions = total if questions is None else questions
    if not 0 <= shots < total:
        raise ValueError(f"shots must lie in [0, {total - 1}], the other examples of {task.name}, got {shots}")
    if not 1 <= questions <= total:
        raise ValueError(f"questions must lie in [1, {total}], the examples of {task.name}, got {questions}")
    answer = by_choosing() if answer is None else answer
    asked = random.Random(f"{seed}/{task.name}").sample(task.items, questions)
    answers = []
    for example in asked:
        shuffler = random.Random(f"{seed}/{task.name}/{example.input}")
        options = offered(task, example, shuffler)
        others = [other for other in task.items if other != example]
        shuffler.shuffle(others)
        prompt = few_shot_prompt(others[:shots], example.input, task.template)
        given = answer(model, tokenizer, prompt, task.template, options)
        if not isinstance(given, str):
            raise TypeError(f"what answer returns must be a string, got {described(given)}")
        answers.append((example.input, example.output, given))
    right = sum(given == wanted for _, wanted, given in answers)
    return Accuracy(right, questions, *wilson_interval(right, questions), answers)


def offered(task: Task, example: Example, shuffler: random.Random) -> list[str]:
    """The options of one question: the right one and others, in random order."""
    wrong = [option for option in task.all_options if option != example.output]
    chosen = wrong if task.n_options is None else shuffler.sample(wrong, task.n_options - 1)
    options = [example.output, *chosen]
    shuffler.shuffle(options)
    return options


@checked
def wilson_interval(right: Count, asked: Size, z: Amount = 1.96) -> tuple[float, float]:
    """An interval for the true fraction, from `right` out of `asked`. Raises ValueError for more right than asked.

    z, at least 0, is its half-width in standard deviations: 1.96 covers 95 % of a normal distribution.
    """
    if right > asked:
        raise ValueError(f"right must lie in [0, {asked}], the number asked, got {right}")
    share = right / asked
    middle = share + z * z / (2 * asked)
    half_width = z * math.sqrt(share * (1 - share) / asked + z * z / (4 * asked * asked))
    scale = 1 + z * z / asked
    return max(0.0, (middle - half_width) / scale), min(1.0, (middle + half_width) / scale)
