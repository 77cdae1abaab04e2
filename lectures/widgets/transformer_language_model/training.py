"""A training that runs beside the notebook: it can be stopped and resumed at will, and what it writes grows."""

import html
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import ipywidgets
import torch

from lectures.show import beside, choice, curve_svg, live, said, stops

DRAWN_EVERY = 0.5
"""Seconds between two pictures of a running training."""


class Learner(Protocol):
    """A model in training."""

    def learn(self) -> float:
        """One step; the loss before it."""
        ...

    def write(self) -> str:
        """A sample of what the model writes now."""
        ...


class TrainingPlayer(ipywidgets.VBox):
    """Buttons above, the curve and the samples below. See `training_player`."""

    def __init__(
        self, begin: Mapping[str, Callable[[], Learner]], earlier: Mapping[str, Any], marks: Sequence[int]
    ) -> None:
        self.begin, self.earlier, self.marks = begin, earlier, list(marks)
        self.learner: Learner | None = None
        self.losses: list[float] = []
        self.written: dict[int, str] = {}
        self._thread: threading.Thread | None = None
        self._halt = threading.Event()
        self._said = ""
        self.view = live(
            self._draw,
            rows=[["run", "mark"]],
            play="mark",
            run=choice(["the earlier run", "yours"], "show"),
            mark=stops([(f"step {mark:,}", mark) for mark in self.marks], self.marks[0], "written at", "380px"),
        )
        self.start = ipywidgets.Dropdown(options=list(begin), description="begin", style={"description_width": "60px"})
        self.train_button = ipywidgets.Button(description="train", icon="play", tooltip="begin, or resume")
        self.stop_button = ipywidgets.Button(description="stop", icon="pause", tooltip="stop; train resumes from here")
        self.again_button = ipywidgets.Button(description="start over", icon="undo", tooltip="forget your run")
        self.train_button.on_click(lambda _: self.train())
        self.stop_button.on_click(lambda _: self.stop())
        self.again_button.on_click(lambda _: self.start_over())
        buttons = [self.start, self.train_button, self.stop_button, self.again_button]
        row = ipywidgets.HBox(buttons, layout=ipywidgets.Layout(flex_flow="row wrap"))
        super().__init__([row, self.view])

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def opens(self, **values: Any) -> "TrainingPlayer":
        self.view.opens(**values)
        return self

    def train(self) -> None:
        """Begin, or resume where it was stopped; returns immediately."""
        if self.running:
            return
        if self.learner is None:
            self.learner = self.begin[self.start.value]()
            self.written[0] = self.learner.write()
        self.start.disabled = True
        self.view.controls["run"].value = "yours"
        self._halt.clear()
        self._said = ""
        self._thread = threading.Thread(target=self._learn, args=(self.learner,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop between two steps, and wait for that."""
        self._halt.set()
        if self._thread is not None:
            self._thread.join()
        self.view.redraw()

    def start_over(self) -> None:
        """Stop, and forget what was learned."""
        self.stop()
        self.learner, self.start.disabled, self._said = None, False, ""
        self.losses.clear()
        self.written.clear()
        self.view.redraw()

    def _learn(self, learner: Learner) -> None:
        torch.set_num_threads(1)
        drawn = time.monotonic()
        try:
            while not self._halt.is_set() and len(self.losses) < self.marks[-1]:
                self.losses.append(float(learner.learn()))
                if len(self.losses) in self.marks:
                    self.written[len(self.losses)] = learner.write()
                    self.view.controls["mark"].value = len(self.losses)
                elif time.monotonic() - drawn >= DRAWN_EVERY:
                    drawn = time.monotonic()
                    self.view.redraw()
        except (ArithmeticError, RuntimeError, ValueError) as error:  # a learner is the student's own code
            self._said = f"{type(error).__name__}: {error}"
        self.view.redraw()

    def _draw(self, run: str, mark: int) -> str:
        mine = run == "yours"
        losses = self.losses if mine else self.earlier["losses"]
        written = self.written if mine else {int(step): text for step, text in self.earlier["written"].items()}
        if not written:
            return said(f"Your run has not begun: press train. What it writes after {mark:,} steps will be here.")
        shown = max((step for step in written if step <= mark), default=0)
        steps = len(losses)
        curve = curve_svg(losses[:] if mine else losses[: max(mark, 1)], width=430) if losses else ""
        text = written[shown]
        sample = (
            f'<div style="font-size:16px;width:min(30em,100%)"><p style="margin:4px 0"><b>written after'
            f' {shown:,} steps</b></p><pre style="font-size:1em;line-height:1.35;white-space:pre-wrap;'
            f'background:#fff;color:#000;margin:0">{html.escape(text)}</pre></div>'
        )
        state = "training" if mine and self.running else "stopped; train resumes here" if mine else "stored"
        words = self._said or f"{run}: {steps:,} steps, {state}"
        return beside(curve, sample) + said(words)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        if isinstance(data, dict):
            data["text/html"] = self.view.picture.value  # what is shown where no kernel runs
        return data


def training_player(begin: Mapping[str, Callable[[], Learner]], earlier: Mapping[str, Any]) -> TrainingPlayer:
    """Train a model live, in a thread of its own, so that the rest of the notebook answers meanwhile.

    begin: name -> makes a learner, from noise or from weights of an earlier run. earlier: the stored run, its `losses`
    and what it had `written`, {step: text}. It is shown until you train. Your run stops by itself after the last of
    those steps.

    Raises ValueError if there is nothing to begin with, or the earlier run has no losses or samples.
    """
    marks = sorted(int(step) for step in earlier.get("written", ()))
    if not begin or len(marks) < 2 or not earlier.get("losses"):
        raise ValueError("training_player needs a way to begin, and an earlier run with losses and two samples or more")
    return TrainingPlayer(begin, earlier, marks)
