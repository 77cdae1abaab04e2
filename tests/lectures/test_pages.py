"""Each lecture as a page of the site: with few states per widget, made from the one run that feeds its other tests."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.site import publish, tried
from autograder.site.drawn import Plan, gathered
from autograder.site.kept import displayed
from tests.autograder.site.browsing import WEIGHT, assert_for_everyone, reader, started, weight
from tests.lectures.conftest import ROOT
from tests.notebook_runner import Ran

FEW = Plan(moved=1, most=3, listed=3)
"""The start, and each control moved away from it: a slider has three stops, a menu three options."""


@pytest.fixture
def published(lecture: Path, run: Ran, unchecked: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The pages of the lecture, in all its languages."""
    told = {"notebook": run.notebook, **gathered(displayed(run.notebook), FEW)}
    monkeypatch.setattr(publish, "executed", lambda *_: (told, 0.0))
    number = lecture.name.split("_")[0]
    assert publish.publish(SimpleNamespace(root=ROOT), ["--only", number, "--out", str(tmp_path)]) == 0  # type: ignore[arg-type]
    return sorted(tmp_path.rglob(f"{lecture.stem}.html"))


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_its_page_is_for_everyone(published: list[Path]) -> None:
    assert published
    with started() as chromium, reader(chromium) as visit:
        for path in published:
            assert weight(path) <= WEIGHT
            page = visit(path)
            assert page.query_selector_all(".nlm-live .control"), "a lecture without a widget is a text"
            assert_for_everyone(page)
            panels = {panel for (name, _), panel in tried.PANELS.items() if name == path.stem}
            linked = {part.get_attribute("data-try") for part in page.query_selector_all("[data-try]")}
            assert {to.rpartition("/")[2] for to in linked} == panels
            page.close()
