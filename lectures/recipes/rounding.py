"""Figure: what do fewer bits cost? SmolLM2 and the course's `char_gpt`, their matrices rounded or pruned, on the same plays.

Changed are the matrices of attention and of the feed-forward networks, not the embedding, which is also the output
matrix. What a change costs is the rise of the loss, token by token of the same text; its interval is a bootstrap over
stretches of 32 tokens. The controls: noise as large as the rounding, the rounding's own errors reversed or moved to other
weights, the same number of weights chosen at random (instead of the largest or the smallest), fewer layers, and as many
weights spread over all layers.

SmolLM2's file keeps these matrices in 4 bits, so its loss at 4 bits says nothing about what 4 bits cost.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from nlmcore.compression import BLOCK, pruned, replaced, rounded
from nlmcore.metrics import bootstrap_interval
from nlmcore.transfer.lora import matrices
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes.run import Run, load_smollm2, recipe
from lectures.recipes.texts import plays
from lectures.trained import checkpoint

BITS = (8, 6, 5, 4, 3, 2)
PRUNED = {9: 0.5, 5: 0.75, 4: 0.8125, 3: 0.875}
"""Bits a weight -> the share of weights that is left out: what is kept has 16 bits, and every weight one that says which."""
SPARED = 0.005
SPREAD = 4
"""So many layers' worth of blocks is also rounded in all layers: as many weights, at every depth."""
START, LENGTH, STRETCH = 20_000, 257, 32
PARTS = ("attention.projection", "attention.output", "feed_forward.inner", "feed_forward.outer")

Change = Callable[[str, Tensor], Tensor]


def weights_of(model: Any) -> dict[str, Tensor]:
    """The matrices that are changed: all that one module alone has."""
    return {name: getattr(*place).detach() for name, place in matrices(model).items()}


def windows(texts: Sequence[str], encode: Callable[[str], list[int]], rows: int, length: int) -> Tensor:
    """(rows of all texts, length): neighbouring windows of each text, all from the same character on."""
    found = [torch.tensor(encode(text[START : START + 8 * rows * length])) for text in texts]
    return torch.cat([ids.unfold(0, length, length - 1)[:rows] for ids in found])


@torch.no_grad()
def nats(model: Any, tokens: Tensor) -> Tensor:
    """−ln p of every token but the first of each row, (row, time)."""
    loss = [F.cross_entropy(model(row[None, :-1])[0][0], row[1:], reduction="none") for row in tokens]
    return torch.stack(loss)


def stretches(rise: Tensor) -> list[float]:
    """(row, time) -> means over `STRETCH` neighbours, whose errors depend on each other less than those of tokens do."""
    size = min(STRETCH, rise.shape[1])
    return rise[:, : rise.shape[1] // size * size].reshape(-1, size).mean(1).tolist()


def in_groups(w: Tensor, group: str) -> int:
    """How many weights share a scale."""
    return {"block": BLOCK, "row": w.shape[1], "matrix": w.numel()}[group]


def with_noise(_: str, w: Tensor, bits: int, generator: torch.Generator) -> Tensor:
    """Normal noise with the deviation of the rounding's error."""
    return w + torch.randn(w.shape, generator=generator) * (rounded(w, bits) - w).std()


def error_reversed(_: str, w: Tensor, bits: int) -> Tensor:
    """Each weight as far from its value as rounding takes it, on the other side."""
    return 2 * w - rounded(w, bits)


def error_moved(_: str, w: Tensor, bits: int, generator: torch.Generator) -> Tensor:
    """The errors of the rounding, each at a random weight of the matrix."""
    error = (rounded(w, bits) - w).flatten()
    return w + error[torch.randperm(w.numel(), generator=generator)].view(w.shape)


def sparing(_: str, w: Tensor, bits: int, share: float, generator: torch.Generator | None = None) -> Tensor:
    """The whole matrix rounded with one scale, except a share of its weights: the largest, or as many random ones."""
    n = round(share * w.numel())
    order = (
        w.abs().flatten().argsort(descending=True)
        if generator is None
        else torch.randperm(w.numel(), generator=generator)
    )
    spared = torch.zeros(w.numel(), dtype=torch.bool).index_fill(0, order[:n], True).view(w.shape)
    return torch.where(spared, w, rounded(w.masked_fill(spared, 0.0), bits, w.numel()))


def without(_: str, w: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """As many weights as `pruned` leaves out, at random."""
    gone = torch.randperm(w.numel(), generator=generator)[: round(share * w.numel())]
    return w.flatten().index_fill(0, gone, 0.0).view(w.shape)


def some_blocks(_: str, w: Tensor, bits: int, share: float, generator: torch.Generator) -> Tensor:
    """A share of the blocks rounded, chosen at random."""
    blocks = w.reshape(-1, BLOCK)
    chosen = torch.rand(len(blocks), 1, generator=generator) < share
    return torch.where(chosen, rounded(w, bits).reshape(-1, BLOCK), blocks).view(w.shape)


def _smallest_out(_: str, w: Tensor, share: float) -> Tensor:
    return pruned(w, share)


def only(change: Change, where: Callable[[str], bool]) -> Change:
    return lambda name, w: change(name, w) if where(name) else w


def _is_in(part: str, name: str) -> bool:
    return part in name


def in_layers(layers: set[int]) -> Callable[[str], bool]:
    return lambda name: int(name.split(".")[1]) in layers


def settings(n_layers: int) -> dict[str, Change]:
    """Everything that is tried on a model."""

    def at(bits: int, group: str = "block", symmetric: bool = False) -> Change:
        return lambda _, w: rounded(w, bits, in_groups(w, group), symmetric=symmetric)

    def chance(seed: int = 0) -> torch.Generator:
        return torch.Generator().manual_seed(seed)

    found = {f"block, {bits} bits": at(bits) for bits in BITS}
    found |= {f"{group}, {bits} bits": at(bits, group) for group in ("row", "matrix") for bits in (8, 6, 4, 3)}
    found["block, 4 bits, symmetric"] = at(4, symmetric=True)
    found["error of 3 bits, reversed"] = partial(error_reversed, bits=3)
    for draw in range(3):
        found[f"noise of 3 bits, draw {draw}"] = partial(with_noise, bits=3, generator=chance(draw))
        found[f"error of 3 bits, moved, draw {draw}"] = partial(error_moved, bits=3, generator=chance(draw))
    found["matrix, 4 bits, largest spared"] = partial(sparing, bits=4, share=SPARED)
    found["matrix, 4 bits, random spared"] = partial(sparing, bits=4, share=SPARED, generator=chance())
    found |= {f"{part}, 2 bits": only(at(2), partial(_is_in, part)) for part in PARTS}
    found |= {f"pruned, {bits} bits": partial(_smallest_out, share=share) for bits, share in PRUNED.items()}
    found["random half pruned"] = partial(without, share=0.5, generator=chance())
    for draw in range(3):
        order = torch.randperm(n_layers, generator=chance(draw)).tolist()
        for k in (1, 2, 4, 8, 15):
            if k < n_layers:
                found[f"{k} layers, 3 bits, draw {draw}"] = only(at(3), in_layers(set(order[:k])))
        if n_layers > SPREAD:
            spread = partial(some_blocks, bits=3, share=SPREAD / n_layers, generator=chance(draw))
            found[f"{SPREAD} layers' worth in all, 3 bits, draw {draw}"] = spread
    return found


def study(model: Any, tokens: Tensor, text: str, quick: bool) -> dict[str, Any]:
    """The loss as loaded, and what each change adds to it."""
    weights = weights_of(model)
    base = nats(model, tokens)

    def one(change: Change) -> dict[str, Any]:
        with replaced(weights, change) as error:
            rise = nats(model, tokens) - base
        return {"error": round(error, 4), "rise": [round(value, 5) for value in bootstrap_interval(stretches(rise))]}

    tried = settings(len(model.layers))
    if quick:
        tried = {setting: tried[setting] for setting in ("block, 3 bits", "pruned, 3 bits")}
    reach = {matrix: float(w.abs().max() / w.std()) for matrix, w in weights.items()}
    return {
        "loss": round(float(base.mean()), 4),
        "tokens": base.numel(),
        "characters per token": round(len(text) / tokens.numel(), 3),
        "weights": sum(w.numel() for w in weights.values()),
        "layers": len(model.layers),
        "largest over deviation": {matrix: round(reach[matrix], 1) for matrix in sorted(reach, key=reach.__getitem__)[-3:]},
        "rows": {setting: one(change) for setting, change in tried.items()},
    }  # fmt: skip


@recipe(5)
def cook(run: Run) -> None:
    plain = plays(limit=run.size(None, 24_000)).test
    small, letters, _ = checkpoint("char_gpt")
    large, pieces = load_smollm2()
    found = {}
    for name, model, tokenizer, rows in (("char_gpt", small, letters, 16), ("SmolLM2", large, pieces, 2)):
        tokens = windows(plain, tokenizer.encode, run.size(rows, 1), run.size(LENGTH, 33))
        text = "".join(tokenizer.decode(row) for row in tokens.tolist())
        found[name] = run.kept(name, partial(study, model, tokens, text, run.quick))
    run.save_result(
        "rounding",
        {
            "question": "What do fewer bits cost a model?",
            "how": "matrices of attention and feed-forward networks rounded to nearest, in blocks of 32, rows or whole"
            " matrices, or pruned; rise of the loss in nats per token of the test plays, 95 % bootstrap interval over"
            f" stretches of {STRETCH} tokens",
            "pruned": PRUNED,
            "spared": SPARED,
            "models": found,
            "what_it_shows": "in 3 bits the loss rises by "
            + ", ".join(f"{of['rows']['block, 3 bits']['rise'][0]:.3f} nats ({name})" for name, of in found.items()),
        },
    )
