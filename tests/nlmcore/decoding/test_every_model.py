"""The laws of decoding on the course's real models: whatever their state is made of."""

import functools
import math

import pytest
import torch

from nlmcore.convolutional import ConvLM, ConvSeq2Seq
from nlmcore.decoding import (
    beam_search,
    contrastive_search,
    diverse_beam_search,
    exhaustive_search,
    greedy,
    sample,
    speculative_sample,
    stochastic_beam_search,
)
from nlmcore.feedforward import BagOfWordsLM, FeedForwardLM
from nlmcore.language_model import select
from nlmcore.ngram import NGramLM
from nlmcore.recurrent import RecurrentLM
from nlmcore.seq2seq import Seq2Seq
from nlmcore.vision import Captioner, VisionTransformer

V, EOS = 5, 2
PROMPTS = torch.tensor([[1, 4, 3], [4, 0, 1], [3, 3, 4]])
SOURCES = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 1, 0], [6, 1, 0, 0, 0]])
IMAGES = torch.rand(3, 4, 6, generator=torch.Generator().manual_seed(0))


def ngram(smoothing: str) -> NGramLM:
    return NGramLM(3, V, smoothing).fit(torch.randint(0, V, (120,), generator=torch.Generator().manual_seed(0)))


BUILD = {
    "mle trigrams": lambda: ngram("mle"),
    "kneser-ney trigrams": lambda: ngram("kneser_ney"),
    "bengio": lambda: FeedForwardLM(V, window=3, d_embedding=6, d_hidden=7),
    "bag of words": lambda: BagOfWordsLM(V, window=2, d_embedding=6, d_hidden=7),
    "convolutional": lambda: ConvLM(V, d_model=8, n_layers=2, kernel_size=3, dropout=0.2),
    "two lstms": lambda: RecurrentLM(V, "lstm", d_hidden=8, n_layers=2, dropout=0.2),
    "ugrnn": lambda: RecurrentLM(V, "ugrnn", d_hidden=8),
    "thought vector": lambda: Seq2Seq(7, V, "gru", 6, 8, context="initial"),
    "attention": lambda: Seq2Seq(7, V, "lstm", 6, 8, context="attention", bidirectional=True),
    "captions": lambda: Captioner(VisionTransformer(4, 6, 2, d_model=8, n_heads=2, n_layers=1), V, 6),
    "convolutional seq2seq": lambda: ConvSeq2Seq(7, V, d_model=8, n_encoder_layers=1, n_decoder_layers=2),
}


@functools.cache
def build(name: str):
    """A model and the state to begin with; weights are made larger so that distributions are not all alike."""
    torch.manual_seed(1)
    model = BUILD[name]()
    if isinstance(model, torch.nn.Module):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2.0)
        model.eval()
    state = None
    if hasattr(model, "encode"):
        with torch.no_grad():
            mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 0, 0, 0]]).bool()
            state = model.encode(IMAGES) if isinstance(model, Captioner) else model.encode(SOURCES, mask)
    return model, state


@pytest.mark.parametrize("name", BUILD)
def test_laws(name: str) -> None:
    model, state = build(name)
    best = greedy(model, PROMPTS, 4, eos=EOS, state=state)

    for other in (
        sample(model, PROMPTS, 4, eos=EOS, state=state, top_k=1),
        contrastive_search(model, PROMPTS, 4, eos=EOS, state=state, alpha=0),
        speculative_sample(
            model, PROMPTS, 4, eos=EOS, state=state, draft=ngram("kneser_ney"), lookahead=2, temperature=0
        ),
    ):
        assert torch.equal(other.tokens, best.tokens)
        assert torch.allclose(other.log_probs, best.log_probs, atol=1e-4)
    for row, (one,) in enumerate(beam_search(model, PROMPTS, 4, eos=EOS, state=state, beam_size=1)):
        assert one.tokens == best.tokens[row, : len(one.tokens)].tolist()

    exhaustive = exhaustive_search(model, PROMPTS, 4, eos=EOS, state=state, length_penalty=0.8)
    beam = beam_search(model, PROMPTS, 4, eos=EOS, state=state, length_penalty=0.8, beam_size=V**4)
    drawn = stochastic_beam_search(model, PROMPTS, 4, eos=EOS, state=state, beam_size=V**4)
    for all_texts, searched, sampled in zip(exhaustive, beam, drawn, strict=True):
        scores = [h.score for h in all_texts]
        assert [h.score for h in searched] == pytest.approx(scores, abs=1e-4)
        of = {tuple(h.tokens): h.log_prob for h in all_texts}
        assert math.fsum(map(math.exp, of.values())) == pytest.approx(1.0, abs=1e-4)
        for found in (searched, sampled):
            assert {tuple(h.tokens) for h in found} == of.keys()
            for h in found:
                assert h.log_prob == pytest.approx(of[tuple(h.tokens)], abs=1e-3)


@pytest.mark.parametrize("name", BUILD)
def test_a_batch_is_each_prompt_alone(unchecked: None, name: str) -> None:
    model, state = build(name)
    for search in (beam_search, functools.partial(diverse_beam_search, diversity=0.7)):
        together = search(model, PROMPTS, 5, eos=EOS, state=state, beam_size=4)
        for row in range(len(PROMPTS)):
            own_state = None if state is None else select(state, torch.tensor([row]))
            (alone,) = search(model, PROMPTS[row : row + 1], 5, eos=EOS, state=own_state, beam_size=4)
            assert [h.score for h in alone] == pytest.approx([h.score for h in together[row]], abs=1e-4)
    together = contrastive_search(model, PROMPTS, 5, eos=EOS, state=state)
    for row in range(len(PROMPTS)):
        own_state = None if state is None else select(state, torch.tensor([row]))
        alone = contrastive_search(model, PROMPTS[row : row + 1], 5, eos=EOS, state=own_state)
        width = alone.tokens.shape[1]
        assert torch.equal(alone.tokens[0], together.tokens[row, :width])
