"""Figure: which words are the names of persons? Labelling, where the words around a word must say what it is.

    read      is    <unk>  gone   to    <unk>
    label     0     1      0      0     0

A word of a speech is labelled 1 if the play gives it to one of its speakers and prints it with a capital in the middle
of lines more often than not; these labels are automatic, and some of them wrong. All words are read in lower case, and a
word that occurs in fewer than `PLAYS` training plays is read as <unk>. So most names are <unk>, and so are many words
that are no names. Recurrent networks that find names in sentences: Huang, Xu & Yu (2015), with a CRF and spelling.

Floors without any context: each word's commonest label, and every <unk> as a name. The control reads the words of each
test speech in a random order. Rates are chosen on the plays of the corpus's valid part.
"""

import random
import re
from collections import Counter
from functools import partial

from nlmcore.corpora import load
from nlmcore.recurrent import SequenceTagger
from nlmcore.tokens import WordTokenizer
from torch import nn

from lectures.recipes.experiment import Experiment, Setting, Task, gap, said
from lectures.recipes.restore import NAMES, TaggedBatches, f1, ids, tag, tagging_loss
from lectures.recipes.restore_marks import MARKS, Piece, core, pieces
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import Capitals, speakers, speeches

PLAYS, WIDTH = 5, 64
SETTING = Setting(
    1500, 64, (3e-3, 1e-2, 3e-2), name="{row}-{seed}-{rate:g}", choose=("dev", max), quick=(2, 8)
)  # fmt: skip


def names_of(play: str, capitals: Capitals) -> set[str]:
    """Words of the speakers' names that are no common words, in this play or in the others."""
    here = Capitals([play])
    words = {word.lower() for speaker in speakers(play) for word in re.findall(r"[A-Za-z']+", speaker)}
    return {word for word in words if here.own(word) and not capitals.small(word)}


def labelled(play: str, capitals: Capitals) -> list[Piece]:
    """The speeches of a play; the tag of a word is 1 for a name."""
    names = names_of(play, capitals)
    return [
        Piece(piece.words, [int(core(word) in names and tag >= len(MARKS)) for word, tag in zip(*piece, strict=True)])
        for piece in pieces(speeches(play, capitals))
    ]


def read_plays(limit: int | None = None) -> dict[str, list[list[Piece]]]:
    """Part -> its plays; or two plays of each part and the beginning of each."""
    corpus = load("shakespeare")
    works = None if limit is None else 2
    parts = {part: [d.text[:limit] for d in corpus.splits[part] if d.label != "poem"][:works] for part in corpus.splits}
    capitals = Capitals(parts["train"])
    return {part: [labelled(play, capitals) for play in plays] for part, plays in parts.items()}


def fit_tokenizer(plays: list[list[Piece]], least: int) -> WordTokenizer:
    """The words of at least so many plays, most frequent first."""
    counts, places = Counter[str](), Counter[str]()
    for play in plays:
        words = [core(word) for piece in play for word in piece.words]
        counts.update(words)
        places.update(set(words))
    kept = [word for word in counts if word and places[word] >= least]
    return WordTokenizer(sorted(kept, key=lambda word: (-counts[word], word)))


def scores(said_to_be: list[list[int]], test: list[Piece], known: set[str]) -> dict[str, float]:
    """F1 of the names, and what share of those names is found that are read as <unk>, in percent."""
    pairs = [
        (said, is_name, core(word) in known)
        for tags, piece in zip(said_to_be, test, strict=True)
        for said, is_name, word in zip(tags, piece.tags, piece.words, strict=True)
    ]
    right = sum(said and is_name for said, is_name, _ in pairs)
    new = [said for said, is_name, seen in pairs if is_name and not seen]
    return {
        "f1": f1(right, sum(said for said, _, _ in pairs), sum(is_name for _, is_name, _ in pairs)),
        "new_found": round(100 * sum(new) / max(len(new), 1), 1),
    }


def commonest(train: list[Piece], known: set[str]) -> dict[str, int]:
    """Each known word's commonest label."""
    counts: dict[str, Counter[int]] = {}
    for word, label in zip((core(w) for p in train for w in p.words), (t for p in train for t in p.tags), strict=True):
        if word in known:
            counts.setdefault(word, Counter())[label] += 1
    return {word: count.most_common(1)[0][0] for word, count in counts.items()}


def shuffled(texts: list[list[str]], seed: int) -> tuple[list[list[str]], list[list[int]]]:
    """The words of each text in a random order, and where each came from."""
    chance = random.Random(seed)
    orders = [chance.sample(range(len(words)), len(words)) for words in texts]
    return [[words[i] for i in order] for words, order in zip(texts, orders, strict=True)], orders


@recipe(20)
def cook(run: Run) -> None:
    plays = read_plays(limit=run.size(None, 20_000))
    tokenizer = fit_tokenizer(plays["train"], run.size(PLAYS, 2))
    known = set(tokenizer.vocabulary)
    train, dev, test = ([piece for play in plays[part] for piece in play] for part in ("train", "valid", "test"))
    texts = [piece.words for piece in test]
    mixed, orders = shuffled(texts, run.seed_of("orders") % 2**31)
    found = [(ids(tokenizer, piece.words), piece.tags) for piece in train]

    def measure(model: nn.Module) -> dict[str, float]:
        said_to_be = tag(model, tokenizer, mixed)
        back = [
            [tags[order.index(i)] for i in range(len(tags))] for tags, order in zip(said_to_be, orders, strict=True)
        ]
        return {
            "dev": scores(tag(model, tokenizer, [piece.words for piece in dev]), dev, known)["f1"],
            **scores(tag(model, tokenizer, texts), test, known),
            "f1_shuffled": scores(back, test, known)["f1"],
        }

    words = commonest(train, known)
    floors = {
        "each word's commonest label": scores([[words.get(core(w), 0) for w in text] for text in texts], test, known),
        "every <unk> as well": scores(
            [[1 if core(w) not in known else words.get(core(w), 0) for w in text] for text in texts], test, known
        ),
    }
    width = run.size(WIDTH, 8)
    rows = {
        title: partial(
            SequenceTagger, tokenizer.vocab_size, 2, "gru", 48, width if both else 2 * width, bidirectional=both
        )
        for both, title in NAMES.items()
    }
    task = Task(lambda size, seed: TaggedBatches(found, size, seed), tagging_loss, measure)
    experiment = Experiment(run, task, SETTING)
    trained = {row: experiment.at_best_rate(row, build) for row, build in rows.items()}
    before, both = trained.values()
    gain, half = gap(both["f1"], before["f1"])
    names = [core(word) for piece in test for word, label in zip(*piece, strict=True) if label]
    run.save_result(
        "persons",
        {
            "question": "Which words are names of persons, if most names are <unk>?",
            "task": f"{sum(map(len, texts)):,} words of the test plays, {len(names)} of them names, of which"
            f" {sum(name not in known for name in names)} are <unk>; labels from the speakers of each play;"
            f" {SETTING.words('speeches or parts of them')}; F1 in percent, one value per seed",
            "names": len(names),
            "new_names": sum(name not in known for name in names),
            "unknown": sum(core(word) not in known for text in texts for word in text),
            "floors": floors,
            "rows": trained,
            "both_ways_more": {"mean": round(gain, 2), "half": round(half, 2)},
            "what_it_shows": said(trained, "{row}: F1 {f1!m:.1f}, words shuffled {f1_shuffled!m:.1f}")
            + f"; both ways, the same seeds: {gain:+.1f} ± {half:.1f}; no context: "
            + ", ".join(f"{row} {of['f1']}" for row, of in floors.items()),
        },
    )
