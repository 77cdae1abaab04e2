"""Figure: along which path does a word reach the answer? Pairs of sentences that differ in one word, patched.

Each position and layer of the clean run is put into the corrupted one, one at a time (`nlmcore.inspect.restore_each`);
the share of o = log P(clean answer) − log P(other answer) that returns is a cell of the map. Vig et al. (2020), Meng et
al. (2022). One map is one pair of sentences. So for the long text the path is also measured with five other words
instead of "photos": the share that returns through the word's own position, and through the last one.
"""

from typing import Any

import torch
from lectures.recipes.run import Run, load_smollm2, recipe
from nlmcore.inspect import restore_each
from nlmcore.metrics import mean_interval
from torch import Tensor

LONG = (
    "When she tried to print her {}, she found that the printer was out of toner. She went to the stationery store to"
    " buy more toner. It was very overpriced. After installing the toner into the printer, she finally printed her"
)
PAIRS = {
    "capitals": ("The capital of France is", "The capital of Italy is", " Paris", " Rome"),
    "agreement": ("The keys to the cabinet", "The key to the cabinet", " are", " is"),
    "giver": (
        "When Mary and John went to the store, John gave a drink to",
        "When Mary and John went to the store, Mary gave a drink to",
        " Mary",
        " John",
    ),
    "tickets": (LONG.format("tickets"), LONG.format("photos"), " tickets", " photos"),
}
OTHERS = ("letters", "poems", "notes", "maps", "books")
KINDS = {"pathway": "layers.{}", "attention": "layers.{}.attention", "network": "layers.{}.feed_forward"}


def shares(model: Any, pair: tuple[Tensor, Tensor], answers: list[int], place: str, positions: list[int]) -> Tensor:
    """(position): how much of the log-odds one restored activation brings back."""

    def odds(logits: Tensor) -> Tensor:
        return logits[..., answers[0]] - logits[..., answers[1]]

    clean, corrupted = (odds(model.output(model.hidden_states(text[None])[0][0, -1])) for text in pair)
    return (odds(restore_each(model, *pair, place, positions)) - corrupted) / (clean - corrupted)


@torch.no_grad()
@recipe(3)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    count = len(model.layers)

    def read(*texts: str) -> Any:
        return [torch.tensor(tokenizer.encode(text)) for text in texts]

    found = {}
    for name, (clean, corrupted, *answers) in PAIRS.items():
        pair, ids = read(clean, corrupted), [tokenizer.encode(answer)[0] for answer in answers]
        first = int((pair[0] != pair[1]).nonzero()[0])
        positions = list(range(first, len(pair[0])))[: run.size(None, 2)]
        long = name == "tickets"
        layers = list(range(1 if long else 0, count, run.size(4 if long else 1, 15)))
        found[name] = {
            "clean": clean,
            "corrupted": corrupted,
            "answers": answers,
            "pieces": tokenizer.pieces(clean),
            "first": first,
            "layers": layers,
            "map": {
                kind: [
                    [round(x, 3) for x in shares(model, pair, ids, place.format(i), positions).tolist()] for i in layers
                ]
                for kind, place in KINDS.items()
                if kind == "pathway" or not long
            },
        }
        run.say(name)
    ways: dict[str, dict[str, Any]] = {"at the word": {}, "at the last token": {}}
    every = list(range(1, count, run.size(4, 15)))
    pieces = found["tickets"]["pieces"]
    words = [word for word in OTHERS if len(tokenizer.encode(LONG.format(word))) == len(pieces)][: run.size(None, 2)]
    at = [pieces.index(" tickets"), len(pieces) - 1]
    by_word = []
    for word in words:
        pair = read(LONG.format("tickets"), LONG.format(word))
        ids = [tokenizer.encode(f" {answer}")[0] for answer in ("tickets", word)]
        by_word.append(torch.stack([shares(model, pair, ids, f"layers.{i}", at) for i in every]))
    for way, each in zip(ways, torch.stack(by_word).unbind(-1), strict=True):
        ways[way] = {str(i): [round(x, 3) for x in mean_interval(each[:, j].tolist())] for j, i in enumerate(every)}
    run.save_result(
        "patched_texts",
        {
            "question": "Along which positions and layers does the word that differs reach the answer?",
            "how": "one activation of the clean run in the corrupted one; share of the log-odds of the two answers that it"
            " restores, by layer and position from the first difference on",
            "pairs": found,
            "words": words,
            "ways": ways,
            "what_it_shows": "; ".join(
                f"“tickets” against {len(words)} words, {way}: "
                + ", ".join(f"layer {i} {x[0]:.0%}" for i, x in by.items())
                for way, by in ways.items()
            ),
        },
    )
