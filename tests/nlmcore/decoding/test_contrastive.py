import pytest
import torch

from nlmcore.decoding import contrastive_search, greedy
from tests.nlmcore.decoding.models import EOS, PROMPTS, Counting, Markov, RunningSum, text_log_probs


class WithHidden(RunningSum):
    """RunningSum that shows its sums as hidden vectors."""

    def hidden_states(self, tokens, state=None):
        sums = self.embedding[tokens].cumsum(dim=1)
        if state is not None:
            sums = sums + state[:, None]
        return sums, sums[:, -1]

    def output(self, hidden):
        return hidden @ self.table

    def forward(self, tokens, state=None):
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), state

    def with_hidden(self, tokens, state=None):
        hidden, state = self.hidden_states(tokens, state)
        return self.output(hidden), hidden, state


def naive(model, vectors, prompt, n: int, eos, k: int, alpha: float) -> list[int]:
    """Equation 5, reading everything again for every candidate. `vectors(whole) -> (time, d)`."""
    text: list[int] = []
    while len(text) < n and (not text or text[-1] != eos):
        so_far = torch.cat([prompt, torch.tensor(text, dtype=torch.long)])[None]
        with torch.no_grad():
            p = model(so_far)[0][0, -1].softmax(-1)
            best, choice = -torch.inf, -1
            for v in p.topk(k).indices.tolist():
                h = vectors(torch.cat([so_far, torch.tensor([[v]])], 1))
                worst = torch.cosine_similarity(h[-1:], h[:-1], dim=-1).max().item()
                score = (1 - alpha) * p[v].item() - alpha * worst
                if score > best:
                    best, choice = score, v
        text.append(choice)
    return text


@pytest.mark.parametrize("eos", [None, EOS])
@pytest.mark.parametrize(("k", "alpha"), [(3, 0.6), (5, 0.3), (7, 1.0)])
@pytest.mark.parametrize("how", ["the model's own vectors", "an argument", "predictions"])
def test_it_is_equation_5_on_each_prompt_alone(eos: int | None, k: int, alpha: float, how: str) -> None:
    model = WithHidden()
    if how == "predictions":
        model, options = Markov(7), {}

        def vectors(whole):
            return model(whole)[0][0].softmax(-1).sqrt()
    else:
        options = {"hidden": model.with_hidden} if how == "an argument" else {}

        def vectors(whole):
            return model.hidden_states(whole)[0][0]

    got = contrastive_search(model, PROMPTS, 6, eos=eos, k=k, alpha=alpha, **options)
    for row, prompt in enumerate(PROMPTS):
        expected = naive(model, vectors, prompt, 6, eos, k, alpha)
        assert got.tokens[row].tolist() == expected + [0] * (got.tokens.shape[1] - len(expected))
        assert got.log_probs[row, : len(expected)].tolist() == pytest.approx(
            text_log_probs(model, prompt, expected), abs=1e-5
        )
        assert bool(got.finished[row]) == (expected[-1] == eos)


@pytest.mark.parametrize("model", [WithHidden(), RunningSum(), Markov(7)])
@pytest.mark.parametrize("options", [{"k": 1}, {"alpha": 0}])
def test_without_candidates_or_without_the_penalty_it_is_greedy(model, options: dict) -> None:
    expected, got = greedy(model, PROMPTS, 6, eos=EOS), contrastive_search(model, PROMPTS, 6, eos=EOS, **options)
    assert torch.equal(got.tokens, expected.tokens)
    assert torch.allclose(got.log_probs, expected.log_probs, atol=1e-5)
    assert torch.equal(got.finished, expected.finished)


def test_the_winner_is_not_read_again() -> None:
    model = Counting(RunningSum())
    contrastive_search(model, PROMPTS, 5, k=3)
    assert model.tokens_read == PROMPTS.numel() + 5 * 3 * len(PROMPTS)


def test_reading_on_from_a_state() -> None:
    with torch.no_grad():
        _, state = RunningSum()(PROMPTS[:, :2])
    got = contrastive_search(RunningSum(), PROMPTS[:, 2:], 4, state=state, alpha=0)
    assert torch.equal(got.tokens, greedy(RunningSum(), PROMPTS, 4).tokens)


def test_the_trace_holds_the_candidates_and_their_scores() -> None:
    generation, tree = contrastive_search(WithHidden(), PROMPTS, 4, eos=EOS, k=3, trace=True)
    for row in range(len(PROMPTS)):
        chosen = [n for n in tree.nodes if n.prompt == row and n.status in ("kept", "finished")]
        assert tree.path(chosen[-1]) == generation.tokens[row, : len(chosen)].tolist()
        for node in chosen:
            beside = tree.children(node.parent)
            assert len(beside) == 3
            assert max(n.score for n in beside) == node.score
