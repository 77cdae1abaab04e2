"""A task in the prompt: what SmolLM2 expects after examples, and after none."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import torch

from lectures.show import Canvas, Live, bar_list_svg, beside, choice, choose_or_type, field, live, said, slider, stops
from nlmcore.language_model import LanguageModel, State, select

_SHOTS, _BARS = (0, 1, 2, 4, 8), 5


class Pair(NamedTuple):
    """An example of a task."""

    input: str
    output: str


def prompt_playground(
    model: LanguageModel, tokenizer: Any, tasks: Mapping[str, Sequence[Any]], form: Any, *, questions: int = 4
) -> Live:
    """tasks: name -> examples with `input` and `output`; form: a `lectures.prompting.Template`.

    The first eight examples of a task are shown, the next `questions` asked. All these are read when the widget is
    made, each example once; a prompt that is typed ("one -> uno, two -> dos, three") is read on Enter.
    """
    known = {name: _read(model, tokenizer, examples, form, questions) for name, examples in tasks.items()}

    @lru_cache(maxsize=64)
    def typed_bars(prompt: str) -> list[tuple[str, float]]:
        with torch.no_grad():
            return _bars(model(torch.tensor([tokenizer.encode(prompt)]))[0][0, -1], tokenizer)

    def draw(task: str, shots: int, question: int, typed: str) -> str:
        if typed.strip():
            prompt, told = _prompt_of(typed, form), ""
            bars = typed_bars(prompt)
        else:
            examples, at = tasks[task], question - 1
            asked = examples[_SHOTS[-1] + at]
            prompt = "\n".join([*map(form.answered, examples[:shots]), form.asked(asked.input)])
            bars, p = known[task][shots][at]
            told = f"P(“{asked.output}”) = {p:.2g}; "
        best = f"most probable next token: “{bars[0][0]}”, {bars[0][1]:.2f}"
        chart = bar_list_svg(
            [p for _, p in bars], [f"“{token}”" for token, _ in bars], title="the next token", reach=1, width=420
        )
        return beside(prompt_svg(prompt), chart) + said(told + best)

    choose, line = (
        choice(tasks),
        field(hint="… or type examples and press Enter: one -> uno, two -> dos, three"),
    )
    choose_or_type(choose, line)
    return live(
        draw,
        rows=[["task"], ["shots", "question"], ["typed"]],
        task=choose,
        shots=stops(list(_SHOTS), 0, "examples in the prompt", "330px"),
        question=slider(1, 1, questions, 1, "question", "300px"),
        typed=line,
    )


Expected = tuple[list[tuple[str, float]], float]
"""The first tokens that a model expects as the answer, with their probabilities; and that of the right answer."""


@torch.no_grad()
def _read(
    model: LanguageModel, tokenizer: Any, examples: Sequence[Any], form: Any, questions: int
) -> dict[int, list[Expected]]:
    """Number of examples read -> what is expected after each question."""
    state: State = None
    found, most = {}, _SHOTS[-1]
    for k in range(most + 1):
        if k:
            state = model(torch.tensor([tokenizer.encode(form.answered(examples[k - 1]) + "\n")]), state)[1]
        if k in _SHOTS:
            found[k] = _asked(model, tokenizer, state, examples[most : most + questions], form)
    return found


def _asked(model: LanguageModel, tokenizer: Any, state: State, asked: Sequence[Any], form: Any) -> list[Expected]:
    """For each question after the state: the first tokens expected, and the probability of the right answer. All are
    read together; what is padded at the right changes nothing on its left."""
    queries = [tokenizer.encode(form.asked(one.input)) for one in asked]
    answers = [tokenizer.encode(form.separator + one.output) for one in asked]
    longest = max(len(q) + len(a) for q, a in zip(queries, answers, strict=True))
    rows = [q + a + [0] * (longest - len(q) - len(a)) for q, a in zip(queries, answers, strict=True)]
    if state is not None:
        state = select(state, torch.zeros(len(rows), dtype=torch.long))
    logits = model(torch.tensor(rows), state)[0]
    found = []
    for row, query, answer in zip(logits.log_softmax(-1), queries, answers, strict=True):
        first = len(query) - 1
        p = float(row[torch.arange(first, first + len(answer)), torch.tensor(answer)].sum().exp())
        found.append((_bars(row[first], tokenizer), p))
    return found


def _bars(logits: torch.Tensor, tokenizer: Any) -> list[tuple[str, float]]:
    top = logits.softmax(-1).topk(_BARS)
    return [(tokenizer.decode([int(i)]).replace("\n", "⏎"), float(p)) for p, i in zip(*top, strict=True)]


def _prompt_of(typed: str, form: Any) -> str:
    """ "one -> uno, two" as lines, the last one asked. Raises ValueError for an example without an answer."""
    *examples, query = [part.strip() for part in typed.split(",")]
    if not query or "->" in query or any(part.count("->") != 1 for part in examples):
        raise ValueError(
            "write examples with an arrow and commas between them, and end with a question: hot -> cold, big"
        )
    answered = [Pair(*map(str.strip, part.split("->"))) for part in examples]
    return "\n".join([*map(form.answered, answered), form.asked(query)])


def prompt_svg(prompt: str) -> str:
    """The lines of a prompt, as the model reads them."""
    canvas = Canvas("the prompt", size=16)
    lines = prompt.split("\n")
    for at, line in enumerate(lines):
        canvas.text(0, canvas.top + 20 + 24 * at, line, 16, mono=True, bold=at == len(lines) - 1)
    return canvas.svg("The prompt: " + "; ".join(lines), width=300)
