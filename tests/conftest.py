"""Shared fixtures; the fast tests first, the slow ones and those that need a browser after them."""

import argparse
import gc
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before torch is loaded: on a busy machine one thread is faster than several that wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Predictions made in tests are nobody's.
os.environ["NLM_PREDICTIONS"] = os.path.join(tempfile.gettempdir(), f"predictions-of-tests-{os.getpid()}.json")

if "jsonschema" not in sys.modules:  # it would compile grammars of addresses for a second and a half: nobody needs them
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import pytest
from hypothesis import settings

from tests.drawn import chosen, number, of_the_tree
from tests.passed import Record, contents, group_of, known
from tests.shapes import shapes_unchecked

ROOT = Path(__file__).resolve().parents[1]
SLOWNESS = max(1.0, float(os.environ.get("NLM_TIME_FACTOR", "1")))
SECONDS = 120.0
"""What a test may take with its fixtures before it counts as hung; `pytest.mark.timeout(300)` where it needs more."""

ASKING = ("tests/autograder/test_checks.py", "tests/autograder/test_nothing_for_nothing.py")
"""Files that ask the questions of all assignments."""
OF_ONE, ABOUT_ONE = re.compile(r"tests/autograder/test_checks_(\w+)\.py"), re.compile(r"[\[-](\w+)\.")

LATE = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
"""Of every test in a browser: Playwright and JupyterLab close some of their own sockets late."""


def pytest_addoption(parser: pytest.Parser) -> None:
    everything = "also what has passed in this state, and every test that is marked so"
    parser.addoption("--everything", action="store_true", help=everything)
    seed = "in an order drawn by this seed, with one in twelve of what is marked everything; for CI the tree's digest"
    parser.addoption("--drawn", metavar="SEED", help=seed)
    parser.addoption("--known", default={}, help=argparse.SUPPRESS)  # groups that are left out, as `known` says
    share = "only what is marked every_python (of lectures a third), and one in so many files that need no browser"
    parser.addoption("--share", type=int, metavar="N", help=share)


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") and not config.getoption("drawn"):
        config.option.drawn = of_the_tree(ROOT)
    settings.register_profile("late", settings.default, deadline=None)  # side by side, any test is late now and then
    settings.load_profile("late")
    if hasattr(config, "workerinput"):
        config.option.known = config.workerinput["known"]
    else:
        whole = _is_whole(config)
        if whole:
            config.pluginmanager.register(Kept(), "kept")
        if whole and not config.option.everything:
            seed = config.option.drawn or of_the_tree(ROOT)
            config.option.known = {group: here for group, here in known().items() if not chosen(seed, f"{group} again")}


def _is_whole(config: pytest.Config) -> bool:
    """Whether this is a run of all tests: none is named, and none chosen by a word, a mark or an earlier failure."""
    chosen_by = ("keyword", "markexpr", "lf", "share", "collectonly", "deselect", "stepwise", "ignore", "ignore_glob")
    named = config.args_source is config.ArgsSource.ARGS
    return not named and not any(config.getoption(name, default=None) for name in chosen_by)


class Kept:
    """Of a run of all tests, what passed is kept in `tests/passed.json`."""

    def __init__(self) -> None:
        contents()  # as it is now, before anything runs
        self.record = Record()
        self.new = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self.record.expects(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        self.record.expects(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.record.notes(report.nodeid, report.outcome, report.when)

    def pytest_sessionfinish(self) -> None:
        self.new = self.record.write()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.new:
            terminalreporter.write_line(
                f"{self.new} groups of tests have passed in this state: commit tests/passed.json with the change."
            )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker of xdist hears what its options do not say."""
    node.workerinput["known"] = node.config.option.known


def pytest_report_header(config: pytest.Config) -> list[str]:
    seed, known = config.getoption("drawn"), config.getoption("known")
    drawn = [f"drawn by {seed}: --drawn={seed} repeats it"] if seed else []
    if known:
        drawn.append(f"left out: {len(known)} groups of tests that have passed in this state; --everything runs them")
    return drawn


def takes(config: pytest.Config, name: str) -> bool:
    """Whether this run takes what is dear and has this name. Where this file is no plugin (`--noconftest`), the options
    are unknown."""
    seed = config.getoption("drawn", default=None)
    return bool(config.getoption("everything", default=False) or (seed and chosen(seed, name)))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """What fails quickly should be seen quickly: `slow` and `browser` after the rest.

    Several workers (`make test`) share the tests by file, since a file's fixtures are often dear (the questions of all
    assignments by assignment, since they are a third of all tests); its slow tests,
    with those for the browser, are a share of their own, so is all that one run of a lecture feeds, and so is what
    names its own group (`pytest.mark.xdist_group`). A test marked `alone` goes anywhere. The largest shares are handed
    out first and the smallest last, so that no worker waits long for another's end.
    """
    seed, share = config.getoption("drawn"), config.getoption("share")
    left = {item for item in items if not _taken(config, item) or (share and not _shared(item, seed or "", share))}
    left |= {item for item in items if _is_known(item)}
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=[*left])
    if seed:
        items.sort(key=lambda item: (number(seed, _part(item)), _place(item, seed)))
    for item in items:
        limit = item.get_closest_marker("timeout")
        seconds = limit.args[0] if limit else SECONDS
        item.add_marker(pytest.mark.timeout(seconds * SLOWNESS), append=False)
        if _lecture(item):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("browser"):
            item.add_marker(LATE)
        if not _alone(item) and not item.get_closest_marker("xdist_group"):
            group = _lecture(item) or f"{_part(item)}:{bool(_when(item))}"
            item.add_marker(pytest.mark.xdist_group(group))
    yield  # here a worker's xdist writes the group at the end of each name
    order = {lecture: number(seed, lecture) if seed else lecture for lecture in map(_lecture, items)}
    items.sort(key=lambda item: (_when(item), bool(_lecture(item)), order[_lecture(item)]))
    if getattr(config.option, "loadgroup", False):
        for item in items:
            _keep_group_in_name(item)


def _taken(config: pytest.Config, item: pytest.Item) -> bool:
    """What is marked `everything` by one mark for a file is drawn by the file; about a lecture, by the lecture."""
    marked = next(iter(item.iter_markers_with_node("everything")), None)
    return marked is None or takes(config, _about(item) or marked[0].nodeid)


def _is_known(item: pytest.Item) -> bool:
    """Whether its group has passed in this state with this Python, or with another one that says enough about it."""
    if item.get_closest_marker("everything"):
        return False  # drawn by itself
    here = item.config.getoption("known").get(group_of(item.nodeid))
    return bool(here) or (here is False and item.get_closest_marker("every_python") is None)


def _shared(item: pytest.Item, seed: str, share: int) -> bool:
    """Whether a Python that takes a share takes it: of the lectures a third, drawn for this Python."""
    if item.get_closest_marker("every_python"):
        about, python = _about(item), "{}.{}".format(*sys.version_info)
        return not about or item.config.getoption("everything") or chosen(seed, f"{about} with {python}", 3)
    return not (item.get_closest_marker("browser") or number(seed, f"{_part(item)} shared") % share)


def _place(item: pytest.Item, seed: str) -> int:
    """Its place among the tests of its file, which keep their order where one needs what another has made."""
    return 0 if item.get_closest_marker("in_order") else number(seed, item.nodeid)


def _part(item: pytest.Item) -> str:
    """What is left out or handed to a worker together: a file; of what asks questions, all that asks an assignment's,
    since what its known mistakes answer is computed once in each process."""
    path = item.nodeid.partition("::")[0]
    asked = OF_ONE.match(path) or (ABOUT_ONE.search(item.nodeid) if path in ASKING else None)
    return f"{ASKING[0]} {asked[1]}" if asked else path


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Next to nothing that collecting makes is garbage, so nobody looks for it meanwhile."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: no later search for garbage has to walk through all of it."""
    gc.collect()
    gc.freeze()


def _keep_group_in_name(item: pytest.Item) -> None:
    """xdist to 3.8 writes where pytest from 9.2 on no longer reads, and shares the tests as if there were no groups
    (https://github.com/pytest-dev/pytest-xdist/issues/1386)."""
    group = item.get_closest_marker("xdist_group")
    if group and not item.nodeid.endswith(f"@{group.args[0]}"):
        item._id = type(item._id).parse(f"{item.nodeid}@{group.args[0]}")  # type: ignore[attr-defined]


def _when(item: pytest.Item) -> int:
    """0: the fast ones; then, of the slow ones, 1: those that share a fixture, 2: a browser's, 3: each for itself."""
    if item.get_closest_marker("browser"):
        return 2
    return (3 if _alone(item) else 1) if item.get_closest_marker("slow") else 0


def _about(item: pytest.Item) -> str:
    """The lecture that this test is about; empty for most."""
    lecture = item.callspec.params.get("lecture") if hasattr(item, "callspec") else None
    return lecture.stem if lecture else ""


def _lecture(item: pytest.Item) -> str:
    """The lecture whose one run feeds this test; empty for most."""
    return "" if item.get_closest_marker("browser") else _about(item)


def _alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def artefacts() -> Path:
    """Where pictures, timings and executed notebooks are left to be looked at."""
    folder = ROOT / "artefacts"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def plain_errors() -> Iterator[None]:
    """What a user sees, who installs the package without the tests' run-time checks of shapes."""
    with shapes_unchecked():
        yield


@pytest.fixture
def unchecked() -> Iterator[None]:
    """For what draws or trains a thousand times: the shapes are checked where it is looked at once."""
    with shapes_unchecked():
        yield


@pytest.fixture(autouse=True)
def gradients() -> Iterator[None]:
    """A test that leaves gradients switched off is named, and spoils no other."""
    yield
    if torch := sys.modules.get("torch"):
        left = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        assert left, "this test has left torch's gradients switched off"
