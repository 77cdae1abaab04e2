"""Figure: how low is the rank of real attention matrices, and of rivals that have no structure?

Wang et al. (2020), section 3, infer from the singular values of a trained model's attention matrices that these are
nearly of low rank, so that n keys may be mixed into k. We take every head of two real models, SmolLM2 (causal) and
MiniLM (both directions), on the same passages, and count how many of the n singular values hold 90 % of their sum (the
paper's measure) and of their squares' sum. Rivals:

    shuffled    the same weights, but each row's are permuted among the keys that it may see: equal temperature, row by
                row, without any structure
    mask        each row spread evenly over what it may see: a causal mask and nothing else (rank 1 without a mask)

And a test of use: in every head of MiniLM the matrix is replaced by its best approximation of rank k. How far do the
sentence vectors move, and how far if every head spreads its weights evenly? (Not in SmolLM2: a causal matrix of lower rank shows the future.)
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.attention import causal_mask, mean_pool, scaled_dot_product_attention
from nlmcore.inspect import capture
from nlmcore.pretrained import minilm
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes.run import MissingCheckpoint, Run, load_smollm2, recipe
from lectures.recipes.texts import passages, plays

HELD = 0.9
MODELS = ("SmolLM2", "MiniLM")


def held_by(values: Tensor) -> list[int]:
    """How many of the largest values (…, n) hold 90 % of their sum."""
    part = values.cumsum(-1) / values.sum(-1, keepdim=True)
    found: list[int] = ((part < HELD).sum(-1) + 1).flatten().tolist()
    return found


def measured(weights: Tensor) -> dict[str, list[int]]:
    """For every matrix (…, query, key): of its singular values, and of their squares."""
    values = torch.linalg.svdvals(weights)
    return {"sum": held_by(values), "squares": held_by(values.square())}


def shuffled(weights: Tensor, causal: bool, generator: torch.Generator) -> Tensor:
    """Each row's weights permuted among the keys that it may see."""
    n = weights.shape[-1]
    allowed = causal_mask(n) if causal else torch.ones(n, n, dtype=torch.bool)
    key = torch.rand(weights.shape, generator=generator).masked_fill(~allowed, 2.0)  # what is hidden stays behind
    return weights.gather(-1, key.argsort(-1))


def rank_of(weights: Tensor, k: int) -> Tensor:
    """The best approximation of rank k (Eckart & Young 1936)."""
    u, s, v = torch.linalg.svd(weights)
    return (u[..., :k] * s[..., None, :k]) @ v[..., :k, :]


@contextmanager
def approximated(model: Any, approximation: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Meanwhile every head of an encoder mixes with an approximation of its weights."""

    def mix(part: Any, q: Tensor, k: Tensor, v: Tensor, *_: Any) -> Tensor:
        weights = approximation(scaled_dot_product_attention(q, k, v)[1])
        mixed: Tensor = part.output((weights @ v).transpose(1, 2).flatten(2))
        return mixed

    parts = [layer.attention for layer in model.layers]
    for part in parts:
        part._mix = partial(mix, part)
    try:
        yield
    finally:
        for part in parts:
            del part._mix


def moved(model: Any, texts: Tensor, approximation: Callable[[Tensor], Tensor]) -> list[float]:
    """Cosine of each text's vector with the one that approximated weights give."""
    with torch.no_grad():
        whole = mean_pool(model(texts))
        with approximated(model, approximation):
            less = mean_pool(model(texts))
    return [round(c, 4) for c in F.cosine_similarity(whole, less).tolist()]


@recipe(3)
def cook(run: Run) -> None:
    n, count = run.size(256, 16), run.size(5, 2)
    try:
        models: dict[str, Any] = {"SmolLM2": load_smollm2(), "MiniLM": minilm()}
    except FileNotFoundError as error:
        raise MissingCheckpoint(str(error)) from error
    texts = plays().test
    found: dict[str, Any] = {}
    generator = torch.Generator().manual_seed(run.seed)
    ids: dict[str, Tensor] = {}
    for name, (model, tokenizer) in models.items():
        ids[name] = passages(texts, tokenizer.encode, count, n)
        causal = name == "SmolLM2"
        rows: dict[str, dict[str, list[Any]]] = {"real": {}, "shuffled": {}}
        for text in ids[name]:
            with torch.no_grad(), capture(model) as tape:
                model(text[None])
            weights = torch.cat([by for by in tape.values()])  # (layer, head, query, key)
            for row, matrices in (("real", weights), ("shuffled", shuffled(weights, causal, generator))):
                for of, held in measured(matrices).items():
                    rows[row].setdefault(of, []).append(held)
        even = causal_mask(n).float() if causal else torch.ones(n, n)
        rows["mask"] = {of: [held] for of, held in measured(even / even.sum(-1, keepdim=True)).items()}
        found[name] = {"heads": list(weights.shape[:2]), **rows}
        run.say(f"{name}: " + ", ".join(f"{row} {mean(map(mean, by['sum'])):.0f}" for row, by in rows.items()))
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        str(k): partial(rank_of, k=k) for k in run.size((4, 16, 64, 128), (2, 8))
    }
    ways["even"] = lambda weights: torch.full_like(weights, 1 / weights.shape[-1])
    cosines = {way: moved(models["MiniLM"][0], ids["MiniLM"], of) for way, of in ways.items()}
    run.save_result(
        "attention_rank",
        {
            "question": "How low is the rank of real attention matrices, and of rivals without structure?",
            "how": f"every head of both models on {count} passages of Shakespeare's test plays of n = {n} tokens;"
            f" how many of the n singular values hold {HELD:.0%} of their sum, and of the sum of their squares; one list"
            " per passage, layer by layer, head by head; cosine: of MiniLM's vector of a passage with the vector when"
            " every matrix is replaced by its best approximation of that rank, or by even weights",
            "n": n,
            "held": HELD,
            "models": found,
            "cosine_at_rank": cosines,
            "what_it_shows": "; ".join(
                f"{name}: {HELD:.0%} of the sum in "
                + ", ".join(
                    f"{mean(map(mean, found[name][row]['sum'])):.0f} ({row})" for row in found[name] if row != "heads"
                )
                for name in found
            ),
        },
    )
