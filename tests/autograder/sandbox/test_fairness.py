"""What honest notebooks do: none of it costs anything, and all of it works inside the box."""

# ruff: noqa: E501  (a table: one case to a line)

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from autograder.sandbox import Box, BoxResult
from tests.autograder.sandbox.conftest import LIMITS, asking, descendants, run, shown

HONEST = {
    "warnings": ("import warnings\nwarnings.warn('careful')\nimport torch\ntorch.ones(2).T.T", "careful"),
    "prints": ("import sys\nprint('out'); print('err', file=sys.stderr)", "out\nerr"),
    "progress bars": ("from tqdm import tqdm\nfor i in tqdm(range(3)): pass", "3/3"),
    "automatic bars": ("from tqdm.auto import trange\nfor i in trange(3): pass", "3/3"),
    "widgets": ("import ipywidgets as w\nfrom IPython.display import display\nx = w.IntSlider(3)\ndisplay(x)\nw.interact(lambda k: k, k=3)\nx.value = 5\nprint(x.value)", "5"),
    "widget bars": ("from tqdm.notebook import tqdm\nfor i in tqdm(range(3)): pass\nprint('on')", "on"),
    "the last expression": ("x = 3\nx + 1", "4"),
    "display": ("from IPython.display import display, HTML\ndisplay({'a': 1}, HTML('<b>x</b>'))", "{'a': 1}"),
    "display without import": ("display(42)", "42"),
    "magics": ("%matplotlib inline\n%config InlineBackend.figure_format = 'retina'\n%load_ext autoreload\n%autoreload 2\n%time 1 + 1", "2"),
    "a timed cell": ("%%time\nx = sum(range(10))\nprint(x)", "45"),
    "await": ("import asyncio\nawait asyncio.sleep(0.001)\nprint('on')", "on"),
    "the last results": ("41", "41"),
    "clear_output": ("from IPython.display import clear_output\nprint('old')\nclear_output()\nprint('new')", "new"),
    "set_num_threads": ("import torch, os\ntorch.set_num_threads(64)\nx = torch.randn(400, 400)\n(x @ x).sum()\nprint(torch.nn.functional.relu(torch.randn(10**6)).shape)", "1000000"),
    "files": ("import os\nos.makedirs('a/b')\nopen('a/b/c.txt', 'w').write('hi')\nprint(open('a/b/c.txt').read())", "hi"),
    "the submission's files": ("print(open('data/words.txt').read())", "one two"),
    "torch.save": ("import torch\ntorch.save({'w': torch.ones(2)}, 'm.pt')\nprint(torch.load('m.pt'))", "tensor([1., 1.])"),
    "temporary files": ("import tempfile\nwith tempfile.NamedTemporaryFile('w') as f: f.write('x')\nprint('on')", "on"),
    "the library": ("import nlmcore\nfrom lectures import show\nfrom nlmcore.ngram import NGramLM\nprint(NGramLM.__name__)", "NGramLM"),
    "check": ("from autograder.check import check, passes\ncheck('attention.attend', len)\nif not passes('a.b', len): print('later')", "later"),
    "backward": ("import torch\nx = torch.ones(3, requires_grad=True)\n(x ** 2).sum().backward()\nprint(x.grad)", "tensor([2., 2., 2.])"),
    "data loaders": ("import torch\nfrom torch.utils.data import DataLoader, TensorDataset\nd = DataLoader(TensorDataset(torch.arange(10)), 5, shuffle=True, num_workers=0)\nprint(sum(b[0].sum().item() for b in d))", "45"),
    "threads": ("from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as p: print(list(p.map(abs, [-1, -2])))", "[1, 2]"),
    "type hints, dataclasses, enums": ("from dataclasses import dataclass\nimport enum, typing\n@dataclass\nclass A:\n    x: 'int'\nprint(A(1))", "A(x=1)"),
    "inspect": ("import inspect\ndef f(x): return x\nprint(inspect.getsource(f))", "def f(x)"),
    "logging": ("import logging\nlogging.warning('hm')", "hm"),
    "einsum and friends": ("import torch, numpy as np\nprint(torch.einsum('ij,jk->ik', torch.eye(2), torch.eye(2)).trace(), np.linalg.inv(np.eye(2)).sum())", "2.0"),
    "exit by name": ("quit", ""),
    "help": ("len?", ""),
    "training": ("import torch\nmodel = torch.nn.LSTM(3, 4)\nadam = torch.optim.Adam(model.parameters(), lr=0.05)\nx, y = torch.randn(5, 8, 3), torch.randn(5, 8, 4) * 0.1\nlosses = []\nfor step in range(30):\n    adam.zero_grad()\n    loss = torch.nn.functional.mse_loss(torch.tanh(model(x)[0]), y)\n    loss.backward()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    adam.step()\n    losses.append(loss.item())\nprint(losses[-1] < losses[0] / 2)", "True"),
    "a pickle in memory": ("import pickle, copy\nprint(pickle.loads(pickle.dumps([1])), copy.deepcopy([2]))", "[1] [2]"),
    "platform": ("import platform, os, getpass\nprint(platform.python_version(), os.cpu_count() > 0, getpass.getuser())", "student"),
    "multi-line strings and unicode": ("print('''α\nβ''')", "α\nβ"),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_nothing_that_honest_notebooks_do_is_an_error(box: Box, name: str) -> None:
    source, says = HONEST[name]
    result = run(box, source, files={"data/words.txt": b"one two"})
    assert not [o for cell in result.cells for o in cell.outputs if o["output_type"] == "error"], shown(result)
    assert says in shown(result)
    assert result.incidents == ()


def test_three_styles_of_one_function(box: Box) -> None:
    loops = "def f(x):\n    r = torch.empty_like(x)\n    for i in range(len(x)): r[i] = x[i] * 2\n    return r"
    in_place = "def f(x):\n    y = x.clone()\n    y.mul_(2)\n    return y"
    wide = "f = lambda x: (x.double().numpy() * 2)"
    x = torch.randn(4)
    for style in (loops, in_place, wide):
        result = run(box, f"import torch\n{style}\nf(torch.ones(2))", asking("f", (x,)))
        torch.testing.assert_close(result.cells[-1].outcomes[0][0].outputs[0].float(), 2 * x)


def test_pictures_are_kept_and_bounded(box: Box) -> None:
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    many = "for i in range(40):\n    plt.figure(); plt.plot([i]); plt.show()"
    result = run(box, plot, "fig, ax = plt.subplots()\nax.imshow([[1, 2]])", many)
    kinds = [[sorted(o["data"]) for o in cell.outputs if "data" in o] for cell in result.cells]
    assert kinds[0] == [["image/png", "text/plain"]]
    assert ["image/png", "text/plain"] in kinds[1]
    size = sum(len(o["data"].get("image/png", "")) for o in result.cells[2].outputs if "data" in o)
    assert 0 < size <= box.limits.output


def test_the_courses_pictures_are_shown_with_their_words(box: Box) -> None:
    source = "from lectures import show\nshow.heatmap([[0, 1]], ['a'], ['b', 'c'], alt='two weights')"
    assert run(box, source).cells[0].outputs[0]["data"] == {"text/plain": "[picture: two weights]"}
    (drawn,) = run(box, source, pictures=True).cells[0].outputs
    assert drawn["data"]["text/plain"] == "[picture: two weights]"
    assert sorted(drawn["data"]) == ["image/png", "text/plain"]


def test_a_picture_that_cannot_be_made_fails_though_none_is_drawn(box: Box) -> None:
    source = "from lectures import show\nshow.heatmap([[0, 1]], ['a'], ['b'], alt='one label is missing')"
    assert run(box, source).cells[0].outputs[0]["ename"] == "ValueError"


def test_what_a_browser_would_run_is_left_out(box: Box) -> None:
    source = "from IPython.display import HTML, Javascript, SVG, Markdown, display\n"
    source += "display(HTML('<script>x</script>'), Javascript('x'), SVG('<svg/>'), Markdown('<script>'))"
    assert {mime for o in run(box, source).cells[0].outputs for mime in o["data"]} == {"text/plain"}


def test_an_error_stops_its_cell_alone_and_shows_the_students_lines(box: Box) -> None:
    result = run(box, "def f(x):\n    return x / 0", "print('before')\nf(1)\nprint('after')", "print('next')")
    text, error = result.cells[1].outputs
    assert text["text"] == "before\n"
    assert error["ename"] == "ZeroDivisionError"
    assert error["traceback"] == [
        "Cell 2, line 2",
        "    f(1)",
        "Cell 1, line 2, in f",
        "    return x / 0",
        "ZeroDivisionError: division by zero",
    ]
    assert result.cells[2].outputs[0]["text"] == "next\n"


def test_syntax_errors_show_where(box: Box) -> None:
    (error,) = run(box, "x = (1,\ny = 2").cells[0].outputs
    assert error["ename"] == "SyntaxError"
    assert any("^" in line for line in error["traceback"])


def test_input_fails_at_once(box: Box) -> None:
    result = run(box, "input('name? ')", "import getpass\ngetpass.getpass()")
    assert "nobody is there" in shown(result)
    assert result.seconds < box.limits.cell_wall


def test_a_stream_is_one_output_in_order(box: Box) -> None:
    source = "import sys\nprint('a')\nprint('b')\nprint('c', file=sys.stderr)\nprint('d')\n5"
    outputs = run(box, source).cells[0].outputs
    assert [(o["output_type"], o.get("name"), o.get("text")) for o in outputs[:3]] == [
        ("stream", "stdout", "a\nb\n"),
        ("stream", "stderr", "c\n"),
        ("stream", "stdout", "d\n"),
    ]
    value = {"data": {"text/plain": "5"}, "metadata": {}, "execution_count": 1}
    assert outputs[3] == {"output_type": "execute_result", **value}


SLOW = "import time\ndef f(seconds):\n    end = time.process_time() + seconds\n    while time.process_time() < end: pass\n    return 1.0"
QUICK = replace(LIMITS, call_cpu=0.5, question_cpu=1.0)


def answered(result: BoxResult) -> list[list[str]]:
    """Of each interview, how its calls ended."""
    rows = [row for cell in result.cells for row in cell.outcomes]
    return [["answered" if outcome.fault is None else outcome.fault.kind for outcome in row] for row in rows]


def test_waiting_costs_no_processor_time_and_working_does(box: Box) -> None:
    waits = "import time\ndef f(x):\n    time.sleep(0.7)\n    return x"
    assert answered(run(box, waits, asking("f", (1.0,)), limits=QUICK)) == [["answered"]]
    result = run(box, SLOW, asking("f", (0.7,)), limits=QUICK)
    assert answered(result) == [["TookTooLong"]]
    assert "0.5 seconds of processor time" in result.cells[-1].outcomes[0][0].fault.words


def test_a_slow_answer_costs_itself_at_most(box: Box) -> None:
    asked = (asking("f", *[(0.3,)] * 12), replace(asking("f", (0.0,), (0.0,)), id="next"))
    slow, after = answered(run(box, SLOW, *asked, limits=QUICK))
    assert slow[:3] == ["answered"] * 3
    assert slow[-1] == "TookTooLong"
    assert after == ["answered", "answered"]


HARMLESS = {
    "a compiler": "import torch\n@torch.compile\ndef f(x): return x + 1",
    "a compiler with options": "import torch\ndef f(x): return x + 1\nf = torch.compile(f, dynamic=True)",
    "a clock": "import threading, time\ndef tick():\n    while True: time.sleep(0.01)\nthreading.Thread(target=tick, daemon=True).start()\ndef f(x): return x + 1",
    "a pool": "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor(4) as pool: return sum(pool.map(lambda y: y, [x, 1]))",
    "a profiler": "import cProfile\ndef f(x): return cProfile.Profile().runcall(lambda: x + 1)",
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_compilers_clocks_pools_and_profilers_accuse_nobody(box: Box, name: str) -> None:
    result = run(box, HARMLESS[name], asking("f", (torch.ones(2),), (torch.zeros(3),)))
    assert answered(result) == [["answered", "answered"]], result.cells[-1]
    assert result.cells[-1].closed == ()
    assert result.incidents == ()


def test_a_seed_repeats_a_run_and_another_does_not(box: Box) -> None:
    draw = "import torch, random, numpy as np\nprint(torch.rand(2), random.random(), np.random.rand(), hash('x'))"
    first, again, other = (shown(run(box, draw, seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_what_an_interview_draws_depends_on_no_cell(box: Box) -> None:
    source = "import torch\ndef f(): return torch.rand(2)"
    one = run(box, source, asking("f", ()))
    other = run(box, source, "torch.rand(99)", asking("f", ()))
    assert one.cells[-1].outcomes[0][0].outputs[0].equal(other.cells[-1].outcomes[0][0].outputs[0])


def test_later_cells_see_earlier_ones(box: Box) -> None:
    assert shown(run(box, "x = 1", "x += 1\n_x = x", "print(x)\nx", "_ + 1")) == "2\n23"


def test_memory_is_flat_over_many_notebooks(box: Box) -> None:
    def resident() -> int:
        parent = box._parents[False].process.pid
        pages = [Path(f"/proc/{pid}/statm").read_text().split()[1] for pid in [parent, *descendants(parent)]]
        return sum(map(int, pages)) * 4096

    source = "import torch\nx = torch.randn(10**6)"
    run(box, source)
    before = resident()
    for _ in range(12):
        run(box, source)
    assert resident() - before < 4 << 20


def test_a_notebook_costs_little(box: Box) -> None:
    """Ten cells and twenty calls: the best of several, on a machine that may be busy; a quiet one takes 0.15 s."""
    sources = ["import torch\ndef f(x): return 2 * x", *["x = torch.randn(10)\nx.sum()"] * 8]
    assert min(run(box, *sources, asking("f", *[(torch.ones(3),)] * 20)).seconds for _ in range(5)) < 0.6
