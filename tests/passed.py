"""Which groups of tests have passed in exactly this state, and are not run again.

A group is a file of tests; of a file that asks all questions or runs what is solved, an assignment; of one that looks
at lectures, a lecture.
`tests/passed.json` keeps for each system and Python a digest of every file that a group which passed can depend on
(`matters`). A run of all tests leaves out the groups whose digest is still the same, but for a drawn share of them.
`--everything` leaves out nothing, and a run of named tests runs what is named. A group of which this Python has no
record is left out as well if another Python has passed it on the same system with the same PyTorch, but for what is
marked `every_python`.
"""

import functools
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from autograder.reach import closure, imported
from autograder.site.conformance import BROKEN

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests" / "passed.json"
SYSTEM = f"{sys.platform}, torch {version('torch').partition('+')[0]}"
HERE = f"{SYSTEM}, Python {sys.version_info[0]}.{sys.version_info[1]}"

LECTURE = re.compile(r"[\[-](\d\d_[a-z0-9_]+)")
ASKS_ALL = "tests/autograder/test_checks.py"
SOLVED = "tests/test_assignments.py"
BY_ASSIGNMENT = {ASKS_ALL: re.compile(r"[\[-](\w+)\."), SOLVED: re.compile(r"\[(\w+)\]")}
"""Files of tests about all assignments -> where a test's name says its own."""

ROOMS = ("attacks", "extras", "feedback", "grading", "instructor", "intake", "preflight", "race", "sandbox")
ELSEWHERE: dict[str, str] = {
    "tests/nlmcore/": r"(?!nlmcore/|pyproject\.toml)",
    "tests/lectures/": r"solutions/|exercises/|tests/(nlmcore|autograder)/",
    ASKS_ALL: r"lectures/|benchmarks/|[^/]+\.md$|exercises/|tests/",
    SOLVED: r"benchmarks/|exercises/\w+/|tests/(nlmcore|lectures|autograder|test_(?!assignments))|[^/]+\.md$|"
    r"lectures/(?!results/|checkpoints/)|"
    rf"autograder/({'|'.join(ROOMS)}|commands|launcher|release|site)/",
    **dict.fromkeys(
        (f"tests/autograder/{room}/" for room in ROOMS),
        r"lectures/\d|lectures/(results|figures|checkpoints|translations)/|tests/(nlmcore|lectures)/|benchmarks/|[^/]+\.md$",
    ),
}
"""Of test files that begin so, what cannot matter to them unless they import it. All else depends on everything."""
ABOUT_TESTS = re.compile(r"tests/test_\w+\.py|tests/lectures/test_every_lecture\.py")
"""Files that look at the other tests."""
PACKAGES = ("autograder", "lectures", "nlmcore", "solutions", "tests")


def group_of(name: str) -> str:
    """The group of a test with this name, with or without what xdist has put behind it."""
    path, _, rest = name.partition("::")
    found = BY_ASSIGNMENT.get(path, LECTURE).search(rest.partition("@")[0])
    return f"{path} {found[1]}" if found else path


def matters(group: str, path: str) -> bool:
    """Whether the outcome of a group of tests can depend on a file of the checkout."""
    own, _, about = group.partition(" ")
    if path in _imported(group):
        return True
    if _elsewhere(own).match(path):
        return False
    return not about or _named(own, path) in ("", about)


@functools.cache
def _elsewhere(own: str) -> re.Pattern[str]:
    """What a test file does not depend on: other tests, and what the table says."""
    rules = [rule for begins, rule in ELSEWHERE.items() if own.startswith(begins)]
    others = [] if ABOUT_TESTS.fullmatch(own) else [r"tests/(.+/)?test_\w+\.py$"]
    return re.compile("|".join([*others, *rules]) or "(?!)")


@functools.cache
def _imported(group: str) -> set[str]:
    """A test file with what pytest loads before it and, of an assignment, its questions; and all that these import of
    the course, directly or not."""
    own, _, about = group.partition(" ")
    above = [folder.as_posix() for folder in Path(own).parents]
    loaded = [f"{folder}/{name}" for folder in above for name in ("__init__.py", "conftest.py")]
    asked = [
        name
        for name in contents()
        if own in BY_ASSIGNMENT and re.match(rf"solutions/{about}/(checks|laws|{about}\.py)", name)
    ]
    return closure([own, *(name for name in loaded if name in contents()), *asked], _beside)


@functools.cache
def _beside(path: str) -> list[str]:
    """What a file imports itself; a package's data come with it."""
    named = imported(ROOT / path, PACKAGES) if path.endswith(".py") and (ROOT / path).is_file() else []
    folder = path.removesuffix("__init__.py")
    data = [] if folder == path else [name for name in _in_folders()[folder] if not name.endswith(".py")]
    return [name for name in (*named, *data) if name in contents()]


@functools.cache
def _in_folders() -> dict[str, list[str]]:
    found = defaultdict[str, list[str]](list)
    for name in contents():
        found[name[: name.rfind("/") + 1]].append(name)
    return found


def _named(own: str, path: str) -> str:
    """The assignment, or the lecture, that a file belongs to, seen from a file of tests about all of them."""
    if own in BY_ASSIGNMENT:
        found = re.match(r"solutions/(\w+)/", path)
        return found[1] if found else ""
    found = re.match(r"lectures/(\d\d_\w+)\.py", path)
    return found[1] if found else ""


@functools.cache
def contents() -> dict[str, str]:
    """A digest of every file of the checkout that git does not ignore; empty where there is no git."""
    line = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        return {}
    files = [name for name in sorted({*names}) if name and ROOT / name != KEPT and (ROOT / name).is_file()]
    return {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in files}


@functools.cache
def digest(group: str) -> str:
    """Changes when any file does on which the group can depend."""
    files = "".join(f"{name} {content}\n" for name, content in contents().items() if matters(group, name))
    return hashlib.sha256(files.encode()).hexdigest()[:16]


@functools.cache
def kept() -> dict[str, dict[str, str]]:
    """Of each system, PyTorch and Python: group -> the digest with which it passed, or that not all of it passed."""
    try:
        return json.loads(KEPT.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def known() -> dict[str, bool]:
    """The groups that have passed in this state -> whether here, or with another Python of which nothing else is known
    here."""
    mine = kept().get(HERE, {})
    found: dict[str, bool] = {}
    for place, groups in kept().items():
        for group, state in groups.items():
            counts = place == HERE or (place.startswith(SYSTEM) and group not in mine)
            if counts and contents() and (ROOT / group.partition(" ")[0]).exists() and state == digest(group):
                found[group] = place == HERE
    return found


class Record:
    """What becomes of each group in a run."""

    def __init__(self) -> None:
        self.left: Counter[str] = Counter()
        self.broken: set[str] = set()

    def expects(self, names: Iterable[str]) -> None:
        self.left = Counter(map(group_of, names))

    def notes(self, name: str, outcome: str, when: str) -> None:
        """One report of pytest. What is skipped has not passed: what it needs may be there elsewhere."""
        group = group_of(name)
        if outcome != "passed":
            self.broken.add(group)
        elif when == "teardown":
            self.left[group] -= 1

    def write(self) -> int:
        """Keep what has passed, and what has failed; returns how many groups are new."""
        before = {group: digest(group) for group in self.left}
        contents.cache_clear()
        digest.cache_clear()
        kept.cache_clear()
        if not contents():
            return 0
        passed = {
            group: digest(group)
            for group, left in self.left.items()
            if not left and group not in self.broken and digest(group) == before[group]  # nobody has written meanwhile
        }
        places = {
            place: {group: state for group, state in groups.items() if (ROOT / group.partition(" ")[0]).exists()}
            for place, groups in kept().items()
        }
        mine = places.setdefault(HERE, {})
        new = sum(mine.get(group) != state for group, state in passed.items())
        mine |= passed | dict.fromkeys(sorted(self.broken), BROKEN)
        if places != kept():
            KEPT.write_text(json.dumps(places, indent=0, sort_keys=True) + "\n", "utf-8")
        return new
