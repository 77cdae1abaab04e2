"""Bars, surprises, the guessing game and the widgets of counting and writing: what is said is what is drawn."""

import math

import pytest

from lectures import widgets
from lectures.recipes.guessing import KEYS, entropy_bounds, key_of
from lectures.widgets.language_models import GIVE_UP, guessing_svg, replay
from tests.lectures.seen import seen, spoken

TEXT = "To be, or"
TARGETS = [key_of(c) for c in TEXT]


@pytest.mark.parametrize(
    ("typed", "found", "wrong"),
    [
        ("", [], []),
        ("t", [1], []),
        ("T", [1], []),
        ("eat", [3], []),
        ("eeat", [3], []),  # what was tried does not count again
        ("e", [], ["e"]),
        ("to be.", [1, 1, 1, 1, 1, 1], []),
        ("to be!", [1, 1, 1, 1, 1, 1], []),
        ("a?o", [28, 1], []),
        ("to be. orxyz", [1] * 9, []),
    ],
)
def test_the_game_is_what_was_typed(typed: str, found: list, wrong: list) -> None:
    assert replay(typed, TARGETS, KEYS, key_of) == (found, wrong)
    assert GIVE_UP not in KEYS


@pytest.fixture
def game() -> widgets.Live:
    def players(text: str) -> dict:
        return {"always second": widgets.Player([2] * len(text), [1.0] * len(text))}

    passages = {"one": widgets.Passage("It is. " + TEXT, 7), "two": widgets.Passage("So it is.", 3)}
    return widgets.guessing_game(passages, players, entropy_bounds, KEYS, key_of, demo="eto")


def test_the_room_and_the_models_are_scored_on_the_same_characters(game: widgets.Live) -> None:
    said = spoken(seen(game))
    assert "2 characters found, 1 with the first guess" in said
    low, high = entropy_bounds([2, 1])
    assert (
        f"the room: between {low:.2f} and {high:.2f} bits per character from its guesses, first guess right 50%" in said
    )
    assert (
        "always second: between 2.00 and 0.00 bits per character from its guesses, 1.00 from its probabilities" in said
    )


def test_typing_buttons_and_a_new_passage(game: widgets.Live) -> None:
    field = game.controls["typed"]
    row = next(child for child in game.children if len(getattr(child, "children", ())) > 20)
    buttons = {button.description: button for button in row.children}
    assert len(buttons) == len(KEYS) + 3
    buttons["space"].click()
    assert field.value == "eto "
    assert "3 characters found" in spoken(seen(game))
    buttons["q"].click()
    assert "not: q" in spoken(seen(game))
    buttons["undo"].click()
    buttons["reveal"].click()
    assert "4 characters found" in spoken(seen(game))
    game.controls["passage"].value = "two"
    assert field.value == ""
    assert "0 characters found" in spoken(seen(game))
    field.value = "it is."
    assert "the end of the passage" in spoken(seen(game))


def test_ones_own_bounds_are_drawn_beside(game: widgets.Live) -> None:
    other = widgets.guessing_game(
        {"one": widgets.Passage("So so", 3)},
        lambda text: {},
        entropy_bounds,
        KEYS,
        key_of,
        demo="s",
        yours=lambda g: (1, 2),
    )
    assert "yours draws a different picture" in seen(other)


def test_guessing_svg_wants_a_number_per_guess() -> None:
    with pytest.raises(ValueError, match="one number of guesses per guessed character"):
        guessing_svg("abc", 1, [1], [], {})


def test_without_an_end_every_length_sums_to_one() -> None:
    def probability(words: list, p: float) -> float:
        return ((1 - p) / 2) ** len(words) * (p or 1.0)

    widget = widgets.length_playground(probability, ["ha", "ho"], longest=3, yours=lambda words, p: 0.1)
    assert ": 4.000<" in seen(widget)
    assert "yours draws a different picture" in seen(widget)
    assert ": 0.938<" in seen(widget, p=0.5)


def test_counts_become_probabilities() -> None:
    def estimate(seen: dict, vocabulary: list, k: float) -> dict:
        total = sum(seen.values()) + k * len(vocabulary)
        return {word: (seen.get(word, 0) + k) / total for word in vocabulary}

    widget = widgets.count_playground({"cat": {"sat": 2, "ran": 1}, "a": {"cat": 1}}, ["sat", "ran", "cat"], estimate)
    assert "sat 0.667 · seen 2 of 3, ran 0.333 · seen 1 of 3, cat 0.000 · seen 0 of 3. sum 1.00" in spoken(seen(widget))
    assert "sat 0.500 · seen 2 of 3, ran 0.333 · seen 1 of 3, cat 0.167" in spoken(seen(widget, k=1.0))
    assert "cat 0.500" in spoken(seen(widget, context="a"))


def test_perplexity_of_a_die() -> None:
    def perplexity(p: list) -> float:
        return math.exp(-sum(map(math.log, p)) / len(p))

    widget = widgets.perplexity_playground(perplexity, ["a", "b"], [0.5, 0.125], lambda p: -math.log2(p))
    assert "a 1.00 bits · P = 0.500, b 3.00 bits · P = 0.125. mean 2.00 bits per word" in spoken(seen(widget))
    assert "perplexity 4.00" in spoken(seen(widget))
    assert "perplexity 2.00" in spoken(seen(widget, p1=0.5))


def test_suggestions_follow_what_is_typed_and_enter_takes_the_first() -> None:
    def suggest(typed: str) -> list:
        return [] if typed.endswith("q") else [("king", 0.6), ("queen", 0.4)]

    widget = widgets.next_words({"none": lambda typed: [], "two": suggest}, "the ")
    assert "two: next word after “the ”: king 0.600, queen 0.400." in spoken(seen(widget))
    field = widget.controls["typed"]
    field._handle_custom_msg({"event": "submit"}, [])
    assert field.value == "the king "
    field.value = "the kin"
    field._handle_custom_msg({"event": "submit"}, [])
    assert field.value == "the king "
    field.value = "q"
    assert "knows no word" in seen(widget)
    field.value = "x" * 300
    assert "at most 200" in seen(widget)


def test_the_writer_shows_the_draw_of_every_word() -> None:
    asked = []

    def write(order: int, smoothing: str, seed: int) -> list:
        asked.append((order, smoothing, seed))
        return [widgets.Written(f"w{i}", min(i + 1, 3), [("w0", 0.5), ("\n", 0.25)]) for i in range(6)]

    widget = widgets.writer(write, [1, 2], ["mle", "kneser_ney"], order=2, words=4)
    assert "2 of 4 words end a run of 3 or more" in seen(widget)
    assert "it is not in the top five" in seen(widget)
    assert "new line" in seen(widget)
    assert "word 1 was sampled from<" in seen(widget, shown=1)
    widget.controls["seed"].value = 1
    widget.controls["seed"].value = 0
    assert asked.count((2, "mle", 0)) == 1, "a text is written once"
