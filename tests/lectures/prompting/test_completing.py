"""A model continues a text until it has said enough."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from lectures.prompting import Task, accuracy, by_writing, complete, stream_text
from nlmcore.tokens import BPETokenizer
from tests.lectures.prompting.models import KNOWS, LETTERS, TOKENIZERS, built, lstm, transformer, trigrams


def test_it_writes_until_the_stop_string() -> None:
    done = complete(KNOWS, LETTERS, "Italy ->", stop=["\n", "zzz"])
    assert (done.text, done.stopped) == (" Rome", "stop")
    assert LETTERS.decode(done.tokens) == " Rome\n"
    assert done.log_probs == pytest.approx([9 - math.log(math.e**9 + LETTERS.vocab_size - 1)] * 6, abs=1e-4)
    assert complete(KNOWS, LETTERS, "Italy ->", stop="om").text == " R"
    assert complete(KNOWS, LETTERS, "Italy ->", stop=("m", "om")).text == " R"  # the first in the text, not in the list
    assert complete(KNOWS, LETTERS, "Italy ->", 3) == complete(KNOWS, LETTERS, "Italy ->", 3, stop=())
    assert complete(KNOWS, LETTERS, "Italy ->", 3).stopped == "length"
    assert complete(KNOWS, LETTERS, "Italy ->", 3).text == " Ro"
    ended = complete(KNOWS, LETTERS, "Italy ->", eos=LETTERS.encode("m")[0])
    assert (ended.text, ended.stopped, LETTERS.decode(ended.tokens)) == (" Ro", "eos", " Rom")


def test_a_stop_string_inside_a_token_is_found() -> None:
    cut = BPETokenizer.train(["ab;cd ab;cd ab;cd"] * 9, 270)
    torch.manual_seed(0)
    model = built(lstm, cut)
    free = complete(model, cut, "ab", 30, stop=())
    for i in range(1, len(free.text) - 1):
        end = free.text[i : i + 2]
        assert complete(model, cut, "ab", 30, stop=(end,)).text == free.text[: free.text.index(end)]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("build", [lstm, transformer, trigrams])
def test_the_pieces_of_a_stream_are_the_whole_text(tokenizer: str, build) -> None:
    cut = TOKENIZERS[tokenizer]()
    model = built(build, cut)
    for seed in range(2):
        drawn = {"temperature": 1.0, "stop": ()}
        free = complete(model, cut, "The capital", 15, generator=torch.Generator().manual_seed(seed), **drawn)
        middle = free.text[len(free.text) // 2 :][:3]
        for changed in (
            {},
            {"stop": (middle, "zzz")} if middle else {},
            {"eos": free.tokens[-1]},
            {"max_new_tokens": 0},
        ):
            given = {"max_new_tokens": 15} | drawn | changed
            whole = complete(model, cut, "The capital", generator=torch.Generator().manual_seed(seed), **given)
            pieces = [*stream_text(model, cut, "The capital", generator=torch.Generator().manual_seed(seed), **given)]
            assert "".join(pieces) == whole.text
            assert all(pieces)


def test_what_may_still_change_is_held_back() -> None:
    """Half of a character, and the beginning of a stop string, are not shown before they are whole."""
    cut = BPETokenizer.train(["abc"], 4 + 256)

    class Says:
        """Goes on with one text, byte by byte."""

        vocab_size = cut.vocab_size

        def __init__(self, text: str) -> None:
            self.ids = cut.encode(text)

        def __call__(self, tokens: Tensor, state: int | None = None) -> tuple[Tensor, Tensor]:
            at = torch.zeros(1, dtype=torch.long) if state is None else state
            logits = torch.zeros(*tokens.shape, self.vocab_size)
            for t in range(tokens.shape[1]):
                logits[0, t, self.ids[min(int(at), len(self.ids) - 1)]] = 9.0
            return logits, at + 1

    said = Says("é👍a#b##c")
    assert len(said.ids) == 12
    assert [*stream_text(said, cut, "?", 12, stop=())] == ["é", "👍", *"a#b##c"]
    assert [*stream_text(said, cut, "?", 12, stop=("##",))] == ["é", "👍", "a", "#b"]
    assert [*stream_text(said, cut, "?", 8, stop=("##",))] == ["é", "👍", "a", "#"]  # what was held back comes last
    assert [*stream_text(said, cut, "?", 4, stop=())] == ["é", "\ufffd"]


def test_a_prompt_may_be_ids() -> None:
    assert complete(KNOWS, LETTERS, LETTERS.encode("Italy ->")) == complete(KNOWS, LETTERS, "Italy ->")
    ids = torch.tensor(LETTERS.encode("Italy ->"))
    assert "".join(stream_text(KNOWS, LETTERS, ids)) == " Rome"


def test_writing_may_end_with_the_text() -> None:
    ends = LETTERS.encode("m")[0]
    found = accuracy(KNOWS, LETTERS, Task("capitals", [("Italy", "Ro"), ("Peru", "Li")]), 1, answer=by_writing(9, ends))
    assert found.right == 2


def test_writing_may_be_drawn() -> None:
    draw = partial(complete, built(lstm, LETTERS), LETTERS, "Italy", 12, stop=(), temperature=1.0)
    first, second = (draw(generator=torch.Generator().manual_seed(seed)).text for seed in (1, 2))
    assert first == draw(generator=torch.Generator().manual_seed(1)).text
    assert first != second


def test_the_filters_of_sampling_are_its_arguments() -> None:
    given = {"stop": (), "max_new_tokens": 6, "temperature": 1.3}
    greedy = complete(KNOWS, LETTERS, "Peru ->", 6, stop=()).text
    assert complete(KNOWS, LETTERS, "Peru ->", top_k=1, **given).text == greedy
    assert "".join(stream_text(KNOWS, LETTERS, "Peru ->", min_p=1.0, **given)) == greedy
    with pytest.raises(TypeError, match="unexpected keyword argument 'top_q'"):
        complete(KNOWS, LETTERS, "Peru ->", top_q=1)
