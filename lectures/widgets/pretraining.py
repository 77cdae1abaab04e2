"""Widgets: three pretraining objectives on one sentence, a hidden letter, what transfer brings, one word in many sentences."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from lectures.show import (
    Canvas, Live, bar_list_svg, beside, choice, choose_or_type, field, from_to, heatmap_svg, live, menu, said, slider, stops,
)  # fmt: skip
from lectures.show.svg import BLUE, DARK_GREEN, DARK_ORANGE, GREY, MASKED, ORANGE, label_width, number
from lectures.widgets.attention import Tokenizer
from nlmcore.attention import causal_mask, prefix_mask
from nlmcore.metrics import mean_interval
from nlmcore.objectives import causal, corrupt_spans, masked, prefix

__all__ = [
    "Objective",
    "adapter_playground",
    "family_playground",
    "fillers",
    "hidden_letter_playground",
    "objective_of",
    "senses_explorer",
    "transfer_explorer",
]

# --- the three families --------------------------------------------------------------------------

FAMILIES = {
    "causal": "causal: GPT, Llama",
    "prefix": "prefix",
    "masked": "masked: BERT",
    "spans": "spans: T5",
}
SENTINELS = ("<X>", "<Y>", "<Z>", "<W>")
OTHERS = ("blue", "seven", "under", "paper")  # what a random replacement may also be
_MOST = 12


class Objective(NamedTuple):
    """What a model reads, what it predicts, and what it may see, on one sentence."""

    reads: list[str]
    predicts: list[str]
    counts: list[bool]
    """Which positions carry loss."""
    mask: np.ndarray
    """(query, key), True = may attend: of the positions that are read."""
    source: Sequence[str] = ()
    """Of an encoder, all of which every position sees."""


def objective_of(family: str, words: Sequence[str], seed: int, share: float = 0.15) -> Objective:
    """The objective of `nlmcore.objectives` on words; at least one word is guessed, by another seed if need be.

    Raises ValueError for fewer than two words.
    """
    if len(words) < 2:
        raise ValueError("type two words or more: one to read and one to predict")
    generator = torch.Generator().manual_seed(seed)
    known = [*dict.fromkeys([*words, *OTHERS])]
    tokens = torch.tensor([[known.index(word) for word in words]])
    if family == "masked":
        vocabulary = [*known, "[MASK]"]
        while True:
            found = masked(tokens, len(known), len(vocabulary), share=share, generator=generator)
            if found.mask.any():
                break
        counts = found.mask[0].tolist()
        everything = np.ones((len(words), len(words)), dtype=bool)
        return Objective([vocabulary[i] for i in found.tokens[0]], list(words), counts, everything)
    if family == "spans":
        vocabulary = ["<pad>", "<bos>", "<eos>", *SENTINELS, *known]
        ids = range(3, 3 + len(SENTINELS))
        spans = corrupt_spans(tokens + 3 + len(SENTINELS), ids, share=share, mean_span=2.0, generator=generator)
        source, target = ([vocabulary[i] for i in row[0]] for row in (spans.source, spans.tokens))
        n = len(target) - 1
        return Objective(target[:-1], target[1:], [True] * n, causal_mask(n).numpy(), source)
    known_prefix = torch.tensor([max(1, len(words) // 2)])
    example = causal(tokens) if family == "causal" else prefix(tokens, known_prefix)
    n = example.tokens.shape[1]
    mask = causal_mask(n) if family == "causal" else prefix_mask(known_prefix, n + 1)[0, :-1, :-1]
    return Objective(
        [known[i] for i in example.tokens[0]],
        [known[i] for i in example.targets[0]],
        example.mask[0].tolist(),
        mask.numpy(),
    )


def family_playground(sentences: Sequence[str]) -> Live:
    """One sentence under four objectives: what is read, what is predicted, where the loss is, and who sees whom."""

    def draw(sentence: str, typed: str, family: str, share: float, seed: int, position: int) -> str:
        found = objective_of(family, (typed or sentence).split()[:_MOST], seed, share)
        at = min(position, len(found.reads)) - 1
        sampled = f" Share {100 * share:.0f} %, sample {seed}." if family in ("masked", "spans") else ""
        return beside(*_pictures(found, family, at)) + said(_told(found, family, at) + sampled)

    chosen, typed = menu(sentences, "sentence"), field()
    choose_or_type(chosen, typed)
    return live(
        draw,
        rows=[["family"], ["sentence", "typed"], ["position", "share", "seed"]],
        sentence=chosen,
        typed=typed,
        family=choice([(name, key) for key, name in FAMILIES.items()], "family", "masked"),
        share=slider(0.15, 0.05, 0.6, 0.05, "guessed share", "300px"),
        seed=slider(1, 1, 20, 1, "sample again", "300px"),
        position=slider(4, 1, _MOST, 1, "position", "300px"),
    )


def _pictures(found: Objective, family: str, at: int) -> list[str]:
    sees = np.where(found.mask, 0.45, np.nan)
    names = [f"{word} " for word in found.reads]
    spoken = "; ".join(
        f"{word} sees {int(row.sum())} of {len(row)}" for word, row in zip(found.reads, found.mask, strict=True)
    )
    title = "the decoder's self-attention" if found.source else "who sees whom"
    table = heatmap_svg(
        sees, names, names, alt=f"Mask, {title}: {spoken}.", cell=24, title=title, numbers=False, highlight=at,
        note="blue: may attend; grey: may not",
    )  # fmt: skip
    return [objective_svg(found, at, title=FAMILIES[family]), table]


def objective_svg(found: Objective, at: int, *, title: str = "") -> str:
    """The words that are read and predicted, one above the other; those that carry loss are orange, position `at` framed."""
    canvas, left = Canvas(title), 92.0
    pitch = max(label_width([*found.reads, *found.predicts, *found.source], 15) + 2, 58.0)
    y, lines = canvas.top, []
    if found.source:
        canvas.text(left - 10, y + 21, "encoder", 15, "end", italic=True)
        for i, word in enumerate(found.source):
            hidden = word in SENTINELS
            canvas.box(
                left + pitch * i, y, pitch - 6, 30, word, MASKED if hidden else "#ffffff", BLUE, 1.6, size=15, radius=5
            )
        y += 44
        lines.append(f"the encoder reads {' '.join(found.source)}")
    for i, (word, target, counts) in enumerate(zip(found.reads, found.predicts, found.counts, strict=True)):
        x, hidden = left + pitch * i, word == "[MASK]"
        changed = counts and not hidden and title == FAMILIES["masked"] and word != target
        canvas.box(
            x,
            y,
            pitch - 6,
            30,
            word,
            MASKED if hidden else "#fff0d8" if changed else "#ffffff",
            DARK_GREEN,
            1.6,
            size=15,
            radius=5,
        )
        canvas.text(x + (pitch - 6) / 2, y + 54, "↓" if counts else "·", 18, "middle")
        if counts:
            canvas.box(x, y + 64, pitch - 6, 30, target, "#ffe3cf", DARK_ORANGE, 2, size=15, radius=5)
        else:
            canvas.box(x, y + 64, pitch - 6, 30, "–", "#ffffff", "", size=15, ink=GREY)
    for name, down in (("reads", 21), ("predicts", 85)):
        canvas.text(left - 10, y + down, name, 15, "end", italic=True)
    canvas.rect(left + pitch * at - 4, y - 4, pitch + 2, 102, stroke=ORANGE, wide=3)
    canvas.notes(["filled orange: carries loss"], 15)
    lines.append(f"reads {' '.join(found.reads)}")
    lines.append(
        "carries loss at "
        + ", ".join(
            f"{i + 1} ({word})" for i, (word, yes) in enumerate(zip(found.predicts, found.counts, strict=True)) if yes
        )
    )
    return canvas.svg(f"{title}: {'; '.join(lines)}.")


def _told(found: Objective, family: str, at: int) -> str:
    seen = [word for word, yes in zip(found.reads, found.mask[at], strict=True) if yes]
    read, target = found.reads[at], found.predicts[at]
    where = f"Position {at + 1} reads {read} and sees {len(seen)} of {len(found.reads)} positions"
    where += " and the whole source." if found.source else "."
    if not found.counts[at]:
        what = " It carries no loss."
    elif family == "masked":
        fate = "hidden" if read == "[MASK]" else "left as it is" if read == target else f"replaced by {read}"
        what = f" It must guess {target}, which is {fate}."
    else:
        what = f" It must predict {target}."
    return f"{where}{what} {sum(found.counts)} of {len(found.counts)} predictions carry loss."


# --- a hidden letter -----------------------------------------------------------------------------

Fill = Callable[[str, int], Mapping[str, float]]
"""(word, position) -> letter -> probability."""


def hidden_letter_playground(fill: Mapping[str, Fill], word: str, *, at: int) -> Live:
    """A word with one hidden letter, and what several models put there.

    fill: ways to fill it in, by name. Raises ValueError for what is not one short word.
    """
    filled = {name: lru_cache(maxsize=256)(of) for name, of in fill.items()}

    def draw(typed: str, position: int) -> str:
        text = typed.lower().strip()
        if not (2 <= len(text) <= 12 and text.isascii() and text.isalpha()):
            raise ValueError("type one word of 2 to 12 letters, a to z")
        i = min(position, len(text)) - 1
        shown = f"{text[:i]}_{text[i + 1 :]}"
        pictures = []
        for name, of in filled.items():
            chances = of(text, i)
            best = sorted(chances, key=lambda letter: -chances[letter])[:5]
            hit = [k for k, letter in enumerate(best) if letter == text[i]]
            pictures.append(
                bar_list_svg(
                    [chances[c] for c in best], best, reach=1.0, highlight=hit, title=f"{name}: {shown}", width=330
                )
            )
        told = "; ".join(f"{name} {of(text, i)[text[i]]:.2f}" for name, of in filled.items())
        return beside(*pictures) + said(f"Probability of the hidden letter {text[i]}: {told}.")

    return live(
        draw,
        rows=[["typed", "position"]],
        typed=field("word", "a word, then Enter", word, "300px"),
        position=slider(at, 1, 12, 1, "hidden letter", "340px"),
    )


# --- what transfer brings ------------------------------------------------------------------------


def transfer_explorer(result: Mapping[str, Any]) -> Live:
    """Two rows of `stored("pretraining")` at 50, 500 or 5,000 labels, seed by seed, and the interval of their difference."""
    rows = result["rows"]
    names, counts = list(rows), list(next(iter(rows.values())))

    def draw(count: str, first: str, second: str) -> str:
        values = [rows[name][count] for name in names]
        bars = bar_list_svg(
            [fmean(of) for of in values], names, says=[f"{fmean(of):.1f} % ({from_to(of, '{:.1f}')})" for of in values],
            highlight=[names.index(first), names.index(second)], reach=100.0, width=860,
            title=f"{int(count):,} labelled words", note="mean over five seeds (lowest to highest); chance is 50 %",
        )  # fmt: skip
        return bars + said(difference_told(rows, first, second, count))

    other = menu(names, "against", "440px")
    other.value = names[0]
    chosen = menu(names, "row", "440px")
    chosen.value = names[2]
    return live(
        draw,
        rows=[["count"], ["first", "second"]],
        count=choice([(f"{int(count):,}", count) for count in counts], "labels"),
        first=chosen,
        second=other,
    )


def difference_told(rows: Mapping[str, Any], first: str, second: str, count: str) -> str:
    """The mean difference over seeds, with its 95 % interval, in words."""
    if first == second:
        return "Choose two different rows."
    gap, half = mean_interval(a - b for a, b in zip(rows[first][count], rows[second][count], strict=True))
    clear = "does not contain 0" if abs(gap) > half else "contains 0, so these seeds cannot tell them apart"
    return f"{first} minus {second}: {gap:+.1f} points, 95 % interval {gap - half:+.1f} to {gap + half:+.1f}. The interval {clear}."


# --- one word in many sentences ------------------------------------------------------------------


def senses_explorer(vectors: Mapping[str, Mapping[str, tuple[Sequence[str], Sequence[str], ArrayLike]]]) -> Live:
    """Cosines between the vectors of one word in several sentences, layer by layer, and the mean within and between senses.

    vectors: model -> word -> (sentences, senses, vectors (sentence, layer, d_model)). They are centred on the word's mean.
    """
    first = next(iter(vectors.values()))
    deepest = max(np.shape(of[2])[1] for by in vectors.values() for of in by.values())

    def draw(model: str, word: str, layer: int) -> str:
        texts, senses, states = vectors[model][word]
        layer = min(layer, np.shape(states)[1])
        near = cosines(np.asarray(states, dtype=float)[:, layer - 1])
        own = np.array([[a == b for b in senses] for a in senses])
        others = ~np.eye(len(senses), dtype=bool)
        within, between = float(near[own & others].mean()), float(near[~own].mean())
        kinds = list(dict.fromkeys(senses))
        alt = f"{model}, layer {layer}: cosines between {len(texts)} vectors of {word}; within a sense {within:.2f}, between senses {between:.2f} on average."
        labels = [f"{textwrap.shorten(text, 52, placeholder='…')} {i + 1}" for i, text in enumerate(texts)]
        picture = heatmap_svg(
            (near + 1) / 2, labels, [str(i + 1) for i in range(len(texts))], alt=alt, cell=27, numbers=False,
            title=f"{model}, layer {layer}", note=f"dark: similar. 1 to {senses.count(kinds[0])}: {kinds[0]}; then {kinds[1]}",
        )  # fmt: skip
        return picture + said(f"Mean cosine within a sense {number(within)}, between senses {number(between)}.")

    return live(
        draw,
        rows=[["model", "word"], ["layer"]],
        play="layer",
        model=choice(vectors, "model"),
        word=choice(first, "word"),
        layer=slider(1, 1, deepest, 1, "layer ℓ", "420px"),
    )


def cosines(states: np.ndarray) -> np.ndarray:
    """(sentence, sentence) of vectors that are centred on their mean."""
    centred = states - states.mean(0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True).clip(1e-12)
    return unit @ unit.T


# --- adapters ------------------------------------------------------------------------------------


def adapter_playground(
    models: Mapping[str, tuple[int, Sequence[tuple[int, int]]]], trained: Callable[[int, int, int], int]
) -> Live:
    """How many parameters each way to use a model trains and stores for a task.

    models: name -> (all parameters, the shapes (out, in) of its matrices). trained: (rank, out, in) -> parameters of B A.
    """

    def draw(model: str, rank: int) -> str:
        total, shapes = models[model]
        width = min(shapes[0])
        values = {
            "fine-tuning": total,
            f"LoRA, rank {rank}": sum(trained(rank, out, into) for out, into in shapes),
            "probing, two classes": 2 * width + 2,
            "prompting": 0,
        }
        says = [f"{count:,} ({count / total:.2%}), {2 * count / 1e6:,.2f} MB" for count in values.values()]
        return bar_list_svg(
            list(values.values()), list(values), says=says, title=f"{model}: parameters that are trained", width=860
        ) + said(
            f"Ten tasks in half precision: {20 * total / 1e6:,.0f} MB of fine-tuned models, or"
            f" {(2 * total + 20 * list(values.values())[1]) / 1e6:,.0f} MB for one model and ten adapters."
        )

    return live(
        draw,
        rows=[["model"], ["rank"]],
        model=choice(models, "model"),
        rank=stops([1, 2, 4, 8, 16, 32, 64, 128, 256], 8, "rank r"),
    )


def fillers(models: Mapping[str, nn.Module], tokenizer: Tokenizer, letters: str) -> dict[str, Fill]:
    """Ways to fill in a hidden letter: the masked model, and the causal one from the left and by trying every letter.

    models: "masked" and "causal", pretrained on `<bos> word <eos>`, with "_" as the mask.
    """
    ids = tokenizer.encode(letters)

    def told(logits: torch.Tensor) -> dict[str, float]:
        return dict(zip(letters, logits[ids].softmax(-1).tolist(), strict=True))

    @torch.no_grad()
    def from_both_sides(word: str, at: int) -> dict[str, float]:
        tokens = torch.tensor([[1, *tokenizer.encode(f"{word[:at]}_{word[at + 1 :]}"), 2]])
        return told(models["masked"](tokens)[0, at + 1])

    @torch.no_grad()
    def from_the_left(word: str, at: int) -> dict[str, float]:
        return told(models["causal"](torch.tensor([[1, *tokenizer.encode(word[:at])]]))[0][0, -1])

    @torch.no_grad()
    def by_trying(word: str, at: int) -> dict[str, float]:
        rows = torch.tensor([[1, *tokenizer.encode(word[:at] + c + word[at + 1 :]), 2] for c in letters])
        log_p = models["causal"](rows[:, :-1])[0].log_softmax(-1).gather(2, rows[:, 1:, None])
        return dict(zip(letters, log_p.sum((1, 2)).softmax(0).tolist(), strict=True))

    return {
        "masked": from_both_sides,
        "causal": from_the_left,
        "causal, every letter tried": by_trying,
    }
