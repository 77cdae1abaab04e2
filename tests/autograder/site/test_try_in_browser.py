"""The page "Try the models", opened from a folder in a real Chromium: it computes what nlmcore computes.

Texts have only characters that Unicode had before 2023: the browser's tables and those of `regex` differ in newer ones.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.site import publish, tried
from lectures.trained import checkpoint
from nlmcore.decoding import reshape
from nlmcore.inspect import capture
from tests.autograder.site.browsing import across, assert_perceivable, unfold
from tests.lab import PATIENCE, ROOT, expect

pytestmark = [pytest.mark.everything, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]
WAIT = 40_000 * PATIENCE
"""Milliseconds: a model is unpacked and reads its first text meanwhile, on a busy machine as well."""
TEXTS = {
    "one character": "a",
    "a line": "\nTo be, or not to be: that is the question.",
    "unknown characters": "ROMEO.\né☃ 😀 [Exit.]\t0%",
    "three windows": 5
    * "MACBETH.\nTo-morrow, and to-morrow, and to-morrow,\nCreeps in this petty pace from day to day ",
}
STRINGS = [
    *("", " ", "   \n\n\t x", "a", "aaaaaaaaaaaaa", "a" * 300, "My lord, the king!", "<eos><unk> <bos>"),
    "Nay, answer me:\nstand!--Who's there ,ho? a grave-digger 'tis I'll I'M it''s",
    *("e\u0301 \u00e9 \u1e9b\u0323 \ufb01", "👩‍👩‍👧 🇩🇪 👍🏽 x😀y", "\ud800 half \udc00\ud800"),
    "\x00\x1c\x1d\x85\u00a0\u200b\u2028\u3000\ufeff.",
    *("漢字かな한국어 हिन्दी ไทย العربية עברית", "١٢٣ Ⅷ ½ 1,000.5", "“Quoted”—‘so’ … €5 50% a/b @me #1 $x_y"),
]
CONTEXTS = ["", "I", "I will ", "the", "My lord, the k", "Zounds qqqq ", "he's here ,h", "x\ny "]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, and what all pages share."""
    made = publish.Site(ROOT, tmp_path_factory.mktemp("tried"), dict(publish.LISTS))
    made.text("autograder/pages/try.md", tried.PAGE)
    made.finish()
    return made.out / tried.PAGE


@pytest.fixture
def page(site: Path, opened: Any) -> Any:
    return opened(site)


NETWORK = """
async name => {
  const [cards, file] = [await nlm.load('try/cards'), await nlm.load(`try/${name}`)];
  const { config, characters } = cards[name];
  window.model = { char_lstm: lstm, char_gpt: transformer }[name](tensors(file), config);
  window.letters = characterTokenizer(characters);
}"""


@pytest.mark.parametrize("name", tried.NETWORKS)
def test_the_networks_compute_what_they_compute_in_nlmcore(page: Any, name: str) -> None:
    """In double precision there as well, so that no rounding is forgiven."""
    page.evaluate(NETWORK, name)
    model, tokenizer, _ = checkpoint(name)
    for text in TEXTS.values():
        ids, told = page.evaluate(
            """text => {
              const ids = letters.encode(text), { logits, weights } = model(ids);
              const lists = rows => rows && Array.from(rows, row => (typeof row === 'number' ? row : lists(row)));
              return [ids, { logits: lists(logits), weights: lists(weights) }];
            }""",
            text,
        )
        assert ids == tokenizer.encode(text)
        tokens = torch.tensor([ids])
        with torch.no_grad():
            logits, _ = model.double()(tokens)
        theirs = torch.tensor(told["logits"], dtype=torch.float64).log_softmax(-1)
        np.testing.assert_allclose(theirs, logits[0].log_softmax(-1), atol=1e-9)
        if name == "char_gpt":
            with torch.no_grad(), capture(model) as tape:
                model(tokens)
            for layer, ours in enumerate(tape.values()):
                drawn = np.zeros(ours.shape[1:])
                for t, layers in enumerate(told["weights"]):
                    for head, row in enumerate(layers[layer]):
                        drawn[head, t, t + 1 - len(row) : t + 1] = row
                np.testing.assert_allclose(drawn, ours[0], atol=1e-9)


@pytest.mark.parametrize("name", tried.NETWORKS)
def test_reading_in_pieces_is_reading_the_whole_and_a_state_stays_as_it_is(page: Any, name: str) -> None:
    page.evaluate(NETWORK, name)
    found = page.evaluate(
        """text => {
          const ids = letters.encode(text), last = read => [...read.logits.at(-1)], whole = last(model(ids));
          const { state } = model(ids.slice(0, 150)), rest = () => last(model(ids.slice(150), state));
          return [whole, rest(), rest(), last({ logits: new Reader(model).read(ids).map(step => step.logits) })];
        }""",
        TEXTS["three windows"],
    )
    whole, *others = np.array(found)
    for other in others:
        np.testing.assert_array_equal(other, whole)


def test_what_was_typed_before_is_not_read_again_and_an_edit_is(page: Any) -> None:
    page.evaluate(NETWORK, "char_lstm")
    found = page.evaluate(
        """() => {
          let calls = 0;
          const counted = (tokens, state) => { calls += tokens.length; return model(tokens, state); };
          const reader = new Reader(counted), counts = [];
          for (const text of ['abcdef', 'abcdefg', 'abXdefg', 'ab', 'ab', '']) {
            calls = 0;
            const { length } = reader.read(letters.encode(text));
            counts.push([calls, length]);
          }
          reader.read(letters.encode('abcd'));
          const edited = letters.encode('abXd');
          return [counts, [...reader.read(edited).at(-1).logits], [...model(edited).logits.at(-1)]];
        }"""
    )
    assert found[0] == [[6, 6], [1, 7], [5, 7], [0, 2], [0, 2], [0, 0]]
    assert found[1] == found[2]


def test_ids_are_those_of_nlmcore(page: Any) -> None:
    found = page.evaluate(
        """async texts => {
          const cards = await nlm.load('try/cards');
          const letters = characterTokenizer(cards.char_gpt.characters);
          const all = [letters, wordTokenizer(cards.words), byteTokenizer(cards.bytes)];
          return all.map(({ encode }) => texts.map(encode));
        }""",
        STRINGS,
    )
    words, _ = tried.ngram_models()
    tokenizers = [checkpoint("char_gpt").tokenizer, words, checkpoint("bpe_gpt").tokenizer]
    assert found == [[tokenizer.encode(text) for text in STRINGS] for tokenizer in tokenizers]


def test_the_ngrams_suggest_what_they_suggest_in_lecture_1(page: Any) -> None:
    tokenizer, models = tried.ngram_models()
    for order, model in enumerate(models, 1):
        ids = [tokenizer.encode("\n" + text) for text in CONTEXTS]
        whole, suggested = page.evaluate(
            """async ([order, texts, ids]) => {
              const [cards, counts] = [await nlm.load('try/cards'), await nlm.load('try/ngrams')];
              const panel = Object.create(Words.prototype);
              panel.order = order;
              panel.prepare(cards, counts);
              return [ids.map(one => panel.models[order - 1](one).logits.map(row => [...row]).at(-1)),
                texts.map(text => panel.suggest(text).found.map(({ name, p }) => [name, p]))];
            }""",
            [order, CONTEXTS, ids],
        )
        for text, one, logits, found in zip(CONTEXTS, ids, whole, suggested, strict=True):
            np.testing.assert_allclose(logits, np.log(model.distribution(one).numpy()), atol=1e-9)
            before, _, begun = text.rpartition(" ")
            p = model.distribution(tokenizer.encode("\n" + before))
            fits = [i >= 7 and word.startswith(begun) for i, word in enumerate(tokenizer.vocabulary)]
            p = p.masked_fill(~torch.tensor(fits), 0.0)
            best = (p / p.sum()).topk(6).values if p.sum() else torch.tensor([])
            np.testing.assert_allclose([share for _, share in found], [float(b) for b in best if b > 0], atol=1e-9)
            for word, share in found:
                assert float(p[tokenizer.id(word)] / p.sum()) == pytest.approx(share, abs=1e-9)


def test_filters_are_those_of_nlmcore_and_samples_follow_the_probabilities(page: Any) -> None:
    logits = torch.randn(20, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2
    every = {"temperature": 1.7, "top_k": 9, "top_p": 0.8}
    for settings in ({"temperature": 0.3}, {"top_k": 4}, {"top_p": 0.7}, every):
        found = page.evaluate("([logits, settings]) => filtered(logits, settings)", [logits.tolist(), settings])
        np.testing.assert_allclose(found, reshape(logits, **settings).exp(), atol=1e-12)
    counts = page.evaluate(
        """() => {
          const p = [0.5, 0, 0.2, 0.3], counts = [0, 0, 0, 0], random = randomFrom(1);
          for (let n = 0; n < 20000; n++) counts[drawn(p, random)]++;
          return counts;
        }"""
    )
    assert counts[1] == 0
    np.testing.assert_allclose(np.array(counts) / 20000, [0.5, 0, 0.2, 0.3], atol=0.02)


# --- the panels -----------------------------------------------------------------------------------------


def panel(page: Any, heading: str) -> Any:
    """A panel whose model was loaded, as a keyboard loads it: by its field's focus. The field is empty."""
    page.set_default_timeout(WAIT)
    field = page.locator(f"h2:text-is('{heading}') ~ .try >> nth=0").locator("textarea")
    host = field.locator("xpath=..")
    field.focus()
    host.locator("button:has-text('Load the model')").wait_for(state="detached")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    return host


def said(page: Any, host: Any, words: str) -> None:
    """Waits until a panel's live region says this."""
    region = host.locator(":scope > [role=status]").element_handle()
    page.wait_for_function("([region, words]) => region.textContent.includes(words)", arg=[region, words])


def likeliest(name: str, text: str) -> str:
    """The most probable next character and its probability, from nlmcore."""
    model, tokenizer, _ = checkpoint(name)
    with torch.no_grad():
        p = model(torch.tensor([tokenizer.encode("\n" + text)]))[0][0, -1].softmax(-1)
    return f"{tokenizer.vocabulary[int(p.argmax())]} {p.max():.2f}"


def test_tokens_by_keyboard(page: Any) -> None:
    host = panel(page, "Tokens")
    page.keyboard.type("My lord é")
    said(page, host, "Tokens: characters 9, words 3, pieces 5.")
    lists = host.locator(".pieces")
    expect(lists.nth(0).locator("li").last.locator("span, small")).to_have_text(["unknown", "3"])
    expect(lists.nth(1).locator("span")).to_have_text(["My", "lord", "unknown"])
    expect(lists.nth(2).locator("span")).to_have_text(["My", "␣lord", "␣", "⟨c3⟩", "⟨a9⟩"])


def test_suggestions_by_keyboard(page: Any) -> None:
    host = panel(page, "The next word")
    page.keyboard.type("I love the k")
    said(page, host, "king 0.9")
    page.keyboard.press("Enter")
    field = host.locator("textarea")
    expect(field).to_have_value("I love the king ")
    suggestion = host.locator(".bars button").nth(1)
    word = suggestion.inner_text()
    suggestion.press("Enter")
    expect(field).to_have_value(f"I love the king {word} ")
    expect(field).to_be_focused()
    host.locator("input[type=radio]:checked").press("ArrowLeft")
    host.locator("input[type=radio]:checked").press("ArrowLeft")
    expect(host.locator(".note")).to_contain_text("No context")
    field.press("End")
    page.keyboard.type("zzz")
    said(page, host, "No word of the vocabulary starts like this.")


def test_the_lstm_by_keyboard(page: Any) -> None:
    host = panel(page, "The next character")
    page.keyboard.type("To be, or not to b")
    said(page, host, f"The next character: {likeliest('char_lstm', 'To be, or not to b')}")
    expect(host.locator(".surprise span")).to_have_count(18)
    host.locator("summary").press("Enter")
    expect(host.locator("tbody tr")).to_have_count(18)  # the table is made after the press
    typed, field = "To be, or not to b", host.locator("textarea")

    def take_back() -> None:
        host.get_by_role("button", name="Take it back").press("Enter")
        expect(field).to_have_value(typed)

    def written() -> str:
        before = field.input_value()
        host.get_by_role("button", name="Write on").press("Enter")
        expect(field).not_to_have_value(before)
        return str(field.input_value())

    take_back()
    first = written()
    assert first.startswith(typed)
    assert len(first) == 118
    take_back()
    assert written() == first
    take_back()
    host.get_by_label("seed").press("ArrowUp")
    assert written() != first
    take_back()
    host.get_by_label("top-k").press("Home")
    greedy = written()
    take_back()
    host.get_by_label("seed").press("ArrowUp")
    assert written() == greedy
    while len(text := written()) < 1000:
        pass
    assert len(text) == 1000


def test_attention_by_keyboard(page: Any) -> None:
    host = panel(page, "Attention")
    page.keyboard.type("the the the t")
    said(page, host, f"The next character: {likeliest('char_gpt', 'the the the t')}")
    heads = host.locator(".heads button")
    expect(heads).to_have_count(16)
    large, note = host.locator("canvas[role=img]"), host.locator(".note")
    before = large.evaluate("canvas => canvas.toDataURL()")
    heads.nth(6).press("Enter")
    expect(heads.nth(6)).to_have_attribute("aria-pressed", "true")
    expect(host.locator(".heads [aria-pressed=true]")).to_have_count(1)
    assert large.evaluate("canvas => canvas.toDataURL()") != before
    said(page, host, "From “t”, layer 2, head 3 looks at")
    slider = host.locator("input[type=range]")
    expect(slider).to_have_value("13")
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "12: space")
    expect(note).to_have_text(re.compile("^From space, layer 2, head 3 looks at"))
    assert note.inner_text() in large.get_attribute("aria-label")
    host.locator("summary").press("Enter")
    expect(host.locator("tbody tr")).to_have_count(14)  # the table is made after the press
    host.locator(".looked span").nth(5).hover()
    expect(slider).to_have_value("5")
    small = heads.nth(6).locator("canvas")
    row = small.evaluate(
        "canvas => [...canvas.getContext('2d').getImageData(0, 0, 14, 1).data].filter((_, i) => i % 4 === 0)"
    )
    assert row[0] < 20
    assert set(row[1:]) == {255}


def test_a_long_text_shows_its_end(page: Any) -> None:
    host = panel(page, "Attention")
    host.locator("textarea").fill(TEXTS["three windows"][:300])
    expect(host.locator(".looked span")).to_have_count(48)
    expect(host.locator("input[type=range]")).to_have_attribute("min", "253")
    expect(host.locator(".heads canvas").first).to_have_js_property("width", 48)


def test_a_link_to_a_panel_loads_its_model(site: Path, opened: Any) -> None:
    page = opened(f"{site.as_uri()}#attention")
    page.set_default_timeout(WAIT)
    page.locator(".heads canvas").first.wait_for()
    for name in ("try/char_lstm.js", "try/ngrams.js"):
        assert not page.locator(f"script[src='{name}']").count()


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_a_phone_and_a_zoom_of_400_percent_scroll_in_one_direction(
    site: Path, opened: Any, size: tuple[int, int]
) -> None:
    """And axe finds nothing, before models are loaded and after it."""
    page = opened(site, *size)
    assert_perceivable(page)
    for heading in ("Tokens", "The next word", "The next character", "Attention"):
        panel(page, heading)
        page.keyboard.type("To be, or not to be")
    unfold(page)
    assert_perceivable(page)
    assert not across(page)
