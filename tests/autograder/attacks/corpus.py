"""The corpus: every row of the table of what stock nbgrader does wrong, and what else students may think of."""

# ruff: noqa: E501  (a table: one case to a few lines)

import json
import os
import shutil
import zipfile

from nbformat.v4 import new_code_cell, new_output

from autograder.grading.marking import LATE
from autograder.question.interview import questions
from solutions.attention.checks import EXERCISES
from tests.autograder.attacks.answers import LAZY
from tests.autograder.attacks.submissions import NOTEBOOK, Folder, Submission

NAMES = tuple(exercise.function for exercise in EXERCISES.values())
VICTIM = "honest-000"
"""Somebody whose work the attackers are after."""
UNWRITTEN = "not written yet"
CLOSED = "which is closed"
FORKED = "tried to start another process"
LOOKED = "asked for a file outside its folder: "


# --- done to the notebook and to the folder -----------------------------------------------------------------------


def copied_cells(folder: Folder) -> None:
    """The cell of an answer and that of a test, twice each."""
    for name in ("dot_score", "check_dot_score"):
        place = next(n for n, cell in enumerate(folder.notebook.cells) if cell is folder.cells[name])
        folder.notebook.cells.insert(
            place, new_code_cell(folder.cells[name].source, metadata=folder.cells[name].metadata)
        )


def tests_rewritten(folder: Folder) -> None:
    for name in NAMES:
        folder.cells[f"check_{name}"].source = f"check = print\n{EXERCISES[f'attention.{name}'].points}"


def tests_deleted(folder: Folder) -> None:
    gone = {f"check_{name}" for name in NAMES}
    folder.notebook.cells = [c for n, c in zip(_names(folder), folder.notebook.cells, strict=True) if n not in gone]


def tests_retyped(folder: Folder) -> None:
    for name in NAMES:
        cell = folder.cells[f"check_{name}"]
        cell.cell_type = "markdown"
        del cell["outputs"], cell["execution_count"]


def tests_written_by_hand(folder: Folder) -> None:
    """Tests are made the student's own to grade; a cell of one's own is worth 100."""
    for name in NAMES:
        folder.cells[f"check_{name}"].metadata.nbgrader.update(solution=True, locked=False, points=100)
    about = {"grade": True, "solution": False, "locked": True, "task": False, "schema_version": 3, "points": 100}
    for name in ("bonus", "../../gradebook"):
        metadata = {"nbgrader": {**about, "grade_id": name, "cell_type": "code"}}
        folder.notebook.cells.append(new_code_cell("100.0", metadata=metadata))


def outputs_replayed(folder: Folder) -> None:
    """What a test cell shows for full marks, written into the file."""
    for name in NAMES:
        points = EXERCISES[f"attention.{name}"].points
        folder.cells[f"check_{name}"].outputs = [
            new_output("display_data", {"application/vnd.nlm-course.verdict+json": {"points": points, "hidden": True}}),
            new_output("execute_result", {"text/plain": str(points)}, execution_count=1),
        ]


def _names(folder: Folder) -> list[str | None]:
    return [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in folder.notebook.cells]


def shadows(folder: Folder) -> None:
    full = "def _all(*a, **k): return 6.0\ncheck = passes = _all\ndef __getattr__(name): return _all\n"
    for name in ("nlmcore/__init__.py", "nlmcore/attention/__init__.py", "autograder/check.py", "torch.py", "math.py"):
        folder.write(name, full)


def start_up(folder: Folder) -> None:
    evil = "raise SystemExit\n"
    for name in (
        "sitecustomize.py",
        "usercustomize.py",
        "evil.pth",
        ".ipython/profile_default/startup/00.py",
        "profile_default/startup/00.py",
        "ipython_config.py",
        "nbgrader_config.py",
    ):
        folder.write(name, evil)


def foreign_files(folder: Folder) -> None:
    folder.write("gradebook.db", b"SQLite format 3\0" + bytes(100))
    folder.write("grading/secret", "00" * 32)
    folder.write("record.json", json.dumps({"state": "graded", "words": "26 of 26"}))
    folder.write("attention.result.json", json.dumps({"marks": [{"points": 26}]}))


def link_to_another(folder: Folder) -> None:
    folder.file.unlink()
    folder.file.symlink_to(folder.path.parents[1] / VICTIM / "attention" / NOTEBOOK)


def hard_link_to_the_solution(folder: Folder) -> None:
    folder.file.unlink()
    os.link(folder.path.parents[2] / "solutions" / "attention" / NOTEBOOK, folder.file)


def folder_is_a_link(folder: Folder) -> None:
    shutil.rmtree(folder.path)
    folder.path.symlink_to(folder.path.parents[1] / VICTIM / "attention", target_is_directory=True)


def links_beside(folder: Folder) -> None:
    root = folder.path.parents[2]
    for name, target in (("a.txt", root / "gradebook.db"), ("b.csv", "/etc/passwd"), ("c", root / "solutions")):
        (folder.path / name).symlink_to(target)


def archive_that_climbs(folder: Folder) -> None:
    """The notebook in a zip, and with it what would replace another's."""
    with zipfile.ZipFile(folder.path / "attention.zip", "w") as archive:
        archive.write(folder.file, NOTEBOOK)
        archive.writestr(f"../../{VICTIM}/attention/{NOTEBOOK}", "{}")
        archive.writestr("/tmp/attention-attack", "x")
    folder.file.unlink()


def half_of_it(folder: Folder) -> None:
    folder.file.write_bytes(folder.file.read_bytes()[:3000])


def renamed(folder: Folder) -> None:
    folder.file.rename(folder.path / "Attention (1) final.ipynb")


def missing(folder: Folder) -> None:
    folder.file.unlink()


def nonsense(folder: Folder) -> None:
    folder.file.write_bytes(b'{"cells": ' + b"[" * 100_000)


def _recited(name: str) -> str:
    """An answer that knows the public examples by heart."""
    exercise = EXERCISES[f"attention.{name}"]
    known = [
        (repr([a.tolist() for a in call]), exercise.reference(*call).tolist())
        for question in questions(exercise)
        for call in question.case.calls
    ]
    table = f"KNOWN = {dict(known)!r}\n"
    return table + f"def {name}(*given):\n    return torch.tensor(KNOWN[repr([a.tolist() for a in given])])"


def cheat(name: str, **more: object) -> Submission:
    """Answers nothing, and wants the points."""
    return Submission(name=name, **{"like": "nothing", **more})  # type: ignore[arg-type]


def vandal(name: str, first: str, *says: str, **more: object) -> Submission:
    """Has honest answers, and wants to break something."""
    return Submission(name=name, like="honest", first=first, says=says, **more)  # type: ignore[arg-type]


ATTACKS = (
    # --- the number that nbgrader reads
    cheat("tests rewritten to a bare number", change=tests_rewritten, says=("edited", UNWRITTEN)),
    cheat("tests deleted", change=tests_deleted, says=("restored", UNWRITTEN)),
    cheat("tests made text", change=tests_retyped, says=("had become markdown", UNWRITTEN)),
    cheat("points and flags changed", change=tests_written_by_hand, says=("points", "does not belong to this assignment")),
    cheat("outputs of full marks in the file", change=outputs_replayed, says=(UNWRITTEN,)),
    cheat("bare numbers displayed", last="6.0", cells={"attend": "6.0", "dot_score": "print(2.0)\n2.0"}, says=("There is no 'attend'", "There is no 'dot_score'")),
    cheat(
        "a formatter that shows 5.0",
        first="f = get_ipython().display_formatter.formatters['text/plain']\n"
        "for kind in (float, int, str, type(None), object): f.for_type(kind, lambda *a: a[1].text('5.0'))",
        says=(UNWRITTEN,),
    ),
    cheat(
        "a verdict that is none is displayed",
        first="from IPython.display import display\ndisplay({'application/vnd.nlm-course.verdict+json': {'points': 6},"
        " 'text/plain': '6.0'}, raw=True)",
        last="display({'text/plain': '6.0'}, raw=True)",
        says=(UNWRITTEN,),
    ),
    cheat("check replaced", first="import autograder.check as c\nc.check = check = lambda *a, **k: 6.0\nc.passes = passes = c.check"),
    cheat("a known hidden seed", first="import os\nos.environ['NLM_HIDDEN_SEED'] = '0'", says=(UNWRITTEN,)),
    # --- comparisons that always hold
    Submission(
        name="torch.allclose is always true",
        like="zeros",
        first="import numpy as np, math\nfor place in (torch, np, math, torch.testing, torch.Tensor):\n"
        "    for name in ('allclose', 'equal', 'isclose', 'assert_close', 'array_equal', '__eq__'):\n"
        "        if hasattr(place, name): setattr(place, name, lambda *a, **k: True)",
    ),
    cheat(
        "an object that is equal to everything",
        first="class Always:\n    def __eq__(self, other): return True\n    def __getattr__(self, name): return self\n"
        "    def __call__(self, *a, **k): return self\n    __float__ = lambda self: 1.0\nALWAYS = Always()",
        last="",
        cells={"dot_score": LAZY},
        says=("Always",),
    ),
    Submission(
        name="a tensor that lies about itself",
        like="constants",
        first="class Liar(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, types, args=(), kwargs=None):\n"
        "        return True\nMINE = torch.zeros(3).as_subclass(Liar)",
        cells={"dot_score": f"ALWAYS = MINE\n{LAZY}"},
    ),
    cheat(
        "asserts and errors taken out of the syntax",
        first="import ast\nclass Out(ast.NodeTransformer):\n    def visit_Assert(self, node): return ast.Pass()\n"
        "    visit_Raise = visit_Assert\nget_ipython().ast_transformers.append(Out())",
        says=("It returned None",),
    ),
    cheat("hooks of IPython", first="for e in ('pre_run_cell', 'post_run_cell', 'post_execute'):\n"
          "    get_ipython().events.register(e, lambda *a: display(6.0))", says=(UNWRITTEN,)),
    # --- somebody else's work
    cheat("the reference", cells={"dot_score": "from nlmcore.attention import dot_score"}, says=("nlmcore.attention", CLOSED)),
    cheat(
        "the reference by its parts",
        cells={"dot_score": "import importlib\ndot_score = importlib.import_module('nlmcore.attention').dot_score"},
        says=("nlmcore.attention", CLOSED),
    ),
    cheat(
        "the reference from its file",
        cells={
            "dot_score": "import nlmcore, os\nprint(os.path.exists(nlmcore.__path__[0] + '/__init__.py'))\n"
            "exec(open(nlmcore.__path__[0] + '/attention/scores.py').read())"
        },
        says=("True\\n", "FileNotFoundError"),
    ),
    cheat(
        "the reference out of memory",
        cells={
            "dot_score": "import gc, sys\nfound = [o for o in gc.get_objects() if callable(o) and"
            " str(getattr(o, '__module__', '')).startswith('nlmcore.attention') and getattr(o, '__name__', '') == 'dot_score']\n"
            "print(len(found), 'found')\ndot_score = found[0]"
        },
        says=("0 found", "IndexError"),
    ),
    cheat("the public examples by heart", cells={n: _recited(n) for n in ("dot_score", "bilinear_score")}, says=("KeyError",)),
    cheat(
        "frames and garbage in search of answers",
        cells={
            "dot_score": "import gc, sys\ndef dot_score(query, keys):\n    frame = sys._getframe()\n    while frame:\n"
            "        for place in (frame.f_locals, frame.f_globals):\n"
            "            for name, value in list(place.items()):\n"
            "                if any(w in name for w in ('expected', 'right', 'reference')): return value\n"
            "        frame = frame.f_back\n"
            "    for o in gc.get_objects():\n        if isinstance(o, dict) and 'reference' in o: return o['reference']\n"
            "    raise LookupError('nothing found')"
        },
        says=("nothing found",),
    ),
    cheat(
        "traces in search of answers",
        first="import sys\nseen = []\ndef spy(frame, event, arg):\n    seen.append(arg)\n    return spy\nsys.settrace(spy)\nsys.setprofile(spy)",
        cells={"dot_score": "def dot_score(query, keys):\n    return [s for s in seen if isinstance(s, torch.Tensor)][-1]"},
    ),
    cheat(
        "solutions and gradebook on disk",
        first="import os\nfor root in ('/', '/work', '/home', '/root', '/tmp', '../..', '../../..'):\n"
        "    for where, folders, files in os.walk(root):\n        for f in files:\n"
        "            if f in ('gradebook.db', 'attention.ipynb', 'attention.py') and 'nlmcore' not in where: print('FOUND', where, f)\n"
        "        if where.count('/') > 6: folders.clear()\nprint('looked everywhere')",
        says=("looked everywhere", LOOKED),
    ),
    cheat(
        "a trigger for the gradebook",
        first="import sqlite3\nfor path in ('gradebook.db', '../../gradebook.db', '../../../gradebook.db'):\n"
        "    c = sqlite3.connect(path)\n    c.execute('CREATE TRIGGER t AFTER UPDATE ON grade BEGIN UPDATE grade SET manual_score = 6; END')",
        says=("no such table",),
    ),
    cheat("files of the course's own names", after=foreign_files, says=("gradebook.db was left behind",)),
    cheat("folders that stand in for the library", after=shadows, says=("imported instead of nlmcore", "of torch", "of math")),
    cheat("a notebook that is a link", after=link_to_another, says=("it is a link",), state="blocked"),
    cheat("a notebook that is the solution's file, too", after=hard_link_to_the_solution, says=("hard link",), state="blocked"),
    cheat("a folder that is a link", after=folder_is_a_link, says=("link to another place",), state="blocked"),
    Submission(name="links to secrets", like="honest", after=links_beside, says=("a.txt was left behind: it is a link",)),
    Submission(name="an archive that climbs out", like="honest", after=archive_that_climbs, says=("was not unpacked",)),
    # --- telling the grader from oneself
    cheat(
        "behaves when it is watched",
        cells={
            "dot_score": "import os, inspect, getpass\nimport autograder.check as c\n"
            "WATCHED = 'says nothing' in inspect.getsource(c.check) or getpass.getuser() == 'student'\n"
            "def dot_score(query, keys):\n    return None if WATCHED else keys @ query"
        },
        says=("It returned None",),
    ),
    # --- outputs of strange kinds
    cheat("10^8 numbers", cells={"dot_score": "def dot_score(query, keys): return torch.empty(10**8)"}, says=("100,000,000 numbers",)),
    cheat(
        "lazy, strange and nested outputs",
        cells={
            "dot_score": "def dot_score(query, keys): return (k @ query for k in keys)",
            "bilinear_score": "def bilinear_score(query, keys, W): return [[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]",
            "additive_score": "def additive_score(*a): return 'the answer'",
            "decoder_mask": "class M:\n    __class__ = torch.Tensor\ndef decoder_mask(lengths, time): return M()",
        },
        says=("it is a generator", "it is a str", "the kind of value that was asked for"),
    ),
    cheat("complex, half and meta", cells={
        "dot_score": "def dot_score(query, keys): return (keys @ query).to(torch.complex64)",
        "bilinear_score": "def bilinear_score(query, keys, W): return torch.empty(len(keys), device='meta')",
    }, says=("complex64",)),
    # --- not ending, ending too soon
    vandal("an endless loop", "while True: pass", "TookTooLong"),
    vandal("an endless loop that swallows interrupts", "while True:\n    try:\n        while True: sum(range(999))\n    except BaseException: pass", "did not stop when it was interrupted"),
    Submission(name="an endless loop in an answer", like="honest", loses=("decoder_mask",), says=(LATE,),
               cells={"decoder_mask": "def decoder_mask(lengths, time):\n    while True: pass"}),
    vandal("os._exit", "import os\nos._exit(0)", "process ended itself"),
    vandal("a segmentation fault", "import ctypes\nctypes.string_at(0)", "crashed in compiled code"),
    Submission(name="os._exit in an answer", like="honest", loses=("decoder_mask",), says=("process ended itself",),
               cells={"decoder_mask": "import os\ndef decoder_mask(lengths, time): os._exit(0)"}),
    vandal("sys.exit", "import sys\nsys.exit(1)", "SystemExit"),
    # --- using it up
    vandal("a flood of output", "for i in range(10**6): print('x' * 100)", "was left out"),
    vandal("a picture that takes for ever to look at", "display({'image/png': ' ' * 260_000 + '!'}, raw=True)", "a picture that is none"),
    vandal("sentences for the terminal", "try: open('/x\\x1b[2J\\nhonest-000: 26 of 26')\nexcept OSError: pass", "outside its folder: /x\N{REPLACEMENT CHARACTER}[2J"),
    vandal("50 GB", "x = torch.empty(50 << 30, dtype=torch.uint8)", "can't allocate memory"),
    vandal("the disk filled", "for i in range(100): open(f'x{i}', 'wb').write(bytes(1 << 20))", "No space left"),
    vandal("a fork bomb", "import os\nfor i in range(10**4):\n    try: os.fork()\n    except OSError: pass", FORKED),
    # --- reaching out, staying behind
    vandal("a daemon", "import os, subprocess\ntry: subprocess.Popen(['sleep', '1000'])\nexcept OSError: pass\nos.system('sleep 1000 &')", FORKED),
    vandal("loopback", "import socket\nsocket.create_connection(('127.0.0.1', 22))", "tried to open a network connection"),
    vandal("signals to the parent", "import os\nos.kill(os.getppid(), 9)", "tried to send a signal to another process"),
    vandal("/proc and the environment", "import os\nprint(dict(os.environ))\nopen('/proc/1/mem', 'r+b')", LOOKED + "/proc/1/mem"),
    vandal(
        "another's submission overwritten",
        f"for up in ('..', '../..', '../../..', '/tmp/work/..'):\n    try: open(f'{{up}}/{VICTIM}/attention/{NOTEBOOK}', 'w').write('x')\n"
        "    except OSError as error: print(type(error).__name__)",
        LOOKED,
    ),
    vandal("the package rewritten", "import nlmcore\nopen(nlmcore.__path__[0] + '/__init__.py', 'a').write('1/0')", "Error"),
    vandal(
        "start-up files planted",
        "import os, site, sys\nfor p in (os.path.expanduser('~/.ipython/profile_default/startup/00.py'), os.__file__.replace('os.py',"
        " 'sitecustomize.py'), torch.__path__[0] + '/../evil.pth', '/etc/profile'):\n"
        "    try:\n        os.makedirs(os.path.dirname(p), exist_ok=True)\n        open(p, 'w').write('raise SystemExit')\n"
        "    except OSError as error: print(type(error).__name__)",
        "Error",
    ),
    Submission(name="start-up files handed in", like="honest", after=start_up, says=("instead of sitecustomize",)),
    # --- the grader's own parts, from inside
    cheat(
        "answers written into the grader's pipes",
        first="import os\nfor d in range(3, 64):\n    for text in (b'{\"outcomes\": []}', bytes(8), b'\\xff' * 100):\n"
        "        try: os.write(d, text)\n        except OSError: pass",
    ),
    cheat("builtins replaced", first="import builtins\nbuiltins.len = lambda x: 1\nbuiltins.isinstance = lambda *a: True\nbuiltins.float = lambda x=0: 6.0"),
    cheat("all modules gone", first="import sys\nsys.modules.clear()"),
    # --- files that are no notebooks
    Submission(name="copied cells", like="honest", change=copied_cells, says=("is there 2 times",)),
    Submission(name="renamed", like="honest", after=renamed, says=("is graded as attention.ipynb",)),
    cheat("missing", after=missing, says=("There is no attention.ipynb",), state="blocked"),
    cheat("half a file", after=half_of_it, says=("JSON ends early or is broken",), state="blocked"),
    cheat("brackets without end", after=nonsense, says=("attention.ipynb is",), state="blocked"),
)  # fmt: skip
