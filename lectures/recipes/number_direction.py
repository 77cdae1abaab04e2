"""Figure: does SmolLM2 keep singular and plural in one direction, or in a few neurons? Found on 20 nouns, tried on 20.

    d_l = mean of x_l over plural nouns − mean of x_l over singular nouns        difference of means, after layer l
    x_l ← x_l + s · d_l  at the noun of a singular prompt, "The teacher"          does the model go on with "are"?

o = log P(are) − log P(is); the share moved is (o steered − o singular) / (o plural − o singular), so 1 is as much as
the plural noun itself. Adding such a direction is activation steering (Turner et al. 2023; Rimsky et al. 2024). Intervals are
bootstrap intervals over the held-out nouns. Rival explanations: any push of that size does it (20 random directions of
the same norm); the direction holds the word *are* instead of the number (the other verbs: was/were, has/have, does/do);
it damages the prediction (the KL divergence from the prediction after the true plural, against no steering).

Neurons: hidden units of all networks, ordered by how far plural and singular nouns are apart in units of their own
deviation. At held-out singular nouns the first k are set to their plural means; the control sets as many random units
of the same layers to theirs.
"""

import random
from contextlib import ExitStack
from typing import Any

import torch
from lectures.recipes.capital_facts import interval
from lectures.recipes.run import Run, load_smollm2, recipe
from nlmcore.inspect import neurons, outputs, patch
from torch import Tensor

NOUNS = """
dog dogs, cat cats, car cars, house houses, book books, tree trees, river rivers, king kings, student students, door
doors, road roads, ship ships, girl girls, boy boys, bird birds, horse horses, song songs, city cities, star stars,
flower flowers, teacher teachers, doctor doctors, window windows, letter letters, machine machines, picture pictures,
farmer farmers, soldier soldiers, planet planets, building buildings, garden gardens, paper papers, problem problems,
question questions, color colors, village villages, engine engines, island islands, mountain mountains, game games
"""
VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}


def prompts(tokenizer: Any) -> tuple[Tensor, Tensor]:
    """(singular, plural), each (noun, 2): "The" and a noun that is one token either way."""
    pairs = [pair.split() for pair in " ".join(NOUNS.split()).split(", ")]
    rows = [[tokenizer.encode(f"The {word}") for word in pair] for pair in pairs]
    rows = [row for row in rows if all(len(ids) == 2 for ids in row)]
    return torch.tensor([row[0] for row in rows]), torch.tensor([row[1] for row in rows])


@torch.no_grad()
@recipe(2)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    singular, plural = prompts(tokenizer)
    half = len(singular) // 2
    layers = list(range(0, len(model.layers), run.size(1, 15)))
    verbs = {tuple(pair): [tokenizer.encode(f" {verb}")[0] for verb in pair] for pair in VERBS.items()}

    def after(tokens: Tensor) -> Tensor:
        return model.output(model.hidden_states(tokens)[0][:, -1]).log_softmax(-1)

    def odds(log_p: Tensor, pair: tuple[str, ...] = ("is", "are")) -> Tensor:
        one, many = verbs[pair]
        return log_p[:, many] - log_p[:, one]

    def states(tokens: Tensor) -> dict[str, Tensor]:
        """At the noun: the pathway after each layer, and the hidden units of each network."""
        with ExitStack() as stack:
            seen = {}
            for i in range(len(model.layers)):
                seen[f"layers.{i}"] = stack.enter_context(outputs(model, f"layers.{i}"))
                units = neurons(f"layers.{i}.feed_forward", range(model.layers[i].feed_forward.outer.in_features))
                seen[f"units.{i}"] = stack.enter_context(outputs(model, units))
            model.hidden_states(tokens)
        return {name: each[0][:, -1] for name, each in seen.items()}

    one, many = states(singular[:half]), states(plural[:half])
    directions = {i: (many[f"layers.{i}"] - one[f"layers.{i}"]).mean(0) for i in layers}
    test, goal = singular[half:], after(plural[half:])
    plain = after(test)

    def steered(layer: int, direction: Tensor, strength: float = 1.0) -> Tensor:
        with patch(model, {f"layers.{layer}": lambda x: x + strength * direction}, -1):
            return after(test)

    def moved(log_p: Tensor, pair: tuple[str, ...] = ("is", "are")) -> Tensor:
        return (odds(log_p, pair) - odds(plain, pair)) / (odds(goal, pair) - odds(plain, pair)).mean()

    def apart(log_p: Tensor) -> Tensor:
        return (goal.exp() * (goal - log_p)).sum(-1)

    by_layer = {str(i): interval(moved(steered(i, directions[i]))) for i in layers}
    best = max(layers, key=lambda i: by_layer[str(i)][0])
    d = directions[best]
    generator = torch.Generator().manual_seed(run.seed)
    pushes = [torch.randn(len(d), generator=generator) for _ in range(run.size(20, 2))]
    others = [float(moved(steered(best, r * d.norm() / r.norm())).mean()) for r in pushes]

    # --- neurons ---
    width = one["units.0"].shape[1]
    gap = torch.stack([many[f"units.{i}"] - one[f"units.{i}"] for i in range(len(model.layers))])  # (layer, noun, unit)
    distance = gap.mean(1).abs() / (gap.std(1) + 1e-3)
    order = distance.flatten().argsort(descending=True).tolist()
    means = torch.stack([many[f"units.{i}"].mean(0) for i in range(len(model.layers))]).flatten()
    chance = random.Random(run.seed)

    def set_to_plural(units: list[int]) -> Tensor:
        changes = {}
        for layer in sorted({unit // width for unit in units}):
            these = sorted(unit for unit in units if unit // width == layer)
            changes[neurons(f"layers.{layer}.feed_forward", [unit % width for unit in these])] = means[these]
        with patch(model, changes, -1):
            return moved(after(test))

    few = {}
    for k in run.size((1, 10, 100, 1000, 10_000), (1,)):
        controls = []
        for _ in range(run.size(20, 2)):
            chosen: set[int] = set()
            for unit in order[:k]:
                while (pick := unit // width * width + chance.randrange(width)) in chosen:
                    pass
                chosen.add(pick)
            controls.append(round(float(set_to_plural(sorted(chosen)).mean()), 4))
        few[str(k)] = {"moved": interval(set_to_plural(order[:k])), "controls": controls}
    run.save_result(
        "number_direction",
        {
            "question": "Is the number of a noun one direction of the pathway, and is it in few neurons?",
            "how": f"direction from {half} nouns, tried on {len(singular) - half} others; share of the change from the"
            " singular to the plural noun in log P(are) − log P(is), mean with a 95 % bootstrap interval over nouns",
            "odds": {"singular": interval(odds(plain)), "plural": interval(odds(goal))},
            "by_layer": by_layer,
            "layer": best,
            "norm": {
                "direction": round(float(d.norm()), 2),
                "pathway": round(float(states(test)[f"layers.{best}"].norm(dim=-1).mean()), 2),
            },
            "strengths": {str(s): interval(moved(steered(best, d, s))) for s in (-1.0, 0.5, 1.0, 2.0, 4.0)},
            "random": [round(x, 4) for x in others],
            "verbs": {"/".join(pair): interval(moved(steered(best, d), pair)) for pair in verbs},
            "divergence": {"plain": interval(apart(plain)), "steered": interval(apart(steered(best, d)))},
            "units": width * len(model.layers),
            "neurons": few,
            "what_it_shows": f"after layer {best} the direction moves {by_layer[str(best)][0]:.0%} of the way, the best of"
            f" {len(others)} random ones {max(others):.0%}; "
            + ", ".join(f"{k} neurons {of['moved'][0]:.0%}" for k, of in few.items()),
        },
    )
