"""Widgets in which a language model writes: suggestions while one types, and a text that grows word by word."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import ipywidgets

from lectures.show import bar_list_svg, marked_words_html
from lectures.show.live import Live, live, slider

Suggest = Callable[[str], Sequence[tuple[str, float]]]
"""text typed so far -> (next word, probability), best first."""


def next_words(models: Mapping[str, Suggest], typed: str, *, longest: int = 200) -> Live:
    """Type; the models suggest the next word, or how the word begun goes on, as the keyboard of a telephone does.

    Enter takes the first suggestion.

    models: name -> function from the text to (word, probability) pairs. The last name is chosen at first.
    """

    def draw(model: str, typed: str) -> str:
        if len(typed) > longest:
            raise ValueError(f"the text has {len(typed)} characters; {longest} are enough to see how it goes on")
        found = list(models[model](typed))
        if not found:
            return f'<p role="status" style="font-size:17px">{model} knows no word that begins so</p>'
        shown = typed.replace("\n", " ")[-60:]
        return bar_list_svg(
            [p for _, p in found],
            [_shown(word) for word, _ in found],
            reach=max(0.25, max(p for _, p in found)),
            title=f"{model}: what comes after “{shown}”?",
            alt=f"{model} continues '{shown}' with "
            + ", ".join(f"{'a new line' if word == chr(10) else word} {p:.3f}" for word, p in found)
            + ".",
            width=700,
        )

    names = list(models)
    choose = ipywidgets.ToggleButtons(
        options=names, value=names[-1], description="model", style={"button_width": "auto"}
    )
    field = ipywidgets.Text(
        value=typed,
        description="type here",
        continuous_update=True,
        layout=ipywidgets.Layout(width="min(640px, 96%)"),
    )

    def accept(_widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("event") == "submit":
            found = list(models[choose.value](field.value)) if len(field.value) <= longest else []
            before, space, _ = field.value.rpartition(" ")
            if found:
                field.value = f"{before}{space}{found[0][0]} "

    field.on_msg(accept)
    return live(draw, rows=[["model"], ["typed"]], model=choose, typed=field)


class Written(NamedTuple):
    """One word that a model wrote, and where it came from."""

    word: str
    seen: int
    """How many of the words up to and with this one stand so, one after the other, in the training text (at most N)."""
    likely: Sequence[tuple[str, float]]
    """The likeliest words at this place, with their probabilities, before the word was drawn."""


Write = Callable[[int, str, int], Sequence[Written]]
"""(order, smoothing, seed) -> the words of a text."""


def writer(write: Write, orders: Sequence[int], smoothings: Sequence[str], *, order: int, words: int = 24) -> Live:
    """A text that an n-gram model draws, word by word; the colour tells how long a run was copied.

    write: see `Write`; its `seen` is at most one more than the largest order.
    """
    texts = lru_cache(maxsize=256)(write)
    length = len(texts(order, smoothings[0], 0))
    top = max(orders) + 1

    def draw(order: int, smoothing: str, seed: int, shown: int) -> str:
        text = texts(order, smoothing, seed)[:shown]
        last = text[-1]
        spelled = [one.word for one in text]
        runs = [min(one.seen, top) for one in text]
        names = [f"run of {n}" if n < top else f"{n} or more" for n in range(1, top + 1)]
        copied = sum(one.seen >= top for one in text)
        words_html = marked_words_html(
            spelled,
            [max(run - 1, 0) for run in runs],
            names,
            bold=len(spelled) - 1,
            alt=f"{order}-gram with {smoothing}, seed {seed}, writes: {' '.join(spelled)}",
        )
        chosen = [i for i, (word, _) in enumerate(last.likely) if word == last.word]
        bars = bar_list_svg(
            [p for _, p in last.likely],
            [_shown(word) for word, _ in last.likely],
            reach=max(0.3, max(p for _, p in last.likely)),
            says=[f"{p:.3f}" if p >= 0.001 else f"{p:.5f}" for _, p in last.likely],
            highlight=chosen,
            title=f"word {len(text)} was drawn from" + ("" if chosen else " (it was none of these)"),
            alt=f"The likeliest words at place {len(text)}: "
            + ", ".join(f"{word!r} {p:.3f}" for word, p in last.likely)
            + f"; drawn: {last.word!r}.",
        )
        line = f"{copied} of {len(text)} words end a run of {top} or more that stands so in the training text"
        return f'{words_html}<p style="font-size:16px;margin:6px 0">{line}.</p>{bars}'

    return live(
        draw,
        rows=[["order", "smoothing"], ["seed", "shown"]],
        order=ipywidgets.ToggleButtons(
            options=[(f"{n}-gram", n) for n in orders],
            value=order,
            style={"button_width": "auto"},
            description="order n",
        ),
        smoothing=ipywidgets.Dropdown(options=list(smoothings), description="smoothing"),
        seed=slider(0, 0, 9, 1, "seed"),
        shown=slider(min(words, length), 1, length, 1, "words"),
    )


def _shown(word: str) -> str:
    """A word as a label; what cannot be seen is named."""
    return {"\n": "new line", " ": "space", "": "no space"}.get(word, word)
