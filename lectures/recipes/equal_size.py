"""Figure: one vector, or attention? Three translators of numbers with equal numbers of parameters, five paired seeds.

The first is that of `thought_vector` which reads its vector at every step. The other two are made narrower until they
have no more parameters than that, and are trained on the same pairs in the same order, for as many steps, at the same
rate; their encoder reads in one direction as well.

    attention       a weight of its own for each state, by the additive score
    even weights    1/n for every state: all of them are read, and none is chosen

The rate is the one at which translators with one vector did best; nothing was tuned for these two.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import mean
from typing import Any

from lectures.trained import SourceAndTarget
from nlmcore.seq2seq import DotScore, Seq2Seq
from torch import Tensor, nn

from lectures import stored
from lectures.recipes.experiment import gap
from lectures.recipes.numbers import BATCH, SHORT, WARM_UP, pairs_to_train_on, quality, sizes, training_facts
from lectures.recipes.numbers import test_numbers as numbers_to_test
from lectures.recipes.numbers import tokenizers as number_tokenizers
from lectures.recipes.pairs import PairBatches
from lectures.recipes.run import Run, parameters, recipe
from lectures.recipes.thought_vector import LEARNING_RATE, SEEDS

ONE_VECTOR, STEPS = "every step", 3000


class EvenScore(DotScore):
    """0 for every state, so softmax gives each the weight 1/n."""

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return keys.new_zeros(keys.shape[:-1])


def with_even_weights(**config: Any) -> Seq2Seq:
    model = Seq2Seq(**config)
    decoder: Any = model.decoder
    decoder.attention.score = EvenScore(config["d_hidden"])
    return model


ROWS: dict[str, tuple[Callable[..., nn.Module], dict[str, Any]]] = {
    "attention": (Seq2Seq, {"context": "attention", "score": "additive"}),
    "even weights": (with_even_weights, {"context": "attention"}),
}


def no_larger(build: Callable[..., nn.Module], limit: int, width: int) -> dict[str, int]:
    """The width, from `width` downwards, at which a model has at most so many parameters; and how many it has."""
    while (size := parameters(build(d_hidden=width))) > limit:
        width -= 1
    return {"d_hidden": width, "parameters": size}


@recipe(20)
def cook(run: Run) -> None:
    steps, count = run.size(STEPS, 3), run.size(20_000, 100)
    tests = numbers_to_test(run.size(200, 4))
    held = frozenset(n for numbers in tests.values() for n in numbers)
    source, target = number_tokenizers()
    tokenizer, pairs = SourceAndTarget(source, target), pairs_to_train_on(count, SHORT, held)
    training = training_facts(steps, count, SHORT, LEARNING_RATE, WARM_UP)
    before = stored("thought_vector")
    limit, width = before["parameters"][ONE_VECTOR], sizes(run, source, target).pop("d_hidden")
    seeds_there = replace(run, recipe=replace(run.recipe, name="thought_vector"))
    narrowed, bleu, ahead = {}, {}, {}
    for row, (kind, config) in ROWS.items():
        build = partial(kind, **sizes(run, source, target) | config)
        narrowed[row] = no_larger(build, limit, width)
        lines = []
        for seed in range(run.size(SEEDS, 2)):
            name = f"{row}-{seed}".replace(" ", "_")
            model: Any = run.build(name, partial(build, d_hidden=narrowed[row]["d_hidden"]))
            run.fit_as(name, model, PairBatches(pairs, BATCH, seeds_there.seed_of(f"order {seed}")), training)
            lines.append({f"{low}-{high}": quality(model.eval(), tokenizer, tests[low, high]) for low, high in tests})
            run.say(f"{name}: " + ", ".join(f"{at} words {of['bleu']:.0f}" for at, of in lines[-1].items()))
        bleu[row] = {at: [line[at]["bleu"] for line in lines] for at in lines[0]}
        ahead[row] = {at: against(of, before["bleu"][ONE_VECTOR][at]) for at, of in bleu[row].items()}
    run.save_result(
        "equal_size",
        {
            "question": "Is attention ahead of one vector at equal numbers of parameters?",
            "task": "numbers from English words into German words, greedy decoding; BLEU over German parts; one value"
            " per seed; the one vector is that of thought_vector, read at every step",
            "training": training,
            "rows": narrowed,
            "parameters_of_one_vector": limit,
            "bleu": bleu,
            "ahead_is": "BLEU more than one vector has, seed by seed: the mean and half its 95 % interval",
            "ahead": ahead,
            "what_it_shows": "; ".join(
                f"{row}: " + ", ".join(f"{at} words {mean(of):.0f}" for at, of in by.items())
                for row, by in bleu.items()
            ),
        },
    )


def against(row: list[float], other: list[float]) -> dict[str, float]:
    """What a row has more than another, paired. A quick run has fewer seeds than the other."""
    value, half = gap(row, other[: len(row)])
    return {"mean": round(value, 2), "half": round(half, 2)}
