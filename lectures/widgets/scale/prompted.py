"""A task in the prompt: what SmolLM2 expects after examples, and after none."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch

from lectures.prompting import Example, Template
from lectures.show import Canvas, Live, bar_list_svg, beside, choice, choose_or_type, field, live, said, slider, stops
from nlmcore.language_model import LanguageModel, State, select

_SHOTS, _BARS = (0, 1, 2, 4, 8), 5
_FORM = Template()


def prompt_playground(
    model: LanguageModel, tokenizer: Any, tasks: Mapping[str, Sequence[Example]], *, questions: int = 4
) -> Live:
    """The first eight examples of a task are shown, the next `questions` asked. All these are read when the widget is
    made, each example once; a prompt that is typed ("one -> uno, two -> dos, three") is read on Enter."""
    known: dict[tuple[str, int, int], list[tuple[str, float]]] = {}
    right: dict[tuple[str, int, int], float] = {}
    for name, examples in tasks.items():
        state: State = None
        asked = examples[_SHOTS[-1] : _SHOTS[-1] + questions]
        for k in range(_SHOTS[-1] + 1):
            if k:
                state = model(torch.tensor([tokenizer.encode(_FORM.answered(examples[k - 1]) + "\n")]), state)[1]
            if k in _SHOTS:
                for at, (bars, p) in enumerate(_asked(model, tokenizer, state, asked)):
                    known[name, k, at], right[name, k, at] = bars, p

    @lru_cache(maxsize=64)
    def typed_bars(prompt: str) -> list[tuple[str, float]]:
        with torch.no_grad():
            return _bars(model(torch.tensor([tokenizer.encode(prompt)]))[0][0, -1], tokenizer)

    def draw(task: str, shots: int, question: int, typed: str) -> str:
        if typed.strip():
            prompt, told = _prompt_of(typed), ""
            bars = typed_bars(prompt)
        else:
            examples, at = tasks[task], question - 1
            asked = examples[_SHOTS[-1] + at]
            prompt = "\n".join([*map(_FORM.answered, examples[:shots]), _FORM.asked(asked.input)])
            bars = known[task, shots, at]
            told = f"P(“{asked.output}”) = {right[task, shots, at]:.2g}; "
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


@torch.no_grad()
def _asked(
    model: LanguageModel, tokenizer: Any, state: State, asked: Sequence[Example]
) -> list[tuple[list[tuple[str, float]], float]]:
    """For each question after the state: the first tokens expected, and the probability of the right answer. All are
    read together; what is padded at the right changes nothing on its left."""
    queries = [tokenizer.encode(_FORM.asked(one.input)) for one in asked]
    answers = [tokenizer.encode(_FORM.separator + one.output) for one in asked]
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


def _prompt_of(typed: str) -> str:
    """ "one -> uno, two" as lines, the last one asked. Raises ValueError for an example without an answer."""
    *examples, query = [part.strip() for part in typed.split(",")]
    if not query or "->" in query or any(part.count("->") != 1 for part in examples):
        raise ValueError(
            "write examples with an arrow and commas between them, and end with a question: hot -> cold, big"
        )
    answered = [Example(*map(str.strip, part.split("->"))) for part in examples]
    return "\n".join([*map(_FORM.answered, answered), _FORM.asked(query)])


def prompt_svg(prompt: str) -> str:
    """The lines of a prompt, as the model reads them."""
    canvas = Canvas("the prompt", size=16)
    lines = prompt.split("\n")
    for at, line in enumerate(lines):
        canvas.text(0, canvas.top + 20 + 24 * at, line, 16, mono=True, bold=at == len(lines) - 1)
    return canvas.svg("The prompt: " + "; ".join(lines), width=300)
