"""Figure: does a small language model learn a task from examples in its prompt?

SmolLM2 (135 million parameters) is shown k = 0, 1, 2, 4, 8 examples, "France -> Paris", one a line, and asked with
"Peru ->". Brown et al. (2020), "Language models are few-shot learners", section 2 and figure 1.2, ask the same of
GPT-3. Nothing but the examples says what the task is: without them, k = 0, it is to be guessed.

Two measures of the same questions: choosing one of four answers by probability, and writing the answer, right if it is
the same letter by letter. Choosing is easier, for the wrong answers may be improbable for any reason; writing is what
one wants. Each with Wilson's 95 % interval; chance is 25 % for choosing and about nothing for writing.
"""

from typing import Any

from nlmcore.prompting import Accuracy, Task, accuracy, by_choosing, by_writing
from lectures.recipes.few_shot_tasks import tasks
from lectures.recipes.recipe import Recipe, Run, table
from lectures.recipes.wheel import load_smollm2

ABOUT = {
    "capitals": "a country's capital",
    "opposites": "the opposite of a word",
    "plurals": "the plural of a noun, where it is more than an added s",
    "languages": "which language a number in words is in",
    "sums": "the sum of two numbers of two digits",
}


def facts(task: Task, found: Accuracy) -> dict[str, Any]:
    """One point of a curve, with a few of the mistakes, to see what was written instead."""
    wrong = [f"{question}: {given!r}, not {wanted!r}" for question, wanted, given in found.answers if given != wanted]
    return {
        "right": found.right,
        "asked": found.asked,
        "share": round(found.share, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
        "mistakes": wrong[:4],
    }


def shown(curves: dict[str, dict[str, dict[str, Any]]], shots: list[int]) -> str:
    """What more examples did to writing, in words: only what the intervals can tell apart."""
    better: list[str] = []
    same: list[str] = []
    for name, by in curves.items():
        first, last = by["writing"][str(shots[0])], by["writing"][str(shots[-1])]
        (better if last["low"] > first["high"] else same).append(f"{name} {first['share']:.0%} to {last['share']:.0%}")
    return (
        f"writing, from {shots[0]} to {shots[-1]} examples: better, and the two intervals have nothing in common:"
        f" {', '.join(better) or 'none'}; not told apart: {', '.join(same) or 'none'}"
    )


def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    shots, questions = run.size([0, 1, 2, 4, 8], [0, 1]), run.size(30, 1)
    measures = {"choosing": by_choosing(), "writing": by_writing(6, tokenizer.eos)}
    curves: dict[str, dict[str, dict[str, Any]]] = {}
    for task in tasks()[: run.size(5, 2)]:
        curves[task.name] = {measure: {} for measure in measures}
        for measure, answer in measures.items():
            for k in shots:
                found = accuracy(model, tokenizer, task, k, answer=answer, questions=questions, seed=run.seed)
                curves[task.name][measure][str(k)] = facts(task, found)
        run.say(f"{task.name}: {ABOUT[task.name]}")
    rows = [
        [name, measure, *(f"{p['share']:.0%} ({p['low']:.0%}–{p['high']:.0%})" for p in by.values())]
        for name, measures in curves.items()
        for measure, by in measures.items()
    ]
    run.say("\n" + table(["right after so many examples", "", *shots], rows))
    run.save_result(
        "few_shot",
        {
            "question": "Does a model of 135 million parameters learn a task from examples in its prompt?",
            "model": "SmolLM2-135M-Instruct",
            "form": tasks()[0].template.form,
            "tasks": ABOUT,
            "chance": {task.name: task.chance for task in tasks()},
            "curves": curves,
            "curves_are": f"{questions} questions each, the same for every number of examples; share right with"
            " Wilson's 95 % interval; choosing: the most probable of four answers; writing: greedy, right letter by"
            " letter",
            "what_it_shows": shown(curves, shots),
        },
    )


RECIPE = Recipe(
    "few_shot",
    "accuracy of SmolLM2 on five small tasks against the number of examples in its prompt",
    ("result:few_shot",),
    8,
    cook,
)
