"""Figure: SmolLM2 reads through a window; what do its first tokens do for it?

SmolLM2 was trained with full attention. At inference we let every query see only its last w tokens, in all layers, as
a cache of w tokens would, and compare four ways of seeing four tokens more:

    window              the last w
    and the first 4     the last w and the first four tokens of the text ("attention sinks", Xiao et al. 2024)
    and a stranger's 4  the same, but these four are the first of a different passage: is it what they say?
    and 4 others        the last w and tokens 4 to 7: the rival explanation that any four early tokens help
    wider by 4          the last w + 4: that any four tokens help

Nats per token over the second half of passages of Shakespeare's test plays; one value per passage.
"""

from functools import partial
from statistics import mean
from typing import Any

import torch
from nlmcore.attention import two_way, window_mask
from torch import Tensor
from torch.nn import functional as F

from lectures.recipes.experiment import said
from lectures.recipes.run import Run, load_smollm2, recipe
from lectures.recipes.texts import passages, plays

KEPT = 4
WINDOWS = (8, 16, 32, 64)
STRANGER = "and a stranger's 4"
WAYS = ("window", "and the first 4", STRANGER, "and 4 others", "wider by 4")


def mask_of(way: str, n: int, window: int) -> Tensor:
    """(query, key), True = may attend."""
    mask = window_mask(n, window + KEPT * (way == "wider by 4"))
    first, others = slice(0, KEPT), slice(KEPT, 2 * KEPT)
    early = {"and the first 4": first, STRANGER: first, "and 4 others": others}.get(way)
    if early is not None:
        mask[:, early] = window_mask(n, None)[:, early]
    return mask


def with_first_of_another(texts: Tensor) -> Tensor:
    """Every text begins with the first tokens of the previous one."""
    return torch.cat([texts.roll(1, 0)[:, :KEPT], texts[:, KEPT:]], 1)


def losses(model: Any, texts: Tensor, mask: Tensor) -> dict[str, list[float]]:
    """Nats per token in the second half of each text, one text after the other."""
    half, found = texts.shape[1] // 2, []
    with torch.no_grad():
        for text in texts:
            x = model.embed(text[None, :-1])
            for layer in model.layers:  # with our mask instead of the causal one
                y = two_way(layer.attention)(layer.residual_attention(x), mask=mask[None, None])
                x = layer.transform(layer.residual_attention(x, y))
            logits = model.output(model.final_norm(x[0, half:]))
            found.append(round(F.cross_entropy(logits, text[half + 1 :]).item(), 4))
    return {"loss": found}


@recipe(4)
def cook(run: Run) -> None:
    n, count = run.size(256, 16), run.size(5, 2)
    model, tokenizer = load_smollm2()
    texts = passages(plays().test, tokenizer.encode, count, n + 1)
    windows = run.size(WINDOWS, (4, 8))
    full = run.kept("full", partial(losses, model, texts, window_mask(n, None)))
    ways: dict[str, dict[str, list[float]]] = {way: {} for way in WAYS}
    for w in windows:
        for way, by in ways.items():
            read = with_first_of_another(texts) if way == STRANGER else texts
            measure = partial(losses, model, read, mask_of(way, n, w))
            found = run.kept(f"{way}-{w}".replace(" ", "_"), measure)
            by[str(w)] = found["loss"]
    run.save_result(
        "windows",
        {
            "question": "SmolLM2 reads through a window: what do its first tokens do for it?",
            "how": f"nats per token over the second half of {count} passages of {n} tokens of Shakespeare's test plays,"
            " one value per passage; the mask holds in all layers, the weights are those of the model trained with full"
            " attention",
            "n": n,
            "full": full["loss"],
            "ways": ways,
            "what_it_shows": f"full attention {mean(full['loss']):.2f} nats; "
            + "; ".join(f"{way}: {said(by, '{0!m:.2f} at {row}', ', ')}" for way, by in ways.items()),
        },
    )
