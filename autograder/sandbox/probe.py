"""Is the sandbox real here? A notebook attempts everything that it must not be able to do, and reports how far it got.

For `autograder doctor`. It names each protection that does not hold, whatever the tier promises.
"""

import os
import shutil
import socket
import sys
from dataclasses import dataclass

from autograder import temporary
from autograder.sandbox import places
from autograder.sandbox.box import Box
from autograder.sandbox.job import Cell, Job, Limits
from autograder.sandbox.session import BoxFault
from autograder.sandbox.tiers import Isolation, IsolationMissing, Tier, choose

_TRIES: tuple[tuple[str, str], ...] = (
    ("reach the network", "import socket; socket.create_connection(('127.0.0.1', {port}), 2)"),
    ("read the grader's files", "assert open({secret!r}).read() == 'secret'"),
    ("list the grader's folders", "import os; assert os.path.basename({secret!r}) in os.listdir({folder!r})"),
    ("change the mode of the grader's files", "import os; os.chmod({secret!r}, 0o600)"),
    ("see the grader's environment", "import os; os.environ[{variable!r}]"),
    ("look at processes", "import os; assert any(n.isdecimal() for n in os.listdir('/proc'))"),
    ("start a process", "import os\nif os.fork() == 0: os._exit(0)"),
    ("run a program", "import subprocess; subprocess.run(['/bin/true'], check=True)"),
    ("send a signal to another process", "import os; os.kill({pid}, 0)"),
    ("change the course's package", "import nlmcore; open(nlmcore.__file__, 'a').close()"),
    ("read the exercises' answers", "import autograder.question.verdict"),
    ("leave its folder", "open('/var/tmp/left-by-a-notebook', 'w')"),
    ("take more memory than it may", "x = bytearray({memory})"),
    ("fill the disk", "for i in range(100): open(f'x{{i}}', 'wb').write(bytes({piece}))"),
    ("make namespaces", "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0"),
)
_TRY = """try:
{body}
except BaseException as error:
    print('stopped:', type(error).__name__)
else:
    print('done')
"""
_LIMITS = Limits(wall=60, cell_wall=10, memory=256 << 20, disk=16 << 20, file_size=8 << 20)


@dataclass(frozen=True)
class Attempt:
    """One thing that a notebook must not be able to do."""

    what: str
    stopped: bool
    said: str  # what it met, or "done"


@dataclass(frozen=True)
class Facts:
    tier: Tier | None  # None: there is no isolation to be had
    missing: str  # what stands in the way of a better tier, and the remedy; "" if nothing
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0  # what one empty notebook costs

    @property
    def holds(self) -> bool:
        return self.tier is not None and bool(self.attempts) and all(one.stopped for one in self.attempts)


def probe(isolation: Isolation = "auto") -> Facts:
    """Start a box and try to break out of it. Raises BoxFault if it does not start."""
    try:
        tier = choose(isolation)
    except IsolationMissing as error:
        return Facts(None, str(error))
    with Box(_LIMITS, isolation) as box, _Targets() as targets:
        cells = [Cell(id=what, source=_source(body, targets)) for what, body in _TRIES]
        attempts = []
        for cell in cells:
            result = box.run(Job(name="probe", cells=(cell,)))
            said = "".join(o.get("text", "") for done in result.cells for o in done.outputs).strip() or result.words
            attempts.append(Attempt(cell.id, not said.startswith("done"), said.removeprefix("stopped: ")))
        empty = box.run(Job(name="empty", cells=(Cell(id="empty", source="1"),)))
    return Facts(tier, "\n".join(tier.missing), tuple(attempts), empty.seconds)


class _Targets:
    """Things that the notebook tries to find: a listening port, a file, a variable."""

    def __enter__(self) -> "_Targets":
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.folder = temporary.folder("probe")
        (self.folder / "secret").write_bytes(b"secret")
        self.secret = str(self.folder / "secret")
        return self

    def __exit__(self, *rest: object) -> None:
        self.listener.close()
        shutil.rmtree(self.folder)

    @property
    def port(self) -> int:
        return int(self.listener.getsockname()[1])


def _source(body: str, targets: _Targets) -> str:
    filled = body.format(
        port=targets.port,
        secret=targets.secret,
        folder=os.path.dirname(targets.secret),
        variable=next((name for name in os.environ if name not in places.environment()), "AUTOGRADER_PROBE"),
        pid=os.getpid(),
        memory=4 * _LIMITS.memory,
        piece=_LIMITS.file_size // 2,
    )
    return _TRY.format(body="\n".join(f"    {line}" for line in filled.split("\n")))


def main() -> int:
    """`doctor`'s section on the sandbox: `python3 -m autograder.sandbox.probe`.

    0: students' code is contained here; 1: it is not, or not in every attempt."""
    try:
        facts = probe()
    except BoxFault as fault:
        print(f"sandbox      does not start: {fault}")
        return 1
    if facts.tier is None:
        print("sandbox      none: `grade` refuses to run students' code here")
    else:
        held = sum(one.stopped for one in facts.attempts)
        print(f"sandbox      {facts.tier.name}: {held} of {len(facts.attempts)} attempts to break out were stopped;")
        print(f"             an empty notebook costs {facts.seconds:.2f} s")
    for line in facts.missing.splitlines():
        print(f"  ! {line.strip()}")
    for one in facts.attempts:
        if not one.stopped:
            print(f"  ! a notebook can {one.what} ({one.said})")
    return 0 if facts.holds else 1


if __name__ == "__main__":
    sys.exit(main())
