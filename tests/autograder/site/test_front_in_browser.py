"""The front page and the guessing game in a real Chromium: they compute what Python computes, by keyboard as well."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.site import publish, tried
from lectures.recipes.guessing import KEYS, entropy_bounds, guess_ranks, key_log_probabilities, key_of
from lectures.trained import checkpoint
from nlmcore.inspect import head, patch
from tests.autograder.site.browsing import across, assert_perceivable
from tests.lab import PATIENCE, ROOT, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]
WAIT = 40_000 * PATIENCE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two pages, and what all pages share."""
    lectures = {f"lectures/{path.name}": f"lectures/{path.stem}.html" for path in (ROOT / "lectures").glob("[0-9]*.py")}
    made = publish.Site(ROOT, tmp_path_factory.mktemp("front"), {**publish.LISTS, **lectures})
    made.text("lectures/README.md", "index.html")
    made.text("autograder/pages/beat.md", tried.GAME)
    made.finish()
    return made.out


@pytest.fixture
def front(site: Path, opened: Any) -> Any:
    page = opened(site / "index.html")
    page.locator(".front-heads button").first.wait_for(timeout=WAIT)
    return page


def test_the_model_writes_for_who_wants_no_motion_a_piece_at_a_time(front: Any) -> None:
    text, play = front.locator(".front-text"), front.get_by_role("button", name="Continue")
    first = text.inner_text()
    assert len(first) > 60
    front.wait_for_timeout(400)
    assert text.inner_text() == first, "it stands still"
    play.press("Enter")
    expect(text).not_to_have_text(first)
    expect(front.locator(".front .bars li")).to_have_count(6)


def test_what_is_typed_is_what_it_goes_on_from(front: Any) -> None:
    front.get_by_label("Your text").fill("To be, or not to b")
    model, tokenizer, _ = checkpoint("char_gpt")
    with torch.no_grad():
        p = model(torch.tensor([tokenizer.encode("\nTo be, or not to b")]))[0][0, -1].softmax(-1)
    row = front.locator(".front .bars li").first.locator("span")
    expect(row.first).to_have_text(tokenizer.vocabulary[int(p.argmax())])
    expect(row.last).to_have_text(f"{p.max():.2f}")
    front.get_by_label("Your text").press("Enter")
    expect(front.locator(".front-text")).to_have_text(re.compile("^To be, or not to b.{42}", re.S))


def test_a_head_is_chosen_and_switched_off(front: Any) -> None:
    front.get_by_label("Your text").fill("First Citizen: we are")
    bars = front.locator(".front .bars")
    before = bars.inner_text()
    front.get_by_role("button", name="layer 1, head 2").press("Enter")
    off = front.get_by_role("button", name="Switch off layer 1, head 2")
    expect(off).to_be_visible()
    assert bars.inner_text() == before
    off.press("Enter")
    expect(front.get_by_role("button", name="layer 1, head 2, off")).to_have_count(1)
    assert bars.inner_text() != before
    front.locator(".front > [role=status]", has_text="layer 1, head 2 looks at").wait_for(state="attached")
    front.get_by_role("button", name="Switch on layer 1, head 2").press("Enter")
    expect(off).to_be_visible()
    assert bars.inner_text() == before
    text = front.locator(".front-text")
    text.press("ArrowLeft")
    expect(text.locator(".from")).to_have_attribute("data-at", "20")


def test_a_head_that_is_off_is_off_as_in_nlmcore(front: Any) -> None:
    text, off = "\nTo be, or not to be: that is", [2, 5, 14]
    found = front.evaluate(
        """async ([text, off]) => {
          const [cards, file] = [await nlm.load('try/cards'), await nlm.load('try/char_gpt')];
          const { config, characters } = cards.char_gpt, model = transformer(tensors(file), config);
          return [...model(characterTokenizer(characters).encode(text), undefined, new Set(off)).logits.at(-1)];
        }""",
        [text, off],
    )
    model, tokenizer, _ = checkpoint("char_gpt")
    model = model.double()
    places = {head(model, f"layers.{n // 4}.attention", n % 4): 0.0 for n in off}
    with torch.no_grad(), patch(model, places):
        logits = model(torch.tensor([tokenizer.encode(text)]))[0][0, -1]
    np.testing.assert_allclose(
        torch.tensor(found, dtype=torch.float64).log_softmax(-1), logits.log_softmax(-1), atol=1e-9
    )


def test_the_cards_say_how_far_a_reader_is(front: Any) -> None:
    assert front.locator(".cards a").count() == len(list((ROOT / "lectures").glob("[0-9]*.py")))
    front.evaluate(
        """() => localStorage.setItem('nlm-progress', JSON.stringify({
          of: { 'lectures/12_attention.html': { asked: 9, answered: 4, right: 3 } },
          last: { page: 'lectures/12_attention.html', title: 'Attention' } }))"""
    )
    front.reload()
    card = front.locator(".cards a", has_text="12. Attention")
    expect(card).to_contain_text("4 of 9 predictions made, 3 right")
    again = front.get_by_role("link", name="Continue: Attention")
    expect(again).to_have_attribute("href", "lectures/12_attention.html")


def test_a_passage_is_guessed(site: Path, opened: Any) -> None:
    page = opened(site / tried.GAME)
    page.get_by_role("button", name="Start").press("Enter")
    page.locator(".beat-text").wait_for(timeout=WAIT)
    given, hidden = page.evaluate("async () => (await nlm.load('try/letters')).passages[7]")
    text, says = page.locator(".beat-text"), page.locator(".beat-says")
    while not (shown := text.inner_text()).startswith(given[:40]):
        page.get_by_role("button", name="Another passage").press("Enter")
        expect(text).not_to_have_text(shown)
    right = [KEYS[key_of(letter)] for letter in hidden]
    wrong = "z" if right[0] != "z" else "q"
    text.press(wrong)
    expect(says).to_have_text(f"Not “{wrong}”. Guess again.")
    for key in right:
        text.press("Space" if key == " " else key)
    expect(says).to_contain_text("This passage is finished.")
    rows = [row.split("\t") for row in page.locator(".beat tbody").inner_text().split("\n")]
    n = len(right)
    assert [row[0] for row in rows] == ["you", "4-gram", "LSTM", "GPT"]
    assert rows[0][1:3] == [f"{n - 1} of {n}", f"{(n + 1) / n:.2f}"]
    targets = torch.tensor([key_of(letter) for letter in given + hidden])
    for name, row in zip(tried.NETWORKS, rows[2:], strict=True):
        model, tokenizer, _ = checkpoint(name)
        ranks = guess_ranks(key_log_probabilities(model.double(), tokenizer, given + hidden), targets)[-n:]
        assert row[1] == f"{int((ranks == 1).sum())} of {n}"
        assert row[2] == f"{ranks.double().mean():.2f}"
        assert row[3] == f"{entropy_bounds(ranks).upper:.1f}"
    line = page.get_by_label("A line to share").input_value()
    assert f"I guessed {n - 1} of {n} letters" in line
    assert_perceivable(page)
    page.get_by_role("button", name="Another passage").press("Enter")
    for _ in range(20):
        page.get_by_role("button", name="reveal").press("Enter")
    expect(page.locator(".beat tbody tr").first.locator("td, th")).to_have_text(["you", "0 of 20", "28.00", "–"])


def test_a_model_that_cannot_be_loaded_is_said_and_tried_again(site: Path, opened: Any) -> None:
    page = opened(site / tried.GAME)
    page.evaluate("() => { nlm.load = name => Promise.reject(new Error(`${name}.js is missing`)); }")
    page.get_by_role("button", name="Start").press("Enter")
    page.get_by_text("is missing. Press Start to try again.").wait_for()
    expect(page.get_by_role("button", name="Start")).to_be_enabled()


def test_a_phone_scrolls_in_one_direction(site: Path, opened: Any) -> None:
    page = opened(site / "index.html", 390, 844)
    page.locator(".front-heads button").first.wait_for(timeout=WAIT)
    assert_perceivable(page)
    assert not across(page)
