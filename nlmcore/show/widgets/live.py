"""The one mechanism of every widget: controls, a function that draws HTML, and a place to put it.

Moving a control calls the function and replaces the HTML: about 40 ms from key press to picture, because no
figure is rebuilt and no image is encoded. Where no kernel runs (a web page, a printout) the same object
shows the last picture instead.
"""

import html
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

Control = Any  # any ipywidget with a `value`


class Live(ipywidgets.VBox):
    """Controls above, picture below. `picture.value` is the HTML now shown."""

    def __init__(self, draw: Callable[..., str], controls: dict[str, Control], layout_rows: Sequence[Sequence[str]]):
        self._draw = draw
        self.controls = controls
        self.picture = ipywidgets.HTML()
        rows = [
            ipywidgets.HBox([controls[name] for name in row], layout=ipywidgets.Layout(flex_flow="row wrap"))
            for row in layout_rows
        ]
        super().__init__([*rows, self.picture])
        self.add_class("nlm-live")
        for control in controls.values():
            control.observe(self.redraw, names="value")
        self.redraw()

    def redraw(self, _change: object = None) -> None:
        """Draw for the controls' present values. A ValueError is shown in the picture's place, in words."""
        values = {name: control.value for name, control in self.controls.items()}
        try:
            self.picture.value = self._draw(**values)
        except ValueError as error:
            self.picture.value = f'<p role="alert" style="color:#a40000;font-size:16px">{html.escape(str(error))}</p>'

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        if isinstance(data, dict):
            data["text/html"] = self.picture.value  # what is shown where no kernel runs
        return data


def live(draw: Callable[..., str], *, rows: Sequence[Sequence[str]] | None = None, **controls: Control) -> Live:
    """A widget from a drawing function: `draw(**values) -> HTML` is called with the controls' values.

        live(lambda n: heatmap_svg(...), n=ipywidgets.IntSlider(3, 1, 10))

    `rows` says which controls stand beside each other; by default they share one row that wraps.

    Raises ValueError if a control is named twice, or not at all, in `rows`.
    """
    layout = [list(controls)] if rows is None else [list(row) for row in rows]
    named = [name for row in layout for name in row]
    if sorted(named) != sorted(controls):
        raise ValueError(f"rows must name each control once: rows name {named}, controls are {list(controls)}")
    return Live(draw, controls, layout)


def slider(
    value: float | int, low: float | int, high: float | int, step: float | int, label: str, width: str = "340px"
) -> ipywidgets.IntSlider | ipywidgets.FloatSlider:
    """A slider with room for its label; whole numbers if all four are."""
    whole = all(isinstance(v, int) for v in (value, low, high, step))
    kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
    return kind(
        value=value,
        min=low,
        max=high,
        step=step,
        description=label,
        continuous_update=True,
        style={"description_width": "initial"},
        layout=ipywidgets.Layout(width=width),
    )
