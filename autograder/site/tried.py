"""The models that run in the browser: their weights, counts and tokenizers as scripts.

`autograder/pages/models.js` computes with them, on three pages: the front page (`front.js`), "Try the models"
(`try.js`, `try.md`) and "Beat the model" (`beat.js`, `beat.md`). Weights are the files of `lectures/checkpoints`. Of
the n-gram models only counts are written: Kneser-Ney's probabilities follow from them by the lecture's own equation.
"""

import html
import json
import random
import re
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.site.kept import digest
from autograder.site.packed import handing, script

PAGE, GAME = "try.html", "beat.html"
"""The pages with text of their own; the models' scripts are in the folder `try`."""
NETWORKS = ("char_lstm", "char_gpt")
ORDERS, WORDS = 3, 5000
"""The n-gram models of the first lecture: orders 1 to 3 over its vocabulary."""
LETTERS = 4
"""The order of the n-gram model of the game, over characters."""
PASSAGES, GIVEN, GUESSED = 40, 160, 60
"""Of the game: how many passages of the test plays, and how many characters of each are given and guessed."""
PANELS = {
    ("01_language_models", "model typed"): f"{PAGE}#the-next-word",
    ("01_language_models", "passage typed"): GAME,
    ("02_tokens_and_vectors", "text own"): f"{PAGE}#tokens",
    ("10_training_a_generator", "place seed letter"): f"{PAGE}#the-next-character",
    ("15_transformer_language_model", "model read layer head"): f"{PAGE}#attention",
}
"""Where one can type for a widget of a lecture: (lecture, names of its controls) -> page and heading."""


def linked(body: str, lecture: str, root: str) -> str:
    """A lecture's page, on which each widget that a panel fits says so. `root` leads from it to the front page."""

    def link(found: re.Match[str]) -> str:
        names = " ".join(control["name"] for control in json.loads(html.unescape(found[1]))["controls"])
        panel = PANELS.get((lecture, names))
        return f'data-try="{root}{panel}" {found[0]}' if panel else found[0]

    return re.sub(r'data-told="([^"]*)"(?=><div class="nlm-controls")', link, body)


def scripts(root: Path) -> dict[str, str]:
    """Name -> script. Counting takes seconds, so the scripts are kept under a digest of what they are made of."""
    cache = root / "build" / "site"
    path = cache / f"try-{digest(Path(__file__), root)}.json"
    if not path.is_file():
        for old in cache.glob("try-*.json"):
            old.unlink()
        write_whole(path, json.dumps(exported(root)))
    made: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return made


def sized(text: str, made: Mapping[str, str]) -> str:
    """The page's text, in which each panel says how much it loads."""

    def size(found: re.Match[str]) -> str:
        return f'{found[0]} data-megabytes="{sum(len(made[name]) for name in found[1].split()) / 1e6:.1f}"'

    return re.sub('data-load="([^"]*)"', size, text)


def exported(root: Path) -> dict[str, str]:
    from lectures.trained import checkpoint

    folder = root / "lectures" / "checkpoints"
    characters = {name: checkpoint(name).tokenizer for name in NETWORKS}
    configs = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["config"] for name in NETWORKS}
    cards = {name: {"config": configs[name], "characters": characters[name].vocabulary} for name in NETWORKS}
    words, models = ngram_models()
    letters = trie(_models(characters["char_gpt"], LETTERS))
    return {
        "cards": script({**cards, "words": words.vocabulary, "bytes": byte_pairs(checkpoint("bpe_gpt").tokenizer)}),
        "ngrams": script(trie(models)),
        "letters": script({**letters, "passages": passages()}),
        **{name: handing((folder / f"{name}.safetensors").read_bytes(), "arrayBuffer") for name in NETWORKS},
    }


def byte_pairs(tokenizer: Any) -> dict[str, Any]:
    """The id of each byte, and each merge as two ids; the n-th merge makes the n-th id after those of the bytes."""
    ids = {token: i for i, token in enumerate(tokenizer.vocabulary)}
    return {
        "special": tokenizer.special,
        "bytes": [ids[bytes([b])] for b in range(256)],
        "merges": [[ids[left], ids[right]] for left, right in tokenizer.merges],
    }


def ngram_models() -> tuple[Any, list[Any]]:
    """The word tokenizer of the first lecture and its models, the unigram first."""
    from nlmcore.corpora import load
    from nlmcore.tokens import WordTokenizer

    tokenizer = WordTokenizer.fit(load("shakespeare").texts("train"), vocab_size=WORDS)
    return tokenizer, _models(tokenizer, ORDERS)


def _models(tokenizer: Any, highest: int) -> list[Any]:
    from nlmcore.corpora import load
    from nlmcore.ngram import NGramLM

    read = [[tokenizer.bos, *tokenizer.encode(text), tokenizer.eos] for text in load("shakespeare").texts("train")]
    return [NGramLM(n, tokenizer.vocab_size).fit(read) for n in range(1, highest + 1)]


def passages() -> list[tuple[str, str]]:
    """From speeches of the test plays: what is given, to the end of a word, and what is to be guessed."""
    from nlmcore.corpora import load

    rng, found, taken = random.Random(0), list[tuple[str, str]](), list[tuple[str, int]]()
    texts = load("shakespeare").texts("test")
    while len(found) < PASSAGES:
        text = rng.choice(texts)
        begin = text.find(" ", rng.randrange(len(text) - 2 * (GIVEN + GUESSED))) + 1
        if any(other is text and abs(at - begin) < 2 * (GIVEN + GUESSED) for other, at in taken):
            continue  # one passage would give another away
        middle = text.find(" ", begin + GIVEN) + 1
        given, guessed = text[begin:middle], text[middle : middle + GUESSED]
        if not re.search(r"\n\n|[A-Z]{3}|[\[\]\d]", given + guessed):  # one speech, and no direction
            found.append((given, guessed))
            taken.append((text, begin))
    return found


def trie(models: list[Any]) -> dict[str, Any]:
    """All n-grams, order by order: how many follow each context, their last words, and their counts.

    The highest order of a model has the counts of the text ("seen"), the others count the different words before an
    n-gram ("continuations"); "discounts" are the D of both. Words are differences inside a context, which are small.
    """
    import numpy as np

    from nlmcore.ngram.smoothing import leave_one_out_discount

    *_, largest = models
    levels, rule = largest.table.levels, largest.rule
    made = []
    for level, higher in zip_longest(levels, levels[1:]):
        first = np.zeros(len(level), dtype=bool)
        first[level.starts[:-1][np.diff(level.starts) > 0]] = True
        words = np.where(first, level.word, np.diff(level.word, prepend=0))
        counts = [rule.counts(level, above) for above in ([None, higher] if higher else [None])]
        told = {"sizes": np.diff(level.starts).tolist(), "words": words.tolist()}
        told["counts"] = [count.astype(int).tolist() for count in counts]
        made.append(told | {"discounts": [leave_one_out_discount(count) for count in counts]})
    return {"vocab_size": levels[0].vocab_size, "levels": made}
