"""The states of a widget, drawn without its reader: what each setting of its controls shows.

A widget is a function from its controls to HTML. If all its settings together are small enough, all are drawn. If not,
at most k controls are moved away from the start at a time, for the largest k that fits, and sliders have fewer stops.
Runs inside the kernel that has run the lecture, because the functions are there.
"""

import html
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import ipywidgets
from ipywidgets.widgets import widget as registry

from autograder.site.packed import packed, script
from lectures.show import Live, Prediction
from lectures.show.question import marked

STATES, CHARACTERS, BYTES, SECONDS = 3200, 80_000_000, 2_500_000, 40.0
"""Per widget, the most states, and the most characters, packed bytes and processor seconds that they may take."""
STOPS = (1000, 101, 51, 21, 11, 7)
"""How many stops a slider may keep; each is tried in turn."""
NUMBERS = (ipywidgets.IntSlider, ipywidgets.FloatSlider)


@dataclass(frozen=True)
class Stop:
    """A value of a control, and its words."""

    value: Any
    label: str


def stops_of(control: Any, most: int = STOPS[0], listed: int = STOPS[0], typed: str = "") -> list[Stop]:
    """The values that a control can take now. A slider keeps about `most` of them, a menu its first `listed`, and
    the present one.

    Text is free; of the text that is there, or that was `typed` at the start, each beginning is a value.
    """
    if isinstance(control, ipywidgets.Checkbox):
        return [Stop(False, "no"), Stop(True, "yes")]
    if isinstance(control, ipywidgets.Text):
        words = control.value or (typed if control.continuous_update else "")
        first = 0 if control.continuous_update else len(words)
        return [Stop(words[:n], words[:n]) for n in range(first, len(words) + 1)]
    count = size_of(control)
    if isinstance(control, NUMBERS):
        decimals = 0 if isinstance(control.value, int) else len(f"{control.step:f}".rstrip("0").partition(".")[2])
        at = round((control.value - control.min) / control.step)
        values = (type(control.value)(round(control.min + i * control.step, 10)) for i in _kept(count, at, most))
        return [Stop(value, f"{value:.{decimals}f}".replace("-", "−")) for value in values]
    every = [Stop(*one) for one in zip(control._options_values, map(str, control._options_labels), strict=True)]
    at = place(every, control.value)
    if isinstance(control, ipywidgets.SelectionSlider):
        return [every[i] for i in _kept(count, at, most)]
    return [stop for i, stop in enumerate(every) if i < listed or i == at]


def size_of(control: Any) -> int:
    """How many values a control has in the notebook."""
    if isinstance(control, NUMBERS):
        return 1 + round((control.max - control.min) / control.step)
    return len(control._options_values) if hasattr(control, "_options_values") else len(stops_of(control))


def _kept(count: int, at: int, most: int) -> Sequence[int]:
    """About `most` of the numbers below `count`, evenly, `at` and both ends among them."""
    if count <= most:
        return range(count)
    stride = math.ceil((count - 1) / (most - 1))
    return sorted({0, count - 1, *range(at % stride, count, stride)})


def place(stops: Sequence[Stop], value: Any) -> int:
    """Where a value is among stops: itself, or for numbers the nearest."""
    for i, stop in enumerate(stops):
        if _same(stop.value, value):
            return i
    if isinstance(value, (int, float)):
        return min(range(len(stops)), key=lambda i: abs(stops[i].value - value))
    return 0


@dataclass(frozen=True)
class Plan:
    """Which settings are drawn: sliders with at most `most` stops, at most `moved` controls away from the start."""

    moved: int
    most: int
    listed: int = STOPS[0]
    """The most options of a menu: all, unless they are so many that nothing else fits."""


def plan_of(controls: Sequence[Any], states: int) -> Plan:
    """The plan with the most controls moved, then with the most stops, that has at most so many states."""
    for moved in range(len(controls), 0, -1):
        for most in STOPS:
            others = [len(stops_of(control, most)) - 1 for control in controls]
            count = sum(math.prod(chosen) for k in range(moved + 1) for chosen in combinations(others, k))
            if count <= states:
                return Plan(moved, most)
    return Plan(1, STOPS[-1], max(2, states // len(controls)))


@dataclass
class Drawn:
    """A widget's states: `pictures`, each once; `tree`, which of them each setting shows."""

    plan: Plan
    pictures: list[str] = field(default_factory=list)
    options: list[list[str]] = field(default_factory=list)
    """Of every control, at each of its states, what it offers; each once."""
    tree: Any = None


def drawn(live: Live, plan: Plan | None = None) -> Drawn:
    """Draw the states of a widget, and leave it as it was."""
    for control in live.controls.values():
        control.unobserve(live.redraw, names="value")
    made = _drawn(live, plan) if plan else _as_many_as_fit(live)
    live.redraw()
    for control in live.controls.values():
        control.observe(live.redraw, names="value")
    return made


def _as_many_as_fit(live: Live) -> Drawn:
    """A first few states tell how large one is."""
    began = time.process_time()
    few = _drawn(live, Plan(1, STOPS[-1], 5))
    seconds = max(
        time.process_time() - began, 0.001
    )  # a model that runs at every setting takes longer than its picture
    count = len(few.pictures)
    bytes_, characters = len(packed(few.tree, few.options, few.pictures)), sum(map(len, few.pictures))
    for share in (2, 1):  # many states share more than a few do; if not, the same again with half of them
        most = (share * BYTES * count // bytes_, CHARACTERS * count // characters, int(SECONDS * count / seconds))
        made = _drawn(live, plan_of(list(live.controls.values()), min(STATES, *most)))
        if len(packed(made.tree, made.options, made.pictures)) <= BYTES:
            break
    return made


def _drawn(live: Live, plan: Plan) -> Drawn:
    names, start = list(live.controls), {name: control.value for name, control in live.controls.items()}
    made = Drawn(plan)
    seen: dict[str, int] = {}

    def set_to(path: Sequence[Any]) -> None:
        """From the start, move the controls one after the other, as a reader would: some change what others offer."""
        for name in names:
            _try(live.controls[name], start[name])
        for name, value in zip(names, path, strict=False):
            _try(live.controls[name], value)

    def walk(path: list[Any], left: int) -> Any:
        set_to(path)
        if len(path) == len(names):
            live.redraw()
            return seen.setdefault(live.picture.value, len(seen))
        control = live.controls[names[len(path)]]
        stops = stops_of(control, plan.most, plan.listed, str(start[names[len(path)]]))
        begin, labels = place(stops, control.value), [stop.label for stop in stops]
        moved = [(i, stop.value) for i, stop in enumerate(stops) if left or i == begin]
        below = {i: walk([*path, value], left - (i != begin)) for i, value in moved}
        if labels not in made.options:
            made.options.append(labels)
        return [made.options.index(labels), begin, below]

    made.tree = walk([], plan.moved)
    made.pictures = list(seen)
    set_to([])
    return made


def _try(control: Any, value: Any) -> None:
    """Set a control; a value that it does not offer any more leaves it where it is."""
    if _same(control.value, value):
        return
    if not hasattr(control, "_options_values") or value in control._options_values:
        control.value = value


def _same(one: Any, other: Any) -> bool:
    """Whether they are equal; True is not 1."""
    return one is other or (type(one) is type(other) and one == other)


# --- as HTML -------------------------------------------------------------------------------------


KINDS = {ipywidgets.Dropdown: "menu", ipywidgets.Checkbox: "tick", ipywidgets.ToggleButtons: "choice"}


def kind(control: Any) -> str:
    return "typed" if isinstance(control, ipywidgets.Text) else KINDS.get(type(control), "slider")


def described(live: Live, made: Drawn) -> dict[str, Any]:
    """What the page needs to make a widget's controls before it has its states."""
    places = {id(control): i for i, control in enumerate(live.controls.values())}
    lines = [row.children for row in live.children[0].children]
    rows = [[places[id(part)] for part in line if id(part) in places] for line in lines]
    played = {id(b) for line in lines for a, b in pairwise(line) if isinstance(a, ipywidgets.Play)}
    controls, node, coarse = [], made.tree, False
    for name, control in live.controls.items():
        options, at, below = node
        node, words = below[at], made.options[options]
        label = control.description or getattr(control, "placeholder", "") or name.replace("_", " ")
        told = {"name": name, "kind": kind(control), "label": label, "options": words, "at": at}
        controls.append(told | {"play": id(control) in played})
        coarse |= len(words) < size_of(control)
    return {"controls": controls, "rows": rows, "moved": made.plan.moved, "coarse": coarse}


class Gathered:
    """The displayed widgets of a lecture as HTML, and their states as scripts: those of a plan, or all that fit."""

    def __init__(self, plan: Plan | None = None) -> None:
        self.plan = plan
        self.scripts: dict[str, str] = {}
        self.report: list[dict[str, Any]] = []

    def html_of(self, widget: Any) -> str:
        """A widget as HTML that a page can show: a `Live` with its start, a prediction with what it reveals."""
        if isinstance(widget, Live):
            more = (part for part in widget.children[1:] if part is not widget.picture)
            return self._live(widget) + "".join(map(self.html_of, more))
        if hasattr(widget, "stored"):
            return self._stored(widget)
        if isinstance(widget, Prediction):
            return self._prediction(widget)
        if isinstance(widget, (ipywidgets.HTML, ipywidgets.HTMLMath)):
            return str(widget.value)
        if isinstance(widget, ipywidgets.Box) and any(isinstance(part, ipywidgets.Button) for part in widget.children):
            return '<p class="note">The buttons of this widget work in the notebook only.</p>'
        if isinstance(widget, ipywidgets.Box):
            return "".join(f"<div>{inside}</div>" for child in widget.children if (inside := self.html_of(child)))
        return ""

    def _added(self, script: str, **told: Any) -> int:
        """The number of a script of states, of which the report says what is told."""
        number = len(self.report)
        self.scripts[str(number)] = script
        self.report.append({**told, "bytes": len(script)})
        return number

    def _live(self, live: Live) -> str:
        made = drawn(live, self.plan)
        told = described(live, made)
        states = packed(made.tree, made.options, made.pictures)
        controls = [f"{c['label']} {c['kind']} {len(c['options'])}" for c in told["controls"]]
        which = {"moved": made.plan.moved, "of": len(controls), "coarse": told["coarse"]}
        number = self._added(states, controls=controls, states=len(made.pictures), **which)
        data = html.escape(json.dumps(told | {"bytes": len(states)}, ensure_ascii=False))
        return (
            f'<div class="nlm-live" data-states="{number}" data-told="{data}"><div class="nlm-controls"></div>'
            f'<div class="widget-html-content">{live.picture.value}</div></div>'
        )

    def _stored(self, widget: Any) -> str:
        """A widget that draws itself (`lectures.widgets.living`), from the answers that it has stored."""
        content = widget.stored()
        states = sum(len(one["every"]) for one in content)
        which = {"moved": 1, "of": 2, "coarse": False}
        number = self._added(script(content), controls=[f"sentence {len(content)}"], states=states, **which)
        return str(widget.html(states=str(number)))

    def _prediction(self, asked: Prediction) -> str:
        options = "".join(f"<li>{marked(option)}</li>" for option in asked.kind.options)
        revealed = "".join(part if isinstance(part, str) else self.html_of(part) for part in asked.revealed)
        right = asked.kind.bounds if asked.kind.name == "number" else asked.kind.answer
        about = {"kind": asked.kind.name, "right": right, "question": asked.question}
        told = html.escape(json.dumps(about, ensure_ascii=False))
        hint = f"<p><small>({asked.kind.hint})</small></p>" if asked.kind.hint else ""
        return (
            f'<div class="nlm-predict" role="group" aria-label="A prediction" data-told="{told}">'
            f"<p><b>Predict.</b> {marked(asked.question)}</p>{hint}<ul>{options}</ul>"
            f"<details><summary>Show the answer</summary><p>The answer: <b>{marked(asked.kind.told)}</b>."
            f" {marked(asked.why)}</p>{revealed}</details></div>"
        )


def gathered(ids: Sequence[str], plan: Plan | None = None) -> dict[str, Any]:
    """For the widgets with these ids: HTML, states and what became of each."""
    made, there = Gathered(plan), registry._instances
    pages = {name: made.html_of(there[name]) for name in ids if name in there}
    return {"html": pages, "scripts": made.scripts, "report": made.report}


def write(where: str, ids: Sequence[str]) -> None:
    """The same as a file of JSON."""
    ipywidgets.Widget.send_state = lambda self, key=None: None  # nobody listens: the states are not to be sent
    Path(where).write_text(json.dumps(gathered(ids), ensure_ascii=False), encoding="utf-8")
