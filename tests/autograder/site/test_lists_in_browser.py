"""The lists, the search and the assignments in a real Chromium. The lectures are in `tests/lectures/test_pages.py`."""

import re
from pathlib import Path
from typing import Any

import pytest

from autograder.site import publish, reference
from tests.autograder.site.browsing import WEIGHT, assert_for_everyone, weight
from tests.autograder.site.conftest import BUILT, ROOT
from tests.lab import expect


@pytest.mark.everything
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_lists_and_assignments_are_for_everyone(unexecuted: Path, opened: Any) -> None:
    pages = [path for path in sorted(unexecuted.rglob("*.html")) if not re.match(r"\d+_", path.name)]
    assert len(pages) == len(publish.LISTS) + 3 + len(reference.addresses(ROOT)) + len(BUILT)
    pages = [path for path in pages if path.parent.name != "nlmcore" or path.stem in ("index", "norms")]  # all alike
    for path in pages:
        assert weight(path) <= WEIGHT, path
        page = opened(f"{path.as_uri()}?q=softmax")
        if path.name == "search.html":
            page.locator("#found a").first.wait_for()
        assert_for_everyone(page)
        page.close()


@pytest.mark.browser
@pytest.mark.slow
def test_what_is_typed_while_the_index_is_loaded_is_looked_for(unexecuted: Path, opened: Any) -> None:
    page = opened(unexecuted / "search.html")
    waiting: list[Any] = []
    page.route("**/search-index.js", lambda route: waiting.append(route))
    with page.expect_request("**/search-index.js"):
        page.reload(wait_until="domcontentloaded")
    page.get_by_label("Words").fill("softmax")
    waiting.pop().continue_()
    expect(page.locator("#found a").first).to_be_visible()
