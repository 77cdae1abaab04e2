"""The page on which SmolLM2 runs: built here, loaded in Chromium, and compared with the same model in `nlmcore`."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.launcher.say import SetupError
from autograder.site import llm, publish
from tests.autograder.site.browsing import across, assert_perceivable, unfold
from tests.autograder.site.serving import served
from tests.lab import PATIENCE, ROOT, expect


def in_browser(test: Any) -> Any:
    marks = pytest.mark
    return marks.everything(marks.browser(marks.slow(marks.timeout(600)(test))))


PRINTER = (
    "When she tried to print her tickets, she found that the printer was out of toner. She went to the stationery "
    "store to buy more toner. It was very overpriced. After installing the toner into the printer, she finally "
    "printed her"
)
QUESTION = "What is the capital of France?"
CLOSE = 0.05
"""llama.cpp rounds activations to 8 bits, we compute in single precision: the largest difference was 0.028."""
MS = 240_000 * PATIENCE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        llm.weights(), llm.code(ROOT)
    except SetupError as error:
        pytest.skip(f"{error}")
    out = tmp_path_factory.mktemp("served") / "sub" / "path"
    made = publish.Site(ROOT, out, {})
    made.add_model(wanted=True)
    made.finish()
    return out


class Course:
    """The same model as `nlmcore` reads it."""

    def __init__(self) -> None:
        from nlmcore.pretrained import smollm2

        self.model, self.tokenizer = smollm2()

    @torch.no_grad()
    def after(self, ids: list[int], positions: int = 1) -> torch.Tensor:
        """The probabilities at the last positions, (position, vocab)."""
        return self.model.output(self.model.hidden_states(torch.tensor([ids]))[0][:, -positions:])[0].softmax(-1)

    def name(self, token: int) -> str:
        return re.sub("^ ", "␣", self.tokenizer.pieces([token])[0]).replace("\n", "↵")

    def top(self, text: str, chat: bool = False) -> dict[str, float]:
        """The ten most probable tokens after a prompt."""
        ids = self.tokenizer.chat([{"role": "user", "content": text}]) if chat else self.tokenizer.encode(text)
        p, tokens = self.after(ids)[0].topk(10)
        return dict(zip(map(self.name, tokens.tolist()), p.tolist(), strict=True))

    def steps(self, prompt: str, text: str) -> list[tuple[str, float, float]]:
        """Of every token of a text after a prompt: its name, its probability, and the highest there."""
        before = len(self.tokenizer.encode(prompt))
        ids = self.tokenizer.encode(prompt + text)
        rows = self.after(ids[:-1], len(ids) - before)
        return [(self.name(i), float(p[i]), float(p.max())) for i, p in zip(ids[before:], rows, strict=True)]


@pytest.fixture(scope="module")
def course() -> Course:
    return Course()


def says(page: Any, pattern: str) -> str:
    """The page's live region, once it says that."""
    state = page.locator("#llm-state")
    state.filter(has_text=re.compile(pattern)).wait_for(timeout=MS)
    return str(state.inner_text())


def load(page: Any) -> None:
    page.get_by_role("button", name="Load the model").press("Enter")
    told = says(page, "^Most probable next|could not be loaded")
    assert told.startswith("Most probable next"), told
    expect(page.get_by_role("heading", name="The next token")).to_be_visible()


def listed(page: Any) -> dict[str, float]:
    rows = page.locator("#llm-next tbody tr").all()
    cells = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    return {name: 0.0 if number.startswith("under") else float(number) for name, number, _ in cells}


def agree(ours: dict[str, float], course: dict[str, float]) -> None:
    assert len(ours) == len(course) == 10
    assert next(iter(ours)) in list(course)[:2]
    for name, p in course.items():
        assert abs(ours.get(name, 0.0) - p) < CLOSE, (name, ours, course)


@in_browser
def test_it_agrees_with_the_course_from_a_folder_without_a_network(site: Path, opened: Any, course: Course) -> None:
    page = opened(site / llm.PAGE)
    load(page)
    assert next(iter(listed(page))) == "␣Paris"
    agree(listed(page), course.top("The capital of France is"))

    page.locator("#llm-next button").first.press("Enter")
    assert says(page, "^Appended ␣Paris").startswith("Appended ␣Paris. Most probable next: .")
    expect(page.locator("#llm-text")).to_have_text("The capital of France is Paris")
    expect(page.locator("#llm-next :focus")).to_have_count(1)
    agree(listed(page), course.top("The capital of France is Paris"))

    unfold(page)
    assert_perceivable(page)
    assert not across(page)

    page.get_by_label("What the model continues").fill(PRINTER)
    page.get_by_label("tokens to write").fill("8")
    page.get_by_role("button", name="Write", exact=True).press("Enter")
    says(page, "^Wrote 8 tokens")
    written = page.locator("#llm-text").inner_text().removeprefix(PRINTER)
    assert written.startswith(" tickets. She")
    rows = [row.locator("td").all_inner_texts() for row in page.locator("#llm-tokens tbody tr").all()]
    for (name, p, rank), (same, theirs, highest) in zip(rows, course.steps(PRINTER, written), strict=True):
        assert (name, rank) == (same, "0")
        assert abs(float(p) - theirs) < CLOSE
        assert theirs > highest - CLOSE  # the most probable one, or at a tie

    page.get_by_label("What the model continues").fill(QUESTION)
    page.get_by_role("button", name="Show the next token").press("Enter")
    says(page, "^Most probable next: <")
    agree(listed(page), course.top(QUESTION))
    page.get_by_label("chat template").check(force=True)
    page.get_by_role("button", name="Show the next token").press("Enter")
    says(page, "^Most probable next: [^<]")
    agree(listed(page), course.top(QUESTION, chat=True))

    page.get_by_label("tokens to write").fill("100")
    page.get_by_label("temperature").fill("2")
    page.get_by_role("button", name="Write", exact=True).press("Enter")
    page.locator("#llm-tokens tbody tr").nth(1).wait_for(state="attached", timeout=MS)
    page.get_by_role("button", name="Stop").press("Enter")
    says(page, "^Stopped after")
    assert 2 <= page.locator("#llm-tokens tbody tr").count() < 100


@in_browser
def test_loading_can_be_cancelled_and_works_from_a_server(site: Path, opened: Any) -> None:
    with served(site.parents[1]) as address:
        page = opened(f"{address}/sub/path/{llm.PAGE}")
        page.get_by_role("button", name="Load the model").press("Enter")
        page.get_by_role("button", name="Cancel").press("Enter")
        says(page, "^Cancelled")
        load(page)
        assert next(iter(listed(page))) == "␣Paris"


# --- without a browser ------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Parts of a few bytes instead of 130 MB."""
    packages = tmp_path / "npm"
    for name in ("esm/index.cjs", "esm/wasm/wllama.wasm", "LICENCE"):
        publish.write_whole(packages / "wllama" / name, name)
    for name in ("wllama.wasm", "wllama.js"):
        publish.write_whole(packages / "wllama-compat" / "wasm" / name, name)
    publish.write_whole(tmp_path / "weights", bytes(range(256)))
    monkeypatch.setattr(llm, "CHUNK", 100)
    monkeypatch.setattr(llm, "weights", lambda: tmp_path / "weights")
    monkeypatch.setattr(llm, "code", lambda root: packages)
    return tmp_path


def test_what_has_not_changed_is_not_written_again(small: Path) -> None:
    out = small / "site"
    llm.build(ROOT, out)
    before = {path.name: path.stat().st_mtime_ns for path in (out / llm.FOLDER).glob("*-*.js")}
    assert len([name for name in before if name.startswith("weights-")]) == 3
    (small / "weights").write_bytes(bytes(range(255)))
    body = llm.build(ROOT, out)
    after = {path.name: path.stat().st_mtime_ns for path in (out / llm.FOLDER).glob("*-*.js")}
    assert len(after) == len(before)
    assert len(before.items() & after.items()) == len(before) - 1
    assert all(name.removesuffix(".js") in body for name in after)


def test_a_site_without_npm_says_so_and_links_nowhere(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = small / "site"
    made = publish.Site(ROOT, out, dict(publish.LISTS))
    made.add_model(wanted=True)
    made.text("lectures/README.md", "index.html")
    for page in ("index.html", llm.PAGE):
        assert f'href="{llm.PAGE}"' in (out / page).read_text(encoding="utf-8")
    for lecture in re.findall('href="lectures/(.*?).html"', (out / llm.PAGE).read_text(encoding="utf-8")):
        assert lecture in ("glossary", "symbols", "decks", "results") or (ROOT / f"lectures/{lecture}.py").is_file()
    assert llm.POLICY in (out / llm.PAGE).read_text(encoding="utf-8")
    assert llm.POLICY not in (out / "index.html").read_text(encoding="utf-8")

    def missing(root: Path) -> Path:
        raise SetupError("npm is not there")

    monkeypatch.setattr(llm, "code", missing)
    made = publish.Site(ROOT, out, dict(publish.LISTS))
    made.add_model(wanted=True)
    made.text("lectures/README.md", "index.html")
    assert "npm is not there" in capsys.readouterr().out
    assert not (out / llm.PAGE).exists()
    assert not (out / llm.FOLDER).exists()
    assert llm.PAGE not in (out / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", ["no npm", "no network"])
def test_npm_that_is_missing_or_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "npm error code ENOTFOUND\nnpm error network")
    monkeypatch.setattr(shutil, "which", lambda name: None if fault == "no npm" else name)
    monkeypatch.setattr(subprocess, "run", lambda *words, **options: failed)
    with pytest.raises(SetupError, match="not installed" if fault == "no npm" else "npm ci: npm error code ENOTFOUND"):
        llm.code(tmp_path)
    assert not (tmp_path / "build" / "npm").exists()


def test_the_lock_names_no_host() -> None:
    for path in (ROOT / "autograder" / "site" / "npm").iterdir():
        assert "://" not in path.read_text(encoding="utf-8"), path.name
