"""The warm parent: imports what notebooks need, once, and forks a supervisor for every job.

It reads one kind of message, only from the grader, over a socket that no child inherits.
"""

import functools
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from autograder.question.closed import check_closed
from autograder.sandbox.inside import calls, closing, kernel
from autograder.sandbox.inside.child import Supervisor, Walls, seed
from autograder.sandbox.inside.outputs import Stream

_WARM = ("tqdm.auto", "numpy.random")
_WARM_WITH_PYTORCH = ("ipywidgets", "matplotlib.pyplot", "torch.utils.data", "torch.utils.flop_counter")
_WARM_OURS = ("nlmcore", "nlmcore.checks", "lectures.show", "autograder.check", "autograder.question.outcome")
_QUESTION = dict(function="f", arguments=["x"], returns=["y"], calls=[[1.0]], seed=0)
_QUESTION |= dict(seconds=(5.0, 5.0), budget=(5.0, 5.0))
_PICTURE = "from lectures import show\nshow.heatmap([[0, 1]], ['a'], ['b', 'c'], alt='x')"
"""The course's own pictures are drawn in SVG, and the first one takes five times as long as the others."""
_LARGEST_MESSAGE = 1 << 16


class Plans:
    """The modules that a job leaves out, and their files. `alone`: the packages that are missing in a box without
    PyTorch, where no job has any."""

    def __init__(self, closed: Sequence[str], alone: Sequence[str]) -> None:
        self.alone = tuple(alone)
        self.closed = () if alone else tuple(closed)
        for name in self.closed:
            check_closed(name)
        ours = [path for package in ("autograder.sandbox", "autograder.question") for path in closing.files_of(package)]
        self.hidden = sorted({os.path.realpath(p) for name in self.closed for p in closing.files_of(name)} | set(ours))


_plans = functools.lru_cache(maxsize=256)(Plans)


def main(settings: dict[str, Any], control: socket.socket) -> NoReturn:
    """Serve until the grader closes the connection."""
    try:
        _become(settings["become"])
        given: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in settings["walls"].items()}
        walls = Walls(**given)
        alone = tuple(settings["alone"])
        shell = _warm_up(alone=bool(alone))
        kernel.huge_pages()
        kernel.hide_memory()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        size = _virtual_size()
    except BaseException:
        _reply(control, {"fault": traceback.format_exc()[-2000:]})
        os._exit(1)
    _reply(control, {"ready": True})
    while True:
        message, pipes, _, _ = socket.recv_fds(control, _LARGEST_MESSAGE, 3)
        if not message:
            os._exit(0)
        try:
            job = {**json.loads(message), "size": size}
            if _warm_more(job["warm"]):
                job["size"] = size = _virtual_size()
            plans = _plans(tuple(job["closed"]), alone)
            if os.fork() == 0:
                Supervisor(walls, shell, job, plans, tuple(pipes)).run()
        except Exception as error:
            os.write(pipes[2], json.dumps({"refused": f"{type(error).__name__}: {error}"}).encode())
        finally:
            for pipe in pipes:
                os.close(pipe)


def _become(user: int | None) -> None:
    """If we are root, become a user who owns nothing."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        kernel.show_memory()
    kernel.gain_nothing()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _warm_up(alone: bool) -> Any:
    for name in (*_WARM, *(() if alone else (*_WARM_WITH_PYTORCH, *_WARM_OURS))):
        importlib.import_module(name)
    from autograder.sandbox.inside import notebook

    shell = notebook.make()
    shell.draw(pictures=True)
    first = [
        "import matplotlib.pyplot as _p; _p.plot([1, 2]); _p.title('x'); _p.show()\n1",
        _PICTURE,
        "import torch\ntorch.ones(2, 2) @ torch.ones(2, 2)\nprint(torch.randn(2))",
    ]
    for source in ["import autograder.check\n1"] if alone else first:
        shell.run_cell(source, store_history=False)
    shell.run("def f():\n    return 1 / 0\nf()", (5.0, 5.0))  # what an error needs is loaded at the first one
    shell.run("1 +", (5.0, 5.0))
    seed(0)
    calls.interview({"f": lambda x: x}, _QUESTION, b"", 1)
    shell.reset(new_session=True)
    shell.outputs.begin()
    sys.stdout.flush()
    sys.stdout = Stream(shell.outputs, "stdout")  # type: ignore[assignment]
    sys.stderr = Stream(shell.outputs, "stderr")  # type: ignore[assignment]
    sys.stdin = open(os.devnull)  # noqa: SIM115  (for good)
    gc.collect()
    gc.disable()
    gc.freeze()
    return shell


def _warm_more(modules: Sequence[str]) -> bool:
    """Import modules that this job and similar ones need but most do not; returns whether there was anything new."""
    missing = [name for name in modules if name not in sys.modules]
    for name in missing:
        importlib.import_module(name)
    if missing:
        gc.collect()
        gc.freeze()
    return bool(missing)


def _virtual_size() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _reply(control: socket.socket, words: dict[str, Any]) -> None:
    control.sendall(json.dumps(words).encode())


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
