"""Figures: a hundred layers with post-norm, pre-norm and DeepNorm.

    post-norm    LN(x + f(x))          pre-norm    x + f(LN(x))          DeepNorm    LN(α x + f(x)), first weights with β

1. **One step.** How far a single step of gradient descent moves the output, by depth: Wang et al. (2022) choose α and β so
   that this does not grow with the depth. And the gradient of every layer before that step.
2. **Training**, five seeds, at 12 and at 100 layers. DeepNorm is two changes at once, so each is also tried without the other.
   Every rule has its own best learning rate, bracketed by the mean of two seeds; these two have that of DeepNorm. At 100
   layers the whole rules are also trained four times as long, with the rate chosen again: was one only slow?

All rules have the same embeddings, and where they do not have β, the matrices of Glorot & Bengio (2010).

Departs from the paper: a width of 16, characters, a few minutes. Their models translate.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from nlmcore.positions import SinusoidalPositions
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.variants.deepnorm import DeepNorm, initialise_deepnorm
from torch import Tensor, nn

from lectures.recipes import positions
from lectures.recipes.experiment import Experiment, Setting, said
from lectures.recipes.initial_weights import initialise_glorot
from lectures.recipes.positions import next_loss
from lectures.recipes.run import Run, recipe

WIDTH, TIME, BATCH, LONGER, SEEDS = 16, 32, 8, 400, 5
DEPTHS, STEP_DEPTHS, STEP = (12, 100), (3, 6, 12, 25, 50, 100), 0.01
RATES = (1e-3, 4e-3)
SETTING = Setting(100, BATCH, RATES, curve=10, weights="{seed}", name="{row}-{rate:g}-{seed}", choosing=2)
RULES: dict[str, tuple[Any, bool, bool]] = {
    "post-norm": ("post", False, False),
    "pre-norm": ("pre", False, False),
    "DeepNorm": ("post", True, True),
    "only α": ("post", True, False),
    "only β": ("post", False, True),
}
"""Rule -> (where its norm is, whether it has α, whether it has β)."""
HALVES = ("only α", "only β")


@torch.no_grad()
def initialise(model: nn.Module, c: Any, alpha: bool, beta: bool) -> None:
    """A `TransformerConfig.initialise`."""
    initialise_glorot(model, c)
    if beta or alpha:
        initialise_deepnorm(model, c)
    if alpha and not beta:
        initialise_glorot(model, c)
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=c.d_model**-0.5)
        if isinstance(module, DeepNorm) and not alpha:
            module.alpha = 1.0


def config(vocab_size: int, rule: str, depth: int, width: int = WIDTH) -> TransformerConfig:
    where, alpha, beta = RULES[rule]
    changes: dict[str, Any] = {"residual": DeepNorm} if where == "post" else {}
    sizes = positions.config(vocab_size, width, TIME, SinusoidalPositions, None)
    first = partial(initialise, alpha=alpha, beta=beta)
    return replace(sizes, n_layers=depth, norm_position=where, initialise=first, **changes)


def gradients(model: TransformerLM, texts: Tensor) -> list[float]:
    """The norm of the loss's gradient for every layer, first to last."""
    model.zero_grad()
    next_loss(model, (texts, torch.tensor(0))).backward()  # type: ignore[no-untyped-call]
    layers: Any = model.layers
    return [math.sqrt(sum(float(p.grad.square().sum()) for p in layer.parameters())) for layer in layers]


@torch.no_grad()
def moved(model: TransformerLM, texts: Tensor, step: float = STEP) -> float:
    """Root mean square of how far a step of gradient descent along `gradients` moves the logits, over the step's size."""
    before = model(texts[:, :-1])[0]
    for p in model.parameters():
        p.sub_(step * p.grad)  # type: ignore[operator]
    return float((model(texts[:, :-1])[0] - before).square().mean().sqrt()) / step


def first_step(run: Run, text: Tensor, vocab_size: int) -> dict[str, Any]:
    """Rule -> depth -> the moves, one per seed; and the gradients by layer of the deepest, one list per seed."""
    found: dict[str, Any] = {"moved": {}, "gradients": {}}
    for rule in RULES:
        for depth in run.size(STEP_DEPTHS, (2, 3)):
            for seed in range(run.size(SEEDS, 2)):
                torch.manual_seed(seed)
                model = TransformerLM(config(vocab_size, rule, depth))
                texts, _ = next(iter(positions.Windows(text, BATCH, TIME, seed)(0)))
                norms = [float(f"{norm:.3g}") for norm in gradients(model, texts)]
                found["moved"].setdefault(rule, {}).setdefault(str(depth), []).append(
                    float(f"{moved(model, texts):.4g}")
                )
                if depth == run.size(STEP_DEPTHS, (2, 3))[-1]:
                    found["gradients"].setdefault(rule, []).append(norms)
    return found


@dataclass(frozen=True)
class Deep(Experiment):
    """A training that diverges is as good as guessing."""

    def one(self, row: str, build: Any, seed: int, rate: float = 0.0, **changes: Any) -> dict[str, Any]:
        try:
            return super().one(row, build, seed, rate, **changes) | {"diverged": 0}
        except FloatingPointError:
            return {
                "parameters": 0,
                "dev": math.log(self.task.vocab_size),
                "another context": 0.0,
                "curve": [],
                "diverged": 1,
            }


def all_rules(deep: Deep, depth: int, rules: Iterable[str] = RULES) -> dict[str, Any]:
    """Each of these rules with all seeds, at its best rate; half a DeepNorm at the rate of the whole."""
    found: dict[str, Any] = {}
    for rule in rules:
        rates = [found["DeepNorm"]["rate"]] if rule in HALVES else ()
        of = deep.at_best_rate(f"{rule}-{depth}", build(deep, rule, depth), rates)
        del of["parameters"]
        found[rule] = of | {"diverged": sum(of["diverged"])}
    return found


def build(deep: Deep, rule: str, depth: int) -> Any:
    return partial(TransformerLM, config(deep.task.vocab_size, rule, depth))


@recipe(14)
def cook(run: Run) -> None:
    _, data = positions.data(run.size(None, 4000))
    deep, depths = Deep(run, positions.characters(run, TIME), SETTING), run.size(DEPTHS, (2, 3))
    runs = {str(depth): all_rules(deep, depth) for depth in depths}
    whole = [rule for rule in RULES if rule not in HALVES]
    longer = all_rules(replace(deep, setting=replace(SETTING, steps=LONGER)), depths[-1], whole)
    steps = run.kept("first_step", partial(first_step, run, data[0], data[2]))
    run.save_result(
        "very_deep",
        {
            "question": "Which residual rule trains a hundred layers?",
            "how": f"nats per character on dev plays, one value per seed; d_model {WIDTH}, 4 heads,"
            f" {SETTING.words(deep.task.what)}, warm-up {SETTING.warm_up} steps; rates bracketed by the mean"
            f" of {SETTING.choosing} seeds; curve: training loss, means of ten steps",
            "guess": round(math.log(data[2]), 4),
            "floors": deep.task.floors,
            "runs": runs,
            "longer": longer,
            "longer_is": f"training, {depths[-1]} layers, {LONGER} steps",
            "moved": steps["moved"],
            "moved_is": f"root mean square of the change of the logits in one step of gradient descent, over its rate"
            f" ({STEP}), by depth; one value per seed",
            "gradients": steps["gradients"],
            "gradients_are": f"norm of the gradient of every one of {STEP_DEPTHS[-1]} layers before the first step, one"
            " list per seed",
            "what_it_shows": "; ".join(
                f"{what}: {said(by, '{row} {dev!m:.3f}', ', ')}"
                for what, by in (*((f"{depth} layers", of) for depth, of in runs.items()), (f"{LONGER} steps", longer))
            ),
        },
    )
