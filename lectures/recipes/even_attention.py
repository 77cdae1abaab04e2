"""Figure: is it enough that the decoder reads *all* the encoder's states? Attention whose weights are all 1/n.

A control for `quality_by_length`: the same decoder reads a context at every step, but the context is the mean of the
encoder's states, the same at every step. What is left out is the score. It is trained at the rate and for the steps of
`thought_vector`, at which translators with one vector did better than at those of `numbers`. One run.
"""

from functools import partial
from typing import Any

from lectures.trained import SourceAndTarget
from nlmcore.seq2seq import Seq2Seq
from nlmcore.seq2seq.decoders import DotScore
from torch import Tensor

from lectures.recipes.numbers import BATCH, SHORT, WARM_UP, pairs_to_train_on, quality, sizes, training_facts
from lectures.recipes.numbers import test_numbers as numbers_to_test
from lectures.recipes.numbers import tokenizers as number_tokenizers
from lectures.recipes.pairs import PairBatches
from lectures.recipes.run import Run, recipe
from lectures.recipes.thought_vector import LEARNING_RATE


class EvenScore(DotScore):
    """0 for every state, so softmax gives each the weight 1/n."""

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return keys.new_zeros(keys.shape[:-1])


def translator(**config: Any) -> Seq2Seq:
    model = Seq2Seq(**config)
    decoder: Any = model.decoder
    decoder.attention.score = EvenScore(config["d_hidden"])
    return model


@recipe(4)
def cook(run: Run) -> None:
    steps, count = run.size(3000, 3), run.size(20_000, 100)
    tests = numbers_to_test(run.size(200, 4))
    held = frozenset(n for numbers in tests.values() for n in numbers)
    source, target = number_tokenizers()
    config = sizes(run, source, target) | {"context": "attention", "bidirectional": True}
    training = training_facts(steps, count, SHORT, LEARNING_RATE, WARM_UP)
    model: Any = run.build("mean", partial(translator, **config))
    run.fit_as("mean", model, PairBatches(pairs_to_train_on(count, SHORT, held), BATCH, run.seed_of("order")), training)
    tokenizer = SourceAndTarget(source, target)
    line = {f"{low}-{high}": quality(model.eval(), tokenizer, tests[low, high]) for low, high in tests}
    run.save_result(
        "even_attention",
        {
            "question": "Does a decoder gain from reading all the encoder's states if every weight is 1/n?",
            "task": "numbers from English words into German words, greedy decoding; BLEU over German parts; one run",
            "training": training,
            "parameters": sum(p.numel() for p in model.parameters()),
            "line": line,
            "what_it_shows": ", ".join(f"{words} words {by['bleu']:.0f}" for words, by in line.items()),
        },
    )
