"""Shared fixtures; the fast tests first, the slow ones and those that need a browser after them."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Before torch is loaded: on a busy machine one thread is faster than several that wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Predictions made in tests are nobody's.
os.environ["NLM_PREDICTIONS"] = os.path.join(tempfile.gettempdir(), f"predictions-of-tests-{os.getpid()}.json")

if "jsonschema" not in sys.modules:  # it would compile grammars of addresses for a second and a half: nobody needs them
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import pytest

from tests.lectures.changed import TURNS, turn
from tests.shapes import shapes_unchecked

ROOT = Path(__file__).resolve().parents[1]
SLOWNESS = max(1.0, float(os.environ.get("NLM_TIME_FACTOR", "1")))
SECONDS = 120.0
"""What a test may take with its fixtures before it counts as hung; `pytest.mark.timeout(300)` where it needs more."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--everything", action="store_true", help="also what is marked so, as .ci/run does, without taking turns"
    )


def everything(config: pytest.Config) -> bool:
    """Whether the tests marked so run, too. Where this file is no plugin (`--noconftest`), the option is unknown."""
    return bool(config.getoption("everything", default=False) or os.environ.get("CI"))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """What fails quickly should be seen quickly: `slow` and `browser` after the rest.

    Several workers (`make test`) share the tests by file, since a file's fixtures are often dear; its slow tests,
    with those for the browser, are a share of their own, so is all that one run of a lecture feeds, and so is what
    names its own group (`pytest.mark.xdist_group`). A test marked `alone` goes anywhere. The largest shares are handed
    out first and the smallest last, so that no worker waits long for another's end.
    """
    if not config.getoption("everything"):
        left = {item for item in items if item.get_closest_marker("everything")}
        if everything(config):  # a continuous integration
            now = turn(ROOT)
            left = {item for item in left if (mark := item.get_closest_marker("turn")) and mark.args[0] % TURNS != now}
        items[:] = [item for item in items if item not in left]
        config.hook.pytest_deselected(items=[*left])
    for item in items:
        limit = item.get_closest_marker("timeout")
        seconds = limit.args[0] if limit else SECONDS
        item.add_marker(pytest.mark.timeout(seconds * SLOWNESS), append=False)
        if _lecture(item):
            item.add_marker(pytest.mark.slow)
        if not _alone(item) and not item.get_closest_marker("xdist_group"):
            group = _lecture(item) or f"{item.path}:{bool(_when(item))}"
            item.add_marker(pytest.mark.xdist_group(group))
    yield  # here a worker's xdist writes the group at the end of each name
    items.sort(key=lambda item: (_when(item), _lecture(item)))
    if getattr(config.option, "loadgroup", False):
        for item in items:
            _keep_group_in_name(item)


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


def _lecture(item: pytest.Item) -> str:
    """The lecture whose one run feeds this test; empty for most."""
    lecture = item.callspec.params.get("lecture") if hasattr(item, "callspec") else None
    return lecture.stem if lecture and not item.get_closest_marker("browser") else ""


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
