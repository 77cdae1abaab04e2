"""What the report says of every result, in the order of the course: sentences and tables as data.

Where no row of data describes a table, a function of the result makes it.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from lectures import stored_runs
from lectures.recipes.narang import RATE, VANILLA
from lectures.recipes.tables import Form, Page, Result, Table, table, text, words


RUN_BY_RUN = {
    "stacks": "Is another order or another shape of a Transformer better, once it uses its context?",
    "transfer": "Do the modifications of the Transformer transfer? Rows of Narang et al. (2021), trained again.",
    "tuned_layers": "Where must an adapter be so that a hundred conversations teach more than a form?",
}
"""Results with a file for each training, in a folder."""


def told(file: Path) -> str:
    """What the page says of one result."""
    result = _runs(file.with_suffix("")) if file.stem in RUN_BY_RUN else json.loads(file.read_text(encoding="utf-8"))
    blocks = PAGES.get(file.stem, (SHOWN,) if "what_it_shows" in result else ())
    return f"## {result['question']}\n\n`{result['made_by']['command']}`\n\n{picture(file)}{text(blocks, result)}"


def _runs(folder: Path) -> Result:
    floors = folder / "floors.json"
    return {
        "question": RUN_BY_RUN[folder.name],
        "made_by": {"command": f"python -m lectures.recipes.{folder.name} --hours 2"},
        "runs": stored_runs(folder.name),
        "floors": {
            task: min(of)
            for task, of in (json.loads(floors.read_text("utf-8")) if floors.exists() else {}).items()
            if isinstance(of, list)
        },
    }


def picture(file: Path) -> str:
    """The drawing beside a result, with its own description and the command that draws it; nothing where none is."""
    drawing = file.with_suffix(".svg")
    if not drawing.exists():
        return ""
    label = re.search(r'aria-label="([^"]*)"', drawing.read_text(encoding="utf-8"))
    alt = html.unescape(label[1]) if label else file.stem
    for sign in "[]":
        alt = alt.replace(sign, f"\\{sign}")
    return f"![{alt}]({drawing.name})\n\n`python lectures/results/draw.py {file.stem}`\n\n"


# --- what several tables share ------------------------------------------------------------------------------------

interval = partial(words, "{0!i}")
spread = partial(words, "{0!g:.0f}")


def sweep(by: Mapping[str, Any]) -> str:
    """Every contestant at every learning rate; the rate that dev chose in bold."""
    rates = sorted({rate for one in by.values() for rate in one["rates"]}, key=float)
    rows = []
    for name, one in by.items():
        cells = {rate: interval(row["test"]) for rate, row in one["rates"].items()}
        cells[one["best"]] = f"**{cells[one['best']]}**"
        rows.append([name, *(cells.get(rate, "") for rate in rates)])
    return table(["test loss, learning rate", *rates], rows)


def contestants(result: Result) -> str:
    return sweep(result["by"])


def deep_networks(result: Result) -> str:
    return sweep(dict(nested(result["by"], "{1}, {0}")))


def nested(by: Mapping[str, Any], form: str = "{0}, {1}") -> list[tuple[str, Any]]:
    """The entries of two mappings, one in the other, under both names."""
    return [(form.format(outer, inner), of) for outer, its in by.items() for inner, of in its.items()]


def over(key: str, form: str) -> Callable[[Sequence[Any]], str]:
    """One figure of every run, in a line."""
    return lambda runs: ", ".join(form.format(run[key]) for run in runs)


def along(first: str, path: str | Callable[[Result], Any]) -> Table:
    """The mean over the seeds, in stretches of 16 positions."""

    def means(result: Result) -> list[tuple[str, list[float]]]:
        found = path(result) if callable(path) else result[path]
        return [(name, [mean(at) for at in zip(*seeds, strict=True)]) for name, seeds in found.items()]

    return Table(means, first, grid="{0:.2f}", heading=lambda i: f"to {16 * i + 16}")


# --- tables that no row of data describes -------------------------------------------------------------------------


def transfer(result: Result) -> str:
    """Every kind of run with its seeds, and its difference from vanilla with the same seed."""
    kinds: dict[tuple[Any, ...], dict[int, Any]] = {}
    for run in result["runs"]:
        job = run["job"]
        kinds.setdefault((job["control"], job["row"], job["steps"], job["rate"]), {})[job["seed"]] = run
    rows = []
    for (control, row, steps, rate), seeds in sorted(kinds.items()):
        base = kinds.get(("", VANILLA, steps, RATE), {})
        sound = {seed: run for seed, run in seeds.items() if "final" in run}
        gaps = [run["final"] - base[seed]["final"] for seed, run in sound.items() if seed in base and seeds is not base]
        exact = [
            f"{100 * mean(run['test'][task]['exact'] for run in sound.values()):.1f}" if sound else ""
            for task in ("sounds", "numbers", "spelling")
        ]
        final = words("{0!e:.4f}", [run["final"] for run in sound.values()])
        lost = f" {len(seeds) - len(sound)} diverged" if len(sound) < len(seeds) else ""
        name = f"{row}, {control}" if control else row
        rows.append([name, f"{steps:,}", f"{rate:g}", final + lost, words("{0!e:+.4f}", gaps), *exact])
    head = ["", "steps", "rate", "final loss by seed", "less vanilla's, seed by seed"]
    return table([*head, "sounds right, %", "numbers", "spelling"], rows)


def unused_source(result: Result) -> str:
    """Losses with the own source; what another text's adds; and the best n-gram of the targets."""
    rows = []
    for name, runs in result["rows"].items():
        for task, ngrams in result["n-grams"].items():
            own, other = ([run[task][of] for run in runs] for of in ("own source", "another text's source"))
            rise = [b - a for a, b in zip(own, other, strict=True)]
            rows.append([name, task, words("{0!e:.3f}", own), words("{0!e:+.5f}", rise), f"{min(ngrams):.3f}"])
    return table(["", "task", "own source, by seed", "rise with another source", "best n-gram of the targets"], rows)


def translators(result: Result) -> str:
    """Quality and alignment at every length: the mean over the seeds, and their range."""
    baseline, parts = result["word_by_word"], []
    lengths = list(baseline["by_length"])
    alone = {
        "BLEU": [baseline["by_length"][at]["bleu"] for at in lengths],
        "right in every word, %": [100 * baseline["by_length"][at]["exact"] for at in lengths],
        "words found, %": [100 * baseline["aligned"][at] for at in lengths],
    }
    values: dict[str, Callable[[Any, str], float]] = {
        "BLEU": lambda seed, at: seed["by_length"][at]["bleu"],
        "right in every word, %": lambda seed, at: 100 * seed["by_length"][at]["exact"],
        "words found, %": lambda seed, at: 100 * seed["aligned"][at],
    }
    for title, value in values.items():
        before = {"recurrent, attention": result["recurrent"]} if title.startswith("words") else {}
        rows = [["word by word", *(f"{one:.0f}" for one in alone[title])]]
        for name, seeds in {**result["seeds"], **before}.items():
            rows.append([name, *(spread([value(seed, at) for seed in seeds]) for at in lengths)])
        parts.append(table([f"{title}, source of … words", *lengths], rows))
    return "\n\n".join(parts)


def chorales(result: Result) -> list[list[str]]:
    """The row of counts beside those of the networks."""
    ngram = result["without"]["7-gram"]
    alone = [f"{ngram[key]:.3f}" for key in ("all", "held", "changed")]
    return [["7-gram", "", "", "", *alone, *(f"{nats:.2f}" for nats in ngram["by_voice"])]]


def cache_cost(result: Result) -> str:
    rows = [
        [
            n,
            *(f"{1000 * by[n]:.0f}" for by in result["seconds"].values()),
            *(f"{by[n] / 1e9:.2f}" for by in result["multiply_adds"].values()),
            f"{size / 1e6:.1f}",
        ]
        for n, size in result["cache_bytes"].items()
    ]
    head = [f"{what}, {how}" for what in ("ms", "billion multiply-adds") for how in result["seconds"]]
    return table(["tokens", *head, "MB of the cache"], rows)


def jobs(runs: Iterable[Any], *fields: str) -> dict[tuple[Any, ...], list[Any]]:
    """The runs whose jobs agree in these fields, together: one per seed."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    for run in runs:
        found.setdefault(tuple(run["job"][field] for field in fields), []).append(run)
    return found


def stacks(result: Result) -> str:
    """Every row, length and rate with its seeds; what another text's context costs."""
    kinds = jobs(result["runs"], "steps", "row", "rate")
    rows = [
        [
            row,
            f"{steps:,}",
            f"{rate:g}",
            f"{runs[0]['parameters']:,}",
            words("{0!e:.3f}", [run["test"]["loss"] for run in runs]),
            f"{mean(run['test']['last, another context'] - run['test']['last'] for run in runs):.2f}",
        ]
        for (steps, row, rate), runs in sorted(kinds.items())
    ]
    return table(["", "steps", "rate", "parameters", "test loss by seed", "another context costs"], rows)


def tuned(result: Result) -> str:
    """Every place and rate with its seeds: percent of the held-out answers that are written letter by letter."""
    kinds = jobs((run for run in result["runs"] if not run["job"]["prompt"]), "place", "refusals", "rate")
    counted = list(next(iter(kinds.values()))[0]["written"])
    rows = [
        [
            place + ("" if refusals else ", without refusals"),
            f"{rate:g}",
            *(words("{0!e:.0f}", [100 * mean(run["written"][kind]) for run in runs]) for kind in counted),
            words("{0!e:.2f}", [run["plain"] for run in runs]),
        ]
        for (place, refusals, rate), runs in sorted(kinds.items(), key=lambda of: (of[0][0], not of[0][1], of[0][2]))
    ]
    return table(["layers", "rate", *counted, "nats per token of plain text"], rows)


def very_deep(result: Result) -> str:
    runs, moved = result["runs"], result["moved"]
    ends = list(next(iter(moved.values())))
    rows = [
        [
            rule,
            *(
                f"{interval(by[rule]['dev'])} (rate {by[rule]['rate']:g})" if rule in by else ""
                for by in (*runs.values(), result["longer"])
            ),
            *(f"{mean(moved[rule][depth]):.3g}" for depth in (ends[0], ends[-1])),
        ]
        for rule in moved
    ]
    names = [f"dev, {depth} layers" for depth in runs] + ["dev, longer"]
    names += [f"moved, {depth} layers" for depth in (ends[0], ends[-1])]
    return table(["", *names], rows)


def ladder(result: Result) -> str:
    """Mean loss by size and length, a table per variant."""
    parts = []
    for variant in dict.fromkeys(run["variant"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["variant"] == variant]
        lengths = sorted({run["D"] for run in runs})
        rows = []
        for width, N in sorted({(run["width"], run["N"]) for run in runs}):
            cells = [[run["loss"] for run in runs if (run["N"], run["D"]) == (N, D)] for D in lengths]
            rows.append([f"{width}: {N:,}", *(interval(of) if of else "" for of in cells)])
        parts.append(table([f"{variant}; width: N, D →", *(f"{D:,}" for D in lengths)], rows))
    return "\n\n".join(parts)


def mirage(result: Result) -> list[tuple[str, dict[str, list[float]]]]:
    """By size, the four measures of all its runs."""
    names = {"exact match": "exact", "digits right": "digits", "edit distance": "edits", "loss": "loss"}
    found = []
    for width in dict.fromkeys(run["width"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["width"] == width]
        found.append((f"{width}: {runs[0]['N']:,}", {name: [run[key] for run in runs] for name, key in names.items()}))
    return found


def _law(law: dict[str, float]) -> str:
    return f"{law['exponent']:.2f} ({law['low']:.2f}–{law['high']:.2f})"


def sparse_cost(result: Result) -> str:
    lengths = list(result["seconds"]["full, fused"])
    rows = [
        [
            name,
            _law(result["law"][name]) if name in result["law"] else "",
            *(f"{1e3 * by[n]:.0f} ms, {result['bytes'][name][n] / 1e6:.0f} MB" if n in by else "" for n in lengths),
        ]
        for name, by in result["seconds"].items()
    ]
    return f"{result['law_is']}.\n\n" + table(["", "time: exponent of n", *(f"n = {n}" for n in lengths)], rows)


def of_passages(values: list[list[int]]) -> str:
    every = [value for passage in values for value in passage]
    return f"{mean(every):.0f} ({min(every)} to {max(every)})"


def needle(result: Result) -> str:
    ways = [f"{i + 1} layer{'s' * (i > 0)}" for i in range(result["layers"])] + ["no way"]
    share = partial(words, "{0!g:.0%}")
    rows = [
        [name, f"{row['keys']:.0f}", share(row["right"]), *map(share, zip(*row["by_layers"], strict=True))]
        for name, row in result["rows"].items()
    ]
    return table(["five seeds: mean (range)", "keys", "right", *ways], rows)


BOUNDS = "{0[0]:.2f} ({0[1]:.2f}–{0[2]:.2f})"
"""A mean with its interval."""


def bounds(key: str) -> Form:
    return BOUNDS.replace("{0", "{" + key)


def percent(share: Sequence[float] | None) -> str:
    return f"{100 * share[0]:.0f} ({100 * share[1]:.0f} to {100 * share[2]:.0f})" if share else ""


def head_map(result: Result) -> list[tuple[str, dict[str, Any]]]:
    """How many heads are ablated, and by what -> the means of all draws."""
    found = []
    for k, ways in result["together"].items():
        for by, of in ways.items():
            means = list(map(mean, of["controls"]))
            found.append((f"{k}, by {by}", {"own": of["ablated"], "controls": means, "verses": of["on verses"]}))
    return found


def still_missing(result: Result) -> list[tuple[str, Any]]:
    negation, paraphrase = result["negation"], result["paraphrase"]
    return [
        ("letters", result["letters"]["right"]),
        *((f"negation: {form}", share) for form, share in negation["right"].items()),
        ("negation: opposite answers", negation["opposite"]),
        *((f"paraphrase: {form}", share) for form, share in paraphrase["right"].items()),
        ("paraphrase: right in all", paraphrase["all"]),
        *nested(result["context"], "context: {0} tokens, {1}"),
    ]


def _powers_of_two(lengths: Mapping[str, Any], count: int) -> list[str]:
    return [n for n in lengths if int(n) & (int(n) - 1) == 0][-count:]


def by_seed(of: Mapping[str, Any]) -> str:
    return " ".join(f"{x:.3f}" for x in of["plain"])


def attention_cost(result: Result) -> str:
    lines, seconds, held = result["lines"], result["seconds"], result["bytes"]
    lengths = _powers_of_two(seconds["explicit"], 4)
    rows = [
        [
            lines[name],
            result["multiply_adds"][name],
            result["steps_that_wait_for_one_another"][name],
            _law(result["law"]["time"][name]),
            _law(result["law"]["memory"][name]),
            *(f"{by[n] * 1e3:.0f} ms, {held[name][n] / 1e6:.1f} MB" for n in lengths),
            f"{result['billion_multiply_adds_per_second'][name][lengths[-1]]:.0f}",
        ]
        for name, by in seconds.items()
    ]
    head = ["", "multiply-adds", "steps one after the other", "time: exponent of n", "memory: exponent of n"]
    rate = f"10⁹ multiply-adds a second at {lengths[-1]}"
    return (
        f"d = {result['sizes']['d_model']}, {result['sizes']['n_heads']} heads; {result['measured']}."
        f" Law: {result['law_is']}.\n\n"
        + table([*head, *(f"n = {n}" for n in lengths), rate], rows)
        + f"\n\nThe attention layer takes longer than the LSTM from"
        f" {result['the_layer_takes_longer_than_the_lstm_from']} positions on; by multiply-adds alone it would from"
        f" {result['by_multiply_adds_alone_it_would_from']}. {_tables(result)}"
    )


def _tables(result: Result) -> str:
    """How often the n² weights of all heads are held at once: the equation needs scores and weights, two."""
    n, held = list(result["bytes"]["explicit"].items())[-1]
    times = held / (4 * result["sizes"]["n_heads"] * int(n) ** 2)
    return (
        f"As written, {times:.1f} arrays of n² numbers per head are held at the peak; the equation alone needs two,"
        " scores and weights, and masking takes the rest."
    )


def source_and_target(result: Result) -> str:
    lengths = _powers_of_two(next(iter(result["seconds"].values())), 3)
    share = result["share_of_the_products_of_two_lengths"]
    rows = [
        [
            result["lines"][name],
            result["written"][name],
            _law(result["law"]["multiply_adds"][name]),
            _law(result["law"]["time"][name]),
            *(f"{by[n] * 1e3:.0f} ms, {share[name][n]:.0%}" for n in lengths),
        ]
        for name, by in result["seconds"].items()
    ]
    head = ["", "multiply-adds", "their exponent of n = m", "time: exponent", *(f"n = m = {n}" for n in lengths)]
    return (
        f"Multiply-adds: {result['multiply_adds_are']}. Time: {result['seconds_are']}. Law: {result['law_is']}."
        " In percent: the share of multiply-adds in terms that multiply two lengths.\n\n" + table(head, rows)
    )


def looking_back(result: Result) -> str:
    ours, lstm = result["smollm2"], result["lstm"]

    def answers(facts: Result, which: str) -> str:
        words = facts[f"{which}words"]
        rows = [[word, *(f"{p:.2g}" for p in row)] for word, row in zip(words, facts[f"{which}answers"], strict=True)]
        return table(["in the gap", *(f"P({word})" for word in words)], rows)

    def listed(facts: dict[str, float]) -> str:
        return ", ".join(f"{piece!r} {p:.2f}" for piece, p in list(facts.items())[:5])

    heads = [[f"layer {one['layer']}, head {one['head']}", f"{one['weight']:.2f}"] for one in ours["strongest"][:6]]
    ablated = [
        [
            count,
            *(f"{p:.3f}" for p in (by["strongest"], by["random_mean"], min(by["random"]), max(by["random"]))),
            f"{min(by['random_near']):.3f} to {max(by['random_near']):.3f}",
        ]
        for count, by in ours["ablated"].items()
    ]
    gradients = [
        ["SmolLM2, at embeddings", *_gradient(ours["gradient"], ours["tickets_at"][0])],
        ["LSTM, at embeddings", *_gradient(lstm["gradient"], lstm["letters_at"][0])],
        ["LSTM, at states", *_gradient(lstm["state_gradient"], lstm["letters_at"][0])],
    ]
    return (
        f"“{result['sentence'].format('tickets')} ___” SmolLM2: {listed(ours['next'])}. LSTM, to which"
        f" {lstm['unknown']} of the {len(lstm['pieces'])} words are <unk>: {listed(lstm['next'])}."
        f"\n\nSmolLM2 with another word in place of tickets:\n\n{answers(ours, '')}"
        f"\n\nThe LSTM, in a sentence of words it knows (“{result['known_sentence'].format('letters')} ___”):\n\n"
        f"{answers(lstm, 'known_')}"
        f"\n\nSmolLM2, the same sentence:\n\n{answers(ours, 'known_')}"
        f"\n\nAttention of the last token to “tickets”, {ours['distance']} tokens back (evenly spread:"
        f" {ours['uniform']:.3f}, mean of all heads: {ours['mean_over_heads']:.3f}):\n\n"
        + table(["", "weight"], heads)
        + f"\n\n{result['ablated_is']}:\n\n"
        + table(
            ["heads ablated", "the strongest", "random, mean", "lowest", "highest", "random of the same layers"],
            ablated,
        )
        + f"\n\nGradient: {result['gradient_is']}. As multiples of that at the last token:\n\n"
        + table(["", "5 back", "10 back", "20 back", "at the word in the gap", "its rank"], gradients)
    )


def _gradient(norms: list[float], word: int) -> list[str]:
    """The gradient 5, 10 and 20 tokens back and at the word, and how many tokens the word's is among."""
    rank = 1 + sum(norm > norms[word] for norm in norms)
    there = [norms[-6], norms[-11], norms[-21], norms[word]]
    return [*(f"{norm / norms[-1]:.2g}" for norm in there), f"{rank} of {len(norms)}"]


# --- the pages, in the order of the course ------------------------------------------------------------------------

AT = (0, 5, 10, 15, 20, 25, 29)
"""Layers of SmolLM2."""
SHARE = "{share:.0%} ({low:.0%}–{high:.0%})"
SHOWN = "{what_it_shows}."
BLEU = Table("lines", "BLEU, source of … words", grid="{bleu:.0f}")
BLEU_BY_SEED = Table(
    lambda result: {
        name: {at: [line[at]["bleu"] for line in lines] for at in lines[0]} for name, lines in result["seeds"].items()
    },
    "BLEU over the seeds, source of … words",
    grid="{0!g:.0f}",
)
COSTS = {"parameters": "{parameters:,}", "steps": "{steps:,}", "seconds": "{seconds:.0f}"}
LANGUAGE_MODELS: Page = (
    "Seconds: {seconds_are}.",
    Table(
        "rows",
        columns={
            "parameters": "{parameters:,}",
            "tokens read": "{tokens:,}",
            "seconds": "{seconds:.0f}",
            "perplexity per token": "{perplexity:.2f}",
            "bits per character": "{bits_per_character:.3f}",
        },
    ),
    SHOWN,
)
PROBABLE = {
    "probability per token": "{probability:.3f}",
    "at the beginning": "{along[0]:.3f}",
    "at the end": "{along[7]:.3f}",
    "tokens below 0.01": "{improbable:.0%}",
    "repeated": "{repeated:.0%}",
}
BEAMS = {
    "mean ln P": "{log_prob:.3f}",
    "quality": "{quality:.2f}",
    "length, of the reference's": "{length:.1%}",
    "empty": "{empty:.0%}",
}

BETWEEN: dict[str, Page] = {
    "sparse_cost": [sparse_cost],
    "attention_rank": [
        Table(
            lambda result: [
                (f"{model}, {row}", by[row])
                for model, by in result["models"].items()
                for row in ("real", "shuffled", "mask")
            ],
            "mean over heads (range); singular values of {n} for {held:.0%} of",
            {
                "their sum": lambda by: of_passages(by["sum"]),
                "the sum of squares": lambda by: of_passages(by["squares"]),
            },
        ),
        Table("cosine_at_rank", "rank of every matrix of MiniLM", {"cosine with the true vector": "{0!g:.3f}"}),
    ],
    "needle": [needle],
    "windows": [Table("ways", "nats per token, window of", grid="{0!g:.2f}")],
    "pretraining": [Table("rows", "% right, labelled words:", grid="{0!g:.1f}", heading="{0:,}")],
    "senses": [
        Table(
            lambda result: nested(result["rows"]),
            "right after layer",
            {
                "1": lambda by: words(SHARE, by[0]),
                "half of them": lambda by: words(SHARE, by[len(by) // 2 - 1]),
                "the last": lambda by: words(SHARE, by[-1]),
            },
        ),
        Table("neighbours", "the other words' static vectors", {"right": SHARE}),
    ],
    "four_ways": [
        Table(
            "rows",
            columns={
                "% right: mean (range)": "{right!g:.1f}",
                "parameters trained": lambda by: f"{by.get('trained', 0):,}",
            },
        )
    ],
    "prompts": [
        Table(
            "rows",
            "%: mean (range)",
            {
                key.replace("_", ", "): f"{{{key}!g:.1f}}"
                for key in ("right", "right_calibrated", "ranked", "questions", "questions_calibrated")
            },
        )
    ],
    "early_lens": [Table("rows", "final first guess after … layers", grid="{0[0]:.2f} ± {0[1]:.2f}", keys=AT)],
    "capital_facts": [
        Table(
            lambda result: (
                result["rows"] | {f"{name}, {result['window']} layers": by for name, by in result["windows"].items()}
            ),
            "share restored at layer",
            grid=BOUNDS,
            keys=AT,
        ),
        Table("controls", "control", {"share restored": BOUNDS}),
        Table(
            lambda result: [(" ".join(row["heads"]), row) for row in result["backup"]],
            "heads ablated",
            {
                "promised": bounds("promised"),
                "fall of the log-odds": bounds("fall"),
                "promised less fall": bounds("made up"),
            },
        ),
    ],
    "patched_texts": [Table("ways", "“tickets”, pathway after layer", grid="{0[0]:.2f} ± {0[1]:.2f}")],
    "head_map": [
        Table(
            lambda result: {name: (n, result["named"][name]) for name, n in result["candidates"].items()},
            "candidate name",
            {"heads that look so": "{0[0]}", "pass the test": "{0[1]}"},
        ),
        Table(
            head_map,
            "induction heads ablated",
            {
                "copying, nats more": "{own!m:.2f}",
                "random heads": lambda of: f"{min(of['controls']):.2f} to {max(of['controls']):.2f}",
                "verses, nats more": "{verses!m:.2f}",
            },
        ),
    ],
    "number_direction": [
        Table(
            lambda result: {"": result["by_layer"]},
            "share moved by the direction after layer",
            grid=BOUNDS,
            keys=tuple(map(str, AT)),
        ),
        Table("verbs", "verbs", {"share moved after layer {layer}": BOUNDS}),
        Table(
            "neurons",
            "units set",
            {
                "share moved": bounds("moved"),
                "random units": lambda row: f"{min(row['controls']):.2f} to {max(row['controls']):.2f}",
            },
        ),
    ],
    "preference_tuning": [
        Table(
            "rows",
            "β",
            {
                "P(end) after the first sentence": bounds("stops"),
                "drift, nats per token": "{drift[0]:.4f} ({drift[1]:.4f} to {drift[2]:.4f})",
                "ln π of preferred, of others": "{chosen[0]:.1f}, {rejected[0]:.1f}",
                "tokens written": lambda of: words(BOUNDS, of["tokens"]) if "tokens" in of else "",
                "nats per token of plain text, by seed": by_seed,
            },
        )
    ],
    "tools_and_retrieval": [
        Table(
            "tool",
            "sums, %",
            {
                does: lambda of, does=does: percent(of.get(does))  # type: ignore[misc]
                for does in ("well-formed", "right call", "uses the result", "right answer")
            },
        ),
        Table("retrieval", "in the prompt", {"right, %": percent}),
        Table(
            lambda result: nested(result["found"], "{0}: {1}"),
            "right entry among the first, %",
            grid=percent,
            keys=("1", "3", "10"),
        ),
    ],
    "still_missing": [Table(still_missing, "test", {"right, %": percent})],
    "image_data": [
        Table(
            "right",
            "test digits right, training images",
            grid=lambda of: f"{100 * mean(of):.1f} ({100 * min(of):.0f}–{100 * max(of):.0f} %)",
        )
    ],
    "chorales": [
        Table(
            "rows",
            "nats per token",
            {
                "parameters": "{parameters:,}",
                "rate": "{rate:g}",
                "ms per step": lambda of: f"{1000 * of['seconds_per_step']:.0f}",
                **{key: f"{{{key}!i}}" for key in ("all", "held", "changed")},
                **{
                    voice: lambda of, i=i: f"{mean(run[i] for run in of['by_voice']):.2f}"  # type: ignore[misc]
                    for i, voice in enumerate("SATB")
                },
            },
            more=chorales,
        )
    ],
    "captions": [Table("rows", grid="{0!i}", heading=lambda key: key.replace("_", " "))],
    "scattered": [
        Table(
            lambda result: {key: of for key, of in result["patches"].items() if isinstance(of, list)},
            "patches",
            {"mean": "{0!i}"},
        )
    ],
}
"""What stands between how it was measured and what it shows."""

PAGES: dict[str, Page] = {
    "perplexity": (
        "Vocabulary: {vocabulary}. {test[words]:,} test words, {test[unknown_share]:.1%} of them unknown. ∞, {null}.",
        Table("ngram", "n-gram, order", grid="{0:.1f|∞}", keys="12345"),
        Table(
            "neural",
            "neural model (window)",
            {
                "perplexity": "{perplexity:.1f}",
                "parameters": "{parameters:,}",
                "passes over the text": "{training[passes]}",
            },
        ),
    ),
    "names_window": (
        "{task}. {network_is}.",
        Table(
            "network",
            "one value per seed",
            {
                "parameters": "{parameters:,}",
                "perplexity, training names": "{train!e:.2f}",
                "test names": "{test!e:.2f}",
            },
            more=lambda result: [[f"{n}-gram, Kneser–Ney", "", "", f"{of:.2f}"] for n, of in result["ngram"].items()],
        ),
        SHOWN,
    ),
    "vector_seeds": (
        "{asked} questions; cosines of the sum a* − a + b, and how often which word is the nearest to it.",
        Table(
            lambda result: {f"seed {i}": row for i, row in enumerate(result["rows"])},
            "one run per seed",
            {
                "right": "{right}",
                "cosine with a*, b, b*": "{cosine with a*:.2f}, {cosine with b:.2f}, {cosine with b*:.2f}",
                "nearest is a*, b, b*": "{nearest is a*:.0f}, {nearest is b:.0f}, {nearest is b*:.0f}",
            },
        ),
    ),
    "given_vectors": (
        "{how}. One value per seed; each row at its best rate and its best step on a development play.",
        Table(
            "rows",
            "first embeddings",
            {"rate": "{rate:g}", "test perplexity": "{test!e:.1f}", "best step": "{steps!e:.0f}"},
            more=lambda result: [[f"{n}, Kneser–Ney", "", f"{of:.1f}", ""] for n, of in result["floors"].items()],
        ),
    ),
    "unseen_contexts": (
        "Vocabulary: {vocabulary}. {words:,} test words. The network has {network[parameters]:,} parameters and was"
        " trained for {network[passes]} passes.",
        Table(
            lambda result: {
                n: {"share": row["share"], "by": {model: row[model] for model in result["overall"]}}
                for n, row in {**result["by_words_seen"], "all": {"share": 1.0, **result["overall"]}}.items()
            },
            "of the 4 words before, seen together in training",
            {"share of words": "{share:.1%}"},
            grid="{0:.1f}",
            inner="by",
        ),
    ),
    "guessing": (
        "Passages: {passages}. Keys: {keys}. n-grams of characters with Kneser–Ney smoothing. The reader:"
        " {shannon[source]}. SmolLM2: {SmolLM2[note]}.",
        Table(
            "players",
            "player",
            {
                "bits per key": "{bits_per_key:.2f}",
                "lower bound": "{bounds[0]:.2f}",
                "upper bound": "{bounds[1]:.2f}",
                "first guess right": "{first_guess_right:.0%}",
                "bits per character as written": "{bits_per_character:.2f}",
            },
            more=(
                ("a reader of 1951", "", "{shannon[lower]:.2f}", "{shannon[upper]:.2f}", "", ""),
                ("SmolLM2", "", "", "", "", "{SmolLM2[bits_per_character]:.2f}"),
            ),
        ),
    ),
    "word_vectors": (
        "{words:,} words of Shakespeare, {training[epochs]} epochs, {vocabulary:,} word vectors of"
        " {training[d_model]} dimensions.",
        Table(
            "tables",
            "vectors",
            {"right": "{right} of {asked}"},
            grid="{0[0]} of {0[1]}",
            inner="by_kind",
            last={
                "nearest to a* alone": "{nearest_to_c_right}",
                "words of the question allowed": "{without_the_rule_right}",
                "then it says a*": "{without_the_rule_c}",
            },
        ),
    ),
    "memory": (
        "{copy_task}.",
        Table("copy_accuracy", "copied right after a delay of", grid="{0:.0%}", names="cells"),
        "At initialisation, {gradient_is}.",
        Table(
            "gradient_log10.at initialisation",
            "log10 gradient norm at distance",
            grid="{0:.1f}",
            keys=(10, 20, 50, 100),
            names="cells",
        ),
        SHOWN,
    ),
    "race": (
        "{task}.",
        Table("right", "right at the end", grid=lambda curve: f"{curve[-1]:.0%}", heading="seed {0}"),
        SHOWN,
    ),
    "gate_bias": ("{task}; five seeds, lowest to highest, each row at the best of five rates.", SHOWN),
    "initialisation": (
        "{copy_task}.",
        Table("copy_accuracy", "recurrent matrix", grid="{0:.0%}", heading="right after {0} blanks"),
        Table("gradient_log10", "log10 gradient norm at distance", grid="{0:.1f}", keys=(10, 50, 100)),
        SHOWN,
    ),
    "capacity": (
        "Memorising: {memorising_is}.",
        Table(
            "memorising",
            "bits per parameter, parameters about",
            grid="{bits!i}",
            heading="{0:,}",
            names="cells",
        ),
        "Characters: {characters_are}.",
        Table("characters", "nats per character, parameters about", grid="{test!i}", heading="{0:,}", names="cells"),
        SHOWN,
    ),
    "quality_by_length": ("{task}.", BLEU, "Seeds: {seeds_are}.", BLEU_BY_SEED),
    "pronunciation": (
        "Split: {split}. The published split is {published_split}.",
        Table(
            "here",
            columns={"phoneme errors %": "{phoneme_error_rate:.2f}", "word errors %": "{word_error_rate:.2f}"},
            more=[(f"{{published[{i}][what]}}", "", f"{{published[{i}][word_error_rate]:.2f}}") for i in range(4)],
        ),
    ),
    "exposure_bias": (
        "{task}. Columns by position: {free}.",
        Table(
            "rows",
            columns={"phoneme errors %": "{test[phoneme_error_rate]:.2f}"},
            grid="{0:.1%}",
            inner="free",
            keys=range(8),
            heading="position {0}",
            first_number=1,
        ),
        SHOWN,
    ),
    "char_gpt": LANGUAGE_MODELS,
    "bpe_gpt": LANGUAGE_MODELS,
    "numbers_transformer": (
        "{task}.",
        BLEU,
        "Recurrent lines: {recurrent_lines_are}. {what_it_shows}.",
        "Costs: {costs_are}.",
        Table("costs", columns=COSTS),
    ),
    "leaks": (
        "{how}.",
        Table(
            "rows",
            "one value per seed",
            {"training loss": over("loss", "{:.4f}"), "right in every word": over("exact", "{:.1%}")},
        ),
    ),
    "translators": ("{task}. Seeds: {seeds_are}.", translators),
    "pronunciation_transformer": (
        "Split: {split}. Seconds: {seconds_are}.",
        Table(
            "rows",
            columns={
                "phoneme errors %": "{phoneme_error_rate:.2f}",
                "word errors %": "{word_error_rate:.2f}",
                "parameters": "{parameters:,}",
                "passes": "{epochs}",
                "seconds": "{seconds:.0f}",
            },
        ),
        SHOWN,
    ),
    "warmup": (
        "Runs: {layers} layers; {runs_are}.",
        Table("runs", "nats per character on dev, at a rate of", grid="{dev:.2f|diverged}"),
        "Gradients: {gradients_are}.",
        Table(
            lambda result: [
                (f"{norm}, {depth} layers, {initial}", (of[0], of[int(depth) // 2], of[-1]))
                for initial, by_norm in result["gradients"].items()
                for norm, by in by_norm.items()
                for depth, of in by.items()
            ],
            "at initialisation",
            {"first layer": "{0[0]:.3f}", "middle": "{0[1]:.3f}", "last layer": "{0[2]:.3f}"},
        ),
        SHOWN,
    ),
    "warmup_again": (
        "{how}.",
        Table(
            lambda result: nested(result["runs"], "{0}, {1} steps of warm-up"),
            "post-norm",
            {"nats per character on dev, by seed": "{0!e:.2f}"},
        ),
    ),
    "looking_back": (looking_back,),
    "source_and_target": (source_and_target,),
    "attention_cost": (attention_cost,),
    **{name: ("{how}.", *tables, SHOWN) for name, tables in BETWEEN.items()},
    "few_shot": (
        "{model}, examples in the form `{form}`. {curves_are}.",
        Table("tasks", "task", {"what it asks for": "{0}"}),
        *(
            Table(
                "curves",
                f"{measure}, examples in the prompt:",
                grid="{share:.0%} ({low:.0%}–{high:.0%})",
                inner=measure,
            )
            for measure in ("choosing", "writing")
        ),
        "{controls_are}.",
        *(
            Table("controls", measure, grid="{share:.0%} ({low:.0%}–{high:.0%})", inner=measure)
            for measure in ("choosing", "writing")
        ),
        SHOWN,
    ),
    "restore": (
        "{task}.",
        Table(
            "rows",
            columns={
                "words right %": "{words_right:.1f}",
                "F1 of capitals": "{capitals_f1:.1f}",
                "F1 of marks": "{marks_f1:.1f}",
            },
            grid="{0:.1f}",
            inner="f1_by_mark",
            heading="F1 of {0}",
        ),
        SHOWN,
    ),
    "genre": (
        "{task}. Vocabulary: {vocabulary}.",
        Table("rows", "percent right after … words", grid="{0:.1f}"),
        Table("right_after_160_words_by_play", "play", {"percent right after 160 words": "{0:.0f}"}),
        SHOWN,
    ),
    "positions": (
        "Hidden letters: {letters_are}.",
        Table(
            "letters",
            "positions",
            {
                "GLUE, theirs": lambda row: f"{row['theirs']} ± {row['their_deviation']}" if row["theirs"] else "–",
                "letters, ours: mean ± sd": lambda row: f"{mean(row['ours']):.1%} ± {100 * stdev(row['ours']):.1f}",
            },
        ),
        "Longer texts: {beyond_is}.",
        along("positions", "beyond"),
    ),
    "small_gpt": ("{how}.", Table("written", "after so many steps it writes", {"": "`{0!r}`"}), SHOWN),
    "positions_longer": (
        "{how}.",
        Table(
            "letters",
            "positions",
            {"letters named": "{0!m:.1%}", "by seed": lambda of: ", ".join(f"{100 * one:.1f}" for one in of)},
        ),
    ),
    "longer_rotary": ("{how}.", along("mean over the seeds", "beyond")),
    "why_transformer": (
        "{how}.",
        Table(
            lambda result: [*nested(result["sizes"], "{0}"), *nested(result["longer"], "{0}, longer")],
            columns={
                "parameters": "{parameters:,}",
                "rate": "{rate:g}",
                "training, last ten steps": lambda row: interval([curve[-1] for curve in row["curve"]]),
                "dev": "{dev!i}",
                "another context": "{another context!m:.2f}",
                "ms per step": lambda row: f"{1000 * row['seconds_per_step']:.1f}" if "seconds_per_step" in row else "",
            },
        ),
        "Longer: {longer_is}.",
        SHOWN,
    ),
    "step_time": (
        "{how}.",
        Table(
            lambda result: [(f"{row['parameters']:,}", row) for row in result["rows"]],
            "parameters",
            {"tokens": "{tokens}"},
            grid=lambda seconds: f"{1000 * seconds:.0f}",
            inner="seconds",
            heading="{0}, ms",
            last={"Transformer ÷ LSTM": "{ratio:.2f}"},
        ),
    ),
    "cache_cost": ("{how}.", cache_cost, SHOWN),
    "changes_of_2017": (
        "{how}.",
        Table(
            "rows",
            columns={
                "parameters": "{parameters:,}",
                "rate": "{rate:g}",
                "dev: mean and its 95 % interval": "{dev!i}",
                "another context": "{another context!m:.2f}",
            },
        ),
        SHOWN,
    ),
    "stacks": (
        "Language models of the characters of plays; orders of 6 s (attention) and 6 f (network) of width 32, shapes of width 48;"
        " AdamW, a cosine. Nats per character on another play. The best n-gram of the text that a run reads has {floors[n-grams]:.2f}.",
        stacks,
    ),
    "tuned_layers": (
        "Percent of 40 held-out answers of each kind that greedy decoding writes letter by letter, one number per seed.",
        tuned,
    ),
    "without_attention": (
        "{how}.",
        Table(
            lambda result: [
                (
                    row,
                    {
                        "theirs": result["theirs"].get(row, ""),
                        "ours": {task: [100 * x for x in by[row]["right"]] for task, by in result["tasks"].items()},
                    },
                )
                for row in next(iter(result["tasks"].values()))
            ],
            columns={"theirs (GLUE)": "{theirs}"},
            grid="{0!i}",
            inner="ours",
            heading="{0}, % right",
        ),
        SHOWN,
    ),
    "very_deep": ("{how}.", very_deep, "Longer is {longer_is}. Moved: {moved_is}.", SHOWN),
    "ladder": ("{how}. Means and their 95 % intervals.", ladder),
    **{
        name: ("{how}. Mean of the seeds, lowest to highest.", Table(mirage, "width: N", grid="{0!g:.3f}"))
        for name in ("mirage", "mirage_longer")
    },
    "transfer": (
        "One encoder-decoder of 4 + 4 layers, width 48, learns three tasks whose answer the source decides; AdamW, a cosine."
        " Final loss: mean of the three tasks, nats per token, held out; right: answers that are right in every token, test."
        " The best n-gram of the answers has {floors[sounds]:.2f}, {floors[numbers]:.2f} and {floors[spelling]:.2f}.",
        transfer,
    ),
    "unused_source": ("{how}.", unused_source),
    "free_running": (
        "{task}. Held out: {held_out_is}. Known triples: {known_triples_is}. Scheduled sampling: {scheduled}."
        " Norm: {gradient_norm_is}.",
        Table(
            "rows",
            "one value per seed",
            {
                "held-out nats per letter": lambda row: ", ".join(f"{line[-1]:.2f}" for line in row["held_out"]),
                "known triples": "{known_triples!e:.2f}",
                "norm of the gradient": lambda row: ", ".join(f"{m:.2f} ± {sd:.2f}" for m, sd in row["gradient_norm"]),
            },
            more=(
                ("letters by their position alone", "{by_place_alone:.2f}", "", ""),
                ("held-out names", "", "{known_triples_of_held_out:.2f}", ""),
            ),
        ),
        SHOWN,
    ),
    "thought_vector": (
        "{task}. Right: {exact_is}; here their means.",
        Table("parameters", columns={"parameters": "{0:,}"}),
        Table("exact", "right, source of … words", grid="{0!m:.0%}"),
        "Position by position: {wrong_by_place_is}.",
        Table("wrong_by_place", "wrong word at position", grid="{0:.1%}", first_number=1),
        SHOWN,
    ),
    "dullness": (
        "{task}. Probability: {probability_is}. Repeated: {repeated_is}.",
        Table("rows.SmolLM2", "SmolLM2", PROBABLE),
        Table("rows.bpe_gpt", "bpe_gpt", PROBABLE),
        "Wide beams, {wide_beams[numbers][what]}.",
        Table("wide_beams.numbers.beams", "beam", BEAMS),
        "Wide beams, {wide_beams[phonemes][what]}.",
        Table("wide_beams.phonemes.beams", "beam", BEAMS),
        SHOWN,
    ),
    **{name: ("{how}.", contestants, SHOWN) for name in ("optimisers", "schedules", "minibatches")},
    "deep_networks": ("{how}.", deep_networks, SHOWN),
    "overfitting": (
        "{how}.",
        Table(
            "results",
            "at the end",
            {"strength": "{strength}", "training": "{train!i}", "dev": "{dev!i}", "test": "{test!i}"},
        ),
        SHOWN,
    ),
    "seeds": ("{how}.", Table("test", "activation", {"test": "{0!i}"}), SHOWN),
}
