"""A prediction: a question before its answer. The answer, and what it reveals, unlock once the reader has committed.

    predict("Which is larger, and by what factor?", choices={"about 2": 2, "about 10": 10, "about 50": 50},
            answer=bigram / unigram, why="The previous word tells a lot.", reveals=lambda: show.heatmap_svg(...))

The answer is computed, and so is everything that it reveals, when the cell runs; it is only not shown. "Run All" therefore
waits for nobody and always leaves the same picture, and a key press answers in a few milliseconds. Where no kernel
runs, the same object is HTML: the question, its choices, and a collapsed `<details>` with the rest.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import ipywidgets

from lectures import predictions
from lectures.show.question import Kind, kind_of, marked, read
from lectures.show.reveal import parts_of, static_html
from lectures.show.svg import BLUE, GREEN

__all__ = ["Prediction", "predict"]

STYLE = """<style>
.nlm-predict { box-sizing: border-box; border-left: 4px solid #0072B2; padding: 2px 0 2px 12px; margin: 8px 0; }
.nlm-predict .nlm-says, .nlm-predict .nlm-says p, .nlm-answers .jupyter-button, .nlm-answers .widget-text input,
.nlm-answers .widget-text .widget-label
  { font-size: max(16px, var(--jp-content-font-size1, 16px)); line-height: 1.45; }
.nlm-predict .nlm-says p { margin: 4px 0; }
.nlm-predict .nlm-answers, .nlm-predict .nlm-answers .widget-hbox { flex-wrap: wrap; overflow: visible; }
.nlm-answers .jupyter-button { width: auto; height: auto; min-height: 34px; padding: 4px 12px; white-space: normal;
  text-align: left; }
.nlm-answers .widget-text { width: auto; height: auto; }
.nlm-answers .widget-text input, .nlm-answers .widget-text .widget-label { height: auto; }
.nlm-answers .widget-text input[type="number"] { width: 5em; flex: none; }
</style>"""
_NOWHERE = ipywidgets.Layout(display="none")


def predict(
    question: str,
    *,
    answer: Any,
    why: str,
    choices: Sequence[str] | Mapping[str, float] | None = None,
    order: Sequence[str] | None = None,
    within: float | None = None,
    factor: float | None = None,
    unit: str = "",
    reveals: Any = None,
) -> "Prediction":
    """A question with `choices`, an `order` to sort, or a number to guess (right `within` a difference or a `factor`).

    question, why: text with *emphasis*, `code` and $mathematics$.
    answer: one of the choices; where they have numbers, the measured number (the nearest choice is right); the sorted
        list; or the number itself. A function is called.
    reveals: what the answer unlocks: a widget, a picture, HTML, what `held_back` kept, a list of these, or a function
        that prints or returns them.

    Raises ValueError if not exactly one of choices, order, within and factor is given, or if the answer is none of those allowed.
    """
    answer = answer() if callable(answer) else answer
    if sum(given is not None for given in (choices, order, within, factor)) != 1:
        raise ValueError("predict takes exactly one of choices=, order=, within= and factor=")
    return Prediction(question, kind_of(choices, order, within, factor, unit, answer), why, parts_of(reveals))


class Prediction(ipywidgets.VBox):
    """The question with its controls; after `commit` or `show_answer` also the answer and what it reveals."""

    made: ClassVar[dict[str, "Prediction"]] = {}
    """Every question that this kernel has asked, by its words: the reader's score is over these."""

    def __init__(self, question: str, kind: Kind, why: str, revealed: list[Any]) -> None:
        self.question, self.kind, self.why, self.revealed = question, kind, why, revealed
        self.guess: Any = None
        self.committed = False
        Prediction.made[question] = self
        self.buttons = [ipywidgets.Button(description=name) for name in kind.options]
        for name, button in zip(kind.options, self.buttons, strict=True):
            button.on_click(partial(self._press, name))
        self.field = ipywidgets.Text(
            placeholder="type a number and press Enter", description="guess", continuous_update=False
        )
        self.field.layout.width = "min(520px, 98%)"
        self.field.observe(self._typed, names="value")
        self.show_me = ipywidgets.Button(description="show me", tooltip="the answer without a guess")
        self.show_me.add_class("nlm-show-me")  # what a clicker presses in the presenter view
        self.show_me.on_click(lambda _: self.show_answer())
        self.in_the_room = ipywidgets.Button(
            description="show of hands", tooltip="for a class: type in how many chose each answer"
        )
        self.in_the_room.on_click(lambda _: self.count_hands())
        self.hands = [
            ipywidgets.BoundedIntText(
                0,
                0,
                9999,
                description=name,
                style={"description_width": "initial"},
                layout=ipywidgets.Layout(width="auto"),
            )
            for name in kind.options
        ]
        for hand in self.hands:
            hand.observe(lambda _: self._draw_bars(), names="value")
        self.bars = ipywidgets.HTML()
        self.room = ipywidgets.VBox([ipywidgets.HBox(self.hands), self.bars], layout=_NOWHERE)
        self.verdict = ipywidgets.HTMLMath()
        self.below = ipywidgets.VBox([])
        answers = self.buttons or [self.field]
        more = [self.show_me, self.in_the_room] if kind.name == "choice" else [self.show_me]
        hint = f"<p><small>({kind.hint})</small></p>" if kind.hint else ""
        words = f"<p><b>Predict.</b> {marked(question)}</p>{hint}"
        asked = ipywidgets.HTMLMath(f'{STYLE}<div class="nlm-says">{words}</div>')
        self.room.add_class("nlm-room")
        self.more = ipywidgets.HBox(more)
        rows = [ipywidgets.HBox(answers), self.more, self.room]
        for row in rows:
            row.add_class("nlm-answers")
        super().__init__([asked, *rows, self.verdict, self.below])
        self.add_class("nlm-predict")

    # --- what a reader does ----------------------------------------------------------------------

    def commit(self, guess: Any) -> None:
        """Take a guess, say whether it is right, and reveal. Only the first counts."""
        if self.committed:
            return
        right = bool(self.kind.is_right(guess))
        self.guess = guess
        told = f"<b>{'Right' if right else 'Not quite'}.</b> "
        self._open("guess", told if right and self.kind.name == "order" else told + self._answered(), right)

    def show_answer(self) -> None:
        """Reveal without a guess; with hands counted, it is the room that has guessed."""
        if not self.committed:
            room = {hand.description: hand.value for hand in self.hands if hand.value}
            self._open("room" if room else "shown", self._answered(), None, **({"hands": room} if room else {}))

    def count_hands(self) -> None:
        """Open or close the fields for a show of hands."""
        closed = self.room.layout.display == "none"
        self.room.layout = ipywidgets.Layout() if closed else _NOWHERE
        self._draw_bars()

    def _press(self, name: str, _button: object = None) -> None:
        if self.kind.name == "choice":
            return self.commit(name)
        if self.committed:
            return None
        chosen = [*(self.guess or []), name] if name not in (self.guess or []) else []  # once more: begin again
        left = [option for option in self.kind.options if option not in chosen]
        self.guess = [*chosen, *left] if len(left) == 1 else chosen
        for option, button in zip(self.kind.options, self.buttons, strict=True):
            button.description = f"{self.guess.index(option) + 1}. {option}" if option in self.guess else option
        if len(left) == 1:
            self.commit(self.guess)
        elif not chosen:
            self.guess = None
        return None

    def _typed(self, change: Any) -> None:
        if not change["new"].strip() or self.committed:
            return
        try:
            self.commit(read(change["new"]))
        except ValueError:
            self.verdict.value = _says("Type a number, such as 0.25, 2/3 or 1,000, and press Enter.")

    # --- what it shows -----------------------------------------------------------------------------

    def _answered(self) -> str:
        return f"The answer: <b>{marked(self.kind.told)}</b>."

    def _open(self, how: str, told: str, right: bool | None, **more: Any) -> None:
        self.committed = True
        try:
            predictions.keep(self.question, how, self.guess, self.kind.answer, right, **more)
            score = self.score() if how == "guess" else ""
        except OSError as error:
            score = f"This could not be kept: {error}."
        for name, button in zip(self.kind.options, self.buttons, strict=True):
            if self.kind.name == "choice" and name == self.kind.answer:
                button.icon = "check"
            elif name == self.guess:
                button.icon = "times"
        self.more.layout = _NOWHERE
        self._draw_bars()
        self.verdict.add_class("nlm-told")
        self.verdict.value = _says(f"{told} {marked(self.why)}", f"<small>{score}</small>" if score else "")
        self.below.children = [
            part if isinstance(part, ipywidgets.Widget) else ipywidgets.HTML(part) for part in self.revealed
        ]

    def score(self) -> str:
        """The reader's own, over the questions of this lecture."""
        guesses = [
            e["right"] for e in predictions.first_guesses(predictions.kept()) if e["question"] in Prediction.made
        ]
        if not guesses:
            return ""
        return f"Your first guesses in this lecture: {sum(guesses)} of {len(guesses)} right."

    def _draw_bars(self) -> None:
        most = max((hand.value for hand in self.hands), default=0)
        rows = []
        for name, hand in zip(self.kind.options, self.hands, strict=True):
            right = self.committed and name == self.kind.answer
            width = 60 * hand.value / most if most else 0
            rows.append(
                f'<div><span aria-hidden="true" style="display:inline-block;height:0.9em;width:{width:.1f}%;'
                f'background:{GREEN if right else BLUE}"></span> {hand.value} · {marked(name)}{" ✓" if right else ""}</div>'
            )
        self.bars.value = f'<div class="nlm-says" role="status">{"".join(rows)}</div>' if most else ""

    def static(self) -> str:
        """Question, choices and the collapsed answer as HTML, for a page without a kernel."""
        kind = self.kind
        options = "".join(f"<li>{marked(option)}</li>" for option in kind.options) or f"<li>{marked(kind.hint)}</li>"
        revealed = "".join(static_html(part) for part in self.revealed)
        return (
            f'<section class="nlm-predict" data-kind="{kind.name}" style="border-left:4px solid {BLUE};padding-left:12px">'
            f"<p><b>Predict.</b> {marked(self.question)}</p>"
            f"<ul>{options}</ul><details><summary>Show the answer</summary>"
            f'<p class="nlm-answer">{self._answered()} {marked(self.why)}</p>{revealed}</details></section>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        if isinstance(data, dict):
            data["text/html"] = self.static()
            data["text/plain"] = f"Predict. {self.question}"
        return data


# --- text ----------------------------------------------------------------------------------


def _says(*paragraphs: str) -> str:
    said = "".join(f"<p>{words}</p>" for words in paragraphs if words)
    return f'<div class="nlm-says" role="status">{said}</div>'
