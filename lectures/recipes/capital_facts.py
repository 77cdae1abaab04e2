"""Figure: where in SmolLM2 is the fact that Paris is the capital of France? Causal tracing over prompts that it knows.

    The capital of France is        clean: → Paris
    The capital of Kenya is         corrupted: → Nairobi

We take the countries whose capital is the likeliest next token, and corrupt each prompt by another one's country. One
activation of the clean run is put into the corrupted run (`nlmcore.inspect.patch`). With
o = logit(own capital) − logit(other capital),

    share restored = (o patched − o corrupted) / (o clean − o corrupted)

Source: Meng et al. (2022), "Locating and editing factual associations in GPT", section 2, who restore windows of layers
after noise on the subject's embedding. Here the corruption is another subject, and a window has five layers. Intervals
are bootstrap intervals over prompts. Controls: the activation of a third country; the same places at the word "of". The network of layer 0 is a case by
itself: it sees only the current token and its neighbours through one attention, so it restores the word, not the fact.
The strongest window is therefore sought above it.

**Backup.** The heads that contribute most to o at the last token (`direct_logits`) are ablated there by their mean over
the prompts. If nothing else changed, o would fall by their contribution, less its mean over the prompts. If o falls
less, later parts made up for it (McGrath et al. 2023; Wang et al. 2023).
"""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch
from lectures.recipes.run import Run, load_smollm2, recipe
from nlmcore.inspect import Place, direct_logits, head, outputs, patch, pathway
from nlmcore.metrics import bootstrap_interval
from torch import Tensor

CAPITALS = """
France Paris, Italy Rome, Spain Madrid, Germany Berlin, England London, Russia Moscow, China Beijing, Japan Tokyo, Egypt
Cairo, Greece Athens, Poland Warsaw, Austria Vienna, Hungary Budapest, Portugal Lisbon, Sweden Stockholm, Norway Oslo,
Denmark Copenhagen, Finland Helsinki, Ireland Dublin, Belgium Brussels, Netherlands Amsterdam, Turkey Ankara, Iran
Tehran, Iraq Baghdad, Syria Damascus, Lebanon Beirut, Jordan Amman, Israel Jerusalem, Pakistan Islamabad, Bangladesh
Dhaka, Nepal Kathmandu, Thailand Bangkok, Vietnam Hanoi, Indonesia Jakarta, Malaysia Kuala, Philippines Manila,
Australia Canberra, Canada Ottawa, Cuba Havana, Jamaica Kingston, Haiti Port, Brazil Brasília, Chile Santiago, Peru
Lima, Venezuela Caracas, Bolivia La, Kenya Nairobi, Nigeria Abuja, Ghana Accra, Ethiopia Addis, Uganda Kampala, Zambia
Lusaka, Angola Luanda, Morocco Rabat, Algeria Algiers, Sudan Khartoum, Senegal Dakar, Somalia Mogadishu, Rwanda Kigali,
Ukraine Kyiv, Romania Bucharest, Bulgaria Sofia, Serbia Belgrade, Croatia Zagreb, Slovenia Ljubljana, Latvia Riga,
Iceland Reykjavik, Azerbaijan Baku, Mongolia Ulaanbaatar, Afghanistan Kabul, Cambodia Phnom, Taiwan Taipei, Scotland
Edinburgh, Wales Cardiff, Colorado Denver, Georgia Atlanta, Hawaii Honolulu, Massachusetts Boston, Tennessee Nashville,
Bavaria Munich, Ontario Toronto
"""
SUBJECT, LAST, OF, WINDOW = 3, 4, 2, 5
KINDS = {"pathway": "layers.{}", "attention": "layers.{}.attention", "network": "layers.{}.feed_forward"}


def known(model: Any, tokenizer: Any) -> tuple[list[str], Tensor, Tensor]:
    """(countries, prompts (country, 5), the capital's first token): those whose capital the model gives first."""
    names, rows, answers = [], [], []
    for country, capital in (pair.split() for pair in " ".join(CAPITALS.split()).split(", ")):
        ids = tokenizer.encode(f"The capital of {country} is")
        if len(ids) == LAST + 1:
            names.append(country)
            rows.append(ids)
            answers.append(tokenizer.encode(f" {capital}")[0])
    tokens, wanted = torch.tensor(rows), torch.tensor(answers)
    right = model(tokens)[0][:, -1].argmax(-1) == wanted
    return [name for name, known in zip(names, right.tolist(), strict=True) if known], tokens[right], wanted[right]


def shifted(answers: Tensor, chance: random.Random) -> list[int]:
    """For each prompt another one, with a different answer."""
    while True:
        order = list(range(len(answers)))
        chance.shuffle(order)
        if (answers[order] != answers).all():
            return order


def interval(values: Tensor) -> list[float]:
    return [round(x, 4) for x in bootstrap_interval(values.tolist())]


@torch.no_grad()
@recipe(4)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    names, clean, own = known(model, tokenizer)
    some = run.size(48, 6)
    names, clean, own = names[:some], clean[:some], own[:some]
    chance = random.Random(run.seed)
    other, third = shifted(own, chance), shifted(own, chance)
    corrupted, theirs = clean[other], own[other]
    layers = range(0, len(model.layers), run.size(1, 15))

    def odds(x: Tensor, first: int = 0) -> Tensor:
        """Of the pathway before layer `first`."""
        for layer in model.layers[first:]:
            x, _ = layer(x)
        logits = model.output(model.final_norm(x[:, -1]))
        return (logits.gather(1, own[:, None]) - logits.gather(1, theirs[:, None]))[:, 0]

    with ExitStack() as stack:
        places: list[Any] = [place.format(i) for place in KINDS.values() for i in range(len(model.layers))]
        places += [Place(f"layers.{i}.attention.output", "input") for i in range(len(model.layers))]
        seen: dict[Any, list[Tensor]] = {place: stack.enter_context(outputs(model, place)) for place in places}
        best = odds(model.embed(clean))
    with pathway(model) as branches:
        worst = odds(model.embed(corrupted))
    before = [branch.x for branch in branches[::2]]

    def restored(places: Sequence[str], position: int, source: Any = slice(None)) -> Tensor:
        changes = {place: seen[place][0][source][:, [position]] for place in places}
        first = min(int(place.split(".")[1]) for place in places)
        with patch(model, changes, position):
            return (odds(before[first], first) - worst) / (best - worst)

    rows: dict[str, Any] = {}
    for position, where in ((SUBJECT, "country"), (LAST, "is")):
        for kind, place in KINDS.items():
            rows[f"{kind}, {where}"] = [interval(restored([place.format(i)], position)) for i in layers]
        run.say(f"{where}: " + str([of[0] for of in rows[f"pathway, {where}"]]))

    def window(kind: str, centre: int) -> list[str]:
        half = WINDOW // 2
        return [KINDS[kind].format(i) for i in range(max(0, centre - half), min(len(model.layers), centre + half + 1))]

    windows = {
        f"{kind}, {where}": [interval(restored(window(kind, i), position)) for i in layers]
        for kind in ("attention", "network")
        for position, where in ((SUBJECT, "country"), (LAST, "is"))
    }
    later = [i for i, layer in enumerate(layers) if layer > WINDOW // 2]  # without layer 0
    strongest = max(later, key=lambda i: windows["network, country"][i][0])
    places = window("network", layers[strongest])
    controls = {
        "a third country's activation": interval(restored(places, SUBJECT, third)),
        "the same networks at “of”": interval(restored(places, OF)),
    }
    difference = restored(places, SUBJECT) - restored(window("attention", layers[strongest]), SUBJECT)

    # --- backup ---
    u = model.output.weight[own] - model.output.weight[theirs]
    parts = {name: part[:, -1] for name, part in direct_logits(model, clean, u[:, None]).items()}
    heads = [name for name in parts if ".attention." in name]
    scale = (
        seen[f"layers.{len(model.layers) - 1}"][0][:, -1].square().mean(-1, keepdim=True) + model.final_norm.eps
    ).sqrt()
    found = {name: head(model, name.rpartition(".")[0], int(name.rpartition(".")[2])) for name in heads}
    means = {name: part.of(seen[replace(part, features=None)][0][:, -1].mean(0)) for name, part in found.items()}
    centred = {}
    for name, part in found.items():  # less what the head contributes if its output is its mean over the prompts
        rows_of_W = model.get_submodule(part.module).weight[:, list(part.features or ())]
        centred[name] = parts[name] - (means[name] @ rows_of_W.T * u * model.final_norm.weight / scale).sum(-1)
    order = sorted(heads, key=lambda name: -float(centred[name].mean()))
    backup: list[dict[str, Any]] = []
    for count in run.size((1, 2, 4, 8), (1,)):
        with patch(model, {found[name]: means[name] for name in order[:count]}, -1):
            fall = best - odds(model.embed(clean))
        promised = torch.stack([centred[name] for name in order[:count]]).sum(0)
        backup.append(
            {
                "heads": [name.removeprefix("layers.").replace(".attention", "") for name in order[:count]],
                "promised": interval(promised),
                "fall": interval(fall),
                "made up": interval(promised - fall),
            }
        )
    by_kind = {
        kind: interval(torch.stack([part for name, part in parts.items() if kind in name]).sum(0))
        for kind in ("embedding", "attention", "feed_forward")
    }
    run.save_result(
        "capital_facts",
        {
            "question": "Which activations carry a country's capital, in which layers, and what happens without its heads?",
            "how": f"{len(names)} countries whose capital SmolLM2 gives first after “The capital of … is”; share of the"
            " log-odds restored by one activation of the clean run, mean with a 95 % bootstrap interval over prompts",
            "countries": names,
            "corrupted by": [names[i] for i in other],
            "log-odds": {"clean": interval(best), "corrupted": interval(worst)},
            "layers": list(layers),
            "rows": rows,
            "windows": windows,
            "window": WINDOW,
            "strongest window": layers[strongest],
            "controls": controls,
            "network less attention": interval(difference),
            "largest": {
                name: [layers[i], *by[i]]
                for name, by in rows.items()
                for i in [max(range(len(by)), key=lambda i: by[i][0])]
            },
            "written by": by_kind,
            "backup": backup,
            "what_it_shows": f"the networks of layers {places[0].split('.')[1]} to {places[-1].split('.')[1]} at the"
            f" country restore {windows['network, country'][strongest][0]:.0%}, the attentions"
            f" {windows['attention, country'][strongest][0]:.0%}; without the head {backup[0]['heads'][0]} the log-odds"
            f" fall by {backup[0]['fall'][0]:.2f} instead of {backup[0]['promised'][0]:.2f}",
        },
    )
