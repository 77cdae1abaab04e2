"""Run a notebook from top to bottom in this very process, as a kernel would, and keep all that it shows and defines.

One run feeds every test of a lecture: what its cells print and display, what they cost, and the names they leave.
Its cells reach no network: whatever asks for an address other than this machine's own is refused, and noted. And they
leave the models that all callers share as they were; a change counts as an error of the notebook.
"""

import contextlib
import functools
import html
import inspect
import os
import re
import symtable
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets import DOMWidget, Widget
from ipywidgets.widgets import widget as widgets
from traitlets.config import Config

from nlmcore.pretrained import minilm, minilm_weights, smollm2, smollm2_weights
from tests.shapes import shapes_unchecked

LIVE = "application/vnd.jupyter.widget-view+json"
PRINTED = re.compile(r'<pre class="nlm-printed">(.*?)</pre>', re.S)
HERE = {"localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "", None}


@dataclass
class Ran:
    """A notebook that was run."""

    notebook: nbformat.NotebookNode
    """With its outputs, and the state of its widgets, as JupyterLab would save it."""
    names: dict[str, Any] = field(default_factory=dict)
    """What the cells have defined, after the last of them."""
    seconds: dict[int, float] = field(default_factory=dict)
    """Seconds of the processor that each cell took, by the cell's place in the notebook."""
    reads: dict[int, dict[str, str]] = field(default_factory=dict)
    """What kind of thing each name was that a cell takes from other cells, when the cell ran; by the cell's place."""
    reached: list[str] = field(default_factory=list)
    """Addresses outside this machine that were asked for, in vain."""
    stray: str = ""
    """What was written to the process's stderr past Python."""
    widgets: list[Widget] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    """What it changed in a model that others share, like `smollm2(): layers.0.attention.step`."""

    @property
    def code(self) -> list[nbformat.NotebookNode]:
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    def printed(self) -> list[str]:
        """What each code cell has printed, with what its predictions print once they are made."""
        return ["".join(map(_printed, cell.outputs)) for cell in self.code]

    def forget(self) -> None:
        """Let go of what the run holds in memory. Layouts and styles stay: modules share them."""
        self.names.clear()
        for widget in self.widgets:
            if isinstance(widget, DOMWidget):
                widget.close()

    def not_repeatable(self) -> list[str]:
        """Where a cell that is run again after the last one meets a name that has become something of another kind."""
        cells = self.notebook.cells
        return [
            f"{name} was {kind} here, and is {_kind(self.names[name])} in the end:\n{cells[index].source}"
            for index, reads in self.reads.items()
            for name, kind in reads.items()
            if name in self.names and _kind(self.names[name]) != kind
        ]

    def errors(self) -> list[str]:
        changed = [f"the notebook changed a model that others share, {what}" for what in self.changed]
        return changed + [
            f"{cell.source}\n\n" + "\n".join(out.traceback)
            for cell in self.code
            for out in cell.outputs
            if out.output_type == "error"
        ]


def _printed(output: nbformat.NotebookNode) -> str:
    if output.get("name") == "stdout":
        return output.text
    shown = output.get("data", {}).get("text/html", "")
    return "".join(html.unescape(text) + "\n" for text in PRINTED.findall(shown))


class _Stream:
    """A stdout or stderr whose text becomes a cell's output."""

    encoding = "utf-8"

    def __init__(self, name: str, outputs: list[nbformat.NotebookNode]) -> None:
        self.name, self.outputs = name, outputs

    def write(self, text: str) -> int:
        if self.outputs and self.outputs[-1].get("name") == self.name:
            self.outputs[-1].text += text
        elif text:
            self.outputs.append(nbformat.v4.new_output("stream", name=self.name, text=text))
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


class _Publisher(DisplayPublisher):
    def publish(self, data: dict[str, Any], metadata: dict[str, Any] | None = None, **options: Any) -> None:
        self.shell.shown.append(nbformat.v4.new_output("display_data", data=data, metadata=metadata or {}))

    def clear_output(self, wait: bool = False) -> None:
        self.shell.shown.clear()


class _Hook(DisplayHook):
    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        count = self.shell.execution_count
        output = nbformat.v4.new_output("execute_result", format_dict, metadata=md_dict or {}, execution_count=count)
        self.shell.shown.append(output)

    def finish_displayhook(self) -> None:
        pass


class _Shell(InteractiveShell):
    displayhook_class, display_pub_class = _Hook, _Publisher
    kernel = None
    """By having one, a notebook's shell is told from a terminal's."""
    shown: list[nbformat.NotebookNode]
    """The outputs of the cell that runs now."""

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        self.shown.append(
            nbformat.v4.new_output("error", ename=etype.__name__, evalue=str(evalue), traceback=list(stb))
        )

    def enable_gui(self, gui: Any = None) -> None:
        pass


def run(notebook: nbformat.NotebookNode, folder: Path) -> Ran:
    """Run every cell with `folder` as the working folder, until one raises."""
    ran = Ran(notebook)
    module = types.ModuleType("lecture")
    before = set(widgets._instances)
    with _shell(module) as shell, _apart(folder), _no_network(ran.reached), _stderr_kept(ran), shared(ran):
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type != "code" or not cell.source.strip():
                continue
            shell.shown = cell.outputs = []
            ran.reads[index] = {name: _kind(vars(module)[name]) for name in _taken(cell.source, vars(module))}
            began = time.process_time()
            out, err = _Stream("stdout", shell.shown), _Stream("stderr", shell.shown)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):  # type: ignore[type-var]
                done = shell.run_cell(cell.source, store_history=True)
            ran.seconds[index] = time.process_time() - began
            cell.execution_count = shell.execution_count - 1
            if not done.success:
                break
    ran.names = vars(module)
    ran.widgets = [widget for name, widget in widgets._instances.items() if name not in before]
    notebook.metadata["widgets"] = {
        "application/vnd.jupyter.widget-state+json": Widget.get_manager_state(widgets=ran.widgets)
    }
    return ran


def _taken(source: str, names: dict[str, Any]) -> set[str]:
    """The names that a cell, and the notebook's functions that it calls, take from other cells."""
    top = symtable.symtable(source, "cell", "exec")
    made, left = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}, [top]
    found: set[str] = set()
    while left:
        table = left.pop()
        left += table.get_children()
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and (table is top or s.is_global())}
    found, new = set(), (found - made) & names.keys()
    while new:
        found |= new
        functions = [names[name] for name in new if isinstance(names[name], types.FunctionType)]
        read = {
            name for function in functions if function.__globals__ is names for name in _global_names(function.__code__)
        }
        new = (read & names.keys()) - found - made
    return found


def _global_names(code: types.CodeType) -> set[str]:
    inside = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return {*code.co_names}.union(*map(_global_names, inside))


def _kind(value: Any) -> str:
    """As far as code that reads a name has to know what is in it."""
    if isinstance(value, (bool, int, float)):
        return "a number"
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return f"{type(value).__name__} with {value.ndim} axes"
    if isinstance(value, types.FunctionType):
        return f"a function with the arguments {inspect.signature(value)}"
    return type(value).__name__


@contextlib.contextmanager
def _shell(module: types.ModuleType) -> Iterator[_Shell]:
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    with tempfile.TemporaryDirectory() as folder:
        InteractiveShell.clear_instance()
        shell = _Shell.instance(config=config, user_module=module, user_ns=vars(module), ipython_dir=folder)
        shell.shown = []
        try:
            yield shell
        finally:
            _Shell.clear_instance()
            shell.restore_sys_module_state()
            sys.modules.pop(module.__name__, None)


@contextlib.contextmanager
def _apart(folder: Path) -> Iterator[None]:
    """What a notebook may change for the whole process, put back afterwards; it has the package as readers have it,
    without the tests' run-time checks of shapes."""
    threads, state, default = torch.get_num_threads(), torch.get_rng_state(), torch.get_default_dtype()
    with contextlib.chdir(folder), shapes_unchecked():
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            torch.set_rng_state(state)
            torch.set_default_dtype(default)
            torch.set_grad_enabled(True)


@contextlib.contextmanager
def shared(ran: Ran) -> Iterator[None]:
    """Notes what is changed meanwhile in a model that `nlmcore.pretrained` gives to every caller; the next caller then
    gets a new one."""
    loaders = {"smollm2()": (smollm2_weights, smollm2), "minilm()": (minilm_weights, minilm)}
    before = {name: _state(load()[0]) for name, (_, load) in loaders.items() if load.cache_info().currsize}
    with pytest.MonkeyPatch.context() as patch:
        for name, (module, _) in loaders.items():
            patch.setattr(module, "filled", functools.partial(_noted, module.filled, name, before))
        yield
    for name, state in before.items():
        after = _state(loaders[name][1]()[0])
        changed = [part for part in {**state, **after} if state.get(part) != after.get(part)]
        if changed:
            ran.changed.append(f"{name}: {', '.join(changed[:3])}")
            loaders[name][1].cache_clear()


def _noted(filled: Callable[..., Any], name: str, states: dict[str, Any], *arguments: Any) -> Any:
    model = filled(*arguments)
    states[name] = _state(model)
    return model


def _state(model: torch.nn.Module) -> dict[str, Any]:
    """Every attribute of every part of a model, and its weights by what shows a change: version, type, a column."""
    found: dict[str, Any] = {}
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            plain = isinstance(value, bool | int | float | str | None)
            found[f"{name}.{key}"] = value if plain else [*value] if isinstance(value, dict) else id(value)
    for name, weight in model.named_parameters():
        column = weight.detach()[..., 0].sum().item()
        found[name] = (id(weight), weight._version, weight.dtype, weight.requires_grad, weight.grad is None, column)
    return found


_listening: list[list[str]] = []
"""Where the notebook that runs now notes what it asked for; a hook can be added to Python, and not be taken away."""


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listening or event not in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        return
    address = arguments[1] if event != "socket.getaddrinfo" else arguments[0]
    host = address[0] if isinstance(address, tuple) else None if event != "socket.getaddrinfo" else address
    host = host.decode() if isinstance(host, bytes) else host
    if host not in HERE:
        _listening[-1].append(str(host))
        raise OSError(f"there is no network while a notebook is tested: {host}")


sys.addaudithook(_hear)


@contextlib.contextmanager
def _no_network(reached: list[str]) -> Iterator[None]:
    _listening.append(reached)
    try:
        yield
    finally:
        _listening.pop()


@contextlib.contextmanager
def _stderr_kept(ran: Ran) -> Iterator[None]:
    """The process's own stderr, which code that is not Python writes to."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            kept.seek(0)
            ran.stray = kept.read()
