"""The table of reading costs in CONTRIBUTING is what the tool measures; no model outgrows what it costs now unseen."""

from pathlib import Path

import pytest

from tests.reading_cost import HEAD, MODELS, cost, reached, table

CONTRIBUTING = Path(__file__).resolve().parents[1] / "CONTRIBUTING.md"


def printed() -> dict[str, list[int]]:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    rows = text.partition("\n".join(HEAD))[2].strip().partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name: [int(number) for number in numbers] for name, *numbers in cells}


@pytest.mark.parametrize("model", MODELS)
def test_the_table_is_what_the_tool_measures(model: str) -> None:
    """Within five per cent and a few lines: else run `python -m tests.reading_cost` and print its table."""
    assert printed()[model] == pytest.approx(list(cost(model)), rel=0.05, abs=8), table()


def test_names_are_followed_through_files() -> None:
    names = {name for _, name in reached(MODELS["GPT"])}
    assert {"TransformerLM", "Block", "MultiHeadAttention", "KeyValueCache", "LearnedPositions", "Linear"} <= names
    assert not {"EncoderDecoder", "Rotary", "GatedFeedForward"} & names, "what GPT is not made of"


def test_a_reader_of_gpt_needs_few_files() -> None:
    found = cost("GPT")
    assert found.files <= 10
    assert found.lines <= 660
    assert found.checks <= 390
    assert found.fast <= 250
