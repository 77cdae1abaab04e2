"""Figures: what does the one vector between encoder and decoder keep, and what does it lose? Numbers; letters to sounds.

1. **First or last word?** The encoder's last state c of 400 numbers. How often does a number begin (end) with the same
   word as its nearest neighbour? A recurrent state resembles most what was read last, trained or not. So the encoders
   that read from left to right are the control: of them an untrained one sees the *first* word farthest back.
   The one that is trained from left to right here is trained three times as long as those of `thought_vector`, so
   that its quality against length says what more training does for one vector.

2. **Length.** Percentage of wrong phonemes by the length of the word, of the two stored pronouncers, with one vector and
   with attention, on the same third of the test words.
"""

from functools import partial
from typing import Any

import torch
from lectures.trained import SourceAndTarget, checkpoint
from nlmcore.metrics import edit_distance
from nlmcore.seq2seq import Seq2Seq
from torch import Tensor

from lectures.recipes.numbers import BATCH, SHORT, WARM_UP, pairs_to_train_on, quality, sizes, training_facts
from lectures.recipes.numbers import test_numbers as numbers_to_test
from lectures.recipes.numbers import tokenizers as number_tokenizers
from lectures.recipes.pairs import PairBatches, as_source, draw_many, english, load_dictionary, translate
from lectures.recipes.pronunciation import longest
from lectures.recipes.run import Run, recipe
from lectures.recipes.thought_vector import LEARNING_RATE

REVERSED = "numbers_thought_vector"
PRONOUNCERS = {"one vector": "pronunciation_initial", "attention": "pronunciation_attention"}
LETTERS = {"2-4": (2, 4), "5-6": (5, 6), "7-8": (7, 8), "9-10": (9, 10), "11 and more": (11, 99)}
UNTRAINED = 5


@torch.no_grad()
def vectors_of(model: Any, tokenizer: Any, numbers: list[int]) -> Tensor:
    """c of each number, (number, d): each alone, so that there is no padding."""
    sources = [torch.tensor([as_source(tokenizer.source.encode(english(n)))]) for n in numbers]
    return torch.cat([model.encode(source).recurrent[:, 0] for source in sources])


def shared_with_nearest(vectors: Tensor, numbers: list[int]) -> dict[str, float]:
    """How often a number begins, and ends, with the same word as the number whose vector is nearest."""
    words = [english(n).split() for n in numbers]
    nearest = torch.cdist(vectors, vectors).fill_diagonal_(float("inf")).argmin(1).tolist()
    pairs = [(words[i], words[j]) for i, j in enumerate(nearest)]
    return {
        name: round(sum(a[at] == b[at] for a, b in pairs) / len(pairs), 4)
        for name, at in {"first": 0, "last": -1}.items()
    }


def errors_by_length(run: Run) -> tuple[dict[str, dict[str, float]], dict[str, int]]:
    """Fraction of wrong phonemes by the number of letters, for each pronouncer, and how many words those are."""
    words = load_dictionary(limit=run.size(None, 90)).test
    chosen = sorted(words)[::3]
    wrong: dict[str, dict[str, float]] = {}
    count: dict[str, int] = {}
    for title, name in PRONOUNCERS.items():
        model, tokenizer, _ = checkpoint(name)
        sources = [tokenizer.source.encode(word) for word in chosen]
        written = dict(zip(chosen, translate(model, sources, longest), strict=True))
        wrong[title] = {}
        for bucket, (low, high) in LETTERS.items():
            here = [w for w in chosen if low <= len(w.replace("'", "")) <= high]
            edits = [
                min(
                    (edit_distance(tokenizer.target.decode(written[w]).split(), p.split()), len(p.split()))
                    for p in words[w]
                )
                for w in here
            ]
            wrong[title][bucket] = round(sum(e for e, _ in edits) / max(1, sum(n for _, n in edits)), 4)
            count[bucket] = len(here)
    return wrong, count


@recipe(6, "result:first_word result:sounds_by_length")
def cook(run: Run) -> None:
    wrong, count_of_words = errors_by_length(run)
    run.save_result(
        "sounds_by_length",
        {
            "question": "Do longer words cost more errors with one vector, and with attention?",
            "task": "letters to phonemes; every third test word, the same for both; one trained model of each kind",
            "wrong_is": "fraction of wrong phonemes by the number of letters of the word, against the nearest pronunciation",
            "wrong": wrong,
            "words": count_of_words,
            "what_it_shows": "; ".join(
                f"{title}: " + ", ".join(f"{at} letters {100 * share:.1f}%" for at, share in wrong[title].items())
                for title in PRONOUNCERS
            ),
        },
    )
    steps, count = run.size(9000, 3), run.size(20_000, 100)
    tests = numbers_to_test(run.size(200, 4))
    held = frozenset(n for numbers in tests.values() for n in numbers)
    source, target = number_tokenizers()
    tokenizer = SourceAndTarget(source, target)
    config = sizes(run, source, target) | {"context": "initial"}
    numbers = draw_many(7, run.size(400, 20), 3, SHORT)
    kinds: dict[str, list[dict[str, float]]] = {}
    for way, reverse in {"left to right": False, "right to left": True}.items():
        untrained = [
            run.build(f"untrained {way} {seed}", partial(Seq2Seq, **config, reverse_source=reverse)).eval()
            for seed in range(run.size(UNTRAINED, 1))
        ]
        kinds[f"untrained, {way}"] = [
            shared_with_nearest(vectors_of(m, tokenizer, numbers), numbers) for m in untrained
        ]
    reader, its_words, _ = checkpoint(REVERSED)
    kinds["trained, right to left"] = [shared_with_nearest(vectors_of(reader, its_words, numbers), numbers)]
    training = training_facts(steps, count, SHORT, LEARNING_RATE, WARM_UP)
    model: Any = run.build("left to right", partial(Seq2Seq, **config))
    run.fit_as(
        "left to right",
        model,
        PairBatches(pairs_to_train_on(count, SHORT, held), BATCH, run.seed_of("order")),
        training,
    )
    model.eval()
    kinds["trained, left to right"] = [shared_with_nearest(vectors_of(model, tokenizer, numbers), numbers)]
    by_length = {f"{low}-{high}": quality(model, tokenizer, tests[low, high]) for low, high in tests}
    run.save_result(
        "first_word",
        {
            "question": "Does the vector of a source keep what was read last, or what has to be written first?",
            "task": f"{len(numbers)} numbers of 3 to {SHORT} English words, the last state of a GRU, 128 wide, in an"
            " encoder-decoder without attention; nearest by Euclidean distance",
            "training": training,
            "training_is": f"that of the encoder that reads from left to right; the other is {REVERSED}",
            "shared_is": "how often a number and its nearest neighbour have the same first, or last, word; one entry per model",
            "shared": kinds,
            "quality_of_left_to_right": by_length,
            "what_it_shows": "; ".join(
                f"{kind}: first word {sum(r['first'] for r in rows) / len(rows):.0%}, last word"
                f" {sum(r['last'] for r in rows) / len(rows):.0%}"
                for kind, rows in kinds.items()
            ),
        },
    )
