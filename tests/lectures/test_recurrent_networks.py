"""What the functions and networks of the lecture `recurrent_networks` must do."""

import pytest


def test_losses_of_one_sentence(ran: dict) -> None:
    assert ran["per_step"].mean().item() == pytest.approx(ran["library"].item(), rel=1e-5)
    assert ran["diluted"] < 0.6 * ran["right"], "the mean over padding is too small"


def test_a_prediction_stands_above_what_answers_it(cells: list) -> None:
    """The loss of targets that are not shifted is printed after the question about it."""
    sources = [cell.source for cell in cells]
    question = next(
        i for i, source in enumerate(sources) if "the targets are *not* shifted" in " ".join(source.split())
    )
    assert [i for i, source in enumerate(sources) if "not_shifted = " in source or "not_shifted:" in source] == [
        question + 1
    ]


def test_backpropagation_by_hand(ran: dict) -> None:
    _, parts = ran["through_time"](0.5, 1.0, [1.0, 0.0, 0.0], [1.0] * 3)
    assert sum(map(sum, parts)) == pytest.approx(ran["by_hand"], abs=1e-12)
    assert [row[0] for row in parts] == [0.0] * 3, "the first time adds nothing"


def test_marks_put_back(ran: dict) -> None:
    marked = " ".join(ran["restore"](ran["sentences"][0])[1])
    assert "lend me your ears; I come to bury Caesar, not to praise him." in marked
    words, _, _ = ran["verdict"](ran["openings"][1])
    assert words[5] == "i"


def test_nothing_is_learned_of_noise_from_left_to_right(ran: dict) -> None:
    assert sum(ran["noise"]["left to right"]) / 20 > 2.97
