"""Checkpoint: comedy or tragedy? A classifier that reads a passage word by word, and what order has to do with it.

    P(tragedy | w_1 … w_t) = softmax(V s_t + b),   s_t = h_t (last state)   or   1/t Σ_{k≤t} h_k (mean)

The answer is asked for after every word, and so is the loss, with a weight that grows linearly from 0 to the
passage's end (the "linear gain" of Dai & Le 2015, section 2). Beside it stand the larger class, and naive Bayes on the
same words with add-one smoothing, which knows no order (Jurafsky & Martin 2024, chapter 4).

In training a word is read as <unk> with probability 0.3, so that no few words decide.

A play's people would give it away, so speakers and directions are taken out, and only words that occur in at least
`PLAYS` plays of the training set are read; every other word is <unk>. The held-out comedies are As You Like It and
Twelfth Night, the tragedies Julius Caesar and Macbeth: four plays, so a figure can be off by what is peculiar to them.
"""

import random
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from nlmcore.corpora import load, pad
from lectures.trained import build
from nlmcore.recurrent import mean_output
from nlmcore.tokens import WordTokenizer
from torch import Tensor, nn
from torch.nn import functional as F

from lectures.recipes.restore_marks import core, take_off
from lectures.recipes.run import Run, about, add_figures, recipe, save_checkpoint, trained_for
from lectures.recipes.texts import Capitals, speeches

LEARNING_RATE, BATCH, PASSES, HIDDEN_WORDS = 2e-3, 32, 15, 0.3
PLAYS, COUNT, LONGEST = 8, 12, 160
"""A word is kept if it occurs so often in so many plays; passages are of at most LONGEST words."""
LENGTHS = (5, 10, 20, 40, 80, 160)
CLASSES = ("comedy", "tragedy")
UNK = 3
POOLS = {"recurrent, last state": "last", "recurrent, mean of its states": "mean"}
KEPT = "recurrent, mean of its states"
"""Chosen on the two plays of the corpus's valid part, where it was ahead."""


def read_works(limit: int | None = None) -> dict[str, list[tuple[str, str, list[str]]]]:
    """(title, genre, all words spoken) of every comedy and tragedy, to train on and held out; `limit` words of each."""
    corpus = load("shakespeare")
    capitals = Capitals([])  # case is lost anyway
    found: dict[str, list[tuple[str, str, list[str]]]] = {"train": [], "held out": []}
    for part in ("train", "valid", "test"):
        for play in (document for document in corpus.splits[part] if document.label in CLASSES):
            words = [core(word) for speech in speeches(play.text, capitals) for word in take_off(speech).words]
            found["train" if part == "train" else "held out"].append((play.title, str(play.label), words[:limit]))
    return found


def fit_tokenizer(works: list[tuple[str, str, list[str]]], plays: int = PLAYS, count: int = COUNT) -> WordTokenizer:
    """The words that occur at least `count` times and in at least `plays` plays, most frequent first."""
    times, places = Counter[str](), Counter[str]()
    for _, _, words in works:
        times.update(words)
        places.update(set(words))
    kept = [word for word in times if word and times[word] >= count and places[word] >= plays]
    return WordTokenizer(sorted(kept, key=lambda word: (-times[word], word)))


def passages(words: list[int], longest: int = LONGEST) -> list[list[int]]:
    """The play in passages of `longest` words; what is left over at the end is dropped."""
    return [words[i : i + longest] for i in range(0, len(words) - longest + 1, longest)]


class PassageBatches:
    """Called with an epoch: every play is cut anew from another place, comedies and tragedies as often as they are."""

    def __init__(self, works: list[tuple[list[int], int]], batch: int, longest: int, seed: int) -> None:
        self.works, self.batch, self.longest, self.seed = works, batch, longest, seed

    def __call__(self, epoch: int) -> Iterator[dict[str, Tensor]]:
        chance = random.Random(f"{self.seed}/{epoch}")
        found = []
        for words, label in self.works:
            found += [(passage, label) for passage in passages(words[chance.randrange(self.longest) :], self.longest)]
        chance.shuffle(found)
        for start in range(0, len(found), self.batch):
            here = found[start : start + self.batch]
            tokens, _ = pad([passage for passage, _ in here])
            yield {"tokens": tokens, "label": torch.tensor([label for _, label in here])}


def running_logits(model: Any, tokens: Tensor) -> Tensor:
    """Logits (batch, time, classes) after every word: the classifier's output at every state, not only the last."""
    embedded = F.dropout(model.embedding(tokens), model.dropout, model.training)
    hidden, _ = model.recurrent(embedded)
    if model.pool is mean_output:
        hidden = hidden.cumsum(1) / torch.arange(1, hidden.shape[1] + 1).unsqueeze(-1)
    return model.output(F.dropout(hidden, model.dropout, model.training))


def linear_gain_loss(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Σ_t t · L_t / Σ_t t, averaged over passages, which all have one length; some words are hidden."""
    hide = torch.rand(batch["tokens"].shape) < HIDDEN_WORDS
    logits = running_logits(model, batch["tokens"].masked_fill(hide, UNK))
    time = logits.shape[1]
    targets = batch["label"].unsqueeze(1).expand(-1, time)
    each = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    gain = torch.arange(1, time + 1) / (time * (time + 1) / 2)
    return (each * gain).sum(1).mean()


class NaiveBayes(nn.Module):
    """ln P(class) + Σ_t ln P(w_t | class), word counts with one added to each; <unk> is left out."""

    def __init__(self, works: list[tuple[list[int], int]], vocab_size: int, unk: int) -> None:
        super().__init__()
        counts = torch.ones(2, vocab_size)
        for words, label in works:
            counts[label] += torch.bincount(torch.tensor(words), minlength=vocab_size)
        table = (counts / counts.sum(1, keepdim=True)).log()
        table[:, unk] = 0.0
        self.table = table.T  # (vocab, class)
        sizes = torch.tensor([float(sum(len(w) for w, label in works if label == k)) for k in (0, 1)])
        self.prior = (sizes / sizes.sum()).log()

    def forward(self, tokens: Tensor) -> Tensor:
        return self.prior + self.table[tokens].cumsum(1)


@torch.no_grad()
def accuracy(answer: Any, works: list[tuple[list[int], int]]) -> dict[str, float]:
    """Share of held-out passages whose class is right after the first 5, 10, … words, in percent; both classes alike.

    answer: tokens (batch, time) -> logits after every word.
    """
    right = {label: torch.zeros(LONGEST) for label in (0, 1)}
    count = {0: 0, 1: 0}
    for words, label in works:
        tokens = torch.tensor(passages(words))
        right[label] += (answer(tokens).argmax(-1) == label).float().sum(0)
        count[label] += len(tokens)
    mean = (right[0] / max(count[0], 1) + right[1] / max(count[1], 1)) / 2
    return {str(n): round(100 * float(mean[n - 1]), 1) for n in LENGTHS}


def shuffled(works: list[tuple[list[int], int]], seed: int = 0) -> list[tuple[list[int], int]]:
    """The same passages, the words of each in another order."""
    chance = random.Random(seed)
    found = []
    for words, label in works:
        mixed: list[int] = []
        for passage in passages(words):
            chance.shuffle(passage)
            mixed += passage
        found.append((mixed, label))
    return found


def as_ids(tokenizer: WordTokenizer, works: list[tuple[str, str, list[str]]]) -> list[tuple[list[int], int]]:
    return [([tokenizer.id(word) for word in words], CLASSES.index(genre)) for _, genre, words in works]


def sample(model: Any, tokenizer: WordTokenizer) -> dict[str, float]:
    """Accuracy on the first 3,200 words of each held-out play."""
    works = as_ids(tokenizer, read_works(limit=20 * LONGEST)["held out"])
    return accuracy(partial(running_logits, model), works)


@recipe(3, "checkpoint:genre result:genre", sample=sample)
def cook(run: Run) -> None:
    corpus = load("shakespeare")
    data = read_works(limit=run.size(None, 400))
    tokenizer = fit_tokenizer(data["train"], run.size(PLAYS, 1), run.size(COUNT, 3))
    train, held_out = as_ids(tokenizer, data["train"]), as_ids(tokenizer, data["held out"])
    passes = run.size(PASSES, 1)
    steps = max(passes * (sum(len(passages(words)) for words, _ in train) // BATCH), 2)
    training = trained_for(
        steps,
        BATCH,
        LEARNING_RATE,
        20,
        passes=passes,
        words_in_a_passage=LONGEST,
        share_of_words_hidden=HIDDEN_WORDS,
        weight_decay=0.1,
        loss="cross-entropy after every word, its weight growing linearly to the passage's end",
    )
    rows = {"naive Bayes, a bag of words": accuracy(NaiveBayes(train, tokenizer.vocab_size, UNK), held_out)}
    for name, pool in POOLS.items():
        model, config = train_one(run, pool, tokenizer.vocab_size, train, training)
        rows[name] = accuracy(partial(running_logits, model), held_out)
        if name == KEPT:
            kept, its_config = model, config
    facts = about(
        "comedy or tragedy, after every word of a passage",
        corpus,
        training,
        split=f"comedies and tragedies; held out are those of valid and test: {corpus.split_rule}",
    )
    model, tokenizer, _ = save_checkpoint(run, "genre", kept, its_config, [tokenizer], facts, [POOLS[KEPT]])
    rows[KEPT] = accuracy(partial(running_logits, model), held_out)
    rows[f"{KEPT}, words shuffled"] = accuracy(partial(running_logits, model), shuffled(held_out))
    plays = {
        f"{title} ({genre})": accuracy_of_one(model, words)
        for (title, genre, _), words in zip(data["held out"], held_out, strict=True)
    }
    add_figures(run, "genre", {"right_after_words": rows, "right_after_160_words_by_play": plays})
    run.save_result(
        "genre",
        {
            "question": "Comedy or tragedy? What a recurrent network knows after so many words, and a bag of words.",
            "task": f"held-out passages of {LONGEST} words of four plays, comedies and tragedies weighted alike, so"
            " the larger class alone gives 50 %; percent right after the first words",
            "training": training,
            "vocabulary": f"{tokenizer.vocab_size} ids; a word occurs at least {COUNT} times and in {PLAYS} plays",
            "rows": rows,
            "right_after_160_words_by_play": plays,
            "what_it_shows": shown(rows),
            "split": corpus.split_rule,
        },
    )


def train_one(run: Run, pool: str, vocab_size: int, train: list, training: dict[str, Any]) -> tuple[Any, dict]:
    """One classifier, and its configuration."""
    config: dict[str, Any] = {
        "vocab_size": vocab_size,
        "n_classes": 2,
        "cell": "gru",
        "d_embedding": 24,
        "d_hidden": run.size(32, 8),
        "dropout": 0.5,
        "pool": pool,
    }
    model = run.build(pool, lambda: build("SequenceClassifier", config))
    batches, decay = PassageBatches(train, BATCH, LONGEST, run.seed_of("order")), training["weight_decay"]
    run.fit_as(pool, model, batches, training, loss=linear_gain_loss, weight_decay=decay)
    return model.eval(), config


def accuracy_of_one(model: Any, work: tuple[list[int], int]) -> float:
    """Percent of one play's passages that are right after their last word."""
    words, label = work
    with torch.no_grad():
        right = running_logits(model, torch.tensor(passages(words)))[:, -1].argmax(-1) == label
    return round(100 * float(right.float().mean()), 1)


def shown(rows: dict[str, dict[str, float]]) -> str:
    """Who is ahead at the end, and what order brings."""
    end = str(LONGEST)
    bayes, kept, mixed = (rows[name][end] for name in ("naive Bayes, a bag of words", KEPT, f"{KEPT}, words shuffled"))
    return (
        f"after {end} words: recurrent {kept} %, with the words shuffled {mixed} %, naive Bayes {bayes} %; the"
        f" network that can read order is {'ahead of' if kept > bayes else 'behind'} the one that cannot by"
        f" {abs(kept - bayes):.1f} points"
    )
