"""The page "Try the models": weights, counts and tokenizers as scripts, and the links that lead to it."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.site import tried
from autograder.site.packed import script, taken
from lectures.trained import FOLDER, checkpoint
from tests.lab import ROOT


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    """As a build has them: made here, or taken from an earlier build of the same sources."""
    return tried.scripts(ROOT)


@pytest.mark.parametrize("name", tried.NETWORKS)
def test_weights_are_the_files_of_the_checkpoints(scripts: dict[str, str], name: str) -> None:
    assert taken(scripts[name]) == (FOLDER / f"{name}.safetensors").read_bytes()
    card = json.loads(taken(scripts["cards"]))[name]
    assert tuple(card["characters"]) == checkpoint(name).tokenizer.vocabulary


def test_the_pieces_are_those_of_bpe_gpt(scripts: dict[str, str]) -> None:
    told, tokenizer = json.loads(taken(scripts["cards"]))["bytes"], checkpoint("bpe_gpt").tokenizer
    assert [tokenizer.vocabulary[i] for i in told["bytes"]] == [bytes([b]) for b in range(256)]
    assert [tuple(tokenizer.vocabulary[i] for i in pair) for pair in told["merges"]] == [*map(tuple, tokenizer.merges)]
    assert len(told["special"]) + 256 + len(told["merges"]) == tokenizer.vocab_size


def test_probabilities_follow_from_the_counts() -> None:
    """Kneser-Ney from what a page gets, on a small text, for every context of two words or fewer."""
    from nlmcore.ngram import NGramLM

    drawn = torch.randint(3, 9, (2, 40), generator=torch.Generator().manual_seed(0)).tolist()
    text = [[1, *row, 2] for row in drawn]
    models = [NGramLM(n, 9).fit(text) for n in (1, 2, 3)]
    told = json.loads(taken(script(tried.trie(models))))
    contexts: list[tuple[int, ...]] = [()]
    follow: list[dict[tuple[int, ...], dict[int, list[int]]]] = []
    """Of each order: context -> word -> its counts."""
    for level in told["levels"]:
        at, here = 0, {}
        for context, size in zip(contexts, level["sizes"], strict=True):
            words = np.cumsum(level["words"][at : at + size]).tolist()
            here[context] = {word: [counts[i] for counts in level["counts"]] for i, word in enumerate(words, at)}
            at += size
        follow.append(here)
        contexts = [(*context, word) for context, words in here.items() for word in words]
    for order, model in enumerate(models, 1):
        for context in [(), (4,), (4, 5), (1, 3), (2, 2), (8, 8), (1,)]:
            p = np.full(9, 1 / 9)
            for n in range(min(order, len(context) + 1)):
                which = 0 if n == order - 1 else 1
                found = {w: counts[which] for w, counts in follow[n].get(context[len(context) - n :], {}).items()}
                total, D = sum(found.values()), told["levels"][n]["discounts"][which]
                if total:
                    p = p * D * sum(c > 0 for c in found.values()) / total
                    for word, c in found.items():
                        p[word] += max(c - D, 0) / total
            np.testing.assert_allclose(p, model.distribution(context).numpy(), atol=1e-12)


def test_the_whole_is_a_few_megabytes_and_made_once(
    scripts: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum(map(len, scripts.values())) < 5e6
    monkeypatch.setattr(tried, "exported", lambda root: {"cards": "made"})
    assert tried.scripts(tmp_path) == {"cards": "made"}
    monkeypatch.setattr(tried, "exported", lambda root: pytest.fail("made again"))
    assert tried.scripts(tmp_path) == {"cards": "made"}


def test_each_panel_says_how_much_it_loads() -> None:
    text = tried.sized('<div data-load="a b"></div>', {"a": "x" * 400_000, "b": "y" * 500_000})
    assert text == '<div data-load="a b" data-megabytes="0.9"></div>'


def widget(*names: str) -> str:
    told = html.escape(json.dumps({"controls": [{"name": name} for name in names]}))
    return f'<div class="nlm-live" data-states="0" data-told="{told}"><div class="nlm-controls"></div></div>'


def test_a_widget_links_to_the_panel_that_fits_it_and_others_do_not() -> None:
    body = widget("text", "own") + widget("word", "own")
    made = tried.linked(body, "02_tokens_and_vectors", "../")
    assert made.count("data-try=") == 1
    assert '<div class="nlm-live" data-states="0" data-try="../try.html#tokens" data-told=' in made
    assert tried.linked(body, "03_backpropagation", "../") == body


def test_every_link_leads_to_a_panel() -> None:
    page = (ROOT / "autograder/pages/try.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)\n(?:(?!^## ).*\n)*?<div class=\"try\"", page, re.M)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    assert len(anchors) == 4
    assert set(tried.PANELS.values()) == {tried.GAME, *(f"{tried.PAGE}#{anchor}" for anchor in anchors)}
