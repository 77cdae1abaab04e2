"""The tool that measures how much one has to read, and how much GPT may cost."""

from tests.reading_cost import MODELS, cost, reached


def test_names_are_followed_through_files() -> None:
    names = {name for _, name in reached(MODELS["GPT"])}
    assert {"TransformerLM", "DecoderLayer", "CausalAttention", "KeyValueCache", "LearnedPositions", "Linear"} <= names
    assert not {"EncoderDecoder", "Rotary", "GatedFeedForward"} & names, "what GPT is not made of"


def test_a_reader_of_gpt_needs_few_files() -> None:
    found = cost("GPT")
    assert found.files <= 10
    assert found.lines <= 700
    assert found.checks <= 400
    assert found.fast <= 150
