"""Widgets: what each word costs, what each step reads, how two texts part after one changed letter, and an edit."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import Axis, Canvas, Live, Plot, beside, choice, field, live, looks, menu, said, slider
from lectures.show.svg import BLUE, GREY, INK, ORANGE, Pixels, label_width

__all__ = ["edit_player", "loss_player", "parting_player", "schedule_player"]

_PALE = "#EFEFEF"

# --- what each word costs ------------------------------------------------------------------------

Losses = Callable[[str], tuple[list[str], list[float], list[list[tuple[str, float]]]]]
"""text -> (what is predicted, −ln P of each, the most probable words at each place with their probabilities)."""


def loss_player(losses: Losses, sentences: Sequence[str], *, yours: Losses | None = None) -> Live:
    """The loss of every word of a sentence, and at one place what the model expected."""
    answer = lru_cache(maxsize=32)(lambda losses, text: losses(text))

    def draw(losses: Losses, at: int, sentence: str, typed: str) -> str:
        words, nats, best = answer(losses, typed if typed.strip() else sentence)
        place = min(at, len(words)) - 1
        others = "   ".join(f"{word}  {p:.2f}" for word, p in best[place])
        note = f"where “{words[place]}” occurs, the model expects:   {others}"
        return losses_svg(words, nats, chosen=place, note=note)

    return live(
        draw,
        losses,
        yours=yours,
        rows=[["at"], ["sentence"], ["typed"]],
        at=slider(1, 1, 20, 1, "word", "420px"),
        sentence=menu(sentences, "sentence"),
        typed=field(),
    )


def losses_svg(words: Sequence[str], nats: ArrayLike, *, chosen: int | None = None, note: str = "") -> str:
    """A bar of −ln P above every word; their sum and mean in the title. One bar may be chosen.

    Raises ValueError if there is not one finite number of at least 0 per word, or no word.
    """
    losses = np.asarray(nats, dtype=float)
    if losses.shape != (len(words),) or not len(words) or not np.isfinite(losses).all() or (losses < 0).any():
        raise ValueError(f"losses_svg needs one loss of at least 0 per word, got {losses.shape} for {len(words)} words")
    total = f"sum {losses.sum():.2f} nats over {len(words)} predictions, mean {losses.mean():.2f}"
    wide = max(44.0, min(72.0, 900.0 / len(words)))
    canvas = Canvas(total)
    x = Axis(0, len(words), ticks={i + 0.5: word for i, word in enumerate(words)}, turn=38)
    y = Axis(0, max(10.0, float(losses.max())) * 1.13, ticks={})
    plot = Plot(canvas, x, y, left=10, across=wide * len(words), down=192, inner=True)
    for i, loss in enumerate(losses):
        plot.bar(i + 0.5, loss, wide - 8, ORANGE if i == chosen else BLUE)
        canvas.text(plot.across(i + 0.5), plot.down(loss) - 6, f"{loss:.1f}", 15, "middle", bold=i == chosen)
    canvas.notes([note])
    pairs = ", ".join(f"{word} {loss:.1f}" for word, loss in zip(words, losses, strict=True))
    return canvas.svg(f"Loss of each word in nats: {pairs}; {total}. {note}".strip(), width=620)


# --- what each step reads ------------------------------------------------------------------------

Schedule = Callable[[int, float], float]
"""(training step, step at which half of what is read is true) -> share of true words."""

ReadOwn = Callable[[tuple[bool, ...]], list[str]]
"""which places read the true word -> the word that the model sampled for each place, "" for the first."""


def schedule_player(
    schedules: Mapping[str, Schedule],
    read_own: ReadOwn,
    true: Sequence[str],
    targets: Sequence[str],
    coins: Sequence[float],
    *,
    steps: int = 1000,
    yours: Schedule | None = None,
) -> Live:
    """Three ways to take the truth away: at a training step, which words of a sentence are read true and which own.

    coins: one number in [0, 1) per word; a word is read true if its coin lies below the schedule's share. The first
    always is. yours: a schedule of the student's, drawn instead of the chosen one.
    """
    own_of = lru_cache(maxsize=256)(read_own)
    at = range(0, steps + 1, 10)

    def draw(mine: Schedule | None, step: int, half: int, schedule: str) -> str:
        known = dict(schedules) if mine is None else {**schedules, schedule: mine}
        lines = {name: [function(i, half) for i in at] for name, function in known.items()}
        share = known[schedule](step, half)
        is_true = tuple(i == 0 or coin < share for i, coin in enumerate(coins))
        title = f"step {step}: the network reads a reference word with probability {share:.2f}"
        curve = schedules_svg(at, lines, step=step, chosen=schedule)
        return beside(curve, inputs_svg(true, own_of(is_true), is_true, targets, title=title))

    return live(
        draw,
        None,
        yours=yours,
        rows=[["step", "half"], ["schedule"]],
        step=slider(0, 0, steps, 50, "training step i", "420px"),
        half=slider(400, 100, 900, 100, "one half at step", "380px"),
        schedule=choice(schedules, "schedule"),
    )


def schedules_svg(
    steps: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    step: float | int,
    chosen: str,
    width: Pixels = 560,
    height: Pixels = 300,
) -> str:
    """The share of true words read against the training step, one line per schedule; a dot at `step` on the chosen one.

    Raises ValueError if a line and steps differ in length, for a step outside, or a name that is not there.
    """
    across = np.asarray(steps, dtype=float)
    shares = {name: np.asarray(line, dtype=float) for name, line in lines.items()}
    if chosen not in shares or any(line.shape != across.shape for line in shares.values()):
        raise ValueError(
            f"lines must have one share per step, {across.shape}, and one of them is chosen: got {chosen!r},"
            f" lines { {name: line.shape for name, line in shares.items()} }"
        )
    last = float(across[-1])
    if not across[0] <= step <= last:
        raise ValueError(f"step must lie in [{across[0]:g}, {last:g}], got {step}")
    keys = looks(shares, wide=2)
    keys[chosen] = keys[chosen]._replace(wide=4, bold=True)
    canvas = Canvas()
    x, y = Axis(0, last, "training step i", grid=False), Axis(0, 1, ticks={0: "0", 0.5: "0.5", 1: "1"})
    plot = Plot(canvas, x, y, across=width, down=height, keys=keys, columns=1)
    for name, line in shares.items():
        plot.line(across, line, keys[name])
    now = float(np.interp(step, across, shares[chosen]))
    canvas.mark("circle", *plot.at(step, now), "#000", 8)
    return canvas.svg(f"Fraction of reference words against the training step; {chosen}, step {step:g}: {now:.2f}.")


def inputs_svg(
    true: Sequence[str], own: Sequence[str], is_true: Sequence[bool], targets: Sequence[str], *, title: str = ""
) -> str:
    """Which word each step reads: the true one (blue) or the one that the model sampled (orange); what it pays for.

    own: what the model sampled for each place; the first place has none ("").
    Raises ValueError if the four differ in length.
    """
    n = len(true)
    if not n == len(own) == len(is_true) == len(targets) or not n:
        raise ValueError(
            f"inputs_svg needs four rows of one length, got {[len(r) for r in (true, own, is_true, targets)]}"
        )
    canvas, names = Canvas(title), ["target", "reference word", "sampled"]
    x = label_width(names, 16) + 8
    for row, name in enumerate(names):
        canvas.text(x - 10, canvas.top + 48 * row + 24, name, 16, "end")
    for words in zip(targets, true, own, is_true, strict=True):
        wide = max(label_width(words[:3], 16), 54.0)
        looked = [("#ffffff", INK), (BLUE, "#ffffff"), (_PALE, GREY)] if words[3] else [("#ffffff", INK), (_PALE, GREY), (ORANGE, "#000000")]  # fmt: skip
        for row, (word, (fill, ink)) in enumerate(zip(words[:3], looked, strict=True)):
            if word or row < 2:
                place = x, canvas.top + 48 * row, wide - 6, 36
                canvas.box(*place, word, fill, fill if row else "#999999", ink=ink, radius=5)
        x += wide
    read = " ".join(a if flag else f"[{b}]" for a, b, flag in zip(true, own, is_true, strict=True))
    return canvas.svg(f"Input, with sampled words in brackets: {read}; {sum(is_true) / n:.0%} are true.")


# --- one changed letter --------------------------------------------------------------------------

Continue = Callable[[str, int], str]
"""(beginning, seed) -> the model's continuation."""


def parting_player(
    go_on: Continue, beginning: str, choices: Sequence[str], *, seeds: int = 4, yours: Continue | None = None
) -> Live:
    """One letter of a beginning is changed; both texts are continued with the same random numbers.

    choices: letters to put in.
    """
    texts = lru_cache(maxsize=64)(lambda go_on, text, seed: go_on(text, seed))

    def draw(go_on: Continue, place: int, letter: str, seed: int) -> str:
        other = beginning[:place] + letter + beginning[place + 1 :]
        first, second = (text + texts(go_on, text, seed) for text in (beginning, other))
        shortest = min(len(first), len(second))
        return parted_svg(first[:shortest], second[:shortest], changed=place, names=["original", "changed"])

    return live(
        draw,
        go_on,
        yours=yours,
        rows=[["place", "seed"], ["letter"]],
        place=slider(len(beginning) - 4, 0, len(beginning) - 1, 1, "letter that is changed", "420px"),
        seed=slider(0, 0, seeds - 1, 1, "seed"),
        letter=choice(choices, "into"),
    )


def parted_svg(first: str, second: str, *, changed: int, names: Sequence[str], per_line: int = 56) -> str:
    """Two texts letter by letter, one above the other; equal letters are pale, others blue and orange.

    changed: the position of the letter that was changed by hand, framed. Raises ValueError if lengths differ.
    """
    if len(first) != len(second) or len(names) != 2:
        raise ValueError(f"parted_svg needs two texts of one length and two names, got {len(first)} and {len(second)}")
    canvas, left = Canvas(), label_width(names, 16) + 6
    for start in range(0, len(first), per_line):
        for row, (line, name) in enumerate(zip((first, second), names, strict=True)):
            y = 72 * (start // per_line) + 28 * row
            canvas.text(left - 10, y + 20, name, 16, "end")
            for i in range(start, min(start + per_line, len(line))):
                differs = first[i] != second[i]
                fill = (BLUE, ORANGE)[row] if differs else _PALE if i >= changed else "#ffffff"
                frame = ("#000", 2.5) if i == changed else ("none", 0)
                shown, ink = line[i].replace("\n", "↵").strip(" "), "#ffffff" if differs and not row else "#000000"
                canvas.box(left + 15 * (i - start), y, 15, 26, shown, fill, *frame, size=17, mono=True, ink=ink)
    pairs = list(zip(first, second, strict=True))[changed + 1 :]
    equal = sum(a == b for a, b in pairs)
    note = f"equal letters after the change, position by position: {equal} of {len(pairs)}"
    canvas.notes([note], gap=4)
    share = equal / max(len(pairs), 1)
    texts = f"{names[0]}: {first} {names[1]}: {second}"
    return canvas.svg(f"Two texts that differ in letter {changed + 1}. {note}, {share:.0%}. {texts}")


# --- an edit -------------------------------------------------------------------------------------

Edit = Callable[[str, str, str], tuple[list[tuple[str, float]], str]]
"""(sentence, words to insert, words to delete) -> (prototypes with their similarity, the nearest one edited)."""


def edit_player(edit: Edit, sentences: Sequence[str], insert: str, delete: str, *, yours: Edit | None = None) -> Live:
    """Find sentences like this one, and rewrite the nearest: put words in, take words out."""

    def draw(edit: Edit, sentence: str, typed: str, insert: str, delete: str) -> str:
        found, written = edit(typed if typed.strip() else sentence, insert, delete)
        if not found:
            return said("no sentence shares a word with yours")
        lines = [f"{similarity:.2f}   {prototype}" for prototype, similarity in found]
        return "".join(map(said, ["similarity and prototype:", *lines, f"the first, edited:   {written}"]))

    return live(
        draw,
        edit,
        yours=yours,
        rows=[["sentence"], ["typed"], ["insert"], ["delete"]],
        sentence=menu(sentences, "sentence"),
        typed=field(),
        insert=field("insert", "words to insert", insert),
        delete=field("delete", "words to delete", delete),
    )
