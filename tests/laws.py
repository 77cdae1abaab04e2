"""Laws that every model is held to, written once.

Each takes a model and raises AssertionError with the numbers that break the law. Tests of new models call
these; `tests/test_laws.py` checks the laws themselves on models that were broken on purpose.
"""

import inspect

import torch
from torch import Tensor
from typing_extensions import get_protocol_members

from nlmcore.language_model import LanguageModel, NeuralLanguageModel, State, select, shows_hidden
from tests.shapes import shapes_unchecked


def assert_close(actual: Tensor, expected: Tensor, what: str, tolerance: float = 1e-5) -> None:
    """Compare with a tolerance relative to the size of what is expected; NaN equals nothing."""
    assert actual.shape == expected.shape, f"{what}: shape {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    finite = torch.isfinite(expected)
    assert torch.equal(torch.isfinite(actual), finite), f"{what}: other entries are infinite or NaN"
    gap = (actual - expected)[finite].abs().max().item() if finite.any() else 0.0
    scale = max(1.0, expected[finite].abs().max().item()) if finite.any() else 1.0
    assert gap <= tolerance * scale, f"{what}: differs by up to {gap:.3g}, allowed {tolerance * scale:.3g}"


def assert_chunking_law(model: LanguageModel, tokens: Tensor, state: State = None, tolerance: float = 1e-5) -> None:
    """Reading at once = reading in two pieces, for every cut; and = reading one token at a time."""
    whole, _ = model(tokens, state)
    assert whole.shape == (*tokens.shape, model.vocab_size), f"logits have shape {tuple(whole.shape)}"
    for k in range(1, tokens.shape[1]):
        first, middle = model(tokens[:, :k], state)
        second, _ = model(tokens[:, k:], middle)
        assert_close(torch.cat([first, second], dim=1), whole, f"cut after {k} of {tokens.shape[1]}", tolerance)
    pieces, carried = [], state
    for t in range(tokens.shape[1]):
        logits, carried = model(tokens[:, t : t + 1], carried)
        pieces.append(logits)
    assert_close(torch.cat(pieces, dim=1), whole, "one token at a time", tolerance)


def assert_causal(model: LanguageModel, tokens: Tensor, state: State = None, tolerance: float = 1e-5) -> None:
    """Changing the future leaves the past alone."""
    whole, _ = model(tokens, state)
    for t in range(1, tokens.shape[1]):
        changed = tokens.clone()
        changed[:, t:] = (changed[:, t:] + 1) % model.vocab_size
        logits, _ = model(changed, state)
        assert_close(logits[:, :t], whole[:, :t], f"logits before {t} after a change at {t}", tolerance)


def assert_state_is_a_value(model: LanguageModel, tokens: Tensor, state: State = None, tolerance: float = 1e-5) -> None:
    """Reading on twice from one state, with other text in between, gives the same both times."""
    k = max(1, tokens.shape[1] // 2)
    _, middle = model(tokens[:, :k], state)
    rest = tokens[:, k:] if tokens.shape[1] > k else tokens[:, :1]
    once, _ = model(rest, middle)
    model((rest + 1) % model.vocab_size, middle)
    twice, _ = model(rest, middle)
    assert_close(twice, once, "reading on a second time from the same state", tolerance)


def assert_branches_do_not_meet(
    model: LanguageModel, tokens: Tensor, state: State = None, tolerance: float = 1e-5
) -> None:
    """Every state that was ever given goes on as its own text does, however many others were read on in between.

    A model that keeps a buffer which it writes in place passes `assert_state_is_a_value` even if it is careless: the
    second reading writes the same places anew. Here both branches are read on after both were begun.
    """
    other = (tokens + 1) % model.vocab_size
    seen, carried = [], state
    for t in range(tokens.shape[1] - 1):
        for branch in (tokens, other, tokens):
            text = torch.cat([tokens[:, :t], branch[:, t : t + 1]], dim=1)
            seen.append((text, model(branch[:, t : t + 1], carried)[1]))
        carried = seen[-3][1]  # the eldest of the three is no longer the newest reader
    expected = [model(torch.cat([text, other[:, -1:]], dim=1), state)[0][:, -1:] for text, _ in seen]
    for (text, reached), after in [*zip(seen, expected, strict=True), *zip(seen[::-1], expected[::-1], strict=True)]:
        logits, _ = model(other[:, -1:], reached)
        assert_close(logits, after, f"a branch read on after {text.shape[1]} tokens", tolerance)


def assert_selectable(model: LanguageModel, tokens: Tensor, state: State = None, tolerance: float = 1e-5) -> None:
    """Rows of a state gathered by `select` continue as those rows would have."""
    k = max(1, tokens.shape[1] // 2)
    _, middle = model(tokens[:, :k], state)
    rest = tokens[:, k:] if tokens.shape[1] > k else tokens[:, :1]
    rows = torch.tensor([tokens.shape[0] - 1, 0, 0])
    straight, _ = model(rest, middle)
    gathered, _ = model(rest[rows], select(middle, rows))
    assert_close(gathered, straight[rows], "rows gathered by select", tolerance)


def assert_recognised(model: LanguageModel) -> None:
    """`isinstance` knows it by its attributes. Since Python 3.12 those that `__getattr__` finds do not count."""
    kind = NeuralLanguageModel if shows_hidden(model) else LanguageModel
    unseen = [name for name in get_protocol_members(kind) if inspect.getattr_static(model, name, None) is None]
    assert not unseen, f"isinstance does not see {unseen}"


def assert_language_model(model: LanguageModel, tokens: Tensor, state: State = None, tolerance: float = 1e-5) -> None:
    """All laws. `tokens` should have at least two rows and four columns, all different lengths to the sizes."""
    assert_recognised(model)
    with torch.no_grad():
        _, begun = model(tokens[:, :-1], state)
        model(tokens[:, -1:], begun)
        with shapes_unchecked():
            assert_chunking_law(model, tokens, state, tolerance)
            assert_causal(model, tokens, state, tolerance)
            assert_state_is_a_value(model, tokens, state, tolerance)
            assert_branches_do_not_meet(model, tokens, state, tolerance)
            assert_selectable(model, tokens, state, tolerance)


def assert_every_parameter_gets_a_gradient(module: torch.nn.Module, output: Tensor) -> None:
    """A random projection of the output reaches every parameter that asks for a gradient."""
    projection = torch.randn(output.shape, generator=torch.Generator().manual_seed(0))
    (output * projection).sum().backward()
    dead = [n for n, p in module.named_parameters() if p.requires_grad and (p.grad is None or not p.grad.abs().sum())]
    assert not dead, f"no gradient reaches {dead}"
