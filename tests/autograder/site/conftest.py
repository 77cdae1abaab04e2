"""The whole site, without executing a lecture."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.site import publish, tried
from autograder.site.drawn import Gathered
from autograder.texts import figures, text
from tests.autograder.site.browsing import reader, started

ROOT = Path(__file__).resolve().parents[3]
BUILT = sorted(path.parent for path in ROOT.glob("exercises/*/*.ipynb"))


@pytest.fixture(scope="package")
def unexecuted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, with the assignments that are built here; the lectures as their texts say, without outputs."""

    def by_text(lecture: Path, root: Path) -> tuple[dict[str, object], float]:
        notebook = text.from_text(figures.words(lecture.read_text(encoding="utf-8")), root)
        return {"notebook": notebook, "html": {}, "scripts": {}, "report": []}, 0.0

    out = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "executed", by_text)
        patch.setattr(publish, "_assignments", lambda place: BUILT)
        assert publish.publish(SimpleNamespace(root=ROOT), ["--without-llm", "--out", str(out)]) == 0  # type: ignore[arg-type]
    return out


def cell(kind: str, source: str, *data: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A cell of a notebook; if it is code, with what it displays."""
    outputs = [{"output_type": "display_data", "data": one} for one in data]
    return {"cell_type": kind, "source": source, "metadata": metadata, "outputs": outputs}


def small_site(out: Path, gathered: Gathered, widgets: dict[str, Any], *cells: dict[str, Any]) -> Path:
    """A site of one page, small.html: a notebook whose cells display these widgets, by their ids."""
    told = {"html": {name: gathered.html_of(widget) for name, widget in widgets.items()}, "scripts": gathered.scripts}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tried, "scripts", lambda root: {})
        pages = publish.Site(ROOT, out, {})
        pages.notebook("lectures/01_small.py", "small.html", cells, told)
        pages.finish()
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with started() as browser:
        yield browser


@pytest.fixture
def opened(chromium: Any) -> Iterator[Any]:
    with reader(chromium) as visit:
        yield visit
