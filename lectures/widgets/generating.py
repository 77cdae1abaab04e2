"""Training a generator: what each word costs, what each step reads, what one changed letter does, and an edit."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import ipywidgets

from lectures.show.generating import inputs_svg, losses_svg, parted_svg, schedules_svg
from lectures.show.lines import beside, said
from lectures.show.live import Live, live, slider, swapped

Losses = Callable[[str], tuple[list[str], list[float], list[list[tuple[str, float]]]]]
"""text -> (what is predicted, −ln P of each, the most probable words at each place with their probabilities)."""

Schedule = Callable[[int, float], float]
"""(training step, step at which half of what is read is true) -> share of true words."""

ReadOwn = Callable[[tuple[bool, ...]], list[str]]
"""which places read the true word -> the word that the model drew for each place, "" for the first."""

Continue = Callable[[str, int], str]
"""(beginning, seed) -> how the model goes on."""

Edit = Callable[[str, str, str], tuple[list[tuple[str, float]], str]]
"""(sentence, words to insert, words to delete) -> (prototypes with their similarity, the nearest one edited)."""

_WIDE = {"layout": ipywidgets.Layout(width="min(820px, 98%)"), "style": {"description_width": "80px"}}


def loss_player(losses: Losses, sentences: Sequence[str], *, yours: Losses | None = None) -> Live:
    """The loss of every word of a sentence, and at one place what the model would rather have seen."""
    answer = lru_cache(maxsize=32)(lambda losses, text: losses(text))

    def draw(losses: Losses, at: int, sentence: str, typed: str) -> str:
        words, nats, best = answer(losses, typed if typed.strip() else sentence)
        place = min(at, len(words)) - 1
        others = "   ".join(f"{word}  {p:.2f}" for word, p in best[place])
        note = f"where “{words[place]}” stands the model expects:   {others}"
        return losses_svg(words, nats, chosen=place, note=note)

    return live(
        partial(draw, losses),
        yours=swapped(draw, yours),
        rows=[["at"], ["sentence"], ["typed"]],
        at=slider(1, 1, 20, 1, "word", "420px"),
        sentence=ipywidgets.Dropdown(options=list(sentences), description="sentence", **_WIDE),
        typed=_field("yours", "… or type your own and press Enter"),
    )


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

    coins: one number in [0, 1) per word; a word is read true if its coin lies below the schedule's share.
    The first always is.
    yours: a schedule of the student's, drawn in place of the chosen one.
    """
    own_of = lru_cache(maxsize=256)(read_own)
    at = range(0, steps + 1, 10)

    def draw(mine: Schedule | None, step: int, half: int, schedule: str) -> str:
        known = {**schedules, schedule: mine} if mine is not None else dict(schedules)
        lines = {name: [function(i, half) for i in at] for name, function in known.items()}
        share = known[schedule](step, half)
        is_true = tuple(i == 0 or coin < share for i, coin in enumerate(coins))
        title = f"step {step}: each word is read true with probability {share:.2f}"
        curve = schedules_svg(at, lines, step=step, chosen=schedule)
        return beside(curve, inputs_svg(true, own_of(is_true), is_true, targets, title=title))

    return live(
        partial(draw, None),
        yours=swapped(draw, yours),
        rows=[["step", "half"], ["schedule"]],
        step=slider(0, 0, steps, 50, "training step i", "420px"),
        half=slider(400, 100, 900, 100, "half at step", "380px"),
        schedule=ipywidgets.ToggleButtons(options=list(schedules), description="schedule"),
    )


def parting_player(
    go_on: Continue, beginning: str, choices: Sequence[str], *, seeds: int = 4, yours: Continue | None = None
) -> Live:
    """One letter of a beginning is exchanged; both texts go on with the same dice.

    choices: letters to put in.
    """
    texts = lru_cache(maxsize=64)(lambda go_on, text, seed: go_on(text, seed))

    def draw(go_on: Continue, place: int, letter: str, seed: int) -> str:
        other = beginning[:place] + letter + beginning[place + 1 :]
        first, second = (text + texts(go_on, text, seed) for text in (beginning, other))
        shortest = min(len(first), len(second))
        return parted_svg(first[:shortest], second[:shortest], changed=place, names=["as it was", "changed"])

    start = len(beginning) - 4
    return live(
        partial(draw, go_on),
        yours=swapped(draw, yours),
        rows=[["place", "seed"], ["letter"]],
        place=slider(start, 0, len(beginning) - 1, 1, "letter that is changed", "420px"),
        seed=slider(0, 0, seeds - 1, 1, "dice"),
        letter=ipywidgets.ToggleButtons(options=list(choices), description="into"),
    )


def edit_player(edit: Edit, sentences: Sequence[str], insert: str, delete: str, *, yours: Edit | None = None) -> Live:
    """Find sentences like this one, and rewrite the nearest: put words in, take words out."""

    def draw(edit: Edit, sentence: str, typed: str, insert: str, delete: str) -> str:
        found, written = edit(typed if typed.strip() else sentence, insert, delete)
        lines = [said(f"{similarity:.2f}   {prototype}") for prototype, similarity in found]
        head = said("similarity and prototype:") if lines else said("no sentence shares a word with it")
        end = said(f"the first, edited:   {written}") if lines else ""
        return head + "".join(lines) + end

    return live(
        partial(draw, edit),
        yours=swapped(draw, yours),
        rows=[["sentence"], ["typed"], ["insert"], ["delete"]],
        sentence=ipywidgets.Dropdown(options=list(sentences), description="like", **_WIDE),
        typed=_field("or like", "type a sentence and press Enter"),
        insert=_field("insert", "words to put in", insert),
        delete=_field("delete", "words to take out", delete),
    )


def _field(label: str, hint: str, value: str = "") -> ipywidgets.Text:
    return ipywidgets.Text(value=value, placeholder=hint, description=label, continuous_update=False, **_WIDE)
