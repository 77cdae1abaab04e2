"""Closed-book questions of earlier weeks: the model of memory, and what is asked."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lectures import predictions
from lectures.again import FIRST_DIFFICULTY, again, deck, due, main, memories, retrievability

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def entry(question: str, days_ago: float, right: bool | None, how: str = "guess") -> predictions.Entry:
    when = (NOW - timedelta(days=days_ago)).isoformat(timespec="seconds")
    return {"when": when, "lecture": "08_gates", "question": question, "how": how, "answer": "2", "right": right}


def test_the_model_is_fsrs_5() -> None:
    assert retrievability(0.0, 5.0) == 1.0
    assert retrievability(5.0, 5.0) == pytest.approx(0.9)
    assert FIRST_DIFFICULTY[False] == pytest.approx(7.1949)  # its w4
    assert FIRST_DIFFICULTY[True] == pytest.approx(7.1949 - 2.7183**1.069 + 1, abs=1e-3)
    (one,) = memories([entry("a", 30, True), entry("a", 20, True, "again")])
    d, r = FIRST_DIFFICULTY[True], retrievability(10.0, 3.173)
    gain = 2.71828**1.54575 * (11 - d) * 3.173**-0.1192 * (2.71828 ** (1.01925 * (1 - r)) - 1)
    assert one.stability == pytest.approx(3.173 * (1 + gain), rel=1e-4)


def test_what_is_remembered_lasts_longer_and_what_is_forgotten_shorter() -> None:
    start = [entry("a", 30, True), entry("a", 25, True, "again")]
    stable = [memories([*start, entry("a", 10, good, "again")])[0] for good in (True, False)]
    before = memories(start)[0]
    assert stable[1].stability < before.stability < stable[0].stability
    assert stable[1].difficulty > before.difficulty


def test_wrong_answers_of_earlier_weeks_are_asked_first() -> None:
    told = [
        entry("right", 20, True),
        entry("wrong", 20, False),
        entry("this week", 3, False),
        entry("of the room", 20, False, "room"),
        entry("shown", 20, None, "shown"),
        entry("repeated today", 20, False),
        entry("repeated today", 0.2, False, "again"),
    ]
    assert [one.question for one in due(told, NOW)] == ["wrong", "shown", "right"]
    assert [one.question for one in due(told, NOW, 1)] == ["wrong"]


def test_a_guess_that_comes_later_does_not_count() -> None:
    told = [entry("a", 20, False), entry("a", 19, True)]
    assert memories(told) == memories(told[:1])


def test_the_widget_shows_the_answer_and_keeps_what_was_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NLM_PREDICTIONS", str(tmp_path / "kept.json"))
    assert again() is None
    assert "Nothing to repeat yet" in capsys.readouterr().out
    predictions.keep("How many?", "guess", "1", "2", right=False)
    text = predictions.place().read_text(encoding="utf-8")
    year = str(datetime.now(UTC).year)
    predictions.place().write_text(text.replace(year, "2020", 1), encoding="utf-8")
    (row,) = again().children
    yours = row.children[1]
    show, knew, did_not = row.children[2].children
    assert (show.disabled, knew.disabled, did_not.disabled) == (False, True, True)
    yours.value = " two, as it has one for each "
    show.click()
    assert yours.disabled  # it stands beside the answer
    assert (show.disabled, knew.disabled, did_not.disabled) == (True, False, False)
    knew.click()
    first, last = predictions.kept()
    assert (last["how"], last["question"], last["right"]) == ("again", "How many?", True)
    assert last["guess"] == "two, as it has one for each"
    assert predictions.first_guesses([first, last]) == [first]
    assert again() is None  # repeated today


def test_a_deck_for_anki_has_a_note_for_each_question_under_a_name_that_stays() -> None:
    told = [entry("kept", 20, True), entry("Is $a$ < b?\nAnd\tc?", 20, False)]
    lines = deck(told).splitlines()
    notes = [line.split("\t") for line in lines if not line.startswith("#")]
    assert [note[1] for note in notes] == [r"Is \(a\) &lt; b? And c?", "kept"]
    assert all(note[2:] == ["2", "Neural language models::08_gates"] for note in notes)
    assert len({note[0] for note in notes}) == 2
    later = deck([*told, entry("kept", 1, False, "again")])
    assert sorted(later.splitlines()) == sorted(lines)


def test_the_deck_is_written_and_a_wrong_place_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NLM_PREDICTIONS", str(tmp_path / "kept.json"))
    predictions.keep("How many?", "guess", "1", "2", right=False)
    assert main(["--anki", str(tmp_path / "deck.txt")]) == 0
    assert "How many?\t2\t" in (tmp_path / "deck.txt").read_text(encoding="utf-8")
    assert main([]) == 0
    assert "1 questions met, 0 of them" in capsys.readouterr().out
    assert main(["--anki", str(tmp_path / "none" / "deck.txt")]) == 1
    assert "cannot be written" in capsys.readouterr().err
