"""Draw the pictures of the results that lie beside this file. Repeat with:

    python lectures/results/draw.py                     all of them
    python lectures/results/draw.py attention_cost      that one

Each function of `PICTURES` reads NAME.json, which `python -m lectures.recipes NAME` makes, and returns what is written
to NAME.svg. Nothing is measured here, and every number in a picture or in its description is one of the file's.
"""

import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lectures.show import (
    Law,
    bar_list_svg,
    heatmap_svg,
    laws_svg,
    lines_svg,
    power_of_ten,
    shaded_words_svg,
    share_panels_svg,
    stacked_svg,
)

HERE = Path(__file__).parent
SECONDS = {0.0001: "0.1 ms", 0.001: "1 ms", 0.01: "10 ms", 0.1: "0.1 s", 1: "1 s", 10: "10 s"}
BYTES = {1e6: "1 MB", 1e7: "10 MB", 1e8: "100 MB", 1e9: "1 GB", 1e10: "10 GB"}
OPERATIONS = {10**n: power_of_ten(n) for n in range(6, 12)}

Facts = dict[str, Any]


def attention_cost(facts: Facts) -> str:
    """Time above, memory below, against the length."""
    panels = [
        costs_of(
            facts, "seconds", "time", SECONDS, "seconds of one core", "Time of one forward pass"
        ),
        costs_of(
            facts,
            "bytes",
            "memory",
            BYTES,
            "bytes at the peak",
            "Memory held beside inputs and weights",
        ),
    ]
    law = {
        of: {name: by["exponent"] for name, by in facts["law"][of].items()}
        for of in ("time", "memory")
    }
    alt = (
        f"Two charts against the length, all axes logarithmic. Time: attention rises as n to the power of"
        f" {law['time']['explicit']:.2f} as written and {law['time']['fused']:.2f} in the fused kernel, the LSTM as"
        f" {law['time']['lstm']:.2f}; the attention layer takes longer than the LSTM from"
        f" {facts['the_layer_takes_longer_than_the_lstm_from']} positions on. Memory: {law['memory']['explicit']:.2f} as"
        f" written, about 1 for the others."
    )
    return stacked_svg(*panels, alt=alt)


def source_and_target(facts: Facts) -> str:
    """Multiply-adds above, time below, against both lengths."""
    lengths = [int(n) for n in facts["seconds"]["initial"]]
    count: dict[str, Callable[[int], float]] = {
        name: lambda n, by=by: sum(
            value * n ** {"nm": 2, "n²": 2, "m²": 2, "1": 0}.get(term, 1)
            for term, value in by.items()
        )
        for name, by in facts["multiply_adds"].items()
    }
    counted = facts | {
        "counted": {name: {str(n): of(n) for n in lengths} for name, of in count.items()}
    }
    panels = [
        costs_of(
            counted,
            "counted",
            "multiply_adds",
            OPERATIONS,
            "multiply-adds",
            "Multiply-adds, counted",
            "n = m",
        ),
        costs_of(
            facts,
            "seconds",
            "time",
            SECONDS,
            "seconds of one core",
            "Time of one forward pass",
            "n = m",
        ),
    ]
    written = "; ".join(
        f"{facts['lines'][name]}: {formula}" for name, formula in facts["written"].items()
    )
    slopes = ", ".join(
        f"{facts['lines'][name]} {law['exponent']:.2f}"
        for name, law in facts["law"]["time"].items()
    )
    return stacked_svg(
        *panels,
        alt=f"Two charts against the length n = m, all axes logarithmic. Multiply-adds: {written}. Exponents of the time"
        f" of the long texts: {slopes}.",
    )


def looking_back(facts: Facts) -> str:
    """Next words of both models, attention to "tickets" by layer and head and of the strongest head, and gradients."""
    ours, lstm = facts["smollm2"], facts["lstm"]
    (at,), strongest = ours["tickets_at"], ours["strongest"][0]
    words = [shown(piece) for piece in ours["pieces"]]
    reads = ours["strongest_reads"]
    back = list(zip(*ours["attention_back"], strict=True))  # (head, layer)
    firsts = ", ".join(f"{shown(word)} {p:.2f}" for word, p in list(ours["next"].items())[:3])
    lstm_firsts = ", ".join(
        f"{shown(word)} {p:.2f}" for word, p in list(lstm["next"].items())[:3]
    )
    slopes = [relative(ours["gradient"]), relative(lstm["gradient"])]
    reach = max(map(len, slopes))
    gradient = {
        "SmolLM2": [*slopes[0], *[math.nan] * (reach - len(slopes[0]))],
        "LSTM": [*slopes[1], *[math.nan] * (reach - len(slopes[1]))],
    }
    at_word = [slopes[0][ours["distance"]], slopes[1][len(slopes[1]) - 1 - lstm["letters_at"][0]]]
    alt = (
        f"Five pictures of “{facts['sentence'].format('tickets')} …”. SmolLM2's next words: {firsts}; the LSTM's:"
        f" {lstm_firsts}. Attention of the last token to 'tickets', {ours['distance']} tokens back, by layer and head:"
        f" the strongest is layer {strongest['layer']}, head {strongest['head']} with {strongest['weight']:.2f}; the"
        f" weights of that head over the whole sentence; and the gradient by the distance: at the word that decides"
        f" {at_word[0]:.2g} of that at the last token in SmolLM2, {at_word[1]:.2g} in the LSTM."
    )
    return stacked_svg(
        next_words(ours["next"], "SmolLM2: the next word", "tickets"),
        next_words(
            lstm["next"],
            f"The course's LSTM, to which {lstm['unknown']} of these words are unknown",
            "tickets",
        ),
        heatmap_svg(
            back,
            [f"head {head}" for head in range(len(back))],
            [f"layer {layer}" if layer % 5 == 0 else "" for layer in range(len(back[0]))],
            alt="attention to tickets",
            title=f"What the last token gives to “tickets”, {ours['distance']} tokens back, by head and layer",
            cell=25,
        ),
        shaded_words_svg(
            words,
            reads,
            alt="attention of one head",
            title=f"What layer {strongest['layer']}, head {strongest['head']} reads from “{words[-1]}”:"
            f" {reads[at]:.2f} of “tickets”",
            width=820,
        ),
        lines_svg(
            range(reach),
            {
                name: [math.log10(g) if g > 0 else math.nan for g in line]
                for name, line in gradient.items()
            },
            alt="gradients",
            x_title="tokens back from the last one",
            y_title="gradient, last token = 1",
            low=-4,
            high=2,
            powers=True,
            title=f"Gradient of −ln P(next word): {at_word[0]:.2g} at SmolLM2's “tickets”, {at_word[1]:.2g} at the LSTM's “letters”",
            width=820,
        ),
        alt=alt,
    )


def few_shot(facts: Facts) -> str:
    """A panel per task: choosing and writing, against the number of examples."""
    shots = list(next(iter(facts["curves"].values()))["choosing"])
    panels = {
        task: {
            measure: [(p["share"], p["low"], p["high"]) for p in by.values()]
            for measure, by in curves.items()
        }
        for task, curves in facts["curves"].items()
    }
    ends = "; ".join(
        f"{task}: choosing {by['choosing'][0][0]:.0%} to {by['choosing'][-1][0]:.0%},"
        f" writing {by['writing'][0][0]:.0%} to {by['writing'][-1][0]:.0%}"
        for task, by in panels.items()
    )
    return share_panels_svg(
        shots,
        panels,
        alt=f"Share of right answers of {facts['model']} with {shots[0]} to {shots[-1]} examples in its prompt. {ends}.",
        x_title="examples in the prompt",
        y_title="right answers",
        levels=facts["chance"],
        level_name="choosing blindly",
    )


PICTURES: dict[str, Callable[[Facts], str]] = {
    picture.__name__: picture
    for picture in (looking_back, source_and_target, attention_cost, few_shot)
}


def costs_of(
    facts: Facts,
    of: str,
    law_of: str,
    ticks: dict[float, str],
    y_title: str,
    title: str,
    x_title: str = "positions n",
) -> str:
    """One chart of costs with their laws. The constant is what least squares in logarithms gives with the exponent."""
    costs = {
        facts["lines"][name]: {int(n): c for n, c in by.items()} for name, by in facts[of].items()
    }
    laws, notes = {}, {}
    for key, law in facts["law"][law_of].items():
        name = facts["lines"][key]
        logs = [
            math.log(cost) - law["exponent"] * math.log(n)
            for n, cost in costs[name].items()
            if law["start"] <= n <= law["end"]
        ]
        laws[name] = Law(
            math.exp(statistics.fmean(logs)), law["exponent"], law["start"], law["end"]
        )
        notes[name] = f"∝ n^{law['exponent']:.2f}"
        if law["high"] - law["low"] > 0.005:
            notes[name] += f" ({law['low']:.2f} to {law['high']:.2f})"
    reached = [cost for by in costs.values() for cost in by.values()]
    within = {c: words for c, words in ticks.items() if min(reached) / 3 < c < max(reached) * 3}
    return laws_svg(
        costs,
        laws,
        alt=title,
        x_title=x_title,
        y_title=y_title,
        ticks=within,
        notes=notes,
        title=title,
        width=820,
    )


def next_words(probabilities: dict[str, float], title: str, wanted: str) -> str:
    """The five most probable, the wanted one highlighted."""
    five = list(probabilities.items())[:5]
    words = [shown(word) for word, _ in five]
    return bar_list_svg(
        [p for _, p in five],
        words,
        alt=title,
        title=title,
        says=[f"{p:.2f}" for _, p in five],
        highlight=[i for i, word in enumerate(words) if word == wanted],
        reach=0.6,
        width=820,
    )


def relative(gradient: Sequence[float]) -> list[float]:
    """From the last token backwards, as multiples of the last."""
    return [g / gradient[-1] for g in reversed(gradient)]


def shown(piece: str) -> str:
    """A token as it is written in a picture: a line's end and a space can be seen."""
    return piece.strip(" ").replace("\n", "↵") or "␣"


def main(names: Sequence[str] = ()) -> None:
    for name in names or PICTURES:
        if name not in PICTURES:
            raise SystemExit(f"there is no picture of {name!r}; there are: {', '.join(PICTURES)}")
        facts = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
        (HERE / f"{name}.svg").write_text(PICTURES[name](facts), encoding="utf-8", newline="\n")
        print(f"{name}.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
