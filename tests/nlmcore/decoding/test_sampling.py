"""Greedy search and sampling: one token after the other."""

import math

import pytest
import torch

from nlmcore.checks import ContextLengthError
from nlmcore.decoding import beam_search, greedy, sample, stream
from nlmcore.transformer import EncoderDecoder, TransformerConfig, TransformerLM
from tests.nlmcore.decoding.models import EOS, PROMPTS, Counting, Markov, RunningSum, text_log_probs

MODELS = [RunningSum(), Markov(7)]


def naive_greedy(model, prompt: torch.Tensor, n: int, eos: int | None) -> list[int]:
    """Read everything again at every step."""
    text: list[int] = []
    while len(text) < n and (not text or text[-1] != eos):
        whole = torch.cat([prompt, torch.tensor(text, dtype=torch.long)])[None]
        with torch.no_grad():
            text.append(int(model(whole)[0][0, -1].argmax()))
    return text


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("eos", [None, EOS, 4])
def test_greedy_is_the_naive_loop_on_each_prompt_alone(model, eos: int | None) -> None:
    got = greedy(model, PROMPTS, 8, eos=eos)
    expected = [naive_greedy(model, prompt, 8, eos) for prompt in PROMPTS]
    assert got.tokens.shape[1] == max(len(text) for text in expected)
    for row, text in enumerate(expected):
        assert got.tokens[row].tolist() == text + [0] * (got.tokens.shape[1] - len(text))
        assert bool(got.finished[row]) == (text[-1] == eos)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("options", [{}, {"temperature": 0.7, "top_p": 0.8}, {"temperature": 0}])
def test_log_probs_are_the_models_own_and_zero_after_the_end(model, options: dict) -> None:
    got = sample(model, PROMPTS, 9, eos=EOS, generator=torch.Generator().manual_seed(3), **options)
    for row in range(len(PROMPTS)):
        text = got.tokens[row].tolist()
        length = text.index(EOS) + 1 if got.finished[row] else len(text)
        expected = text_log_probs(model, PROMPTS[row], text[:length])
        assert got.log_probs[row, :length].tolist() == pytest.approx(expected, abs=1e-5)
        assert not got.log_probs[row, length:].any()
        assert not got.tokens[row, length:].any()
    assert torch.allclose(got.log_prob, got.log_probs.sum(1))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "options", [{"temperature": 0}, {"top_k": 1}, {"top_p": 0.0}, {"min_p": 1.0}, {"temperature": 1e-20}]
)
def test_sampling_that_leaves_one_token_is_greedy(model, options: dict) -> None:
    expected = greedy(model, PROMPTS, 7, eos=EOS)
    got = sample(model, PROMPTS, 7, eos=EOS, generator=torch.Generator().manual_seed(0), **options)
    assert torch.equal(got.tokens, expected.tokens)
    assert torch.equal(got.log_probs, expected.log_probs)


def test_greedy_breaks_ties_as_a_top_k_of_one_does() -> None:
    flat = Markov(5, scale=0.0)
    prompt = torch.tensor([[3, 1]])
    assert greedy(flat, prompt, 3).tokens.tolist() == [[0, 0, 0]]
    assert sample(flat, prompt, 3, top_k=1).tokens.tolist() == [[0, 0, 0]]


def test_same_generator_same_texts_and_another_one_others() -> None:
    def draw(seed: int) -> torch.Tensor:
        return sample(MODELS[0], PROMPTS, 12, generator=torch.Generator().manual_seed(seed)).tokens

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


def test_samples_have_the_models_distribution() -> None:
    model, prompt, n = Markov(3, seed=5, scale=1.0), torch.tensor([[1, 0]]), 20_000
    got = sample(model, prompt, 2, num_samples=n, generator=torch.Generator().manual_seed(0))
    counts = torch.bincount(got.tokens[:, 0] * 3 + got.tokens[:, 1], minlength=9) / n
    for text in range(9):
        p = math.exp(sum(text_log_probs(model, prompt[0], [text // 3, text % 3])))
        assert abs(counts[text].item() - p) < 4 * math.sqrt(p * (1 - p) / n), (text, counts[text], p)


def test_num_samples_repeats_each_prompt_in_order() -> None:
    model = Counting(MODELS[0])
    got = sample(model, PROMPTS, 3, num_samples=5, temperature=0)
    assert torch.equal(got.tokens, greedy(MODELS[0], PROMPTS, 3).tokens.repeat_interleave(5, 0))
    assert model.tokens_read == PROMPTS[:, :-1].numel() + 3 * 5 * len(PROMPTS)


@pytest.mark.parametrize("model", MODELS)
def test_reading_on_from_a_state_is_reading_the_whole_prompt(model) -> None:
    with torch.no_grad():
        _, state = model(PROMPTS[:, :2])
    for eos in (None, EOS):
        expected, got = greedy(model, PROMPTS, 5, eos=eos), greedy(model, PROMPTS[:, 2:], 5, eos=eos, state=state)
        assert torch.equal(got.tokens, expected.tokens)


def test_a_stream_is_the_sample_step_by_step() -> None:
    options = {"eos": EOS, "temperature": 0.9, "top_k": 5}
    whole = sample(MODELS[0], PROMPTS, 9, generator=torch.Generator().manual_seed(4), **options)
    steps = list(stream(MODELS[0], PROMPTS, 9, generator=torch.Generator().manual_seed(4), **options))
    assert torch.equal(torch.stack([step.tokens for step in steps], 1), whole.tokens)
    assert torch.equal(steps[-1].finished, whole.finished)


def test_a_stream_refuses_at_once_and_leaves_gradients_on() -> None:
    with pytest.raises(ValueError, match="temperature"):
        stream(MODELS[0], PROMPTS, 3, temperature=-1)
    for _ in stream(MODELS[0], PROMPTS, 3, temperature=0):
        assert torch.is_grad_enabled()


def test_dropout_is_off_while_decoding_and_on_again_after() -> None:
    class WithDropout(RunningSum):
        def __init__(self) -> None:
            super().__init__()
            self.dropout = torch.nn.Dropout(0.5)
            self.frozen = torch.nn.Dropout(0.5).eval()

        def forward(self, tokens, state=None):
            logits, state = super().forward(tokens, state)
            return self.frozen(self.dropout(logits)), state

    model = WithDropout().train()
    model.frozen.eval()
    assert torch.equal(greedy(model, PROMPTS, 6).tokens, greedy(MODELS[0], PROMPTS, 6).tokens)
    assert model.training
    assert model.dropout.training
    assert not model.frozen.training


def test_the_trace_holds_what_was_chosen_and_what_stood_beside_it() -> None:
    generation, tree = greedy(MODELS[0], PROMPTS, 4, eos=EOS, trace=True)
    for row in range(len(PROMPTS)):
        chosen = [node for node in tree.nodes if node.prompt == row and node.status in ("kept", "finished")]
        length = len(chosen)
        assert tree.path(chosen[-1]) == generation.tokens[row, :length].tolist()
        assert chosen[-1].log_prob == pytest.approx(generation.log_prob[row].item(), abs=1e-5)
        assert {node.id for node in chosen} <= tree.best
        for node in chosen:
            beside = tree.children(node.parent)
            assert len(beside) == 5
            assert max(beside, key=lambda other: other.token_log_prob).id == node.id
    text = tree.render(lambda token: f"<{token}>")
    assert text.count("prompt ") == 4
    assert f"<{int(generation.tokens[0, 0])}>" in text
    assert " *" in text


class Broken:
    vocab_size = 7

    def __init__(self, value: float) -> None:
        self.value = value

    def __call__(self, tokens, state=None):
        return torch.full((*tokens.shape, 7), self.value), None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_logits_that_are_no_distribution_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="no distribution"):
        greedy(Broken(value), PROMPTS, 1)


SHORT = TransformerConfig(vocab_size=11, d_model=12, n_heads=3, n_layers=2, max_length=8)


def short_gpt() -> TransformerLM:
    torch.manual_seed(1)
    return TransformerLM(SHORT)


def test_without_a_window_a_text_that_will_not_fit_is_refused_before_the_first_step() -> None:
    model, prompt = short_gpt(), torch.tensor([[1, 2, 3]])
    assert greedy(model, prompt, 6).tokens.shape == (1, 6), "the last token is not read"
    for write in (greedy, sample, beam_search, stream):
        with pytest.raises(ValueError, match=r"max_new_tokens must be at most 6 after 3 tokens, got 7.*window="):
            write(model, prompt, 7)
    read = model(prompt)[1]
    with pytest.raises(ValueError, match="at most 3 after 6 tokens, got 4"):
        greedy(model, prompt, 4, state=read)
    assert greedy(model, prompt, 99, eos=int(greedy(model, prompt, 1).tokens)).finished.all(), "it may end in time"
    with pytest.raises(ContextLengthError, match="knows 8 positions"):
        greedy(model, prompt[:, :1].repeat(1, 9), 1, eos=0)


def test_a_window_slides_by_half_and_every_token_is_predicted_from_it() -> None:
    model, prompt = short_gpt(), torch.tensor([[1, 2, 3], [4, 5, 6]])
    got = greedy(model, prompt, 20, window="slide")
    text = torch.cat([prompt, got.tokens], dim=1)
    begin = 0
    for i in range(3, 23):
        begin = i - 4 if i - begin > 8 else begin  # the ninth token does not fit: the newest four are read again
        log_probs = model(text[:, begin:i])[0][:, -1].log_softmax(-1)
        assert log_probs.argmax(-1).tolist() == text[:, i].tolist()
        torch.testing.assert_close(got.log_probs[:, i - 3], log_probs.amax(-1))
    assert begin == 15
    assert torch.equal(greedy(model, prompt, 5, window="slide").tokens, greedy(model, prompt, 5).tokens)


def test_a_window_slides_for_rows_that_end_for_several_samples_and_for_a_long_prompt() -> None:
    model, prompt = short_gpt(), torch.tensor([[1, 2, 3], [4, 5, 6]])
    g = torch.Generator().manual_seed(4)
    got = sample(model, prompt, 30, num_samples=3, eos=7, generator=g, window="slide")
    assert got.tokens.shape[0] == 6
    lengths = [row.index(7) + 1 if 7 in row else 30 for row in got.tokens.tolist()]
    assert len(set(lengths)) > 2
    assert max(lengths) > 8
    for row, length in enumerate(lengths):  # the same tokens, scored one prompt at a time
        text, begin = torch.cat([prompt[row // 3], got.tokens[row]])[None], 0
        for i in range(3, 3 + length):
            begin = i - 4 if i - begin > 8 else begin
            expected = model(text[:, begin:i])[0][0, -1].log_softmax(-1)[text[0, i]]
            torch.testing.assert_close(got.log_probs[row, i - 3], expected)
    assert len([*stream(model, torch.ones(1, 50, dtype=torch.long), 12, window="slide")]) == 12


def test_a_window_slides_after_a_source() -> None:
    torch.manual_seed(2)
    model = EncoderDecoder(SHORT)
    state = model.encode(torch.tensor([[1, 2, 3, 4]]))
    begin = torch.tensor([[1]])
    got = greedy(model, begin, 12, state=state, window="slide").tokens[0].tolist()
    text = [1, *got]
    after = model(torch.tensor([text[5:9]]), state)[0][0, -1].argmax()
    assert int(after) == text[9], "from the source and the newest four"
    with pytest.raises(ValueError, match="at most 8 after 1 tokens"):
        greedy(model, begin, 12, state=state)
