"""Which walls there are, tried as root and as an ordinary user; and that without any nothing runs unasked."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.question import alone
from autograder.sandbox import Box, BoxFault, IsolationMissing, Limits, places, tiers
from autograder.sandbox.inside import landlock
from autograder.sandbox.probe import probe
from tests.autograder.accounts import shown as shown_to_all
from tests.autograder.accounts import why_not
from tests.autograder.sandbox.conftest import LIMITS, NEEDS_SANDBOX, is_whole, run, shown

NEEDS_LANDLOCK = pytest.mark.skipif(tiers.landlock_fault() is not None, reason="no Landlock here")
TIERS = [pytest.param("bubblewrap", marks=NEEDS_SANDBOX), pytest.param("landlock", marks=NEEDS_LANDLOCK)]
both_tiers = pytest.mark.parametrize("isolation", TIERS)


@pytest.fixture
def another_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """What it has is looked for anew."""
    for fault in (tiers.bubblewrap_fault, tiers.landlock_fault):
        fault.cache_clear()
    yield monkeypatch
    for fault in (tiers.bubblewrap_fault, tiers.landlock_fault):
        fault.cache_clear()


@pytest.mark.slow
@both_tiers
def test_every_attempt_of_the_probe_is_stopped(isolation: tiers.Isolation) -> None:
    facts = probe(isolation)
    assert facts.holds, [a for a in facts.attempts if not a.stopped]
    assert facts.tier is not None
    assert facts.tier.name == isolation
    assert len(facts.attempts) > 10
    assert 0 < facts.seconds < 5


@pytest.mark.everything
@pytest.mark.slow
def test_the_probe_sees_what_is_not_stopped() -> None:
    """Without isolation most attempts succeed, and the probe says which: it is no formality."""
    facts = probe("none")
    assert not facts.holds
    got_through = {a.what for a in facts.attempts if not a.stopped}
    assert {"reach the network", "read the grader's files", "start a process", "run a program"} <= got_through
    assert "see the grader's environment" not in got_through
    Path("/var/tmp/left-by-a-notebook").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def second_tier() -> Iterator[Box]:
    with Box(LIMITS, "landlock") as box:
        box.start()
        yield box
        scratch = box._parents[False]._scratch
        assert scratch is not None
    assert not Path(scratch).exists()


@NEEDS_LANDLOCK
def test_the_second_tier_runs_notebooks_and_closes_rooms(second_tier: Box) -> None:
    box = second_tier
    is_whole(box)
    source = "import nlmcore, os\nroot = nlmcore.__path__[0]\nprint(os.path.exists(root + '/ngram/__init__.py'))\n"
    source += "open(root + '/ngram/__init__.py').close()\nopen(os.path.realpath(root) + '/attention/__init__.py')"
    closed = run(box, source, closed=("nlmcore.attention",))
    assert shown(closed).startswith("True\nCell 1, line 5")
    assert "PermissionError" in shown(closed)
    fills = "import time\nfor i in range(30):\n    open(f'x{i}', 'wb').write(bytes(1 << 20)); time.sleep(0.05)"
    full = run(box, fills, ended="killed")
    assert full.words == "Cell 'cell-1': it wrote more files than it may."
    assert "filled its disk" in full.incidents
    kill = run(box, f"import os\nos.kill({os.getpid()}, 9)")
    assert kill.incidents == ("tried to send a signal to another process",)
    is_whole(box)
    assert [p.name[:5] for p in Path(str(box._parents[False]._scratch)).iterdir()] == ["warm-"]


OTHERS = """
import ctypes, fcntl, os, socket
libc = ctypes.CDLL(None, use_errno=True)
TRIES = {{
    "chmod": lambda: os.chmod(PATH, 0o777),
    "fchmod": lambda: os.fchmod(os.open(PATH, os.O_RDONLY), 0o777),
    "chmod of a folder": lambda: os.chmod(os.path.dirname(PATH), 0o777),
    "fchmodat2": lambda: call(452, -100, PATH.encode(), 0o777, 0),
    "chown": lambda: os.chown(PATH, os.getuid(), os.getgid()),
    "fchown": lambda: os.fchown(os.open(PATH, os.O_RDONLY), -1, os.getgid()),
    "lchown": lambda: os.lchown(PATH, -1, os.getgid()),
    "utime": lambda: os.utime(PATH, (1, 1)),
    "futimens": lambda: os.utime(os.open(PATH, os.O_RDONLY), (1, 1)),
    "setxattr": lambda: os.setxattr(PATH, "user.mine", b"1"),
    "fsetxattr": lambda: os.setxattr(os.open(PATH, os.O_RDONLY), "user.mine", b"1"),
    "removexattr": lambda: os.removexattr(PATH, "user.mine"),
    "truncate": lambda: os.truncate(PATH, 0),
    "open to read, and empty it": lambda: os.open(PATH, os.O_RDONLY | os.O_TRUNC),
    "open for nothing, and empty it": lambda: os.open(PATH, 3 | os.O_TRUNC),
    "openat2": lambda: call(437, -100, PATH.encode(), ctypes.create_string_buffer(24), 24),
    "attributes": lambda: fcntl.ioctl(os.open(PATH, os.O_RDONLY), 0x40086602, ctypes.create_string_buffer(8)),
    "seal": lambda: fcntl.ioctl(os.open(PATH, os.O_RDONLY), 0x40806685, ctypes.create_string_buffer(128)),
    "lease": lambda: fcntl.fcntl(os.open(PATH, os.O_RDONLY), 1024, 1),
    "notify": lambda: fcntl.fcntl(os.open(os.path.dirname(PATH), os.O_RDONLY), 1026, 2),
    "rename": lambda: os.rename(PATH, "mine"),
    "replace": lambda: (open("mine", "w"), os.replace("mine", PATH)),
    "link": lambda: os.link(PATH, "linked"),
    "unlink": lambda: os.unlink(PATH),
    "symlink beside": lambda: os.symlink("x", PATH + ".link"),
    "append": lambda: open(PATH, "a"),
    "make beside": lambda: open(PATH + ".new", "w"),
    "mkdir beside": lambda: os.mkdir(PATH + ".d"),
    "mkfifo": lambda: os.mkfifo(PATH + ".p"),
    "kill the parent": lambda: os.kill(os.getppid(), 0),
    "kill the grader": lambda: os.kill({grader}, 0),
    "kill all": lambda: os.kill(-1, 0),
    "kill the group": lambda: os.killpg(os.getpgid(os.getppid()), 0),
    "pidfd": lambda: os.pidfd_open({grader}),
    "prlimit": lambda: __import__("resource").prlimit({grader}, 7),
    "affinity of others": lambda: os.sched_setaffinity({grader}, [0]),
    "priority of others": lambda: os.setpriority(os.PRIO_PROCESS, {grader}, 19),
    "ptrace": lambda: call(101, 16, {grader}, 0, 0),
    "memory of others": lambda: open("/proc/{grader}/mem", "rb"),
    "io_uring": lambda: call(425, 1, ctypes.create_string_buffer(120)),
    "userfaultfd": lambda: call(323, 0),
    "perf": lambda: call(298, ctypes.create_string_buffer(120), 0, -1, -1, 0),
    "bpf": lambda: call(321, 0, 0, 0),
    "keyctl": lambda: call(250, 0, -3, 0),
    "inotify": lambda: call(294, 0),
    "fanotify": lambda: call(300, 0, 0),
    "memfd": lambda: os.memfd_create("x"),
    "a queue of others": lambda: call(241, b"x"),
    "an abstract socket": lambda: socket.socket(socket.AF_UNIX).bind("\\0x"),
    "datagrams to anybody": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "bind": lambda: socket.socketpair()[0].bind("\\0x"),
    "connect": lambda: socket.socketpair()[0].connect("/run/systemd/notify"),
}}
PATH = {path!r}

def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")

for name, attempt in TRIES.items():
    try:
        attempt()
        print("DONE", name)
    except OSError as error:
        if error.errno not in (1, 13, 18, 38):  # refused, another device, unknown
            print("OTHER", name, error)
print("tried", len(TRIES))
import shutil, pathlib
pathlib.Path("own").write_text("1"); pathlib.Path("own").touch()
shutil.copy("own", "other"); shutil.copy2("own", "third")
open("own", "w").write("22"); os.ftruncate(os.open("own", os.O_RDWR), 1); os.rename("own", "renamed")
left, right = socket.socketpair(); left.send(b"x"); print(right.recv(1), os.isatty(left.fileno()), os.listdir())
"""


@NEEDS_LANDLOCK
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls are x86_64's")
def test_what_landlock_does_not_rule_is_refused_all_the_same(second_tier: Box) -> None:
    box = second_tier
    path = box._parents[False]._staging.root / "lib/python/autograder/check.py"  # which it may read

    def state() -> object:
        told = [(p, p.lstat().st_mode, p.lstat().st_ctime_ns) for p in (path, path.parent)]
        return told, sorted(path.parent.iterdir()), path.read_bytes()

    before = state()
    result = run(box, OTHERS.format(path=str(path), grader=os.getpid()))
    assert shown(result).startswith("tried 52\nb'x' False"), shown(result)
    assert state() == before
    assert any("mode, owner, times" in words for words in result.incidents)
    is_whole(box)


@NEEDS_SANDBOX
def test_a_checkout_below_tmp_has_the_first_tier(another_machine: pytest.MonkeyPatch) -> None:
    another_machine.setattr(places, "SCRATCH", "/scratch")  # as it is there
    assert tiers.bubblewrap_fault() is None


def test_without_isolation_only_on_request_and_the_result_says_so() -> None:
    with Box(LIMITS, "none") as box:
        assert run(box, "1 + 1").isolation == "none"
        assert "without isolation" in box.tier.words


def test_no_walls_no_grading(another_machine: pytest.MonkeyPatch) -> None:
    another_machine.setattr(shutil, "which", lambda name: None)
    another_machine.setattr(landlock, "version", lambda: 0)
    with pytest.raises(IsolationMissing) as caught:
        Box()
    for words in ("apt-get install bubblewrap", "Linux 5.13", "--isolation none"):
        assert words in str(caught.value)
    facts = probe()
    assert facts.tier is None
    assert not facts.holds
    another_machine.setattr(landlock, "version", lambda: 4)
    tiers.landlock_fault.cache_clear()
    tier = tiers.choose()
    assert tier.name == "landlock"
    assert "bwrap is not installed" in tier.missing[0]


@pytest.mark.parametrize(("user", "rights"), [(0, ["SYS_ADMIN", "NET_ADMIN"]), (1000, [])])
def test_root_in_a_container_is_told_which_rights_it_lacks(
    user: int, rights: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: user)
    words = tiers.container_options().split()
    assert [words[i + 1] for i, word in enumerate(words) if word == "--cap-add"] == rights
    assert {word for word in words if "=" in word} >= {"seccomp=unconfined", "systempaths=unconfined"}


def test_other_systems_are_told_what_to_do(another_machine: pytest.MonkeyPatch) -> None:
    another_machine.setattr(sys, "platform", "win32")
    with pytest.raises(IsolationMissing, match="WSL2"):
        tiers.choose("auto")
    assert tiers.choose("none").name == "none"
    with pytest.raises(ValueError, match="isolation must be"):
        Box(isolation="docker")  # type: ignore[arg-type]


def test_paths_leave_out_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a/b/c.py", "a/b/d.py", "a/e.py", "f.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    root = str(tmp_path)
    assert landlock.all_but(root, []) == [root]
    assert landlock.all_but(root, [root]) == []
    left = landlock.all_but(root, [f"{root}/a/b/c.py"])
    assert sorted(left) == [f"{root}/a/b/d.py", f"{root}/a/e.py", f"{root}/f.py"]


def test_the_staged_package_holds_no_answers() -> None:
    with places.Staging() as staging:
        ours = staging.root / "lib/python/autograder"
        names = sorted(path.relative_to(ours).as_posix() for path in staging.root.rglob("*.py"))
        assert {n for n in names if "/" not in n} == {"__init__.py", "check.py", "mine.py"}
        questions = {f"question/{n}.py" for n in ("__init__", "closed", "outcome", "statements")}
        assert {n for n in names if n.startswith("question/")} == questions
        assert all(n.startswith("sandbox/inside/") for n in names if n.count("/") == 2)
        assert (ours / "__init__.py").read_bytes() == b""
        text = "".join(p.read_text() for p in staging.root.rglob("*.py"))
        assert "import nlmcore" not in text.replace('"""', "")
    assert not staging.root.exists()


@pytest.mark.everything
@pytest.mark.slow
@both_tiers
def test_as_an_ordinary_user(root: Path, isolation: str) -> None:
    """The same in the hands of somebody who is not root; private folders on the way to Python are opened for it."""
    if reason := why_not():
        pytest.skip(reason)
    stage = Path(tempfile.mkdtemp())
    stage.chmod(0o755)
    program = f"from autograder.sandbox.probe import probe; f = probe({isolation!r})"
    program += "; print(f.holds, f.tier.name, f.attempts)"
    become = "setpriv --reuid 54321 --regid 54321 --clear-groups"
    run_it = f'cd {root} && HOME=/tmp exec {become} {sys.executable} -c "{program}"'
    line = " && ".join(["mount --make-rprivate /", *shown_to_all(stage, root), run_it])
    done = subprocess.run(["unshare", "-m", "sh", "-c", line], capture_output=True, text=True, timeout=120)
    shutil.rmtree(stage, ignore_errors=True)
    if "mount:" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip()[:200]}")
    assert done.stdout.startswith(f"True {isolation}"), done.stdout + done.stderr


def test_a_box_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alone, "site_folders", list)
    with pytest.raises(BoxFault, match="No module named"):
        Box(Limits(), "none").start()
