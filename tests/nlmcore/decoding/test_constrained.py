"""Constrained decoding: every finished text matches, for every algorithm and tokenizer, and nothing else is changed."""

import functools
import math
import re

import pytest
import torch
from torch import Tensor

from nlmcore.decoding import (
    Constrained,
    beam_search,
    contrastive_search,
    exhaustive_search,
    greedy,
    sample,
    speculative_sample,
)
from nlmcore.pretrained import smollm2
from nlmcore.tokens import BPETokenizer, CharTokenizer, WordTokenizer
from tests.laws import assert_chunking_law, assert_selectable, assert_state_is_a_value
from tests.nlmcore.decoding.models import Markov

TEXT = "the cat sat on the mat 1234 567 89 0 Années"
CHARACTERS, PAIRS = CharTokenizer.fit(TEXT), BPETokenizer.train(TEXT, 290)
PATTERN = r"(cat|mat|é)+|\d{2,3}"


@functools.cache
def made(kind: str, after: int = 2, pattern: str = PATTERN) -> Constrained:
    tokenizer = {"characters": CHARACTERS, "pairs": PAIRS}[kind]
    return Constrained(Markov(tokenizer.vocab_size, seed=4), tokenizer, pattern, after)


def prompts(kind: str, n: int) -> Tensor:
    size = made(kind).vocab_size
    return torch.randint(3, size, (n, 2), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("kind", ["characters", "pairs"])
def test_finished_texts_match_and_others_could_have(kind: str) -> None:
    model, tokenizer, prompt = made(kind), CHARACTERS if kind == "characters" else PAIRS, prompts(kind, 30)
    generator = torch.Generator().manual_seed(0)
    finished = 0
    for found in (
        sample(model, prompt, 9, eos=2, num_samples=4, generator=generator),
        sample(model, prompt, 9, eos=2, top_p=0.9, temperature=0.7, generator=generator),
        greedy(model, prompt, 9, eos=2),
        contrastive_search(model, prompt, 9, eos=2),
        speculative_sample(model, prompt, 9, eos=2, draft=Markov(model.vocab_size, seed=5), generator=generator),
    ):
        for row, ended in zip(found.tokens.tolist(), found.finished.tolist(), strict=True):
            text = tokenizer.decode(row[: row.index(2)] if ended else row, skip_special=True)
            finished += ended
            if ended:
                assert re.fullmatch(PATTERN, text), text
            else:
                assert re.match(r"([catmé\ufffd]+)$", text), text
    assert finished > 60
    for hypotheses in beam_search(model, prompt[:5], 9, eos=2, beam_size=3):
        for hypothesis in hypotheses:
            if hypothesis.tokens[-1] == 2:
                assert re.fullmatch(PATTERN, tokenizer.decode(hypothesis.tokens[:-1]))


def test_all_matches_and_only_these_are_possible() -> None:
    """Exhaustive search over two-letter texts: probabilities of the matches sum to one."""
    model = made("characters", 1, r"c?[at]|m")
    found = exhaustive_search(model, torch.tensor([[5]]), 3, eos=2)[0]
    texts = {CHARACTERS.decode(h.tokens[:-1]) for h in found if h.log_prob > -math.inf}
    assert texts == {"a", "t", "ca", "ct", "m"}
    assert sum(math.exp(h.log_prob) for h in found) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("kind", ["characters", "pairs"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_allowed_tokens_have_the_models_logits_and_the_others_none(kind: str, after: int) -> None:
    model = made(kind, after)
    tokenizer = CHARACTERS if kind == "characters" else PAIRS
    prompt = torch.tensor([tokenizer.encode("s m")[:after]] * 2).reshape(2, after).long()
    read = torch.cat([prompt, torch.tensor([tokenizer.encode("cat"), tokenizer.encode("mat")])[:, :4]], dim=1)
    logits, plain = model(read)[0], model.model(read)[0]
    allowed = logits > -torch.inf
    assert torch.equal(logits[allowed], plain[allowed])
    assert allowed[:, : max(after - 1, 0)].all(), "the prompt is free"
    assert allowed[:, -1, 2].all(), "cat and mat may end"
    if after > 0:
        start = [tokenizer.decode([i]) for i in allowed[0, after - 1].nonzero()[:, 0].tolist()]
        assert all(re.match(r"c|m|\d|é|\ufffd", text) for text in start)
        assert "c" in start
        assert "<eos>" not in start
    for b in range(2):
        for token in allowed[b, -1].nonzero()[:, 0].tolist():
            assert token == 2 or re.fullmatch(r"(c|ca|cat|m|ma|mat|\ufffd|é)+", tokenizer.decode([token]))


def test_laws() -> None:
    model = made("pairs")
    texts = torch.tensor([PAIRS.encode("at cat")[:5], PAIRS.encode("on 12")[:5]])
    assert_chunking_law(model, texts)
    assert_state_is_a_value(model, texts)
    assert_selectable(model, texts)


def test_a_token_that_is_not_allowed_can_only_be_followed_by_the_end() -> None:
    model = made("characters", 1)
    logits, _ = model(torch.tensor([[5, *CHARACTERS.encode("x")], [5, 2]]))
    assert (logits[:, -1] > -torch.inf).nonzero().tolist() == [[0, 2], [1, 2]]


def test_special_tokens_never_count_as_text() -> None:
    model = made("pairs", 1, r"[<a-z>]+")
    allowed = model(torch.tensor([[5]]))[0][0, -1] > -torch.inf
    assert not allowed[:3].any()
    assert allowed[PAIRS.encode("<")].all()


def test_errors() -> None:
    with pytest.raises(ValueError, match="must write its tokens side by side"):
        Constrained(Markov(20), WordTokenizer.fit(TEXT), "a", 1)
    with pytest.raises(ValueError, match="pattern must consist of"):
        Constrained(Markov(20), CHARACTERS, "^a", 1)
    with pytest.raises(ValueError, match="after must be at least 0"):
        Constrained(Markov(20), CHARACTERS, "a", -1)
    model = Constrained(Markov(CHARACTERS.vocab_size), CHARACTERS, "z", 1)
    with pytest.raises(
        ValueError, match="tokenizer must have tokens for all of the pattern, but none continues with Byte"
    ):
        greedy(model, torch.tensor([[5]]), 1)


@pytest.mark.usefixtures("unchecked")
def test_a_real_model_answers_in_the_given_form() -> None:
    model, tokenizer = smollm2()
    prompt = torch.tensor([tokenizer.encode("The French Revolution began on")])
    pattern = r" (January|July|May) \d{1,2}, 1[78]\d{2}\."
    found = greedy(Constrained(model, tokenizer, pattern, prompt.shape[1]), prompt, 16, eos=tokenizer.eos)
    text = tokenizer.decode(found.tokens[0].tolist())
    assert found.finished[0]
    assert re.fullmatch(pattern, text.removesuffix("<|im_end|>")), text
