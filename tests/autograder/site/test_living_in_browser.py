"""The living model on a page without Python: by keyboard, in words, on a phone, with the answers that were stored."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.site.drawn import Gathered
from autograder.site.prose import slug
from autograder.site.sheet import LIVE
from lectures import widgets
from lectures.trained import checkpoint
from lectures.widgets.living import EXPLAINED
from tests.autograder.site.browsing import across, assert_perceivable, unfold, violations
from tests.autograder.site.conftest import cell, small_site
from tests.lab import PATIENCE, expect

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def model() -> widgets.Living:
    network, tokenizer, _ = checkpoint("char_gpt")
    return widgets.living(network, tokenizer, "ROMEO.", "my lord", at="2.3")


@pytest.fixture(scope="module")
def site(model: widgets.Living, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(model, tmp_path_factory.mktemp("living"))


def built(model: widgets.Living, out: Path) -> Path:
    text = cell("markdown", "# A model\n\nIt can be pressed.")
    return small_site(out, Gathered(), {"a": model}, text, cell("code", "model", {LIVE: {"model_id": "a"}}))


@pytest.fixture
def page(site: Path, opened: Any) -> Any:
    page = opened(site / "small.html")
    page.locator(".nlm-living .board button").first.wait_for(timeout=40_000 * PATIENCE)
    return page


def says(page: Any, words: str) -> None:
    page.wait_for_function(
        "words => document.querySelector('.nlm-living .says')?.textContent.includes(words)",
        arg=words,
        timeout=20_000 * PATIENCE,
    )


def test_by_keyboard_alone_a_part_is_off_and_on_again(page: Any, model: widgets.Living) -> None:
    (top, word, p), every = model.first["next"][0], model.stored()[0]["every"]
    says(page, f"Next comes “{word.strip() or '␣'}”, {p:.3f}")
    cell = page.locator(".board [tabindex='0']")
    expect(cell).to_have_attribute("data-part", "2.3")
    expect(cell).to_have_attribute("aria-label", re.compile("looks at"))
    cell.focus()
    page.keyboard.press("Enter")
    now = next(q for i, q in every["2.3"] if i == top)
    says(page, f"Without head 2.3: “{word.strip() or '␣'}” from {p:.3f} to {now:.3f}")
    expect(cell).to_be_focused()
    expect(cell).to_have_attribute("aria-label", re.compile("^Layer 2, head 3, off"))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".board [data-part='3.2']")).to_be_focused()
    page.keyboard.press("l")
    says(page, "Without layer 3")
    expect(page.locator(".wefts path.off").first).to_be_attached()
    page.keyboard.press("Escape")
    says(page, "Everything is on")
    page.keyboard.press("End")
    page.keyboard.press(" ")
    says(page, "Without network 3")


def test_its_table_and_the_trial_of_each_part_say_the_same(page: Any, model: widgets.Living) -> None:
    sheet = model.stored()[0]
    top, p = sheet["next"][0][0], sheet["next"][0][2]
    alone = {name: next(q for i, q in rows if i == top) for name, rows in sheet["every"].items()}
    moved = sum(abs(q - p) > 0.1 for name, q in alone.items() if "." not in name)
    page.get_by_role("button", name="Try each part alone").press("Enter")
    says(page, f"Each alone: {moved} of {sheet['layers']} layers")
    page.locator(".nlm-living summary").press("Enter")
    rows = page.locator(".nlm-living details table").last.locator("tbody tr")
    expect(rows).to_have_count(sheet["layers"])
    expect(rows.last.locator("td").last).to_have_text(f"{alone['0']:.3f}")
    assert_perceivable(page)


def test_another_sentence_has_its_own_threads(page: Any, model: widgets.Living) -> None:
    page.get_by_label("Sentence").select_option("my lord")
    says(page, f"{model.stored()[1]['next'][0][2]:.3f}")
    expect(page.locator(".nlm-living .token")).to_have_count(len("my lord"))


def test_on_a_phone_a_layer_has_buttons_for_a_finger(site: Path, opened: Any) -> None:
    page = opened(site / "small.html", width=390, height=844, scheme="dark")
    page.locator(".nlm-living .strip button").first.wait_for(timeout=40_000 * PATIENCE)
    boxes = [button.bounding_box() for button in page.locator(".strip button").all()]
    assert min(box["height"] for box in boxes) >= 44
    page.locator(".strip [data-part='2.1']").click()
    says(page, "Without head 2.1")
    expect(page.locator(".strip [data-part='2.1']")).to_have_attribute("aria-pressed", "true")
    unfold(page)
    assert not violations(page)
    assert not across(page)


def test_through_the_lens_each_layer_says_what_it_would_say(page: Any, model: widgets.Living) -> None:
    sheet = model.stored()[0]
    page.get_by_label("What the picture shows").select_option("lens")
    rows = [word for word, *_ in sheet["lens"]["last"]]
    changes = [i for i, word in enumerate(rows) if not i or word != rows[i - 1]]
    expect(page.locator(".lens text")).to_have_count(len(changes))
    expect(page.locator(".lens text").last).to_have_text(f"layer {changes[-1] - 1}: {rows[-1].strip() or '␣'}")
    expect(page.locator(".lens circle")).to_have_count(sum(map(sum, sheet["lens"]["same"])))
    expect(page.locator(".fan")).to_be_hidden()
    assert_perceivable(page)


def test_what_the_parts_write_adds_up_and_is_read_aloud(page: Any, model: widgets.Living) -> None:
    shares = model.stored()[0]["direct"]
    page.get_by_label("What the picture shows").select_option("direct")
    expect(page.locator(".board .minus")).to_have_count(sum(x < 0 for row in shares for x in row))
    cell = page.locator(".board [data-part='2.3']")
    cell.focus()
    value = f"{shares[2][3]:+.2f}".replace("-", "−")
    expect(cell).to_have_attribute("aria-label", re.compile(f"Head 2.3 writes {re.escape(value)} to the logit"))


def test_a_masked_model_has_its_red_thread_at_the_hidden_letter(opened: Any, tmp_path: Path) -> None:
    network, letters, _ = checkpoint("letters_masked")
    filling = widgets.living(
        network, letters, "play_ng", at="0.2", mask="_", encode=lambda text: [1, *letters.encode(text), 2]
    )
    sheet, page = filling.stored()[0], opened(built(filling, tmp_path) / "small.html")
    (top, word, p), position = sheet["next"][0], sheet["position"]
    says(page, f"It fills in “{word}”, {p:.3f}")
    expect(page.locator(".token").nth(position)).to_have_class("token last")
    page.locator(".board [data-part='0.2']").focus()
    page.keyboard.press("Enter")
    now = next(q for i, q in sheet["every"]["0.2"] if i == top)
    says(page, f"Without head 0.2: “{word}” from {p:.3f} to {now:.3f}")
    ways = page.locator(".wefts path").evaluate_all("all => all.map(one => Math.sign(one.to - one.from))")
    assert set(ways) == {-1, 1}
    expect(page.get_by_role("button", name="Write the next token")).to_have_count(0)
    page.get_by_label("What the picture shows").select_option("lens")
    expect(page.locator(".lens circle.last")).to_have_count(sum(row[position] for row in sheet["lens"]["same"]))
    page.locator(".nlm-living summary").press("Enter")
    assert_perceivable(page)
    assert not across(page)


def test_a_part_leads_to_the_section_that_explains_it(page: Any) -> None:
    leads = page.locator(".nlm-living .reads a")
    page.locator(".board [data-part='2.3']").focus()
    for key, kind in (("", "head"), ("End", "network"), ("Home", "layer")):
        page.keyboard.press(key or "Shift")
        lecture, section = EXPLAINED[kind]
        expect(leads).to_have_attribute("href", f"{lecture}.html#{slug(section, set())}")
    page.get_by_label("What the picture shows").select_option("lens")
    expect(leads).to_have_attribute("href", re.compile(EXPLAINED["lens"][0]))


def test_a_window_a_direction_and_a_part_are_changed_one_at_a_time(
    model: widgets.Living, opened: Any, tmp_path: Path
) -> None:
    network, tokenizer = model.machine.model, model.machine.tokenizer
    pushes = 9 * torch.randn(2, network.config.d_model, generator=torch.Generator().manual_seed(0))
    directions = {0: pushes[0], 2: pushes[1]}
    changed = widgets.living(network, tokenizer, "ROMEO. My lord", window=8, directions=directions)
    sheet, page = changed.stored()[0], opened(built(changed, tmp_path) / "small.html", width=390, height=844)
    (top, word, p), last = sheet["next"][0], len("ROMEO. My lord") - 1

    def told(name: str) -> str:
        now = next(q for i, q in sheet["every"][name] if i == top)
        return f"“{word.strip() or '␣'}” from {p:.3f} to {'below 0.001' if now < 0.0005 else f'{now:.3f}'}"

    says(page, f"Through a window of 8 tokens: {told('w8')}")
    expect(page.locator(".token.shut")).to_have_count(last + 1 - 8)
    let_in = page.locator(".tokens button").first
    let_in.focus()
    page.keyboard.press("Enter")
    says(page, f"Through a window of 8 tokens and “R”: {told('w8+0')}")
    expect(let_in).to_be_focused()
    expect(let_in).to_have_attribute("aria-pressed", "true")
    lines = page.locator(".wefts path").evaluate_all(
        "all => all.filter(one => !one.classList.contains('off')).map(one => [one.from, one.to])"
    )
    assert all(i - j < 8 or j == 0 for j, i in lines)
    assert any(i - j >= 8 for j, i in lines)
    assert not violations(page)
    assert not across(page)
    page.get_by_label("strength").focus()
    page.keyboard.press("ArrowRight")
    says(page, f"With +0.50 times the direction after layer 0: {told('s0:0.5')}")
    expect(page.locator(".token.shut")).to_have_count(0)
    page.get_by_label("Direction after layer").select_option("2")
    ball = page.locator(".knob circle")
    ball.scroll_into_view_if_needed()
    box = ball.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 90, box["y"], steps=3)
    page.mouse.up()
    says(page, f"With −3.00 times the direction after layer 2: {told('s2:-3')}")
    page.locator(".strip [data-part='2.1']").click()
    says(page, f"Without head 2.1: {told('2.1')}")
    expect(page.get_by_label("strength")).to_have_value("0")
