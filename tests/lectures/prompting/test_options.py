"""Options are scored as by reading each text whole."""

import math

import pytest
import torch
from torch import Tensor

from lectures.prompting import choose, score_options
from nlmcore.seq2seq import Seq2Seq
from nlmcore.tokens import BPETokenizer
from tests.lectures.prompting.models import TOKENIZERS, built, lstm, naive, transformer, trigrams


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("build", [lstm, transformer, trigrams])
@pytest.mark.parametrize("prompt", ["The capital of France is", "The capital of France is ", "Q: walk\nA:", "a"])
def test_an_option_scores_what_its_text_does(tokenizer: str, build, prompt: str) -> None:
    cut = TOKENIZERS[tokenizer]()
    model = built(build, cut)
    options = ["Paris", "Rome", "a new york", "x"]
    found = score_options(model, cut, prompt, options)
    gap = "" if prompt.endswith(" ") else " "
    prefix = len(cut.encode(prompt.rstrip(" ")))
    for option, scored in zip(options, found, strict=True):
        ids = cut.encode(prompt + gap + option)
        if tokenizer == "words" or not prompt.endswith(" "):
            assert ids[prefix:] == scored.tokens
        begin = len(ids) - len(scored.tokens)
        assert begin >= 1
        assert ids[begin:] == scored.tokens
        assert scored.log_probs == pytest.approx(naive(model, ids, begin), abs=1e-4)
        assert scored.score == pytest.approx(sum(naive(model, ids, begin)), abs=1e-4)
        assert scored.log_prob == pytest.approx(scored.score)
    assert choose(model, cut, prompt, options) == max(found, key=lambda o: o.score).text
    if isinstance(model, torch.nn.Module):
        model.train()
        again = score_options(model, cut, prompt, options)
        assert model.training
        assert [o.score for o in again] == pytest.approx([o.score for o in found], abs=1e-4)


def test_the_space_belongs_to_the_options_word() -> None:
    """ "is" + " Paris", however the prompt and the option are typed."""
    cut = TOKENIZERS["byte pairs"]()
    model = built(lstm, cut)
    assert cut.pieces("is Paris.")[1].startswith(" ")
    scores = [
        [round(o.score, 4) for o in score_options(model, cut, prompt, options)]
        for prompt, options in (
            ("The capital is", ["Paris", "Rome"]),
            ("The capital is ", ["Paris", "Rome"]),
            ("The capital is", [" Paris", " Rome"]),
        )
    ]
    assert scores[0] == scores[2]
    assert scores[1] == scores[0]
    glued = score_options(model, cut, "The capital is", ["Paris", "Rome"], separator="")
    assert [round(o.score, 4) for o in glued] != scores[0]


def test_an_option_that_melts_into_the_prompt_is_compared_from_the_same_beginning() -> None:
    cut = BPETokenizer.train(["walking talking walks talks walked"] * 5, 300)
    prompt = "talks walk"
    whole = [cut.encode(prompt + end) for end in ("ing", "s", "ed")]
    assert any(ids[: len(cut.encode(prompt))] != cut.encode(prompt) for ids in whole)  # or this tests nothing
    model = built(lstm, cut)
    found = score_options(model, cut, prompt, ["ing", "s", "ed"], separator="")
    for ids, scored in zip(whole, found, strict=True):
        assert ids[len(ids) - len(scored.tokens) :] == scored.tokens
        assert scored.log_probs == pytest.approx(naive(model, ids, len(ids) - len(scored.tokens)), abs=1e-4)
    assert len({len(ids) - len(scored.tokens) for ids, scored in zip(whole, found, strict=True)}) == 1


def test_normalisations_are_what_they_say() -> None:
    cut = TOKENIZERS["byte pairs"]()
    model = built(transformer, cut)
    options, prompt = ["Paris", "Rome", "a new york"], "The capital of France is"
    scores = {
        rule: [o.score for o in score_options(model, cut, prompt, options, normalise=rule, baseline_prompt="A:")]
        for rule in ("none", "tokens", "characters", "unconditional")
    }
    begin, alone_at = len(cut.encode(prompt)), len(cut.encode("A:"))
    lengths: set[int] = set()
    for i, option in enumerate(options):
        log_probs = naive(model, cut.encode(f"{prompt} {option}"), begin)
        alone = naive(model, cut.encode(f"A: {option}"), alone_at)
        lengths.add(len(log_probs))
        assert scores["none"][i] == pytest.approx(sum(log_probs), abs=1e-4)
        assert scores["tokens"][i] == pytest.approx(sum(log_probs) / len(log_probs), abs=1e-4)
        assert scores["characters"][i] == pytest.approx(sum(log_probs) / len(option), abs=1e-4)
        assert scores["unconditional"][i] == pytest.approx(sum(log_probs) - sum(alone), abs=1e-4)
    assert len(lengths) > 1  # or dividing by it changes no choice


def test_spaces_around_an_option_are_not_counted() -> None:
    """ " Rome" beside "Paris" is the option "Rome", not one that is a character longer."""
    cut = TOKENIZERS["byte pairs"]()
    model = built(lstm, cut)
    typed, bare = (
        [o.score for o in score_options(model, cut, "The capital is", options, normalise="characters")]
        for options in (["Paris", " Rome"], ["Paris", "Rome"])
    )
    assert typed == pytest.approx(bare, abs=1e-6)


def test_the_beginning_of_an_option_is_never_less_probable() -> None:
    cut = TOKENIZERS["words"]()
    for build in (lstm, transformer, trigrams):
        short, long = score_options(built(build, cut), cut, "The capital is", ["Rome", "Rome is"])
        assert long.tokens[: len(short.tokens)] == short.tokens
        assert short.score >= long.score


@torch.no_grad()
def test_all_options_of_one_token_are_a_distribution() -> None:
    cut = TOKENIZERS["characters"]()
    model = built(lstm, cut)
    letters = [c for c in map(cut.decode, ([i] for i in range(4, cut.vocab_size))) if c.strip()]
    found = score_options(model, cut, "Q", letters, separator="")
    others = naive(model, [*cut.encode("Q"), 0], 1)
    assert len(letters) > 20
    assert sum(math.exp(o.score) for o in found) + math.exp(others[0]) < 1
    read = model(torch.tensor([cut.encode("Q")]))[0][0, -1].softmax(-1)
    kept = torch.tensor([cut.encode(c)[0] for c in letters])
    assert sum(math.exp(o.score) for o in found) == pytest.approx(float(read[kept].sum()), abs=1e-5)


def test_the_prompt_is_read_once_and_the_options_together() -> None:
    cut = TOKENIZERS["characters"]()
    model = built(trigrams, cut)
    read: list[tuple[int, ...]] = []

    class Watched:
        vocab_size = cut.vocab_size

        def __call__(self, tokens: Tensor, state=None):
            read.append(tuple(tokens.shape))
            return model(tokens, state)

    score_options(Watched(), cut, "The capital is", ["Paris", "Rome", "new york"])
    assert read == [(1, 14), (3, 8)]


def test_a_source_that_was_read_before_counts() -> None:
    cut = TOKENIZERS["words"]()
    torch.manual_seed(4)
    model = Seq2Seq(7, cut.vocab_size, "gru", 6, 8).eval()
    found = []
    for source in ([[1, 5, 3]], [[6, 2, 4]]):
        state = model.encode(torch.tensor(source))
        scored = score_options(model, cut, "", ["Paris", "Rome is"], bos=cut.bos, state=state)
        ids = [cut.bos, *cut.encode("Rome is")]
        assert scored[1].log_probs == pytest.approx(naive(model, ids, 1, state), abs=1e-5)
        found.append(scored[1].score)
    assert found[0] != found[1]
