"""The corpus of attacks: none harms the box, the machine or the next notebook, and each is reported for what it is."""

# ruff: noqa: E501  (a table: one case to a line)

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from autograder.sandbox import Box, BoxFault, Job, Limits
from autograder.sandbox.places import SCRATCH
from tests.autograder.sandbox.conftest import SHORT, asking, cells, descendants, is_whole, run, shown

SECRET = "the-answer-is-" + "forty-two"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """A hostile notebook and what must be said of it."""

    name: str
    sources: tuple[str, ...]
    ended: tuple[str, ...] = ("finished",)
    says: str = ""
    """Must be in what the notebook shows."""
    incident: str = ""
    """Must be among the incidents."""
    words: str = ""
    """Must be in the one sentence about its end."""

    @property
    def limits(self) -> Limits | None:
        """Short ones for what would go on for ever; the box's own for what ends."""
        endless = ("while True", "iter(int", "sleep(1", "10**9")
        return SHORT if any(words in source for source in self.sources for words in endless) else None


def attack(name: str, *sources: str, **expected: object) -> Attack:
    return Attack(name=name, sources=sources, **expected)  # type: ignore[arg-type]


LIBC = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
FORK = "tried to start another process"
OUTSIDE = "asked for a file outside its folder: "
LOOK = """
import os
for root in {roots!r}:
    for where, folders, files in os.walk(root):
        for name in files:
            try:
                content = open(os.path.join(where, name), errors='replace').read(10**6)
            except OSError:
                continue
            if 'forty' + '-two' in content:
                print('FOUND', where, name)
print('looked')
"""

ATTACKS = [
    # --- looking around
    attack("the environment", "import os; print(dict(os.environ))", says="student"),
    attack("/proc of itself", "print(open('/proc/self/environ').read())", says="No such file", incident=OUTSIDE + "/proc"),
    attack("/proc of the parent", "import os\nprint(os.getppid(), os.listdir('/proc'))", incident=OUTSIDE + "/proc"),
    attack(
        "the parent's memory",
        "import os\nfor p in range(1, 50):\n  for f in ('mem', 'maps', 'environ'):\n    try:\n"
        "      open(f'/proc/{p}/{f}', 'r+b'); print('OPENED')\n    except OSError: pass\nprint('tried')",
        says="tried",
        incident=OUTSIDE + "/proc/1/mem",
    ),
    attack(
        "process_vm_readv",
        LIBC + "b = ctypes.create_string_buffer(8)\nprint(libc.process_vm_readv(2, b, 1, b, 1, 0), ctypes.get_errno())",
        says="-1 1",
        incident="tried to look into another process",
    ),
    attack("ptrace", LIBC + "print(libc.ptrace(16, 2, 0, 0))", says="-1", incident="tried to look into another process"),
    attack("all files there are", LOOK.format(roots=["/tmp", "/work", "/home", "/root", "/var", "/opt", "/srv", "/mnt"])),
    attack("the gradebook by name", "open('../../gradebook.db')", says="FileNotFoundError"),
    attack("the course's package", "import autograder.question.verdict", says="No module named 'autograder.question.verdict'"),
    attack("the exercises", "from solutions.attention.checks import EXERCISES", says="No module named"),
    attack(
        "gc in search of answers",
        "import gc\nprint(sum('ex' + 'pected' in str(o) for o in gc.get_objects() if type(o) is dict and len(o) < 3"
        " and 'ex' + 'pected' in o))",
        says="0",
    ),
    attack(
        "settrace on the caller",
        "import sys\nseen = []\ndef spy(frame, event, arg):\n    seen.extend(frame.f_locals)\n    return spy\n"
        "sys.settrace(spy); sys.setprofile(spy)\ndef f(x): return x",
        "f(1)\nsys.settrace(None); sys.setprofile(None)\nprint([n for n in seen if 'expect' in n or 'reference' in n])",
        says="[]",
    ),
    # --- reaching out
    attack(
        "loopback",
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 22))\nexcept OSError as e: print(e)",
        says="Operation not permitted",
        incident="tried to open a network connection",
    ),
    attack(
        "the network, swallowed",
        "import socket\ntry:\n    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\nexcept BaseException: pass",
        incident="tried to open a network connection",
    ),
    attack("a web page", "import urllib.request\nurllib.request.urlopen('http://10.0.0.1/')", says="URLError"),
    attack("a Unix socket", "import socket\nsocket.socket(socket.AF_UNIX)", says="PermissionError"),
    attack("netlink", "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)", says="PermissionError"),
    attack("io_uring", LIBC + "print(libc.syscall(425, 8, 0), ctypes.get_errno())", says="-1 38"),
    # --- other processes
    attack("fork", "import os\nos.fork()", says="PermissionError", incident=FORK),
    attack("a fork bomb", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", ended=("finished", "wall"), incident=FORK),
    attack("vfork and clone by number", LIBC + "print(libc.syscall(58), libc.syscall(56, 17, 0, 0, 0, 0))", incident=FORK),
    attack("clone3", LIBC + "print(libc.syscall(435, 0, 0), ctypes.get_errno())", says="-1 38"),
    attack("a program", "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'id'])", says="PermissionError"),
    attack("os.execv", "import os\nos.execv('/lib64/ld-linux-x86-64.so.2', ['x'])", says="Permission", incident="tried to start a program"),
    attack("os.system", "import os\nprint(os.system('sleep 1000 &'))", incident=FORK),
    attack("multiprocessing", "import multiprocessing as m\nm.get_context('fork').Process(target=print).start()", says="PermissionError"),
    attack("a daemon by double fork", "import os\nif os.fork() == 0:\n    os.setsid(); os.fork()", says="PermissionError", incident=FORK),
    attack("a shell line", "!id\nx = !cat /etc/passwd\nprint(x)", says="passed over"),
    attack("a shell cell", "%%bash\nid", "print('on')", says="on"),
    attack("a signal to the parent", "import os\nos.kill(os.getppid(), 9)", says="PermissionError", incident="tried to send a signal"),
    attack("a signal to everybody", "import os\nos.kill(-1, 9)", says="PermissionError", incident="tried to send a signal"),
    attack("a signal to its group", "import os\nos.killpg(0, 9)", says="PermissionError", incident="tried to send a signal"),
    attack(
        "signals to anybody",
        LIBC + "for p in range(2, 3000):\n  for n, a in ((62, (p, 9)), (200, (p, 9)), (234, (p, p, 9)), (129, (p, 9, 0))):\n"
        "    libc.syscall(n, *a)",
        incident="tried to send a signal to another process (",
    ),
    attack("F_SETOWN", "import fcntl, os\nr, w = os.pipe()\nfcntl.fcntl(r, fcntl.F_SETOWN, 2)", says="PermissionError"),
    attack("a thread that outlives its cell", "import threading, time\ndef f():\n    while True: time.sleep(0.01)\n"
           "t = threading.Thread(target=f)\nt.start()", "print(t.is_alive())", says="True"),
    attack("a thousand threads", "import threading, time\nn = 0\ntry:\n  for i in range(1000):\n"
           "    threading.Thread(target=time.sleep, args=(100,), daemon=True).start(); n += 1\nexcept RuntimeError: pass\nprint(n < 40)", says="True"),
    attack("another user", "import os\nos.setuid(0)", says="PermissionError", incident="tried to change the sandbox"),
    # --- the sandbox itself
    attack("mount", LIBC + "print(libc.mount(b'none', b'/tmp', b'tmpfs', 0, 0))", says="-1", incident="tried to change the sandbox"),
    attack("unshare", LIBC + "print(libc.unshare(0x10000000))", says="-1", incident="tried to change the sandbox"),
    attack("umount /proc", LIBC + "print(libc.umount2(b'/proc', 2))", says="-1", incident="tried to change the sandbox"),
    attack("chroot", "import os\nos.chroot('/tmp')", says="PermissionError", incident="tried to change the sandbox"),
    attack("a new filter", LIBC + "print(libc.syscall(317, 0, 0, 0))", says="-1", incident="tried to change the sandbox"),
    attack("prctl", LIBC + "print(libc.prctl(1, 0, 0, 0, 0), libc.prctl(4, 1, 0, 0, 0))", says="-1 -1"),
    attack("bpf", LIBC + "print(libc.syscall(321, 0, 0, 0))", says="-1", incident="reserved for the system"),
    attack("higher limits", "import resource as r\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY,) * 2)", says="not allowed"),
    # --- using it up
    attack("50 GB", "import torch\nx = torch.empty(50 << 30, dtype=torch.uint8)", "print('on')", says="on"),
    attack("50 GB by and by", "x = []\nwhile True: x.append(bytearray(1 << 24))", "x = None\nprint('on')", says="on"),
    attack("memory in files that are none", "import os\nfor i in range(60):\n    os.memfd_create('x')", says="PermissionError"),
    attack("a disk full of one file", "with open('x', 'wb') as f:\n    while True: f.write(bytes(1 << 20))", says="File too large"),
    attack("a disk full of files", "for i in range(100):\n    open(f'x{i}', 'wb').write(bytes(1 << 20))", says="No space left"),
    attack("a million empty files", "for i in range(10**6): open(f'x{i}', 'w').close()", says="No space left"),
    attack("all descriptors", "x = [open('/dev/null') for _ in range(1000)]", says="Too many open files"),
    attack("a flood of output", "while True: print('x' * 10000)", "print('on')", says="on"),
    attack("a flood of displays", "from IPython.display import display\nfor i in range(10**5): display(i)", "print('on')", says="on"),
    attack("10^6 lines", "for i in range(10**6): print(i)", says="was left out"),
    attack("an endless loop", "while True: pass", "print('on')", says="on"),
    attack("an endless loop in C", "sum(iter(int, 1))", ended=("wall",)),
    attack(
        "an endless loop that swallows interrupts",
        # Twice: an interrupt may fall between the two inner lines.
        "while True:\n try:\n  while True:\n   try:\n    while True: sum(range(1000))\n   except BaseException: pass\n"
        " except BaseException: pass",
        ended=("wall",),
        words="did not stop when it was interrupted",
    ),
    attack(
        "no alarm",
        "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
        ended=("wall", "cpu"),
    ),
    attack(
        "all signals blocked",
        "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ntime.sleep(1000)",
        ended=("wall",),
    ),
    attack("many threads that compute", "import threading, hashlib\nfor _ in range(8): threading.Thread(target=lambda:"
           " hashlib.pbkdf2_hmac('sha256', b'x', b'y', 10**9)).start()\nimport time; time.sleep(100)", ended=("finished", "cpu", "wall")),
    attack("deep recursion", "def f(): f()\nf()", "print('on')", says="RecursionError"),
    attack("deeper recursion", "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()", ended=("finished", "killed", "wall")),
    # --- ending it
    attack("os._exit", "import os\nos._exit(0)", ended=("left",), words="ended itself"),
    attack("a segmentation fault", "import ctypes\nctypes.string_at(0)", ended=("killed",), words="crashed", incident="ended by SIGSEGV"),
    attack("abort", "import os\nos.abort()", ended=("killed",), words="crashed"),
    attack("sys.exit", "import sys\nsys.exit(3)", "print('on')", says="on"),
    attack("exit in a thread", "import threading, os\nthreading.Thread(target=os._exit, args=(0,)).start()", ended=("left",)),
    attack("atexit", "import atexit, os\natexit.register(os._exit, 7)\natexit.register(print, 'x')"),
    attack("__del__ that raises", "class A:\n    def __del__(self): raise SystemExit('no')\na = A()\ndel a\nb = A()", "print('on')", says="on"),
    attack("KeyboardInterrupt", "raise KeyboardInterrupt", "print('on')", says="on"),
    attack("an error that cannot be shown", "class E(Exception):\n    def __str__(self): raise ValueError\nraise E", says="cannot be shown"),
    attack("no more stdout", "import sys\nsys.stdout = None\nsys.stderr = None", "x = 1\nx"),
    attack("stdout replaced", "import sys\nclass O:\n    def write(self, x): raise SystemExit\nsys.stdout = O()\nprint(1)", "1 + 1", says="2"),
    attack("all descriptors closed", "import os\nos.closerange(0, 1024)", "1", ended=("left", "protocol")),
    # --- lasting
    attack("the package", "import nlmcore, os\nopen(os.path.join(nlmcore.__path__[0], '__init__.py'), 'a')", says="Error"),
    attack("a .pth file", "import torch, os\nopen(os.path.dirname(torch.__file__) + '/../x.pth', 'w')", says="Error"),
    attack("sitecustomize", "import os\nopen(os.__file__.replace('os.py', 'sitecustomize.py'), 'w')", says="Error"),
    attack("a device that stays", "open('/dev/shm/x', 'w')", says="Error"),
    attack("the warm parent's folder", "open('/warm/x', 'w')", says="Error", incident=OUTSIDE + "/warm"),
    attack("start-up files", "import os\nfor p in ('.ipython/profile_default/startup', '.config', '.local/lib/python3.11/site-packages'):\n"
           "    os.makedirs(os.path.expanduser('~/' + p))\n    open(os.path.expanduser('~/' + p) + '/usercustomize.py', 'w').write('raise SystemExit')"),
    attack("/tmp", "open('/tmp/left-behind', 'w').write('x')"),
    attack("a patched comparison", "import torch\ntorch.allclose = torch.equal = lambda *a, **k: True\ntorch.Tensor.__eq__ = lambda s, o: True"),
    attack("a patched runner", "import sys\nfor n, m in list(sys.modules.items()):\n    if 'box' in n:\n        for k in list(vars(m)):\n"
           "            if not k.startswith('_'): setattr(m, k, None)", "1", ended=("left", "protocol", "finished", "wall")),
    attack("no more modules", "import sys\nsys.modules.clear()", "1", ended=("left", "protocol", "finished", "wall")),
    attack("another folder", "import os\nos.chdir('/')", "print('on')", says="on"),
    attack("builtins", "import builtins\nbuiltins.len = lambda x: 1 / 0\nbuiltins.isinstance = None", "1", ended=("left", "protocol", "finished", "wall")),
]  # fmt: skip


@pytest.fixture(scope="module")
def secrets() -> Iterator[None]:
    """What must not be found: in the environment, in the grader's files, in this very process."""
    mine = os.getpid()  # another worker, or another checkout, may run these tests at the same time
    places = [Path(f"/tmp/box-attacks-{mine}-gradebook.db"), Path(f"/var/tmp/box-attacks-{mine}-other.ipynb")]
    os.environ["BOX_ATTACKS"] = SECRET
    for place in places:
        place.write_text(SECRET)
        place.chmod(0o644)
    yield
    del os.environ["BOX_ATTACKS"]
    for place in places:
        place.unlink()


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_nothing_is_gained_and_nobody_is_harmed(box: Box, secrets: None, one: Attack) -> None:
    result = box.run(Job(name=one.name, cells=cells(*one.sources)), one.limits)
    assert result.ended in one.ended, (result.words, shown(result)[-500:])
    assert SECRET not in repr(result)
    assert "FOUND" not in shown(result)
    assert "OPENED" not in shown(result)
    assert one.says in shown(result), shown(result)[-800:]
    assert one.words in result.words
    assert one.incident == "" or any(i.startswith(one.incident) or one.incident in i for i in result.incidents), result
    assert result.at is None or result.at in result.words
    is_whole(box)


def test_the_box_was_never_lost(box: Box) -> None:
    is_whole(box)
    assert box.starts == 1


# --- the way back -----------------------------------------------------------------------------------------

FIND = (
    "import os, stat\ndef _is_pipe(d):\n    try: return stat.S_ISFIFO(os.fstat(d).st_mode)\n    except OSError: return False\n"
    "pipes = [d for d in range(3, 1024) if _is_pipe(d)]\n"
)


def forge(frame: str) -> str:
    """A cell that writes a frame of its own on every pipe it has."""
    return (
        FIND + "import json, struct\ndef send(header, body=b''):\n    text = json.dumps(header).encode()\n"
        "    for d in pipes:\n        try: os.write(d, struct.pack('>QQ', len(text), len(body)) + text + body)\n"
        "        except OSError: pass\n" + frame
    )


@pytest.mark.parametrize(
    ("frame", "ended"),
    [
        ("send({'ticket': '0' * 32, 'outputs': [], 'closed': [], 'noted': []})", "protocol"),
        (
            "send({'outcomes': [{'outputs': [], 'fault': None, 'changed': []}] * 9, 'closed': [], 'noted': []})",
            "protocol",
        ),
        ("[os.write(d, b'\\xff' * 4096) for d in pipes[1:]]", "result-too-large"),
        ("[os.write(d, struct.pack('>QQ', 1 << 60, 0)) for d in pipes[1:]]", "result-too-large"),
        ("[os.write(d, struct.pack('>QQ', 9, 0) + b'x' * 9) for d in pipes[1:]]", "protocol"),
        ("[os.write(d, struct.pack('>QQ', 20000, 0) + b'[' * 20000) for d in pipes[1:]]", "protocol"),
        ("[os.write(d, struct.pack('>QQ', 20, 0)) for d in pipes[1:]]\nwhile True: pass", "protocol"),
        ("for d in pipes: os.dup2(os.open('/dev/null', os.O_RDWR), d)", "left"),
        (  # an answer to the question of a later cell, whose ticket it does not know
            "send({'ticket': 'x', 'outcomes': [{'outputs': [], 'fault': None, 'changed': []}], 'closed': [], 'noted': []})",
            "protocol",
        ),
    ],
)
def test_forged_replies_end_the_notebook_and_nothing_else(box: Box, frame: str, ended: str) -> None:
    job = Job(name="forger", cells=(*cells("def f(a): return a", forge(frame), "1"), asking("f", (1.0,))))
    result = box.run(job, Limits(wall=3, cell_wall=1))
    assert result.ended == "wall" or not any(c.isdecimal() for c in result.words.partition(": ")[2])  # a size can tell
    assert result.ended in (ended, "wall") if "while" in frame else result.ended == ended, result
    assert all(cell.id != "test" for cell in result.cells)
    is_whole(box)


def test_a_ticket_cannot_be_used_twice(box: Box) -> None:
    """A function that finds its own question's ticket in memory, and answers twice with it."""
    source = forge(
        "import gc\ndef f(a):\n    for o in gc.get_objects():\n        if type(o) is dict and o.get('do') == 'ask':\n"
        "            for i in range(2):\n                send({'ticket': o['ticket'], 'closed': [], 'noted': [], 'outcomes':"
        " [{'outputs': [], 'fault': ['a', 'b', 'c', 'd'], 'changed': []}]})\n    return a\n"
    )
    run(box, source, asking("f", (1.0,)), "1", ended="protocol")
    is_whole(box)


def test_inputs_are_not_there_before_their_cell_is_reached(box: Box) -> None:
    look = "import gc, torch\nprint([t.tolist() for t in gc.get_objects() if type(t) is torch.Tensor and 7654.0 in t])"
    bytes_too = "print(any(b'\\x00\\x30\\xef\\x45' in o for o in gc.get_objects() if type(o) is bytes))"
    result = run(box, f"{look}\n{bytes_too}\ndef f(a): return a", asking("f", (torch.tensor([7654.0]),)))
    assert shown(result) == "[]\nFalse\n"
    assert result.cells[-1].outcomes[0][0].outputs[0].tolist() == [7654.0]


def test_nothing_of_one_notebook_reaches_the_next(box: Box) -> None:
    """Files, modules, variables, generators: every notebook begins where the first began."""
    trace = f"import os, sys, torch, random\nprint(os.listdir('.'), os.listdir({SCRATCH!r}), os.getcwd())\n"
    trace += "print('x' in globals(), hasattr(torch, 'mine'), torch.rand(1).item(), random.random(), len(sys.modules))"
    first = shown(run(box, trace))
    spoil = f"x = 1; torch.mine = 2; open('a', 'w'); open('{SCRATCH}/b', 'w'); torch.manual_seed(5); random.seed(3)"
    run(box, trace, spoil)
    assert first == shown(run(box, trace))
    assert first.startswith(f"[] ['work'] {SCRATCH}/work\nFalse False ")


def test_every_process_is_gone_afterwards(box: Box) -> None:
    run(box, "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()")
    time.sleep(0.1)
    inside = descendants(box._parents[False].process.pid)
    assert len(inside) <= 2, inside  # bubblewrap's own process 1, and the warm parent


def test_a_lost_parent_is_replaced(box: Box) -> None:
    is_whole(box)
    starts = box.starts
    box._parents[False].process.kill()
    box._parents[False].process.wait()
    is_whole(box)
    assert box.starts == starts + 1
    box.starts = starts


def test_a_parent_that_hangs_is_replaced(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    is_whole(box)
    starts = box.starts
    inside = descendants(box._parents[False].process.pid)
    for process in inside:
        with contextlib.suppress(ProcessLookupError):  # a child of the test before may end just now
            os.kill(process, signal.SIGSTOP)
    monkeypatch.setattr("autograder.sandbox.session.BEGIN_SECONDS", 2.0)
    monkeypatch.setattr("autograder.sandbox.session.UNHEEDED_SECONDS", 0.5)
    with contextlib.suppress(BoxFault):  # a slow machine: two seconds were too short for the second one too
        is_whole(box)
    assert box.starts > starts
    assert not any(Path(f"/proc/{process}").exists() for process in inside)
    monkeypatch.undo()
    is_whole(box)
    box.starts = starts


def test_threads_share_a_box(box: Box) -> None:
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(is_whole, [box] * 3))


def test_what_was_reached_before_the_end_is_kept(box: Box) -> None:
    source = "import os\ndef f(a): return a\ndef g(a): os._exit(1)"
    result = run(box, source, asking("f", (1.0,)), asking("g", (1.0,)), "1", ended="left")
    assert result.at == "test"
    assert [len(cell.outcomes) for cell in result.cells] == [0, 1, 0]


def test_wall_time_is_kept(box: Box) -> None:
    began = time.monotonic()
    run(box, "import time", *["time.sleep(0.6)"] * 10, limits=Limits(wall=2), ended="total")
    assert time.monotonic() - began < 5.5 < 10 * 0.6
