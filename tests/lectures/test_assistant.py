"""What the lecture's cells compute; the figures in its prose are computed where they stand."""

from collections import Counter

from lectures.recipes import conversations


def test_without_the_template_it_ends_the_text(ran: dict) -> None:
    assert ran["replies"]["plain text"] == ran["replies"]["question and answer"] == "<|im_end|>"
    assert "Paris" in ran["replies"]["chat template"]


def test_the_conversations_are_as_many_as_told(ran: dict) -> None:
    counts = Counter(told.kind for told in conversations.training())
    assert counts == {"answered": 35, "missing": 35, "sums": 24, "talk": 6}
    assert len(conversations.training()) == 100
    assert ran["history"].losses[-1] < ran["history"].losses[0]
    assert ran["trained"] == ran["last_two"]["parameters"]


def test_a_students_own_habit_is_learned(ran: dict) -> None:
    ask, reply = ran["SAYS_PLACE"][0]
    assert ran["answer"](ran["mine"], ask) == reply
    with ran["my_habit"].off():
        assert ran["answer"](ran["mine"], ask) != reply
