"""Figures: an encoder-decoder whose decoder may see the word that it must predict, in two ways; five seeds each.

    shifted and masked    reads <bos> y_1 … y_m through a causal mask, predicts y_1 … y_m <eos>
    not shifted           reads y_1 … y_m <eos> through the mask: each position reads the very word that it must predict
    not masked            reads <bos> y_1 … y_m without a mask: each position sees the next one, which holds the word

Small Transformers on numbers of up to 6 words. The loss is that of the training; then each writes German word by word,
with the mask, since a word that is not yet written cannot be seen.
"""

from functools import partial
from statistics import fmean
from typing import Any

from nlmcore.attention import causal_mask, two_way
from nlmcore.training import next_token_loss
from torch import Tensor

from lectures.recipes.experiment import Experiment, Setting, Task
from lectures.recipes.initial_weights import glorot
from lectures.recipes.numbers import TEST_SEED, pairs_to_train_on, quality, tokenizers
from lectures.recipes.pairs import PairBatches, draw_many
from lectures.recipes.run import Run, recipe
from lectures.trained import SourceAndTarget

WAYS = {"shifted and masked": (True, True), "not shifted": (False, True), "not masked": (True, False)}
"""Name -> (the target is shifted, the mask is causal)."""
SIZES = {"d_model": 32, "n_heads": 4, "n_layers": 1, "max_length": 64, "positions": "sinusoidal", "scale_embeddings": True}  # fmt: skip
WORDS = 6
SETTING = Setting(600, 32, (5e-3,), 40, weights="{seed}", quick=(2, 32))


def loss_of(model: Any, batch: dict[str, Tensor], shifted: bool, masked: bool) -> Tensor:
    """Nats per word that is predicted; the batch is that of `PairBatches`."""
    tokens, real = batch["tokens"], batch["source_mask"]
    read = tokens[:, :-1] if shifted else tokens[:, 1:]
    z, h = model.decoder.embed(read), model.encoder(batch["source"], real)
    mask = causal_mask(read.shape[1]) if masked else None
    for layer in model.decoder.layers:
        z = z + two_way(layer.attention)(layer.residual_attention(z), mask=mask)
        z = z + layer.cross_attention(layer.residual_cross_attention(z), h, real[:, None, None])
        z = z + layer.feed_forward(layer.residual_feed_forward(z))
    return next_token_loss(model.output(model.decoder.final_norm(z)), tokens[:, 1:], batch["mask"][:, 1:])


@recipe(2)
def cook(run: Run) -> None:
    source, target = tokenizers()
    numbers = draw_many(TEST_SEED, run.size(200, 4), 3, WORDS)
    pairs = pairs_to_train_on(run.size(4000, 60), WORDS, frozenset(numbers))
    config = {**SIZES, "source_vocab_size": source.vocab_size, "target_vocab_size": target.vocab_size}
    build, rows = partial(glorot, "EncoderDecoder", config), dict[str, list[dict[str, float]]]()
    for way, (shifted, masked) in WAYS.items():
        loss = partial(loss_of, shifted=shifted, masked=masked)
        measure = partial(quality, tokenizer=SourceAndTarget(source, target), numbers=numbers)
        experiment = Experiment(run, Task(partial(PairBatches, pairs), loss, measure), SETTING)
        rows[way] = []
        for seed in range(run.size(SETTING.seeds, 2)):
            model, losses = experiment.trained(way, build, seed)
            rows[way].append({"loss": round(fmean(losses[-20:]), 4), **measure(model)})
    run.save_result(
        "leaks",
        {
            "question": "What does a decoder learn that may see the word that it must predict?",
            "how": f"{SETTING.words(f'numbers of up to {WORDS} English words')}, one value per seed; loss: nats per"
            " word over the last 20 steps; bleu and exact: greedy decoding with the causal mask, 200 numbers of 3 to"
            f" {WORDS} words",
            "rows": rows,
        },
    )
