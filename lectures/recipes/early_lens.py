"""Figure: how far can you trust the logit lens? SmolLM2 after each layer, read by the lens and by a fitted map.

    lens          softmax(W_U norm(x_l))                        nostalgebraist (2020)
    fitted map    softmax(W_U norm(x_l B_l + b_l)),             after the "tuned lens" of Belrose et al. (2023)

B_l and b_l are fitted by ridge regression from x_l to x_L on other passages. If the map reads what the lens cannot, then
the early layers know more than the lens shows. Controls: the map of layer 0, which knows only the current token; and two
guesses without any vector, counted on the passages of the fit: always the same token, and the most frequent one after
the current token.
Measured on passages of Shakespeare's test plays: how often the first guess is the model's final first guess; intervals
are Student's, over passages. Departs from Belrose et al.: least squares instead of the KL divergence.
"""

from typing import Any

import torch
from lectures.recipes.head_map import verses
from lectures.recipes.run import Run, load_smollm2, recipe
from nlmcore.inspect import pathway
from nlmcore.metrics import mean_interval
from torch import Tensor


def depths(model: Any, tokens: Tensor) -> list[Tensor]:
    """The pathway after 0, 1, … layers, without each text's first token, where SmolLM2's pathway is a hundred times as
    long as elsewhere: (batch, time − 1, d_model) each."""
    with pathway(model) as branches:
        model.hidden_states(tokens)
    return [x[:, 1:] for x in (branches[0].x, *(branch.result for branch in branches[1::2]))]


def fitted(x: Tensor, y: Tensor, ridge: float = 1e-3) -> tuple[Tensor, Tensor]:
    """(B, b) of least squares: y ≈ x B + b, with the squares of B, in units of the variance of x, held small."""
    x, y = x.double(), y.double()
    x_mean, y_mean = x.mean(0), y.mean(0)
    centred = x - x_mean
    square = centred.T @ centred
    square += ridge * square.diagonal().mean() * torch.eye(len(square), dtype=square.dtype)
    B = torch.linalg.solve(square, centred.T @ (y - y_mean))
    return B.float(), (y_mean - x_mean @ B).float()


@torch.no_grad()
@recipe(2)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    length = run.size(64, 12)
    tokens, _ = verses(tokenizer, length, run.size(60, 20))
    at = torch.arange(len(tokens)) % 10 == 3  # every tenth passage, with those of the same play around it in the fit
    found = depths(model, tokens)
    end = found[-1]
    guesses = model.output(model.final_norm(end)).argmax(-1)

    def share(guessed: Tensor) -> list[float]:
        return [round(value, 4) for value in mean_interval((guessed == guesses[at]).double().mean(1).tolist())]

    def agrees(x: Tensor) -> list[float]:
        return share(model.output(model.final_norm(x)).argmax(-1))

    current, always = tokens[:, 1:], guesses[~at].flatten().mode().values
    after = {t: guesses[~at][current[~at] == t].mode().values for t in current[~at].unique().tolist()}
    counted = torch.tensor([[int(after.get(t, always)) for t in row] for row in current[at].tolist()])
    floors = {"always the same token": share(always.expand_as(counted)), "from the current token": share(counted)}
    rows: dict[str, list[list[float]]] = {"lens": [], "fitted map": []}
    layers = range(0, len(found), run.size(1, 15))
    for i in layers:
        B, b = fitted(found[i][~at].flatten(0, 1), end[~at].flatten(0, 1))
        rows["lens"].append(agrees(found[i][at]))
        rows["fitted map"].append(agrees(found[i][at] @ B + b))
    run.save_result(
        "early_lens",
        {
            "question": "How often does an early layer, read by the lens or by a fitted map, guess as the model will?",
            "how": f"{int(at.sum())} passages of {length} tokens, maps fitted on {int((~at).sum())} others; fraction of tokens with"
            " the model's final first guess, mean with half of its 95 % interval",
            "layers": list(layers),
            "rows": rows,
            "floors": floors,
            "what_it_shows": "after 0, half and all but one of the layers: "
            + "; ".join(
                f"{name} {by[0][0]:.0%}, {by[len(by) // 2][0]:.0%}, {by[-2][0]:.0%}" for name, by in rows.items()
            )
            + "; without a vector: "
            + ", ".join(f"{name} {m:.0%}" for name, (m, _) in floors.items()),
        },
    )
