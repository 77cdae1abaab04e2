"""Checkpoint and figure: word vectors of Shakespeare, and which analogies they know, beside those of two large models.

Skip-gram with a window of m = 2 words to either side, the same with m = 5, and CBOW are trained on the plays and poems
for 20 epochs; the first is kept. Questions of the form "man is to woman as king is to …" are put to all three, and to
the input vectors of MiniLM and SmolLM2, which were learned from billions of words for another purpose.

Mikolov et al. (2013a) ask thousands of such questions; these are few, and of words that Shakespeare uses too. Each
answer is compared with two that ought to be worse (Linzen 2016): the nearest neighbour of c, which ignores a and b, and
the formula without its rule that a, b and c cannot be the answer.
"""

import re
import time
from typing import Any

import torch
from nlmcore.corpora import load
from nlmcore.pretrained import minilm, smollm2
from nlmcore.tokens import WordTokenizer
from nlmcore.word2vec import CBOW, SkipGram, Word2Vec, WordVectors, analogy, build_vocabulary, nearest
from torch import Tensor
from torch.nn.functional import normalize

from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint

QUESTIONS: dict[str, list[str]] = {
    "man and woman": [
        "man woman king queen",
        "man woman lord lady",
        "father mother son daughter",
        "father mother brother sister",
        "he she his her",
        "he she him her",
        "husband wife father mother",
        "king queen prince princess",
    ],
    "verbs": [
        "walk walked swim swam",
        "go went come came",
        "see saw know knew",
        "take took give gave",
        "is are was were",
        "do did have had",
        "speak spoke make made",
    ],
    "other forms": [
        "i my he his",
        "my mine thy thine",
        "i am thou art",
        "good better bad worse",
        "great greater strong stronger",
        "man men woman women",
        "king kings lord lords",
        "eye eyes hand hands",
        "day days year years",
    ],
    "places": [
        "paris france london england",
        "paris france rome italy",
        "france french england english",
        "england english rome roman",
    ],
}


def ask(vectors: Tensor, ids: dict[str, int], names: dict[int, str]) -> dict[str, Any]:
    """Every question to one table. ids: word -> row; names: row -> word. A question with an unknown word: None."""
    unit = normalize(vectors, dim=1)
    found: dict[str, Any] = {"answers": {}, "by_kind": {}}
    totals = {"asked": 0, "right": 0, "nearest_to_c_right": 0, "without_the_rule_right": 0, "without_the_rule_c": 0}
    for kind, questions in QUESTIONS.items():
        right = asked = 0
        for question in questions:
            words = question.split()
            if any(word not in ids for word in words):
                found["answers"][question] = None
                continue
            a, b, c, d = (ids[word] for word in words)
            best = [names[i] for i, _ in analogy(vectors, a, b, c, 3)]
            free = int((unit @ (unit[c] - unit[a] + unit[b])).argmax())
            asked += 1
            right += best[0] == words[3]
            totals["nearest_to_c_right"] += nearest(vectors, c, 1)[0][0] == d
            totals["without_the_rule_right"] += free == d
            totals["without_the_rule_c"] += free == c
            found["answers"][question] = best
        found["by_kind"][kind] = [right, asked]
        totals["asked"] += asked
        totals["right"] += right
    return found | totals


def whole_words(pieces: list[str], vectors: Tensor) -> tuple[Tensor, dict[str, int], dict[int, str]]:
    """The rows of a tokenizer's vocabulary that are whole words of small letters: table, ids and names."""
    rows = [i for i, piece in enumerate(pieces) if piece.isascii() and piece.isalpha() and piece.islower()]
    words = [pieces[i] for i in rows]
    return vectors[torch.tensor(rows)], {w: i for i, w in enumerate(words)}, dict(enumerate(words))


EPOCHS, D_MODEL, MIN_COUNT = 20, 64, 10
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
KINDS: dict[str, tuple[type[Word2Vec], int]] = {
    "skip-gram, m = 2": (SkipGram, 2),
    "skip-gram, m = 5": (SkipGram, 5),
    "CBOW, m = 2": (CBOW, 2),
}
KEPT = "skip-gram, m = 2"


def paragraphs(limit: int | None = None) -> list[list[str]]:
    """The words of every speech, stage direction and stanza, in small letters: no window crosses their ends."""
    texts = [document.text.lower() for document in load("shakespeare").documents][: None if limit is None else 2]
    found = [_WORD.findall(part) for text in texts for part in text[:limit].split("\n\n")]
    return [words for words in found if len(words) > 1]


def train(run: Run, name: str, kind: type[Word2Vec], window: int, texts: list[list[str]], words: list[str]) -> Word2Vec:
    generator = torch.Generator().manual_seed(run.seed_of(name))
    model = kind(words, run.size(D_MODEL, 8), window=window, generator=generator)
    began = time.perf_counter()
    losses = model.train(texts, run.size(EPOCHS, 2), progress=run.progress, generator=generator)
    run.seconds[name] = time.perf_counter() - began
    run.say(f"{name}: loss per word {losses[0]:.3f} in the first reading, {losses[-1]:.3f} in the last")
    return model


def questions_to(vectors: Tensor, words: list[str]) -> dict[str, Any]:
    return ask(vectors, {w: i for i, w in enumerate(words)}, dict(enumerate(words)))


def sample(model: WordVectors, tokenizer: WordTokenizer) -> dict[str, float]:
    """How like are two words: cosines of three pairs, and questions answered right."""
    first = len(tokenizer.vocabulary) - len(model.vectors[7:])
    words = list(tokenizer.vocabulary)[first:]
    unit = normalize(model.vectors[first:], dim=1)
    cosines = {
        f"cosine of {a} and {b}": round(float(unit[words.index(a)] @ unit[words.index(b)]), 3)
        for a, b in (("king", "queen"), ("night", "day"), ("king", "night"))
        if a in words and b in words
    }
    return {**cosines, "analogies_right": float(questions_to(model.vectors[first:], words)["right"])}


def others() -> dict[str, dict[str, Any]]:
    """The same questions to the input vectors of two published models."""
    encoder, pieces = minilm()
    names = [pieces._tokenizer.id_to_token(i) or "" for i in range(pieces.vocab_size)]
    found = {"MiniLM, input vectors": ask(*whole_words(names, encoder.embedding.weight.detach()))}
    model, tokenizer = smollm2()
    spelled = [tokenizer.decode([i]) for i in range(model.vocab_size)]
    spelled = [piece[1:] if piece.startswith(" ") else "" for piece in spelled]  # words that begin with a space
    return found | {"SmolLM2, input vectors": ask(*whole_words(spelled, model.embedding.weight.detach()))}


@recipe(6, "checkpoint:word_vectors result:word_vectors", sample=sample)
def cook(run: Run) -> None:
    texts = paragraphs(run.size(None, 4000))
    words = build_vocabulary(texts, run.size(MIN_COUNT, 2))
    count = sum(map(len, texts))
    run.say(f"{count:,} words in {len(texts):,} paragraphs, a vocabulary of {len(words):,}")
    tables: dict[str, dict[str, Any]] = {}
    for name, (kind, window) in KINDS.items():
        trained = train(run, name, kind, window, texts, words)
        tables[name] = questions_to(trained.vectors, words)
        if name == KEPT:
            kept = trained.vectors
    tokenizer = WordTokenizer(words, lowercase=True)
    model = WordVectors(len(tokenizer.vocabulary), kept.shape[1])
    with torch.no_grad():
        model.embedding.weight.zero_()
        model.embedding.weight[-len(words) :] = kept
    config = {"vocab_size": len(tokenizer.vocabulary), "d_model": kept.shape[1]}
    training = {"epochs": run.size(EPOCHS, 2), "window": KINDS[KEPT][1], "negatives": 5, "subsample": 1e-3}
    facts = about(
        "word vectors by skip-gram with negative sampling; the first seven rows, of special tokens, are 0",
        {
            "source": load("shakespeare").source,
            "split": "none: all plays and poems are read",
            "words": count,
            "min_count": run.size(MIN_COUNT, 2),
        },
        training,
    )
    model, _, _ = save_checkpoint(run, "word_vectors", model, config, [tokenizer], facts, [KEPT])
    tables[KEPT] = questions_to(model.vectors[-len(words) :], words)
    add_figures(run, "word_vectors", {"analogies": [tables[KEPT]["right"], tables[KEPT]["asked"]]})
    if not run.quick:
        tables |= others()
    run.save_result(
        "word_vectors",
        {
            "question": "Analogies by word vectors of Shakespeare, and by the input vectors of two large models.",
            "words": count,
            "vocabulary": len(words),
            "training": training | {"d_model": kept.shape[1]},
            "tables": tables,
        },
    )
