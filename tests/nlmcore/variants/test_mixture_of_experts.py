"""Mixtures of experts by hand, and with limits, as in the rows Mixture of experts and Switch."""

import copy
import pickle
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from nlmcore.transformer import EncoderDecoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.mixture_of_experts import Capacity, MixtureOfExperts, balance_loss, build_mixture
from nlmcore.variants.switch import build_switch, jitter
from nlmcore.variants.variant import vanilla
from nlmcore.variants.widenet import share_all_but_norms
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.nlmcore.variants.test_catalogue import MASK, SIZES, SOURCE, VOCAB, logits, stirred

X = torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(0))


def mixture(k: int = 2, n_experts: int = 4, normalise: bool = False) -> MixtureOfExperts:
    torch.manual_seed(1)
    return MixtureOfExperts(6, 7, n_experts, k, normalise=normalise).eval()


@pytest.mark.parametrize(("k", "normalise"), [(1, False), (2, False), (4, False), (2, True)])
def test_a_mixture_is_its_equation_token_by_token(k: int, normalise: bool) -> None:
    """normalise: Shazeer et al. (2017), equations 3 to 5, where the softmax comes after the choice."""
    part = mixture(k, normalise=normalise)
    y = part(X)
    for b in range(3):
        for t in range(5):
            scores = part.router.weight @ X[b, t]
            best = sorted(range(4), key=lambda e: -scores[e].item())[:k]
            p = scores.softmax(0) / (scores.softmax(0)[best].sum() if normalise else 1.0)
            expected = sum(p[e] * part.experts[e](X[b : b + 1, t : t + 1])[0, 0] for e in best)
            assert_close(y[b, t], expected, f"token {b}, {t}")


def test_the_balance_is_one_if_all_are_chosen_alike_and_more_if_one_is() -> None:
    part = mixture()
    with torch.no_grad():
        part.router.weight.copy_(torch.eye(6)[:4] * 50)
    part(torch.eye(6)[:4].view(1, 4, 6).repeat(2, 1, 1))
    assert part.balance.item() == pytest.approx(1.0, abs=1e-4)
    part(torch.eye(6)[:1].view(1, 1, 6).repeat(2, 3, 1))
    assert part.balance.item() == pytest.approx(4.0, abs=1e-4)


def test_noise_is_for_training_alone() -> None:
    part = mixture()
    assert torch.equal(part(X), part(X))
    part.train()
    torch.manual_seed(0)
    once, twice = part(X), part(X)
    assert not torch.equal(once, twice)
    torch.manual_seed(0)
    assert torch.equal(part(X), once)


def test_an_expert_that_nobody_chose_is_not_run() -> None:
    part = mixture(1, 3)
    with torch.no_grad():
        part.router.weight.zero_()
        part.router.weight[2] = 1.0
    seen: list[int] = []
    for e, expert in enumerate(part.experts):
        expert.register_forward_hook(lambda module, given, y, e=e: seen.append(e))
    part(X.abs())
    assert seen == [2]


def test_a_mixture_can_be_copied_and_stored_in_the_middle_of_training() -> None:
    part = mixture().train()
    part(X).sum().backward()
    for twin in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert_close(twin.eval()(X), part.eval()(X), "a copy")


def test_bad_numbers_of_experts_are_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="k=3, n_experts=2"):
        MixtureOfExperts(6, 7, 2, 3)
    with pytest.raises(ValueError, match="factor must be above 0, got 0"):
        Capacity(0)
    assert balance_loss(nn.Linear(2, 2)).item() == 0.0
    with pytest.raises(TypeError, match="feed_forward is a MixtureOfExperts, got FeedForward"):
        TransformerLM(replace(vanilla(VOCAB, **SIZES), share=share_all_but_norms))


BUILDERS = {"Mixture of experts": build_mixture, "Switch Transformer": build_switch}
TEXTS = torch.randn(3, 9, 6, generator=torch.Generator().manual_seed(0))
ONE_EACH = Capacity(0.5, least=1)  # room for two of nine tokens, at three experts

each_row = pytest.mark.parametrize("name", BUILDERS)


def quiet(router: nn.Linear, x: Tensor) -> Tensor:
    return router(x)


def routed(k: int = 2, **options: object) -> MixtureOfExperts:
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
    assert limit.slots(time, 3) == room
    granted = limit(chosen, 3)
    assert granted.tolist() == [served(text, room) for text in chosen.tolist()]
    assert granted.all() == (room == 6) or granted.sum() < granted.numel()
    assert Capacity(factor).slots(time, 3) == max(4, room)


def first_choices_first(chosen: Tensor, n: int) -> Tensor:
    """All first choices of a text before any second one, as Lepikhin et al. (2020) serve them."""
    room = ONE_EACH.slots(chosen.shape[1], n)
    rows = []
    for text in chosen.tolist():
        order = [[c[0]] for c in text] + [[c[1]] for c in text]
        flat = [g[0] for g in served(order, room)]
        rows.append([[flat[t], flat[len(text) + t]] for t in range(len(text))])
    return torch.tensor(rows)


def past_is_left_alone(part: MixtureOfExperts) -> bool:
    """Whether what a token gets in training stays when later ones change."""
    with torch.no_grad():
        whole = part(TEXTS)
        for seed in range(6):
            other = torch.randn(TEXTS.shape, generator=torch.Generator().manual_seed(seed + 10))
            for t in range(1, TEXTS.shape[1]):
                y = part(torch.cat([TEXTS[:, :t], other[:, t:]], dim=1))
                if not torch.allclose(y[:, :t], whole[:, :t], atol=1e-6):
                    return False
    return True


def test_a_queue_does_not_let_the_future_in() -> None:
    assert past_is_left_alone(routed(limit=ONE_EACH))
    assert past_is_left_alone(routed(1, limit=ONE_EACH))
    assert not past_is_left_alone(routed(limit=first_choices_first)), "the other order does: the test can tell"


def test_who_else_is_in_the_batch_does_not_matter() -> None:
    part = routed(limit=ONE_EACH)
    assert not torch.allclose(part(TEXTS), routed()(TEXTS)), "somebody is dropped"
    assert_close(part(TEXTS), torch.cat([part(x[None]) for x in TEXTS]), "texts one by one")


def test_a_dropped_token_gets_nothing() -> None:
    part = routed(1, limit=ONE_EACH)
    with torch.no_grad():
        part.router.weight.zero_()
        part.router.weight[2] = 1.0
    y = part(TEXTS.abs())
    assert y[:, :2].abs().amax(-1).min() > 0, "room for two"
    assert not y[:, 2:].any()


def test_there_is_no_limit_when_a_text_is_read() -> None:
    limited, free = routed(limit=ONE_EACH).eval(), routed().eval()
    assert torch.equal(limited(TEXTS), free(TEXTS))
    assert_close(torch.cat([limited(TEXTS[:, :4]), limited(TEXTS[:, 4:])], dim=1), limited(TEXTS), "in pieces")


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
def test_every_fourth_layer_has_experts(unchecked: None, name: str, layers: int, places: list[int]) -> None:
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
