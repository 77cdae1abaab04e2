"""The one mechanism of every widget: controls, a function that draws HTML, and a place to put it.

    live(lambda n: heatmap_svg(...), n=slider(3, 1, 10, 1, "words"))

Moving a control calls the function and replaces the HTML: about 40 ms from key press to picture, because no figure is
rebuilt and no image is encoded. Where no kernel runs (a web page, a printout) the same object shows the last picture.
"""

import contextlib
import html
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from typing import Any

import ipywidgets
import traitlets

__all__ = ["Live", "choice", "choose_or_type", "field", "live", "menu", "slider", "stops", "tick"]

Control = Any  # any ipywidget with a `value`
Draw = Callable[..., str]
_NUMBER = re.compile(r"-?(?<![\w#])\d+(?:\.\d+)?")


class Live(ipywidgets.VBox):
    """Controls above, picture below. `picture.value` is the HTML now shown; `yours` is drawn beside `draw`."""

    def __init__(
        self,
        draw: Draw,
        controls: dict[str, Control],
        layout_rows: Sequence[Sequence[str]],
        yours: Draw | None = None,
        play: str = "",
    ):
        self._draw, self._yours = draw, yours
        self.controls = controls
        self.picture = ipywidgets.HTML()
        wrap = ipywidgets.Layout(flex_flow="row wrap")
        played = {play: [_player(controls[play])]} if play else {}
        rows = [
            ipywidgets.HBox([part for name in row for part in (*played.get(name, []), controls[name])], layout=wrap)
            for row in layout_rows
        ]
        panel = ipywidgets.VBox(rows)
        panel.add_class("nlm-controls")  # stays in view while a tall picture is scrolled
        super().__init__([panel, self.picture])
        self.add_class("nlm-live")
        for name, control in controls.items():
            control.add_class(f"nlm-control-{name}")  # where `lectures.show.touch` finds it
            control.observe(self.redraw, names="value")
        self.redraw()

    def opens(self, **values: Any) -> "Live":
        """Begin with these values of the controls: the state that the text around the widget is about. A page without a
        kernel shows it, too.

        Raises ValueError for a control or a value that the widget does not have.
        """
        for name, value in values.items():
            if name not in self.controls:
                raise ValueError(f"opens must name a control, one of {list(self.controls)}, got {name!r}")
            with contextlib.suppress(traitlets.TraitError):
                self.controls[name].value = value
            if self.controls[name].value != value:
                raise ValueError(f"the control {name!r} has no value {value!r}")
        return self

    def redraw(self, _change: object = None) -> None:
        """Draw for the controls' present values. A ValueError is shown in the picture's place, in words."""
        values = {name: control.value for name, control in self.controls.items()}
        try:
            reference = self._draw(**values)
        except ValueError as error:
            reference = _alert(str(error))
        self.picture.value = reference if self._yours is None else _compared(reference, self._yours, values)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        if isinstance(data, dict):
            data["text/html"] = self.picture.value  # what is shown where no kernel runs
        return data


def live(
    draw: Draw,
    *given: Any,
    yours: Any = None,
    rows: Sequence[Sequence[str]] | None = None,
    play: str = "",
    **controls: Control,
) -> Live:
    """A widget from a drawing function: `draw(*given, **values) -> HTML` is called with the controls' values.

    `given` is the function that the widget demonstrates, if there is one; `yours`, a student's own, replaces it in
    a second picture next to the first. `rows` says which controls share a row; by default they share one
    row that wraps. `play` names a slider that gets a play button: it moves by one step per second, from where it is.

    Raises ValueError if a control is named twice, or not at all, in `rows`, or `play` is no control's name.
    """
    layout = [list(controls)] if rows is None else [list(row) for row in rows]
    named = [name for row in layout for name in row]
    if sorted(named) != sorted(controls):
        raise ValueError(f"rows must name each control once: rows name {named}, controls are {list(controls)}")
    if play and play not in controls:
        raise ValueError(f"play must name a control, one of {list(controls)}, got {play!r}")
    other = None if yours is None else partial(draw, _answering(yours))
    return Live(partial(draw, *given), controls, layout, other, play)


def _player(slider: Control) -> ipywidgets.Play:
    """A play button that moves a slider in the browser, also when the slider's range changes."""
    name = "index" if isinstance(slider, ipywidgets.SelectionSlider) else "value"
    low, high = (0, len(slider.options) - 1) if name == "index" else (slider.min, slider.max)
    step = 1 if name == "index" else slider.step
    play = ipywidgets.Play(
        value=getattr(slider, name),
        min=low,
        max=high,
        step=step,
        interval=1000,
        show_repeat=False,
        tooltip="play, stop",
    )
    ipywidgets.jslink((slider, name), (play, "value"))
    if name == "value":
        ipywidgets.jslink((slider, "max"), (play, "max"))
    return play


def _alert(words: str) -> str:
    return f'<p role="alert" style="color:#a40000;font-size:16px">{html.escape(words)}</p>'


def _compared(reference: str, yours: Draw, values: dict[str, Any]) -> str:
    """Two pictures side by side, or one if they are the same. What a student's function raises is said in words."""
    try:
        other = yours(**values)
        if _alike(reference, other):
            return reference + _verdict("yours draws the same picture")
        verdict = "yours draws a different picture"
    except Exception as error:  # the student's function: anything may come out of it
        other = _alert(f"{type(error).__name__}: {error}")
        verdict = "yours raised an error"
    halves = "".join(
        f'<div style="flex:1 1 190px"><p style="font-size:16px"><b>{title}</b></p>{picture}</div>'
        for title, picture in (("reference", reference), ("yours", other))
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px">{halves}</div>{_verdict(verdict)}'


def _verdict(words: str) -> str:
    return f'<p role="status" style="font-size:16px">{words}</p>'


def _alike(reference: str, other: str) -> bool:
    """The same picture, but for the last digit of its numbers: two right solutions may round differently."""
    if _NUMBER.split(reference) != _NUMBER.split(other):
        return False
    pairs = zip(_NUMBER.findall(reference), _NUMBER.findall(other), strict=True)
    return all(abs(float(one) - float(two)) <= 1.01 * max(_last_digit(one), _last_digit(two)) for one, two in pairs)


def _last_digit(written: str) -> float:
    """What one step of the last decimal is worth; whole numbers must be equal."""
    decimals = len(written.partition(".")[2])
    return 10.0**-decimals if decimals else 0.0


def _answering(yours: Any) -> Any:
    """A function that says in words that it returned nothing; what is not a plain function is left as it is."""
    if not inspect.isfunction(yours):
        return yours

    @wraps(yours)
    def answer(*given: Any, **named: Any) -> Any:
        result = yours(*given, **named)
        if result is None:
            raise ValueError(f"{yours.__name__} returned None: is its return missing?")
        return result

    return answer


# --- controls ------------------------------------------------------------------------------------


def slider(
    value: float | int, low: float | int, high: float | int, step: float | int, label: str, width: str = "340px"
) -> ipywidgets.IntSlider | ipywidgets.FloatSlider:
    """A slider with room for its label; of integers if all four are."""
    whole = all(isinstance(v, int) for v in (value, low, high, step))
    kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
    look: dict[str, Any] = {"style": {"description_width": "initial"}, "layout": ipywidgets.Layout(width=width)}
    return kind(value=value, min=low, max=high, step=step, description=label, continuous_update=True, **look)


def stops(options: Iterable[Any], value: Any, label: str, width: str = "340px") -> ipywidgets.SelectionSlider:
    """A slider over given values, or over pairs of label and value."""
    look: dict[str, Any] = {"style": {"description_width": "initial"}, "layout": ipywidgets.Layout(width=width)}
    return ipywidgets.SelectionSlider(options=list(options), value=value, description=label, **look)


def choice(options: Iterable[Any], label: str = "", value: Any = None) -> ipywidgets.ToggleButtons:
    """A row of buttons, one per option (or per pair of label and option); the first is chosen unless `value` is given."""
    chosen = {} if value is None else {"value": value}
    return ipywidgets.ToggleButtons(options=list(options), description=label, style={"button_width": "auto"}, **chosen)


def menu(options: Iterable[Any], label: str, width: str = "min(760px, 98%)") -> ipywidgets.Dropdown:
    """A menu, for options that are too long or too many for buttons."""
    look: dict[str, Any] = {"style": {"description_width": "80px"}, "layout": ipywidgets.Layout(width=width)}
    return ipywidgets.Dropdown(options=list(options), description=label, **look)


def field(
    label: str = "yours",
    hint: str = "… or type your own and press Enter",
    value: str = "",
    width: str = "min(760px, 98%)",
    *,
    every_key: bool = False,
) -> ipywidgets.Text:
    """A line to type in. The picture follows Enter, or every key."""
    look: dict[str, Any] = {"style": {"description_width": "80px"}, "layout": ipywidgets.Layout(width=width)}
    return ipywidgets.Text(value=value, placeholder=hint, description=label, continuous_update=every_key, **look)


def tick(label: str, value: bool = False) -> ipywidgets.Checkbox:
    return ipywidgets.Checkbox(value=value, description=label, indent=False)


def choose_or_type(choose: Control, typed: ipywidgets.Text) -> None:
    """Choosing empties the field: what was chosen or typed last counts."""
    choose.observe(lambda _: setattr(typed, "value", ""), names="value")
