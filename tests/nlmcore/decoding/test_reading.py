"""Reading a prompt: the same numbers whether a model shows its hidden vectors or not, and few logits where it does."""

import pytest
import torch
from torch import nn

from nlmcore.decoding import diverse_beam_search, greedy, sample, speculative_sample
from nlmcore.decoding.reading import all_but_last, hidden_states, next_log_probs, prefill
from nlmcore.language_model import shows_hidden
from nlmcore.recurrent import RecurrentLM
from nlmcore.seq2seq import Seq2Seq
from nlmcore.transformer import EncoderDecoder, TransformerConfig, TransformerLM
from tests.nlmcore.decoding.models import Counting
from tests.nlmcore.decoding.test_every_model import BUILD, EOS, PROMPTS, SOURCES, V, build

CONFIG = TransformerConfig(vocab_size=V, d_model=6, n_heads=2, n_layers=2, max_length=19, dropout=0.3)
SHOW = {
    "lstm": lambda: RecurrentLM(V, "lstm", d_hidden=7, dropout=0.3),
    "lstm, tied through a bridge": lambda: RecurrentLM(V, "lstm", 4, 7, dropout=0.3, tie_embeddings=True),
    "seq2seq": lambda: Seq2Seq(7, V, "gru", 6, 8, context="attention", dropout=0.3),
    "transformer": lambda: TransformerLM(CONFIG),
    "encoder-decoder": lambda: EncoderDecoder(CONFIG, TransformerConfig(**{**vars(CONFIG), "vocab_size": 7})),
}


def start(model):
    return model.encode(SOURCES) if hasattr(model, "encode") else None


@pytest.fixture(params=SHOW)
def model(request):
    torch.manual_seed(3)
    return SHOW[request.param]()


@torch.no_grad()
def test_reading_in_two_halves_is_calling(model) -> None:
    assert shows_hidden(model)
    model.eval()
    state = start(model)
    logits, after = model(PROMPTS, state)
    hidden, after_read = model.hidden_states(PROMPTS, state)
    assert torch.equal(model.output(hidden), logits)
    assert hidden.shape[:2] == PROMPTS.shape
    more = PROMPTS[:, :2]
    assert torch.equal(model(more, after_read)[0], model(more, after)[0])


def test_the_last_position_costs_the_logits_of_the_last_position(model) -> None:
    model.train()  # forgotten, with dropout
    state = start(model.eval())
    model.train()
    asked = []
    model.output.register_forward_hook(lambda module, inputs, logits: asked.append(inputs[0].shape[1]))
    log_probs, after = next_log_probs(model, PROMPTS, state)
    assert asked == [1]
    expected, expected_after = prefill(model, PROMPTS, state)
    assert torch.allclose(log_probs, expected[:, -1], atol=1e-6)
    assert torch.allclose(
        next_log_probs(model, PROMPTS, after)[0], next_log_probs(model, PROMPTS, expected_after)[0], atol=1e-6
    )
    asked.clear()
    last, before = all_but_last(model, PROMPTS, state)
    assert asked == []
    assert torch.allclose(next_log_probs(model, last, before)[0], log_probs, atol=1e-6)
    assert all(module.training for module in model.modules())


@pytest.mark.parametrize("name", [*BUILD, *SHOW])
def test_every_algorithm_gives_what_it_gives_a_model_that_hides_its_vectors(unchecked: None, name: str) -> None:
    if name in BUILD:
        model, state = build(name)
    else:
        torch.manual_seed(3)
        model = SHOW[name]().eval()
        state = start(model)
    hidden = Counting(model)  # can be called, and no more
    for algorithm in (
        greedy,
        lambda *a, **o: sample(*a, **o, num_samples=3, generator=torch.Generator().manual_seed(5)),
        lambda m, *a, **o: speculative_sample(m, *a, **o, draft=m, draft_state=state, temperature=0),
    ):
        shown = algorithm(model, PROMPTS, 5, eos=EOS, state=state)
        called = algorithm(hidden, PROMPTS, 5, eos=EOS, state=state)
        assert torch.equal(shown.tokens, called.tokens)
        assert torch.allclose(shown.log_probs, called.log_probs, atol=1e-5)
    pairs = zip(*(diverse_beam_search(m, PROMPTS, 4, eos=EOS, state=state) for m in (model, hidden)), strict=True)
    assert all([h.tokens for h in shown] == [h.tokens for h in called] for shown, called in pairs)


class Wrong(nn.Module):
    """Says that it can be read in two halves, and cannot."""

    vocab_size = V

    def __init__(self, answer) -> None:
        super().__init__()
        self.answer = answer

    def hidden_states(self, tokens, state=None):
        return self.answer

    def output(self, hidden):
        return hidden

    def forward(self, tokens, state=None):
        return self.answer[0], None


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (torch.zeros(3, 3, V), TypeError, "model.hidden_states must return"),
        ((None, None), ValueError, "vectors of shape .* got NoneType"),
        ((torch.zeros(3, 2, V), None), ValueError, "must give vectors of shape"),
        ((torch.zeros(3, 3, V + 1), None), ValueError, "logits of shape"),
    ],
)
def test_what_is_no_reading_is_refused(plain_errors, answer, error, message: str) -> None:
    with pytest.raises(error, match=message):
        next_log_probs(Wrong(answer), PROMPTS, None)
    if "hidden_states" in message:
        with pytest.raises(error, match=message):
            hidden_states(Wrong(answer), PROMPTS, None)
