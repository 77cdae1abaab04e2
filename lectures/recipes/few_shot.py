"""Figure: does a small language model learn a task from examples in its prompt?

The tasks; the first three were written by hand for this course and are all here:

capitals    a country and its capital, one word each
opposites   an English adjective or adverb and its opposite
plurals     English nouns whose plural is more than an added s
languages   a number from 21 to 99 in words, and the language it is in; the words are num2words'
sums        two numbers of two digits, and their sum

SmolLM2 (135 million parameters) is shown k = 0, 1, 2, 4, 8 examples, "France -> Paris", one a line, and asked with
"Peru ->". Brown et al. (2020), "Language models are few-shot learners", section 2 and figure 1.2, ask the same of
GPT-3. Nothing but the examples says what the task is: without them, k = 0, no written answer was right.

Two controls ask what the examples supply (after Min et al. 2022, "Rethinking the role of demonstrations", section 4). A
heading, "country -> capital", names the task and shows the form without an example. Eight examples whose answers are
swapped, so that each has the answer of the next one, keep the form and the kind of answer, but not the pairs. For
"languages" some of them stay right, because there are only four answers. In our run swapped answers helped writing as much
as right ones with capitals and languages, and much less with opposites and plurals; a heading hardly helped it.

Two measures of the same questions: choosing one of four answers by probability, and writing the answer, right if it is
the same letter by letter. In no task and with no number of examples were more answers written than chosen correctly.
Each with Wilson's 95 % interval; chance is 25 % for choosing and about nothing for writing.
"""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nlmcore.corpora.generated import NUM2WORDS
from nlmcore.corpora.packaged import imported
from lectures.prompting import Accuracy, Example, Task, Template, accuracy, by_choosing, by_writing
from lectures.prompting.measuring import Answer

from lectures.recipes.run import Run, load_smollm2, recipe

CAPITALS = """
France Paris, Italy Rome, Germany Berlin, Spain Madrid, Portugal Lisbon, Austria Vienna, Greece Athens,
Poland Warsaw, Hungary Budapest, Ireland Dublin, Norway Oslo, Sweden Stockholm, Finland Helsinki,
Denmark Copenhagen, Russia Moscow, Ukraine Kyiv, Turkey Ankara, Egypt Cairo, Kenya Nairobi, Morocco Rabat,
Nigeria Abuja, Ghana Accra, Senegal Dakar, Japan Tokyo, China Beijing, Thailand Bangkok, Vietnam Hanoi,
Nepal Kathmandu, Iran Tehran, Iraq Baghdad, Syria Damascus, Lebanon Beirut, Canada Ottawa, Cuba Havana,
Peru Lima, Chile Santiago, Ecuador Quito, Colombia Bogotá, Venezuela Caracas, Australia Canberra,
Romania Bucharest, Bulgaria Sofia, Serbia Belgrade, Croatia Zagreb, Belgium Brussels
"""
OPPOSITES = """
hot cold, big small, tall short, fast slow, old young, rich poor, strong weak, light dark, happy sad,
early late, open closed, full empty, hard soft, high low, loud quiet, wet dry, clean dirty, deep shallow,
wide narrow, thick thin, sharp dull, brave cowardly, cheap expensive, safe dangerous, simple complicated,
near far, right wrong, true false, alive dead, asleep awake, always never, inside outside, up down, first last,
good bad, smooth rough, heavy light, polite rude, male female, public private
"""
PLURALS = """
man men, woman women, child children, foot feet, tooth teeth, goose geese, mouse mice, ox oxen, knife knives,
wife wives, life lives, leaf leaves, wolf wolves, half halves, shelf shelves, loaf loaves, thief thieves,
calf calves, scarf scarves, hero heroes, potato potatoes, tomato tomatoes, echo echoes, city cities,
baby babies, lady ladies, story stories, bus buses, box boxes, church churches, dish dishes, crisis crises,
analysis analyses, thesis theses, cactus cacti, fungus fungi, nucleus nuclei, criterion criteria,
phenomenon phenomena, bacterium bacteria
"""
LANGUAGES = {"German": "de", "French": "fr", "Spanish": "es", "Italian": "it"}


def pairs(text: str) -> list[Example]:
    """ "a b, c d" as examples."""
    return [Example(*pair.split()) for pair in text.split(",")]


def languages(count: int) -> list[Example]:
    """As many numbers of each language, none twice."""
    words = imported(NUM2WORDS, "num2words").num2words
    numbers = random.Random("languages").sample(range(21, 100), count)
    names = list(LANGUAGES)
    return [
        Example(words(n, lang=LANGUAGES[names[i % len(names)]]), names[i % len(names)]) for i, n in enumerate(numbers)
    ]


def sums(count: int) -> list[Example]:
    """Different sums of two numbers of two digits."""
    draw = random.Random("sums")
    drawn = draw.sample([(a, b) for a in range(10, 100) for b in range(10, 100)], count)
    return [Example(f"{a} + {b}", str(a + b)) for a, b in drawn]


def tasks() -> list[Task]:
    """All of them. A question offers four answers, of which one is right."""
    return [
        Task("capitals", pairs(CAPITALS), n_options=4),
        Task("opposites", pairs(OPPOSITES), n_options=4),
        Task("plurals", pairs(PLURALS), n_options=4),
        Task("languages", languages(48), options=list(LANGUAGES)),
        Task("sums", sums(60), n_options=4),
    ]


ABOUT = {
    "capitals": "a country's capital",
    "opposites": "the opposite of a word",
    "plurals": "the plural of a noun, where it is more than an added s",
    "languages": "which language a number in words is in",
    "sums": "the sum of two numbers of two digits",
}


HEADINGS = {
    "capitals": "country -> capital",
    "opposites": "word -> opposite",
    "plurals": "singular -> plural",
    "languages": "number in words -> language",
    "sums": "sum -> result",
}


def swapped(answer: Answer) -> Answer:
    """`answer`, after a prompt in which every example has the answer of the next, and the last that of the first."""

    def given(model: Any, tokenizer: Any, prompt: str, template: Template, options: list[str]) -> str:
        *shown, question = prompt.split(template.between)
        halves = [line.split(" -> ") for line in shown]
        moved = [f"{one[0]} -> {other[1]}" for one, other in zip(halves, halves[1:] + halves[:1], strict=True)]
        return answer(model, tokenizer, template.between.join([*moved, question]), template, options)

    return given


def controls(run: Run, task: Task, model: Any, tokenizer: Any, measures: Mapping[str, Answer]) -> dict[str, Any]:
    """A heading and no example; the most examples, with their answers swapped."""
    headed = replace(task, template=Template(instruction=HEADINGS[task.name]))
    shots, questions = run.size(8, 2), run.size(30, 1)

    def found(task: Task, k: int, answer: Answer) -> dict[str, Any]:
        return facts(task, accuracy(model, tokenizer, task, k, answer=answer, questions=questions, seed=run.seed))

    return {
        measure: {"heading": found(headed, 0, answer), "swapped": found(task, shots, swapped(answer))}
        for measure, answer in measures.items()
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


@recipe(11)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    shots, questions = run.size([0, 1, 2, 4, 8], [0, 1]), run.size(30, 1)
    measures = {"choosing": by_choosing(), "writing": by_writing(6, tokenizer.eos)}
    curves: dict[str, dict[str, dict[str, Any]]] = {}
    checked = {}
    for task in tasks()[: run.size(5, 2)]:
        curves[task.name] = {measure: {} for measure in measures}
        for measure, answer in measures.items():
            for k in shots:
                found = accuracy(model, tokenizer, task, k, answer=answer, questions=questions, seed=run.seed)
                curves[task.name][measure][str(k)] = facts(task, found)
        checked[task.name] = controls(run, task, model, tokenizer, measures)
        run.say(f"{task.name}: {ABOUT[task.name]}")
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
            "controls": checked,
            "controls_are": "heading: a first line such as country -> capital, and no example; swapped: eight examples, each"
            " with the answer of the next one",
            "what_it_shows": shown(curves, shots),
        },
    )
