"""A notebook's cells run in order in one IPython namespace, as nbgrader runs them; an error stops its cell.

The shell is made once in the warm parent, with matplotlib's inline pictures; a child inherits it unused.
"""

import builtins
import functools
import linecache
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.question.outcome import torch
from autograder.sandbox.inside.needed import needed
from autograder.sandbox.inside.outputs import MIME, Outputs
from autograder.sandbox.inside.watch import limit

_PICTURE = ("lectures.show.picture", "Picture")
_OUTSIDE = "Nothing outside Python is run while a notebook is graded; this line was passed over: {}\n"


class _Hook(DisplayHook):
    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: Any = None) -> None:
        self.shell.outputs.show("execute_result", format_dict)  # type: ignore[union-attr]

    def finish_displayhook(self) -> None:
        pass

    @staticmethod
    def semicolon_at_end_of_expression(expression: str) -> bool:
        return ";" in expression and DisplayHook.semicolon_at_end_of_expression(expression)  # which tokenises all of it


class _Publisher(DisplayPublisher):
    def publish(self, data: dict[str, Any], *rest: Any, **options: Any) -> None:
        self.shell.outputs.show("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.clear(wait)


class Notebook(InteractiveShell):
    """IPython without a terminal, a history file, start-up files or a profile."""

    outputs: Outputs
    displayhook_class = _Hook
    display_pub_class = _Publisher
    _builtins: Callable[[], None] = staticmethod(lambda: None)

    def run(self, source: str, seconds: Sequence[float]) -> list[dict[str, Any]]:
        self.outputs.begin()
        self.outputs.number = self.execution_count
        try:
            with limit(seconds):
                try:
                    self.run_cell(source, store_history=True)
                finally:
                    self._builtins()
        except BaseException as error:  # in IPython's own code, interrupted at the wrong moment
            self._error(error)
        return self.outputs.done()

    async def run_code(self, code_obj: Any, result: Any = None, *, async_: bool = False) -> bool:
        """Whether a statement failed, which ends its cell. Without PyTorch only an interrupt does."""
        failed: bool = await super().run_code(code_obj, result, async_=async_)
        return failed and not (torch is None and isinstance(getattr(result, "error_in_exec", None), Exception))

    def remember(self) -> None:
        """Python's own names and streams, before any of the student's code runs."""
        self._builtins = functools.partial(vars(builtins).update, dict(vars(builtins)))
        self._streams = sys.stdout, sys.stderr

    def put_back(self) -> None:
        """Restore print, sum, sys.stdout and the like if a cell has replaced them, so that this affects no function of
        an exercise."""
        self._builtins()
        sys.stdout, sys.stderr = self._streams

    def needed(self, sources: list[str], tests: list[str], functions: list[str]) -> dict[str, str]:
        return needed(sources, tests, functions, self.transform_cell)

    def draw(self, pictures: bool) -> None:
        """Whether the course's own pictures are drawn or replaced by their alternative text. They are made in either
        case, so a cell runs and fails in the same way; students' own matplotlib pictures are always drawn."""
        if self.display_formatter is not None:
            bundles = self.display_formatter.mimebundle_formatter
            # Their SVG would only be left out.
            bundles.for_type_by_name(*_PICTURE, lambda picture: {"text/plain": f"[picture: {picture.alt}]"})
            if not pictures:
                self.display_formatter.formatters["image/png"].for_type_by_name(*_PICTURE, lambda picture: None)

    def showtraceback(self, exc_tuple: Any = None, *rest: Any, **options: Any) -> None:
        error = self._get_exc_info(exc_tuple)[1]
        if error is not None:
            self._error(error)

    def _format_exception_for_storage(self, *rest: Any, **options: Any) -> dict[str, Any]:
        """IPython keeps a long traceback of every error for a history that is not kept here."""
        return {}

    def showsyntaxerror(self, *rest: Any, **options: Any) -> None:
        self.showtraceback()

    def system_raw(self, cmd: str) -> None:
        self.outputs.text("stderr", _OUTSIDE.format(cmd))

    system = system_piped = system_raw

    def getoutput(self, cmd: str, *rest: Any, **options: Any) -> list[str]:
        self.system_raw(cmd)
        return []

    def ask_exit(self) -> None:
        """quit and exit end nothing here."""

    def enable_gui(self, gui: Any = None) -> None:
        pass

    def _error(self, error: BaseException) -> None:
        name = type(error).__name__
        try:
            message = str(error)
        except Exception:
            message = "(its message cannot be shown)"
        self.outputs.error(name, message, trace(error, name, message))


def make() -> Notebook:
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "nocolor"
    shell = Notebook.instance(config=config)
    shell.outputs = Outputs(1 << 16)
    if shell.display_formatter is not None:
        shell.display_formatter.active_types = list(MIME)
    builtins.input = _nobody_answers
    if torch is not None:
        shell.run_line_magic("matplotlib", "inline")
        _few_threads()
    return shell


def _few_threads() -> None:
    """More threads than the limits allow would end the process, and no student needs them."""
    most, original = 4, torch.set_num_threads

    def set_num_threads(nthreads: int) -> None:
        original(min(nthreads, most))

    torch.set_num_threads = set_num_threads


def _nobody_answers(prompt: object = "") -> NoReturn:
    raise RuntimeError("input() waits for somebody to type, and nobody is there while a notebook is graded")


def trace(error: BaseException, name: str, message: str) -> list[str]:
    """The lines of the student's own cells that the error passed through, and the error."""
    if isinstance(error, SyntaxError):
        return [line.rstrip("\n") for line in traceback.format_exception_only(error)]
    lines: list[str] = []
    frame: types.TracebackType | None = error.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        if code.co_filename.startswith("<ipython-input-"):
            cell = code.co_filename.split("-")[2]
            where = "" if code.co_name == "<module>" else f", in {code.co_name}"
            lines.append(f"Cell {cell}, line {frame.tb_lineno}{where}")
            lines.append(f"    {linecache.getline(code.co_filename, frame.tb_lineno).strip()}")
        frame = frame.tb_next
    if len(lines) > 24:
        lines = [*lines[:12], f"    … {(len(lines) - 24) // 2} more calls …", *lines[-12:]]
    return [*lines, f"{name}: {message}" if message else name]
