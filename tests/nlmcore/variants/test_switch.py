"""Mixture of experts and Switch: gates, queues that are fair to the past, and no queue when a text is read."""

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from nlmcore.training import fit, teacher_forcing_loss
from nlmcore.transformer import EncoderDecoder, FeedForward, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.baseline import vanilla
from nlmcore.variants.experts import MixtureOfExperts, balance_loss
from nlmcore.variants.switch import Capacity, build_mixture, build_switch, jitter
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.nlmcore.variants.test_catalogue import MASK, SIZES, SOURCE, VOCAB, build, logits, stirred

BUILDERS = {"Mixture of experts": build_mixture, "Switch Transformer": build_switch}
X = torch.randn(3, 9, 6, generator=torch.Generator().manual_seed(0))
ONE_EACH = Capacity(0.5, least=1)  # room for two of nine tokens, at three experts

each_row = pytest.mark.parametrize("name", BUILDERS)


def quiet(router: nn.Linear, x: Tensor) -> Tensor:
    return router(x)


def mixture(k: int = 2, **options: object) -> MixtureOfExperts:
    """In training, without noise."""
    torch.manual_seed(1)
    return MixtureOfExperts(6, 7, 3, k, noise=quiet, **options).train()  # type: ignore[arg-type]


def few(name: str, family: type = TransformerLM, n_experts: int = 3, **sizes: int) -> nn.Module:
    """The row with few experts: all of them are asked."""
    torch.manual_seed(0)
    config = CATALOGUE[name].config(VOCAB, **{**SIZES, **sizes})
    return family(replace(config, stack=partial(BUILDERS[name], n_experts=n_experts)))


def served(chosen: list[list[int]], room: int) -> list[list[bool]]:
    """A text's tokens from left to right, each with all its choices."""
    taken: Counter[int] = Counter()
    granted = []
    for choices in chosen:
        granted.append([])
        for e in choices:
            taken[e] += 1
            granted[-1].append(taken[e] <= room)
    return granted


@pytest.mark.parametrize(("factor", "time", "room"), [(1.2, 9, 4), (1.0, 9, 3), (0.5, 9, 2), (2, 9, 6), (0.1, 9, 1)])
def test_a_full_expert_takes_no_more(factor: float, time: int, room: int) -> None:
    limit = Capacity(factor, least=1)
    chosen = torch.rand(5, time, 3, generator=torch.Generator().manual_seed(2)).topk(2).indices
    assert limit.room(time, 3) == room
    granted = limit(chosen, 3)
    assert granted.tolist() == [served(text, room) for text in chosen.tolist()]
    assert granted.all() == (room == 6) or granted.sum() < granted.numel()
    assert Capacity(factor).room(time, 3) == max(4, room)


def first_choices_first(chosen: Tensor, n: int) -> Tensor:
    """All first choices of a text before any second one, as Lepikhin et al. (2020) serve them."""
    room = ONE_EACH.room(chosen.shape[1], n)
    rows = []
    for text in chosen.tolist():
        order = [[c[0]] for c in text] + [[c[1]] for c in text]
        flat = [g[0] for g in served(order, room)]
        rows.append([[flat[t], flat[len(text) + t]] for t in range(len(text))])
    return torch.tensor(rows)


def past_is_left_alone(part: MixtureOfExperts) -> bool:
    """Whether what a token gets in training stays when later ones change."""
    with torch.no_grad():
        whole = part(X)
        for seed in range(6):
            other = torch.randn(X.shape, generator=torch.Generator().manual_seed(seed + 10))
            for t in range(1, X.shape[1]):
                y = part(torch.cat([X[:, :t], other[:, t:]], dim=1))
                if not torch.allclose(y[:, :t], whole[:, :t], atol=1e-6):
                    return False
    return True


def test_a_queue_does_not_let_the_future_in() -> None:
    assert past_is_left_alone(mixture(limit=ONE_EACH))
    assert past_is_left_alone(mixture(1, limit=ONE_EACH))
    assert not past_is_left_alone(mixture(limit=first_choices_first)), "the other order does: the test can tell"


def test_who_else_is_in_the_batch_does_not_matter() -> None:
    part = mixture(limit=ONE_EACH)
    assert not torch.allclose(part(X), mixture()(X)), "somebody is dropped"
    assert_close(part(X), torch.cat([part(x[None]) for x in X]), "texts one by one")


def test_a_dropped_token_gets_nothing() -> None:
    part = mixture(1, limit=ONE_EACH)
    with torch.no_grad():
        part.router.weight.zero_()
        part.router.weight[2] = 1.0
    y = part(X.abs())
    assert y[:, :2].abs().amax(-1).min() > 0, "room for two"
    assert not y[:, 2:].any()


def test_there_is_no_limit_when_a_text_is_read() -> None:
    limited, free = mixture(limit=ONE_EACH).eval(), mixture().eval()
    assert torch.equal(limited(X), free(X))
    assert_close(torch.cat([limited(X[:, :4]), limited(X[:, 4:])], dim=1), limited(X), "in pieces")


def test_gates_are_a_softmax_over_the_scores_of_the_chosen() -> None:
    """Shazeer et al. (2017), equations 3 to 5: the softmax comes after the choice."""
    part = mixture(normalise=True)
    y = part(X)
    for b in range(3):
        for t in range(9):
            scores = part.router.weight @ X[b, t]
            best = sorted(range(3), key=lambda e: -scores[e].item())[:2]
            gates = scores[best].softmax(0)
            expected = sum(gates[i] * part.experts[e](X[b : b + 1, t : t + 1])[0, 0] for i, e in enumerate(best))
            assert_close(y[b, t], expected, f"token {b}, {t}")


def test_jitter_shakes_what_the_router_reads_by_a_hundredth() -> None:
    router = nn.Linear(4, 4, bias=False)
    with torch.no_grad():
        router.weight.copy_(torch.eye(4))
    torch.manual_seed(0)
    u = jitter(router, torch.full((1, 500, 4), 2.0)) / 2.0
    assert 0.99 <= u.min() < 0.991
    assert 1.009 < u.max() <= 1.01


@pytest.mark.parametrize(("layers", "places"), [(12, [3, 7, 11]), (6, [3]), (4, [3]), (3, [2]), (1, [0])])
@each_row
def test_every_fourth_layer_has_experts(name: str, layers: int, places: list[int]) -> None:
    model = CATALOGUE[name].build(VOCAB, **{**SIZES, "n_layers": layers})
    found = [i for i, layer in enumerate(model.layers) if isinstance(layer.feed_forward, MixtureOfExperts)]
    assert found == places
    part = model.layers[places[0]].feed_forward
    assert (part.k, len(part.experts)) == ((1, 32) if name.startswith("Switch") else (2, 32))
    assert part.experts[0].inner.weight.shape[0] == (36 if name.startswith("Switch") else 18)
    assert part.limit == Capacity(1.2 if name.startswith("Switch") else 2.0)


def test_a_switch_of_one_expert_is_the_usual_stack() -> None:
    """p is 1."""
    model = stirred(few("Switch Transformer", n_experts=1))
    plain = TransformerLM(vanilla(VOCAB, **SIZES)).eval()
    names = {name.replace(".experts.0", ""): weight for name, weight in model.state_dict().items()}
    plain.load_state_dict({name: weight for name, weight in names.items() if ".router" not in name})
    assert_close(logits(model), logits(plain), "the usual stack with equal weights")


@each_row
def test_few_experts_keep_every_law_and_all_of_them_learn(name: str) -> None:
    model = stirred(few(name))
    many = torch.randint(0, VOCAB, (8, 9), generator=torch.Generator().manual_seed(6))
    assert_language_model(model, many[:3, :3], tolerance=1e-4)
    assert_every_parameter_gets_a_gradient(model.train(), logits(model, many))
    translator = stirred(few(name, EncoderDecoder))
    assert_language_model(translator, many[:3, :3], translator.encode(SOURCE, MASK), tolerance=1e-4)
    assert_every_parameter_gets_a_gradient(translator, translator.train()(many, translator.encode(many))[0])


def test_it_learns_with_the_balance() -> None:
    tokens = torch.randint(0, VOCAB, (6, 7), generator=torch.Generator().manual_seed(5))

    def with_balance(model: nn.Module, tokens: Tensor) -> Tensor:
        return teacher_forcing_loss(model, tokens) + 0.01 * balance_loss(model)  # type: ignore[arg-type]

    model = few("Switch Transformer")
    history = fit(model, [tokens], steps=20, loss=with_balance, learning_rate=0.02, progress=False)
    assert history.losses[-1] < 0.6 * history.losses[0]
    model.eval()
    logits(model, tokens)
    assert 0.9 < balance_loss(model).item() < 2.0, "1 if all were equal, 3 if one had all"


def test_bad_limits_are_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="factor must be above 0, got 0"):
        Capacity(0)
    with pytest.raises(TypeError, match="factor must be a number, got str 'all'"):
        Capacity("all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="least must be at least 1, got 0"):
        Capacity(1.0, 0)
    with pytest.raises(TypeError, match="normalise must be True or False"):
        MixtureOfExperts(6, 7, normalise="yes", expert=FeedForward)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="every must be at least 1, got 0"):
        build_switch(vanilla(VOCAB, **SIZES), True, False, every=0)
    assert "0x" not in repr(build(CATALOGUE["Switch Transformer"]).config)
