"""Figure: what SmolLM2 still cannot do, in four small tests: letters, negation, paraphrase, and a long context.

letters       how often a letter occurs in a word: 1, 2 or 3, each as often, so a constant answer is right in a third
negation      a statement and its negation must get opposite answers, yes and no; more kindly, "yes" must be more probable
              after the true one of two
paraphrase    the same question in four wordings: right by each wording, and right by all of them
context       a number of four digits in a text of verses, asked for at its end; by the text's length, by where the number
              is (at the beginning, in the middle, near the end), and with four other numbers in the text

Answers are chosen by probability among those that are possible (letters, negation) or written by greedy decoding
(paraphrase; context, where the sentence is begun and only the digits are asked for). Nothing is random but the verses and numbers. 95 % bootstrap intervals over questions. The model is
small: these tests show how to find a limit, not what larger models cannot do.
"""

import random
from functools import partial
from typing import Any

import torch
from nlmcore.transfer.tuning import conversation, pad
from torch import Tensor

from lectures.recipes.few_shot import CAPITALS, pairs
from lectures.recipes.run import Run, load_smollm2, recipe
from lectures.recipes.texts import plays
from lectures.recipes.tuned import replies, shares, written

COUNTED = """
a bread 1, o window 1, e stone 1, r bird 1, t market 2, n planet 1, l garlic 1, s desk 1, m lamp 1, p pear 1, i ship 1, u drum 1,
d garden 1, g forget 1, b table 1, a salad 2, o doctor 2, e letter 2, r mirror 3, t bottle 2, n dinner 2, l yellow 2, s lesson 2,
m hammer 2, p pepper 3, i finish 2, e garden 1, a market 1, r carrier 3, a banana 3, o onion 2, e sentence 3, s possess 4, e between 3,
s lessons 3, a alphabet 2, n cannon 3, e elephant 2, a panama 3, e telephone 3, i initial 3, t tomato 2, o potato 2, s success 3,
e cheese 3, e seventeen 4, p puppy 3, t attempt 3, r strawberry 3, d daddy 3, i visiting 3, l parallel 3
"""
OTHERS = ("mill", "bridge", "harbour", "tower")
FORMS = (
    "What is the capital of {}?",
    "Name the capital city of {}.",
    "Which city is the seat of government of {}?",
    "I am going to the capital of {}. Which city do I visit?",
)


def counted() -> list[tuple[str, str, int]]:
    """(letter, word, how often), equally many of each count from 1 to 3."""
    rows = [(word[0], word[1]) for word in (row.split()[:2] for row in " ".join(COUNTED.split()).split(", "))]
    by: dict[int, list[tuple[str, str, int]]] = {1: [], 2: [], 3: []}
    for letter, word in rows:
        if (n := word.count(letter)) in by:
            by[n].append((letter, word, n))
    fewest = min(map(len, by.values()))
    return [row for n in by for row in by[n][:fewest]]


def _replied(model: Any, tokenizer: Any, prompts: list[list[int]], longest: int) -> dict[str, Any]:
    return {"replies": replies(model, tokenizer, prompts, longest)}


@torch.no_grad()
@recipe(4)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()

    def ask(question: str, system: str) -> list[int]:
        return tokenizer.chat([{"role": "system", "content": system}, {"role": "user", "content": question}])

    def first(text: str) -> int:
        return tokenizer.encode(text)[0]

    def after(prompts: list[list[int]]) -> Tensor:
        """(prompt, vocab): ln P of the reply's first token."""
        rows = []
        for prompt in prompts:
            rows.append(model.output(model.hidden_states(torch.tensor([prompt]))[0][:, -1])[0].log_softmax(-1))
        return torch.stack(rows)

    def chosen(name: str, questions: list[str], system: str, options: list[str]) -> list[int]:
        """Which option is the most probable reply to each question."""

        def measure() -> dict[str, Any]:
            scores = after([ask(question, system) for question in questions])
            return {"chosen": scores[:, [first(option) for option in options]].argmax(-1).tolist()}

        return run.kept(name, measure)["chosen"]

    def log_odds(name: str, questions: list[str]) -> list[float]:
        """log P(Yes) − log P(No) as the reply to each question."""

        def measure() -> dict[str, Any]:
            scores = after([ask(question, "Answer yes or no.") for question in questions])
            return {"odds": (scores[:, first("Yes")] - scores[:, first("No")]).tolist()}

        return run.kept(name, measure)["odds"]

    # --- letters ---
    rows = counted()[:: run.size(1, 8)]
    said = [f"How many times does the letter {letter} occur in the word {word}?" for letter, word, _ in rows]
    counts = chosen("letters", said, "Answer with a number.", ["1", "2", "3"])
    letters = shares([[int(k + 1 == n) for k, (_, _, n) in zip(counts, rows, strict=True)]])["share"]

    # --- negation ---
    known = pairs(CAPITALS)[: run.size(24, 2)]
    names = [(country, capital) for country, capital in known]
    wrong = [(country, names[(i + 1) % len(names)][1]) for i, (country, _) in enumerate(names)]
    says = {
        f"{truth}, {form}": [f"Is it true? {capital} is {no}the capital of {country}." for country, capital in these]
        for truth, these in (("true", names), ("false", wrong))
        for form, no in (("stated", ""), ("negated", "not "))
    }
    odds = {name: log_odds(f"negation, {name}", asked) for name, asked in says.items()}

    def more(one: str, other: str) -> list[float]:
        """In how many pairs "Yes" is more probable, against "No", after the first."""
        return shares([[int(a > b) for a, b in zip(odds[one], odds[other], strict=True)]])["share"]

    yes = {name: sum(x > 0 for x in each) / len(each) for name, each in odds.items()}
    opposite = [
        int((a > 0) != (b > 0))
        for t in ("true", "false")
        for a, b in zip(odds[f"{t}, stated"], odds[f"{t}, negated"], strict=True)
    ]
    negation = {
        "true above false": more("true, stated", "false, stated"),
        "true above its negation": more("true, stated", "true, negated"),
        "negated false above false": more("false, negated", "false, stated"),
    }

    # --- paraphrase ---
    right = []
    for i, form in enumerate(FORMS):
        prompts = [ask(form.format(country), "Answer briefly.") for country, _ in names]
        kept = run.kept(f"paraphrase {i}", partial(_replied, model, tokenizer, prompts, run.size(16, 4)))
        right.append([int(capital in reply) for (_, capital), reply in zip(names, kept["replies"], strict=True)])
    paraphrase = {form: shares([each])["share"] for form, each in zip(FORMS, right, strict=True)}
    every = [int(all(column)) for column in zip(*right, strict=True)]
    any_ = [int(any(column)) for column in zip(*right, strict=True)]

    # --- a long context ---
    texts = plays(limit=None if not run.quick else 20_000).test
    places = {"beginning": 0.05, "middle": 0.5, "end": 0.95}

    def recalled(length: int, where: float, others: int, tries: int) -> list[int]:
        found = []
        for k in range(tries):
            chance = random.Random(f"{length}/{where}/{k}")
            text, code = chance.choice(texts), str(chance.randrange(1000, 10_000))
            start = chance.randrange(2000, len(text) - 8 * length - 10)
            verses = tokenizer.decode(tokenizer.encode(text[start : start + 8 * length])[:length]).split(" ")
            hidden = [(int(where * len(verses)), "lighthouse", code)]
            hidden += [
                (chance.randrange(len(verses)), thing, str(chance.randrange(1000, 10_000))) for thing in OTHERS[:others]
            ]
            for at, thing, number in sorted(hidden, reverse=True):
                verses.insert(at, f"\nThe number of the {thing} is {number}.\n")
            messages = [
                {"role": "system", "content": "Answer with the number only."},
                {"role": "user", "content": f"{' '.join(verses)}\nWhat is the number of the lighthouse?"},
                {"role": "assistant", "content": f"The number of the lighthouse is {code}"},
            ]
            ids, mask = conversation(tokenizer, messages)
            last = max(i for i, yes_ in enumerate(mask) if yes_)
            digits = [last - 4 <= i < last for i in range(last)]  # one token each; the words before them are given
            found += written(model, pad([(ids[:last], digits)]))
        return found

    def share_of(label: str, name: str, length: int, where: float, others: int) -> list[float]:
        def measure() -> dict[str, Any]:
            return {"right": recalled(length, where, others, run.size(8, 2))}

        return shares([run.kept(f"context {label}, {name}", measure)["right"]])["share"]

    rows_of = {"100 tokens": (100, 0), "500 tokens": (500, 0), "500 tokens, five numbers": (500, 4)}
    context = {
        label: {
            name: share_of(label.removesuffix(" tokens"), name, length, where, others) for name, where in places.items()
        }
        for label, (length, others) in list(rows_of.items())[: run.size(3, 1)]
    }
    run.save_result(
        "still_missing",
        {
            "question": "Which simple things does the model still get wrong?",
            "how": f"{len(rows)} words, {len(names)} countries, {run.size(8, 2)} texts per length and place;"
            " 95 % bootstrap intervals over questions",
            "letters": {
                "words": len(rows),
                "right": letters,
                "guessing": round(1 / 3, 4),
                "chosen": [counts.count(k) for k in range(3)],
            },
            "negation": {
                "countries": len(names),
                "right": negation,
                "opposite": shares([opposite])["share"],
                "yes": yes,
            },
            "paraphrase": {"right": paraphrase, "all": shares([every])["share"], "any": shares([any_])["share"]},
            "context": context,
            "tries": run.size(8, 2),
            "what_it_shows": f"letters {letters[0]:.0%} right (guessing 33 %), opposite answers {shares([opposite])['share'][0]:.0%},"
            f" all four wordings {shares([every])['share'][0]:.0%}",
        },
    )
