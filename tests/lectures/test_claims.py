"""No headline on one run: a sentence in bold does not say that one trained model beats another."""

import re
from pathlib import Path

import pytest

from autograder.texts.glossary import markdown_cells
from tests.lectures.conftest import LECTURES

MODELS = re.compile(r"\b(RNN|UGRNN|GRU|LSTM|GPT|SmolLM2|MiniLM|\d-gram|network|CBOW|skip-gram)s?\b")
VERDICT = re.compile(r"\b(beats?|wins?|is better|are better|outperforms?|hard to beat)\b")


def headlines(text: str) -> list[str]:
    """What stands in bold and ranks models."""
    bold = [" ".join(found.split()) for cell in markdown_cells(text) for found in re.findall(r"\*\*([^*]+)\*\*", cell)]
    return [words for words in bold if VERDICT.search(words) and MODELS.search(words)]


@pytest.mark.parametrize("page", LECTURES, ids=lambda path: path.stem[3:])
def test_no_headline_ranks_models(page: Path) -> None:
    """A race with five seeds says what it measured, in its own words, with its range."""
    assert not headlines(page.read_text(encoding="utf-8"))


def test_a_headline_is_found() -> None:
    assert headlines("# %% [markdown]\n# **The counting 6-gram beats our small LSTM (2.11).** So it is.\n")
    assert not headlines("# %% [markdown]\n# The LSTM beats the RNN in one run. **So far.**\n")
