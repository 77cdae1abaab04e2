"""Recipes of the last lecture: no held-out name leaks, answers are graded as told, pairs differ where they should."""

import pytest
import torch

from lectures.recipes import conversations, glossary_questions, preference_tuning, tuned, tuned_layers
from lectures.recipes.everyday import questions
from lectures.recipes.still_missing import counted
from lectures.recipes.tools_and_retrieval import WORDINGS
from lectures.trained import tuned as stored_adapter
from nlmcore.pretrained import smollm2
from nlmcore.transfer.tuning import Tail, conversation, pad
from nlmcore.transformer import TransformerConfig, TransformerLM


def test_a_hundred_conversations_and_nobody_leaks() -> None:
    told, asked = conversations.training(), conversations.held_out()
    assert len(told) == 100
    words = {word for row in told for word in row.ask.replace("\n", " ").split()}
    for part in (conversations.NAMES, conversations.FIRST, conversations.LAST):
        names = {name.strip() for name in part["held out"].replace(",", " ").split()}
        assert not names & words
        assert any(name in row.ask for row in asked for name in names)
    assert not {row.ask for row in told} & {row.ask for row in asked}
    assert not any(kind in row.ask for row in told for kind in conversations.KINDS["held out"])
    assert sum(row.new for row in asked) == len(asked) // 2


def test_a_passage_holds_the_answer_or_does_not() -> None:
    for row in [*conversations.training(), *conversations.held_out()]:
        if row.kind == "answered" and row.ask.startswith("This is about"):
            assert row.answer.removesuffix(".").removesuffix(" metres").lower() in row.ask.lower()
        if row.kind == "sums":
            a, b = (int(x) for x in row.answer.removeprefix("<tool>").removesuffix("</tool>").split(" + "))
            assert str(a) in row.ask
            assert str(b) in row.ask
            assert conversations.result_of(row.answer)[1]["content"] == f"{a + b}."


def test_replies_are_read_kindly() -> None:
    passage, missing, total = (
        next(t for t in conversations.held_out() if t.kind == kind) for kind in tuned_layers.KINDS
    )
    read = tuned_layers.reading_of
    assert read(passage, f"It is {passage.answer}")["holds"] == 1
    assert read(passage, "I cannot tell.")["holds"] == 0
    assert read(missing, "I am sorry, that is not mentioned.")["declines"] == 1
    assert read(missing, "It was built of oak.")["declines"] == 0
    assert read(total, f"Sure: {total.answer}")["calls"] == 1
    assert read(total, "The sum is 12.") == {"short": 1, "calls": 0}


def small() -> TransformerLM:
    torch.manual_seed(0)
    return TransformerLM(TransformerConfig(vocab_size=11, d_model=12, n_heads=3, n_layers=4, max_length=32)).eval()


def test_written_is_what_greedy_decoding_writes() -> None:
    model = small()
    prompt = [5, 3, 8]
    with torch.no_grad():
        best = list(prompt)
        for _ in range(3):
            best.append(int(model(torch.tensor([best]))[0][0, -1].argmax()))
    wrong = [*best[:-1], (best[-1] + 1) % 11]
    mask = [False] * 3 + [True] * 3
    answers = pad([(best, mask), (wrong, mask)])
    assert tuned.written(model, answers) == [1, 0]
    tail = Tail(model, tuned.LAYERS)
    assert tuned.written(tail, tail.read(answers)) == [1, 0]


class Letters:
    """A tokenizer of digits, for `replies`."""

    eos = 10

    def decode(self, ids: list[int], skip_special: bool = True) -> str:
        return "".join(str(i) for i in ids if not skip_special or i not in (0, 10))


def test_replies_do_not_depend_on_what_is_read_together() -> None:
    model, prompts = small(), [[1, 2, 3, 4], [1, 2, 5, 6], [1, 2, 7]]
    alone = [tuned.replies(model, Letters(), [prompt], 5)[0] for prompt in prompts]
    assert tuned.replies(model, Letters(), prompts, 5) == alone


def test_pairs_count_where_they_differ() -> None:
    chosen, rejected = ([1, 2, 3, 9], [False, True, True, True]), ([1, 2, 3, 4, 5], [False, True, True, True, True])
    one, other = preference_tuning.apart(chosen, rejected)
    assert one[1] == [False, False, False, True]
    assert other[1] == [False, False, False, True, True]
    assert preference_tuning.first_sentence("One. Two.") == "One."
    assert preference_tuning.first_sentence("1.5 is it? Yes") == "1.5 is it?"
    training, held_out = questions(45)
    assert (len(training), len(held_out)) == (30, 15)
    assert not set(training) & set(held_out)


def test_questions_about_the_glossary_do_not_name_their_answer() -> None:
    terms = {entry.split(": ")[0] for entry in glossary_questions.passages()}
    for text in (glossary_questions.QUESTIONS, glossary_questions.FAR):
        for ask, term in glossary_questions.questions(text):
            assert term in terms
            assert term.lower() not in ask.lower()


def test_letters_are_counted_and_a_constant_answer_is_right_in_a_third() -> None:
    rows = counted()
    assert all(word.count(letter) == n for letter, word, n in rows)
    assert len({sum(n == k for _, _, n in rows) for k in (1, 2, 3)}) == 1
    assert len(WORDINGS) == 2


def test_the_stored_adapter_writes_what_the_result_says() -> None:
    model, tokenizer = smollm2()
    copied, adapter = stored_adapter("house_style", model)
    asked = [t for t in conversations.held_out(24) if t.kind == "answered"][:6]
    rows = pad([conversation(tokenizer, conversations.messages(t)[:3]) for t in asked])
    assert sum(tuned.written(copied, rows)) >= 3
    with adapter.off():
        assert tuned.written(copied, rows) == tuned.written(model, rows) == [0] * 6


def test_an_adapter_that_is_not_there_is_told() -> None:
    with pytest.raises(ValueError, match="house_style"):
        stored_adapter("nonsense", None)


def test_a_rate_is_chosen_on_other_conversations() -> None:
    dev = tuned_layers.chosen_on()
    asks = {told.ask for told in [*conversations.training(), *conversations.held_out()]}
    assert not asks & {told.ask for told in dev}
    assert not any(told.new for told in dev)
    assert [sum(told.kind == kind for told in dev) for kind in tuned_layers.KINDS] == [tuned_layers.DEV] * 3


def test_a_question_elsewhere_has_no_answer_in_its_passage() -> None:
    answered = [told for told in conversations.held_out() if told.kind == "answered"]
    for own, other in zip(answered, tuned_layers.elsewhere(answered), strict=True):
        thing = own.ask.split("about the ")[1].split(".")[0]
        passage, ask = other.ask.split("\n")
        assert thing in ask
        assert thing not in passage


@pytest.mark.everything
def test_a_quick_run_in_the_middle_layers() -> None:
    found = tuned_layers.train(tuned_layers.Job(tuned_layers.MIDDLE, 0, 1e-3, quick=True))
    assert found["parameters"] == tuned_layers.summary()["written"]["last 2"]["parameters"]
    assert len(found["curve"]) == found["steps"] == 2
    assert {kind: len(rows) for kind, rows in found["written"].items()} == dict.fromkeys(found["written"], 2)
