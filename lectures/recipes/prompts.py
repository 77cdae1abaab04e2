"""Figure: prompting on the same footing as its rivals: as many examples, calibrated, with the model's own chat form.

`four_ways` compares four ways to use a pretrained model; there the prompt holds eight of the 64 examples. Here SmolLM2
reads the same examples and the same tests once more:

    wherefore art thou sad -> question      none, 8 or all 64 of them, as text that a language model continues,
    thou art sad ->                         or as a user's message that the tuned model answers

The model is biased towards one of the two words, whatever the sentence says. Calibration (Zhao et al. 2021, "Calibrate
before use") measures this bias with sentences without content after the same examples, and subtracts it:

    margin   ln P(question | prompt) − ln P(statement | prompt)
    bias     the mean margin of “N/A”, “[MASK]” and “...”
    answer   question if margin > 0; calibrated: if margin > bias

`ranked` asks whether the margins know more than the answers: the share of pairs (a question, a statement) in which the
question has the larger margin; 50 % is chance, and no bias changes it.
"""

from functools import partial
from itertools import takewhile
from statistics import mean
from typing import Any

import torch
from lectures.prompting import Template, few_shot_prompt

from lectures.recipes.four_ways import CLASSES, EXAMPLES, INSTRUCTION, SHOTS, TESTS, Labelled, half_each, sentences
from lectures.recipes.experiment import said
from lectures.recipes.run import Run, load_smollm2, recipe

SEEDS = 3
"""The first of the seeds of `four_ways`, with the same examples."""
EMPTY = ("N/A", "[MASK]", "...")
"""Sentences without content."""


def prompts(
    tokenizer: Any, examples: list[Labelled], asked: list[str], chat: bool
) -> tuple[list[list[int]], list[int]]:
    """The ids of one prompt per sentence, and the id that begins each of the two answers."""
    template, shown = Template(instruction=INSTRUCTION), [(text, CLASSES[label]) for text, label in examples]
    texts = [few_shot_prompt(shown, text, template) for text in asked]
    if chat:
        first = [tokenizer.encode(name)[0] for name in CLASSES]
        return [tokenizer.chat([{"role": "user", "content": text}]) for text in texts], first
    return [tokenizer.encode(text) for text in texts], [tokenizer.encode(f" {name}")[0] for name in CLASSES]


@torch.no_grad()
def margins(model: Any, rows: list[list[int]], first: list[int]) -> list[float]:
    """ln P(question) − ln P(statement) after each prompt; what all of them begin with is read once."""
    shared = len(list(takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))))
    shared = min(shared, min(map(len, rows)) - 1)
    _, state = model(torch.tensor([rows[0][:shared]]))
    found = []
    for row in rows:
        logits, _ = model(torch.tensor([row[shared:]]), state)
        statement, question = logits[0, -1, first].tolist()
        found.append(question - statement)
    return found


def ranked(margin: list[float], labels: list[int]) -> float:
    """Percentage of pairs in which the question has the larger margin; a tie counts half."""
    questions, statements = ([m for m, label in zip(margin, labels, strict=True) if label == of] for of in (1, 0))
    return 100 * mean((q > s) + (q == s) / 2 for q in questions for s in statements)


def prompted(model: Any, tokenizer: Any, examples: list[Labelled], tests: list[Labelled], chat: bool) -> dict[str, Any]:
    """Percentages: right as it answers, right after calibration, "question" chosen in each case, pairs ranked right."""
    asked = [text for text, _ in tests]
    every = margins(model, *prompts(tokenizer, examples, [*asked, *EMPTY], chat))
    margin, bias, labels = every[: len(tests)], mean(every[len(tests) :]), [label for _, label in tests]
    found: dict[str, Any] = {"bias": round(bias, 3), "ranked": round(ranked(margin, labels), 2)}
    for name, threshold in (("", 0.0), ("_calibrated", bias)):
        chosen = [int(one > threshold) for one in margin]
        found[f"right{name}"] = round(100 * mean(a == b for a, b in zip(chosen, labels, strict=True)), 2)
        found[f"questions{name}"] = round(100 * mean(chosen), 2)
    return found


@recipe(10)
def cook(run: Run) -> None:
    learn, test = (sentences(part, run.size(None, 20_000)) for part in ("train", "test"))
    tests = half_each(test, run.size(TESTS, 4), 0)
    shots, n = run.size(SHOTS, 2), run.size(EXAMPLES, 8)
    writer = load_smollm2()
    alone = run.kept("textnoexamples", partial(prompted, *writer, [], tests, False))
    rows: dict[str, list[dict[str, Any]]] = {"text, no examples": [alone]}
    for seed in range(run.size(SEEDS, 2)):
        examples = half_each(learn, n, seed)
        for name, shown, chat in (
            (f"text, {shots} examples", examples[:shots], False),
            (f"text, {n} examples", examples, False),
            (f"chat, {n} examples", examples, True),
        ):
            part = f"{name}-{seed}".replace(" ", "").replace(",", "")
            rows.setdefault(name, []).append(run.kept(part, partial(prompted, *writer, shown, tests, chat)))
    found = {name: {key: [one[key] for one in of] for key in of[0]} for name, of in rows.items()}
    run.save_result(
        "prompts",
        {
            "question": "What does a prompt need: more examples, the chat form, or only that its bias is subtracted?",
            "how": f"the examples, tests and prompt of four_ways, % of {len(tests)} sentences; one value per seed, which"
            " has other examples (without examples nothing is drawn, and there is one value); calibrated: the mean"
            " margin of three sentences without content is subtracted;"
            " ranked: % of pairs of a question and a statement in which the question has the larger margin",
            "rows": found,
            "what_it_shows": said(found, "{row}: {right!m:.1f} % right, calibrated {right_calibrated!m:.1f} %"),
        },
    )


KEYS = ("right", "right_calibrated", "ranked")
