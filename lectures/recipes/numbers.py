"""Checkpoints and figure: translation of numbers into German, with and without attention; quality against length.

The shape of Bahdanau, Cho & Bengio (2015), figure 2: a decoder that must carry the whole source in one vector gets
worse with every word; one that can look back does not. As there, each of the two is trained twice, on short sources
(up to 12 words) and on longer ones (up to 20), and all four are tested on sources of up to 29 words. The two of the
short sources are trained with five seeds.
"""

from functools import partial
from typing import Any

from nlmcore.metrics import corpus_bleu
from nlmcore.seq2seq import Seq2Seq
from nlmcore.tokens import WordTokenizer

from lectures.trained import SourceAndTarget

from lectures.recipes.pairs import Ids, PairBatches, draw_many, english, german, translate
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for

SHORT, LONG = 12, 20
TEST_SEED, TRAIN_SEED = 1, 2
BUCKETS = [(low, low + 2) for low in range(3, 28, 3)]
CONTEXTS = {"initial": "one vector", "attention": "attention"}
LEARNING_RATE, WARM_UP, BATCH, SEEDS = 2e-3, 100, 64, 5

Line = dict[str, dict[str, float]]
"""Quality by the length of the source: BLEU, and the share of numbers that are right in every word."""


def longest(source: int) -> int:
    """German has about as many parts as English has words; the limit is far above."""
    return 2 * source + 10


def test_numbers(count: int) -> dict[tuple[int, int], list[int]]:
    """`count` numbers for every range of lengths; never trained on."""
    return {(low, high): draw_many(TEST_SEED + low, count, low, high) for low, high in BUCKETS}


def tokenizers() -> tuple[WordTokenizer, WordTokenizer]:
    """Every word that numbers are made of."""
    numbers = [*range(1, 130), *(digit * 10**power for digit in (1, 2) for power in range(3, 15))]
    return WordTokenizer.fit(map(english, numbers)), WordTokenizer.fit(map(german, numbers))


def pairs_to_train_on(count: int, trained_to: int, held: frozenset[int]) -> list[tuple[Ids, Ids]]:
    """`count` numbers of up to `trained_to` English words, none of them in `held`."""
    source, target = tokenizers()
    numbers = draw_many(TRAIN_SEED, count, 1, trained_to, held)
    return [(source.encode(english(n)), target.encode(german(n))) for n in numbers]


def training_facts(steps: int, count: int, trained_to: int, learning_rate: float, warm_up: int) -> dict[str, Any]:
    """What a card says about a training on `pairs_to_train_on`."""
    numbers = f"{count:,} different ones of 1 to {trained_to} English words"
    return trained_for(steps, BATCH, learning_rate, warm_up, numbers=numbers)


def quality(model: Any, tokenizer: Any, numbers: list[int]) -> dict[str, float]:
    """BLEU, and the share of numbers whose translation is right in every word."""
    sources = [tokenizer.source.encode(english(n)) for n in numbers]
    hypotheses = [tokenizer.target.decode(ids) for ids in translate(model, sources, longest)]
    references = [german(n) for n in numbers]
    right = sum(h == r for h, r in zip(hypotheses, references, strict=True)) / len(numbers)
    return {"bleu": round(corpus_bleu(hypotheses, references), 2), "exact": round(right, 4)}


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Quality on 30 numbers of 9 to 11 words."""
    return quality(model, tokenizer, draw_many(TEST_SEED + 9, 30, 9, 11))


@recipe(
    15,
    "checkpoint:numbers_initial checkpoint:numbers_attention checkpoint:numbers_initial_20 checkpoint:numbers_attention_20 result:quality_by_length",
    sample=sample,
)
def cook(run: Run) -> None:
    tests = test_numbers(run.size(200, 4))
    held = frozenset(n for numbers in tests.values() for n in numbers)
    lines: dict[str, Line] = {}
    for trained_to in (SHORT, LONG):
        for context, title in CONTEXTS.items():
            name = f"numbers_{context}" if trained_to == SHORT else f"numbers_{context}_{trained_to}"
            model, config, training = train(run, name, context, trained_to, held)
            facts = about(f"numbers from English words into German words, by {title}", data_of(held), training)
            model, tokenizer, _ = save_checkpoint(run, name, model, config, list(tokenizers()), facts, [name])
            lines[f"{title}, trained on up to {trained_to} words"] = by_length(run, name, model, tokenizer, tests)
    seeds = seeds_of(run, lines, tests)
    per_bucket = len(next(iter(tests.values())))
    run.save_result(
        "quality_by_length",
        {
            "question": "Quality against source length, with and without attention (Bahdanau et al. 2015, figure 2).",
            "task": "numbers from English words into German words, greedy decoding; BLEU over German parts",
            "numbers_per_length": per_bucket,
            "lines": lines,
            "seeds_are": f"trained on up to {SHORT} words: one line for each of {SEEDS} trainings, the first that of the checkpoint",
            "seeds": seeds,
        },
    )


def sizes(run: Run, source: Any, target: Any) -> dict[str, Any]:
    """Of every recurrent translator of numbers."""
    return {
        "source_vocab_size": source.vocab_size,
        "target_vocab_size": target.vocab_size,
        "cell": "gru",
        "d_embedding": 48,
        "d_hidden": run.size(128, 8),
    }


def train(
    run: Run, name: str, context: str, trained_to: int, held: frozenset[int]
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """A translator with its configuration and the facts of its training; `held` is never trained on."""
    steps, count = run.size(2500, 3), run.size(20_000, 100)
    source, target = tokenizers()
    pairs = pairs_to_train_on(count, trained_to, held)
    config = sizes(run, source, target) | {"context": context, "score": "additive", "bidirectional": True}
    training = training_facts(steps, count, trained_to, LEARNING_RATE, WARM_UP)
    model: Any = run.build(name, partial(Seq2Seq, **config))
    run.fit_as(name, model, PairBatches(pairs, BATCH, run.seed_of(name)), training)
    return model, config, training


def seeds_of(run: Run, lines: dict[str, Line], tests: dict[tuple[int, int], list[int]]) -> dict[str, list[Line]]:
    """Quality of each kind trained on up to SHORT words, seed by seed; the first seed is that of the checkpoints."""
    held = frozenset(n for numbers in tests.values() for n in numbers)
    tokenizer = SourceAndTarget(*tokenizers())
    found: dict[str, list[Line]] = {}
    for context, title in CONTEXTS.items():
        found[title] = [lines[f"{title}, trained on up to {SHORT} words"]]
        for seed in range(1, run.size(SEEDS, 2)):
            model, _, _ = train(run, f"numbers_{context}-{seed}", context, SHORT, held)
            model.eval()
            found[title].append({f"{low}-{high}": quality(model, tokenizer, tests[low, high]) for low, high in tests})
            run.say(
                f"{title}, seed {seed}: " + ", ".join(f"{at} {q['bleu']:.0f}" for at, q in found[title][-1].items())
            )
    return found


def data_of(held: frozenset[int]) -> dict[str, str]:
    """What a card says about the data; `held`: the test numbers."""
    return {
        "source": "num2words (LGPL), numbers of up to 15 digits, drawn with many zeros or few",
        "split": f"test: {len(held)} numbers of 3 to 29 English words, none of them trained on",
    }


def by_length(run: Run, name: str, model: Any, tokenizer: Any, tests: dict[tuple[int, int], list[int]]) -> Line:
    """Quality at every length of source: kept in the card, and said."""
    line = {f"{low}-{high}": quality(model, tokenizer, tests[low, high]) for low, high in tests}
    add_figures(run, name, {"by_length": line})
    return line
