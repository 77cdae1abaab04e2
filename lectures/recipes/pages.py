"""What the report says of every result, in the order of the course: sentences and tables as data.

Where no row of data describes a table, a function of the result makes it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import mean, stdev
from typing import Any

from nlmcore.metrics import mean_interval

from lectures.recipes.narang import THEIRS
from lectures.recipes.tables import Page, Result, Table, table

# --- tables that no row of data describes -------------------------------------------------------------------------


def _interval(losses: list[float | None]) -> str:
    """The mean over seeds and its 95 % interval; how many diverged, if any did."""
    sound = [loss for loss in losses if loss is not None]
    if len(sound) < len(losses):
        return f"{len(losses) - len(sound)} of {len(losses)} diverged"
    mean, half = mean_interval(sound)
    return f"{mean:.3f} ± {half:.3f}"


def sweep(by: Mapping[str, Any]) -> str:
    """Every contestant at every learning rate; the rate that dev chose in bold."""
    rates = sorted({rate for one in by.values() for rate in one["rates"]}, key=float)
    rows = []
    for name, one in by.items():
        cells = {rate: _interval(row["test"]) for rate, row in one["rates"].items()}
        cells[one["best"]] = f"**{cells[one['best']]}**"
        rows.append([name, *(cells.get(rate, "") for rate in rates)])
    return table(["test loss, learning rate", *rates], rows)


def contestants(result: Result) -> str:
    return sweep(result["by"])


def deep_networks(result: Result) -> str:
    return sweep({f"{name}, {norm}": one for norm, by in result["by"].items() for name, one in by.items()})


def overfitting(result: Result) -> str:
    rows = [
        [name, row["strength"], *(_interval(row[part]) for part in ("train", "dev", "test"))]
        for name, row in result["results"].items()
    ]
    return table(["at the end", "strength", "training", "dev", "test"], rows)


def seeds(result: Result) -> str:
    return table(["activation", "test"], [[name, _interval(losses)] for name, losses in result["test"].items()])


def unseen_contexts(result: Result) -> str:
    models = list(result["overall"])
    rows = [
        [n, f"{row['share']:.1%}", *(f"{row[model]:.1f}" for model in models)]
        for n, row in {**result["by_words_seen"], "all": {"share": 1.0, **result["overall"]}}.items()
    ]
    return table(["of the 4 words before, seen together in training", "share of words", *models], rows)


def race(result: Result) -> str:
    rows = [[name, *(f"{curve[-1]:.0%}" for curve in curves)] for name, curves in result["right"].items()]
    return table(["right at the end", *(f"seed {seed}" for seed in range(len(rows[0]) - 1))], rows)


def names_window(result: Result) -> str:
    rows = [
        [name, f"{row['parameters']:,}", *(", ".join(f"{p:.2f}" for p in row[part]) for part in ("train", "test"))]
        for name, row in result["network"].items()
    ]
    rows += [[f"{order}-gram, Kneser–Ney", "", "", f"{value:.2f}"] for order, value in result["ngram"].items()]
    return table(["one value per seed", "parameters", "perplexity, training names", "test names"], rows)


def warmup_again(result: Result) -> str:
    rows = [
        [f"{initial}, {n} steps of warm-up", ", ".join(f"{loss:.2f}" for loss in of)]
        for initial, by in result["runs"].items()
        for n, of in by.items()
    ]
    return table(["post-norm", "nats per character on dev, by seed"], rows)


def warmup_gradients(result: Result) -> str:
    rows = [
        [f"{norm}, {depth} layers, {initial}", *(f"{by[depth][at]:.3f}" for at in (0, int(depth) // 2, -1))]
        for initial, by_norm in result["gradients"].items()
        for norm, by in by_norm.items()
        for depth in by
    ]
    return table(["at initialisation", "first layer", "middle", "last layer"], rows)


def free_running(result: Result) -> str:
    rows = [
        [
            name,
            ", ".join(f"{line[-1]:.2f}" for line in row["held_out"]),
            ", ".join(f"{share:.2f}" for share in row["known_triples"]),
            ", ".join(f"{centre:.2f} ± {deviation:.2f}" for centre, deviation in row["gradient_norm"]),
        ]
        for name, row in result["rows"].items()
    ]
    rows.append(["letters by their position alone", f"{result['by_place_alone']:.2f}", "", ""])
    rows.append(["held-out names", "", f"{result['known_triples_of_held_out']:.2f}", ""])
    return table(["one value per seed", "held-out nats per letter", "known triples", "norm of the gradient"], rows)


def bleu_by_seed(result: Result) -> str:
    """BLEU at every length: the mean over the seeds, and their range."""
    rows = []
    for name, lines in result["seeds"].items():
        found = [[line[at]["bleu"] for line in lines] for at in lines[0]]
        rows.append([name, *(f"{mean(of):.0f} ({min(of):.0f} to {max(of):.0f})" for of in found)])
    lengths = list(next(iter(result["seeds"].values()))[0])
    return table(["BLEU over the seeds, source of … words", *lengths], rows)


def leaks(result: Result) -> str:
    rows = [
        [
            way,
            *(
                ", ".join(form.format(row[what]) for row in runs)
                for what, form in (("loss", "{:.4f}"), ("exact", "{:.1%}"))
            ),
        ]
        for way, runs in result["rows"].items()
    ]
    return table(["one value per seed", "training loss", "right in every word"], rows)


def unused_source(result: Result) -> str:
    """Losses with the own source; what another text's adds; and the best n-gram of the targets."""
    rows = []
    for name, runs in result["rows"].items():
        for task, ngrams in result["n-grams"].items():
            own = [run[task]["own source"] for run in runs]
            rise = [run[task]["another text's source"] - run[task]["own source"] for run in runs]
            rows.append(
                [
                    name,
                    task,
                    ", ".join(f"{loss:.3f}" for loss in own),
                    ", ".join(f"{of:+.5f}" for of in rise),
                    f"{min(ngrams):.3f}",
                ]
            )
    return table(["", "task", "own source, by seed", "rise with another source", "best n-gram of the targets"], rows)


def translators(result: Result) -> str:
    """Quality and alignment at every length: the mean over the seeds, and their range."""

    def over(seeds: list[dict[str, Any]], value: Callable[[dict[str, Any]], float]) -> str:
        found = [100 * value(seed) for seed in seeds]
        return f"{mean(found):.0f} ({min(found):.0f} to {max(found):.0f})"

    baseline, parts = result["word_by_word"], []
    lengths = list(baseline["by_length"])
    for title, word_by_word, value in (
        ("BLEU", lambda at: baseline["by_length"][at]["bleu"] / 100, lambda seed, at: seed["by_length"][at]["bleu"] / 100),
        ("right in every word, %", lambda at: baseline["by_length"][at]["exact"], lambda seed, at: seed["by_length"][at]["exact"]),
        ("words found, %", lambda at: baseline["aligned"][at], lambda seed, at: seed["aligned"][at]),
    ):  # fmt: skip
        rows = [["word by word", *(f"{100 * word_by_word(at):.0f}" for at in lengths)]]
        before = {"recurrent, attention": result["recurrent"]} if title.startswith("words") else {}
        rows += [
            [name, *(over(seeds, partial(value, at=at)) for at in lengths)]
            for name, seeds in {**result["seeds"], **before}.items()
        ]
        parts.append(table([f"{title}, source of … words", *lengths], rows))
    return "\n\n".join(parts)


def positions(result: Result) -> str:
    rows = [
        [
            name,
            f"{row['theirs']} ± {row['their_deviation']}" if row["theirs"] else "–",
            f"{mean(row['ours']):.1%} ± {100 * stdev(row['ours']):.1f}",
        ]
        for name, row in result["letters"].items()
    ]
    ends = [16 * (i + 1) for i in range(len(next(iter(result["beyond"].values()))[0]))]
    lines = [
        [kind, *(f"{mean(at):.2f}" for at in zip(*seeds, strict=True))] for kind, seeds in result["beyond"].items()
    ]
    return (
        f"Hidden letters: {result['letters_are']}.\n\n"
        + table(["positions", "GLUE, theirs", "letters, ours: mean ± sd"], rows)
        + f"\n\nLonger texts: {result['beyond_is']}.\n\n"
        + table(["positions", *(f"to {end}" for end in ends)], lines)
    )


def longer_rotary(result: Result) -> str:
    ends = [16 * (i + 1) for i in range(len(next(iter(result["beyond"].values()))[0]))]
    rows = [[name, *(f"{mean(at):.2f}" for at in zip(*of, strict=True))] for name, of in result["beyond"].items()]
    return table(["mean over the seeds", *(f"to {end}" for end in ends)], rows)


def positions_longer(result: Result) -> str:
    rows = [
        [name, f"{mean(of):.1%}", ", ".join(f"{100 * one:.1f}" for one in of)] for name, of in result["letters"].items()
    ]
    return table(["positions", "letters named", "by seed"], rows)


def why_transformer(result: Result) -> str:
    rows = [
        [
            kind,
            f"{row['parameters']:,}",
            f"{row['rate']:g}",
            _interval([curve[-1] for curve in row["curve"]]),
            _interval(row["dev"]),
            f"{1000 * row['seconds_per_step']:.1f}",
        ]
        for kind, by in result["sizes"].items()
        for row in by.values()
    ]
    return table(["", "parameters", "rate", "training, last ten steps", "dev", "ms per step"], rows)


def step_time(result: Result) -> str:
    rows = [
        [
            f"{row['parameters']:,}",
            str(row["tokens"]),
            *(f"{1000 * seconds:.0f}" for seconds in row["seconds"].values()),
            f"{row['ratio']:.2f}",
        ]
        for row in result["rows"]
    ]
    return table(["parameters", "tokens", "Transformer, ms", "LSTM, ms", "Transformer ÷ LSTM"], rows)


def image_data(result: Result) -> str:
    return table(
        ["test digits right, training images", *next(iter(result["right"].values()))],
        [[row, *(f"{100 * mean(of):.1f} ({_reach(of)})" for of in by.values())] for row, by in result["right"].items()],
    )


def _reach(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.0f}–{100 * max(shares):.0f} %"


def chorales(result: Result) -> str:
    head = ["nats per token", "parameters", "rate", "ms per step", "all", "held", "changed", *"SATB"]
    rows = [
        [row, f"{of['parameters']:,}", f"{of['rate']:g}", f"{1000 * of['seconds_per_step']:.0f}"]
        + [_interval(of[key]) for key in ("all", "held", "changed")]
        + [f"{mean(run[voice] for run in of['by_voice']):.2f}" for voice in range(4)]
        for row, of in result["rows"].items()
    ]
    ngram = result["without"]["7-gram"]
    alone = [f"{ngram[key]:.3f}" for key in ("all", "held", "changed")]
    return table(head, [*rows, ["7-gram", "", "", "", *alone, *(f"{nats:.2f}" for nats in ngram["by_voice"])]])


def scattered(result: Result) -> str:
    return table(["patches", "mean"], [[key.replace("_", " "), _interval(of)] for key, of in result["patches"].items()])


def captions(result: Result) -> str:
    keys = list(next(iter(result["rows"].values())))
    rows = [[row, *(_interval(by[key]) for key in keys)] for row, by in result["rows"].items()]
    return table(["", *(key.replace("_", " ") for key in keys)], rows)


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


def changes_of_2017(result: Result) -> str:
    rows = [[name, f"{row['parameters']:,}", _interval(row["dev"])] for name, row in result["rows"].items()]
    return table(["", "parameters", "dev: mean and its 95 % interval"], rows)


def sublayer_order(result: Result) -> str:
    plain, sandwich = result["plain"], result["sandwich"]
    names = {plain: f"{plain} (plain)", sandwich: f"{sandwich} (sandwich)"}
    by_mean = sorted(result["losses"].items(), key=lambda item: mean(item[1]))
    return table(
        ["order", "seeds", "dev: mean and its 95 % interval", "first seed"],
        [[names.get(row, row), str(len(of)), _interval(of), f"{of[0]:.3f}"] for row, of in by_mean],
    )


def without_attention(result: Result) -> str:
    rows = [
        [
            row,
            str(result["theirs"].get(row, "")),
            *(_interval([100 * v for v in by[row]["right"]]) for by in result["tasks"].values()),
        ]
        for row in next(iter(result["tasks"].values()))
    ]
    return table(["", "theirs (GLUE)", *(f"{task}, % right" for task in result["tasks"])], rows)


def very_deep(result: Result) -> str:
    runs, moved = result["runs"], result["moved"]
    ends = list(next(iter(moved.values())))
    rows = [
        [
            rule,
            *(f"{_interval(by[rule]['dev'])} (rate {by[rule]['rate']:g})" for by in runs.values()),
            *(f"{mean(moved[rule][depth]):.3g}" for depth in (ends[0], ends[-1])),
        ]
        for rule in moved
    ]
    names = [f"dev, {depth} layers" for depth in runs] + [f"moved, {depth} layers" for depth in (ends[0], ends[-1])]
    return table(["", *names], rows) + f"\n\nMoved: {result['moved_is']}."


def ladder(result: Result) -> str:
    """Mean loss by size and length, a table per variant."""
    parts = []
    for variant in dict.fromkeys(run["variant"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["variant"] == variant]
        lengths = sorted({run["D"] for run in runs})
        rows = []
        for width, N in sorted({(run["width"], run["N"]) for run in runs}):
            cells = [[run["loss"] for run in runs if (run["N"], run["D"]) == (N, D)] for D in lengths]
            rows.append([f"{width}: {N:,}", *(_interval(of) if of else "" for of in cells)])
        parts.append(table([f"{variant}; width: N, D →", *(f"{D:,}" for D in lengths)], rows))
    return "\n\n".join(parts)


def mirage(result: Result) -> str:
    rows = []
    for width in dict.fromkeys(run["width"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["width"] == width]
        ranges = [sorted(run[key] for run in runs) for key in ("exact", "digits", "edits", "loss")]
        rows.append([f"{width}: {runs[0]['N']:,}", *(f"{mean(of):.3f} ({of[0]:.3f} to {of[-1]:.3f})" for of in ranges)])
    return table(["width: N", "exact match", "digits right", "edit distance", "loss"], rows)


def deeper_or_wider(result: Result) -> str:
    rows = [
        [row, f"{of['parameters']:,}", f"{of['multiply_adds']:,}", _interval(of["dev"])]
        for row, of in result["rows"].items()
    ]
    return table(["", "parameters", "multiply-adds", "dev: mean and its 95 % interval"], rows)


def modifications(result: Result) -> str:
    """Every row, theirs beside ours; rows that no seed has been trained on yet are left out."""

    def figure(values: list[float]) -> str:
        return _interval(list(values)) if len(values) > 1 else ", ".join(f"{value:.3f}" for value in values)

    def difference(name: str) -> str:
        found = result["against_vanilla"].get("final", {}).get(name)
        return f"{found['difference']:+.3f} (p = {found['p']:.2g})" if found else ""

    rows = [
        [
            name,
            f"{row['parameters']:,}",
            f"{row['multiply_adds'] / 1e6:.0f}",
            f"{row['steps_per_second']:.1f}",
            f"{THEIRS[name]['final']:.3f}" if name in THEIRS else "",
            *(figure(row[column]) for column in ("early", "final")),
            difference(name),
            *(figure(row[column]) for column in ("phonemes", "numbers")),
        ]
        for name, row in result["rows"].items()
        if row["final"]
    ]
    ours = ["early", "final", "final, less vanilla's", "phonemes", "numbers"]
    return table(["", "parameters", "10⁶ multiply-adds", "steps per second", "final, theirs", *ours], rows)


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


def attention_rank(result: Result) -> str:
    def told(values: list[list[int]]) -> str:
        flat = [value for passage in values for value in passage]
        return f"{mean(flat):.0f} ({min(flat)} to {max(flat)})"

    rows = [
        [f"{model}, {row}", told(by[row]["sum"]), told(by[row]["squares"])]
        for model, by in result["models"].items()
        for row in ("real", "shuffled", "mask")
    ]
    cosines = [
        [rank, f"{mean(by):.3f} ({min(by):.3f} to {max(by):.3f})"] for rank, by in result["cosine_at_rank"].items()
    ]
    head = f"singular values of {result['n']} for {result['held']:.0%} of"
    return (
        table([f"mean over heads (range); {head}", "their sum", "the sum of squares"], rows)
        + "\n\n"
        + table(["rank of every matrix of MiniLM", "cosine with the true vector"], cosines)
    )


def windows(result: Result) -> str:
    rows = [
        [way, *(f"{mean(losses):.2f} ({min(losses):.2f} to {max(losses):.2f})" for losses in by.values())]
        for way, by in result["ways"].items()
    ]
    return table(["nats per token, window of", *result["ways"]["window"]], rows)


def needle(result: Result) -> str:
    def told(shares: Sequence[float | None]) -> str:
        known = [share for share in shares if share is not None]
        return f"{mean(known):.0%} ({min(known):.0%} to {max(known):.0%})" if known else ""

    ways = [f"{i + 1} layer{'s' * (i > 0)}" for i in range(result["layers"])] + ["no way"]
    rows = [
        [name, f"{row['keys']:.0f}", told(row["right"]), *map(told, zip(*row["by_layers"], strict=True))]
        for name, row in result["rows"].items()
    ]
    return table(["five seeds: mean (range)", "keys", "right", *ways], rows)


def pretraining(result: Result) -> str:
    rows = [
        [name, *(f"{mean(of):.1f} ({min(of):.1f} to {max(of):.1f})" for of in by.values())]
        for name, by in result["rows"].items()
    ]
    counts = [f"{int(count):,}" for count in next(iter(result["rows"].values()))]
    return table(["% right, labelled words:", *counts], rows)


def four_ways(result: Result) -> str:
    rows = [
        [
            name,
            f"{mean(by['right']):.1f} ({min(by['right']):.1f} to {max(by['right']):.1f})",
            f"{by.get('trained', 0):,}",
        ]
        for name, by in result["rows"].items()
    ]
    return table(["", "% right: mean (range)", "parameters trained"], rows)


def prompts(result: Result) -> str:
    keys = ("right", "right_calibrated", "ranked", "questions", "questions_calibrated")
    rows = [[name, *(_interval(by[key]) for key in keys)] for name, by in result["rows"].items()]
    return table(["%", *(key.replace("_", ", ") for key in keys)], rows)


def senses(result: Result) -> str:
    def told(of: Mapping[str, Any]) -> str:
        return f"{of['share']:.0%} ({of['low']:.0%}–{of['high']:.0%})"

    rows = [
        [f"{model}, {way}", *(told(by[i]) for i in (0, len(by) // 2 - 1, len(by) - 1))]
        for model, ways in result["rows"].items()
        for way, by in ways.items()
    ]
    rivals = [[clue, told(of)] for clue, of in result["neighbours"].items()]
    return (
        table(["right after layer", "1", "half of them", "the last"], rows)
        + "\n\n"
        + table(["the other words' static vectors", "right"], rivals)
    )


def _bounds(row: Sequence[float]) -> str:
    mean_, low, high = row
    return f"{mean_:.2f} ({low:.2f}–{high:.2f})"


def early_lens(result: Result) -> str:
    at = [0, 5, 10, 15, 20, 25, 29]
    rows = [[name, *(f"{by[i][0]:.2f} ± {by[i][1]:.2f}" for i in at)] for name, by in result["rows"].items()]
    return table(["final first guess after … layers", *map(str, at)], rows)


def capital_facts(result: Result) -> str:
    at = [0, 5, 10, 15, 20, 25, 29]
    every = result["rows"] | {f"{name}, {result['window']} layers": by for name, by in result["windows"].items()}
    rows = [[name, *(_bounds(by[i]) for i in at)] for name, by in every.items()]
    controls = [[name, _bounds(row)] for name, row in result["controls"].items()]
    backup = [
        [" ".join(row["heads"]), *(_bounds(row[key]) for key in ("promised", "fall", "made up"))]
        for row in result["backup"]
    ]
    return "\n\n".join(
        [
            table(["share restored at layer", *map(str, at)], rows),
            table(["control", "share restored"], controls),
            table(["heads ablated", "promised", "fall of the log-odds", "promised less fall"], backup),
        ]
    )


def patched_texts(result: Result) -> str:
    ways = result["ways"]
    rows = [[name, *(f"{by[i][0]:.2f} ± {by[i][1]:.2f}" for i in by)] for name, by in ways.items()]
    return table(["“tickets”, pathway after layer", *next(iter(ways.values()))], rows)


def head_map(result: Result) -> str:
    names = [[name, str(count), str(result["named"][name])] for name, count in result["candidates"].items()]
    together = [
        [
            f"{k}, by {by}",
            f"{mean(of['ablated']):.2f}",
            f"{min(map(mean, of['controls'])):.2f} to {max(map(mean, of['controls'])):.2f}",
            f"{mean(of['on verses']):.2f}",
        ]
        for k, ways in result["together"].items()
        for by, of in ways.items()
    ]
    return (
        table(["candidate name", "heads that look so", "pass the test"], names)
        + "\n\n"
        + table(["induction heads ablated", "copying, nats more", "random heads", "verses, nats more"], together)
    )


def number_direction(result: Result) -> str:
    at = [i for i in ("0", "5", "10", "15", "20", "25", "29") if i in result["by_layer"]]
    neurons = [
        [k, _bounds(row["moved"]), f"{min(row['controls']):.2f} to {max(row['controls']):.2f}"]
        for k, row in result["neurons"].items()
    ]
    verbs = [[pair, _bounds(row)] for pair, row in result["verbs"].items()]
    return "\n\n".join(
        [
            table(
                ["share moved by the direction after layer", *at], [["", *(_bounds(result["by_layer"][i]) for i in at)]]
            ),
            table(["verbs", f"share moved after layer {result['layer']}"], verbs),
            table(["units set", "share moved", "random units"], neurons),
        ]
    )


def _percent(share: Sequence[float]) -> str:
    return f"{100 * share[0]:.0f} ({100 * share[1]:.0f} to {100 * share[2]:.0f})"


def instruction_tuning(result: Result) -> str:
    kinds = ("answered", "refused", "missing", "sums", "familiar", "new")
    rows = [
        [name, *(_percent(of[kind]["share"]) for kind in kinds), " ".join(f"{x:.3f}" for x in of["plain"])]
        for name, of in result["written"].items()
    ]
    does = list(next(iter(result["read"].values())))
    read = [[name, *(_percent(of[each]) for each in does)] for name, of in result["read"].items()]
    return (
        table(["written letter by letter, %, by rank", *kinds, "nats per token of plain text, by seed"], rows)
        + "\n\n"
        + table(["replies read kindly, %", *does], read)
    )


def preference_tuning(result: Result) -> str:
    rows = [
        [
            name,
            _bounds(of["stops"]),
            f"{of['drift'][0]:.4f} ({of['drift'][1]:.4f} to {of['drift'][2]:.4f})",
            f"{of['chosen'][0]:.1f}, {of['rejected'][0]:.1f}",
            _bounds(of["tokens"]) if "tokens" in of else "",
            " ".join(f"{x:.3f}" for x in of["plain"]),
        ]
        for name, of in result["rows"].items()
    ]
    head = [
        "β",
        "P(end) after the first sentence",
        "drift, nats per token",
        "ln π of preferred, of others",
        "tokens written",
    ]
    return table([*head, "nats per token of plain text, by seed"], rows)


def tools_and_retrieval(result: Result) -> str:
    does = ("well-formed", "right call", "uses the result", "right answer")
    tool = [[name, *(_percent(of[each]) if each in of else "" for each in does)] for name, of in result["tool"].items()]
    found = [
        [f"{kind}: {how}", *(_percent(of[n]) for n in ("1", "3", "10"))]
        for kind, by in result["found"].items()
        for how, of in by.items()
    ]
    retrieval = [[how, _percent(share)] for how, share in result["retrieval"].items()]
    return "\n\n".join(
        [
            table(["sums, %", *does], tool),
            table(["in the prompt", "right, %"], retrieval),
            table(["right entry among the first, %", "1", "3", "10"], found),
        ]
    )


def still_missing(result: Result) -> str:
    negation, paraphrase = result["negation"], result["paraphrase"]
    rows = [["letters", _percent(result["letters"]["right"])]]
    rows += [[f"negation: {form}", _percent(share)] for form, share in negation["right"].items()]
    rows += [["negation: opposite answers", _percent(negation["opposite"])]]
    rows += [[f"paraphrase: {form}", _percent(share)] for form, share in paraphrase["right"].items()]
    rows += [["paraphrase: right in all", _percent(paraphrase["all"])]]
    rows += [
        [f"context: {length} tokens, {where}", _percent(share)]
        for length, by in result["context"].items()
        for where, share in by.items()
    ]
    return table(["test", "right, %"], rows)


def _powers_of_two(lengths: Mapping[str, Any], count: int) -> list[str]:
    return [n for n in lengths if int(n) & (int(n) - 1) == 0][-count:]


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
        [count, *(f"{p:.3f}" for p in (by["strongest"], by["random_mean"], min(by["random"]), max(by["random"])))]
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
        + table(["heads ablated", "the strongest", "random, mean", "lowest", "highest"], ablated)
        + f"\n\nGradient: {result['gradient_is']}. As multiples of that at the last token:\n\n"
        + table(["", "5 back", "10 back", "20 back", "at the word in the gap", "its rank"], gradients)
    )


def _gradient(norms: list[float], word: int) -> list[str]:
    """The gradient 5, 10 and 20 tokens back and at the word, and how many tokens the word's is among."""
    rank = 1 + sum(norm > norms[word] for norm in norms)
    there = [norms[-6], norms[-11], norms[-21], norms[word]]
    return [*(f"{norm / norms[-1]:.2g}" for norm in there), f"{rank} of {len(norms)}"]


# --- the pages, in the order of the course ------------------------------------------------------------------------

SHOWN = "{what_it_shows}."
BLEU = Table("lines", "BLEU, source of … words", grid="{bleu:.0f}")
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
    "names_window": ("{task}. {network_is}.", names_window, SHOWN),
    "unseen_contexts": (
        "Vocabulary: {vocabulary}. {words:,} test words. The network has {network[parameters]:,} parameters and was"
        " trained for {network[passes]} passes.",
        unseen_contexts,
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
    "race": ("{task}.", race, SHOWN),
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
            grid="{bits_per_parameter:.2f}",
            heading="{0:,}",
            names="cells",
        ),
        "Characters: {characters_are}.",
        Table("characters", "perplexity, parameters about", grid="{perplexity:.2f}", heading="{0:,}", names="cells"),
        SHOWN,
    ),
    "quality_by_length": ("{task}.", BLEU, "Seeds: {seeds_are}.", bleu_by_seed),
    "pronunciation": (
        "Split: {split}. The published split is {published_split}.",
        Table(
            "here",
            columns={
                "phoneme errors %": "{phoneme_error_rate:.2f}",
                "word errors %": "{word_error_rate:.2f}",
            },
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
    "leaks": ("{how}.", leaks),
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
        warmup_gradients,
        SHOWN,
    ),
    "warmup_again": ("{how}.", warmup_again),
    "looking_back": (looking_back,),
    "source_and_target": (source_and_target,),
    "attention_cost": (attention_cost,),
    **{
        name: ("{how}.", page, SHOWN)
        for name, page in (
            ("sparse_cost", sparse_cost),
            ("attention_rank", attention_rank),
            ("needle", needle),
            ("windows", windows),
            ("pretraining", pretraining),
            ("senses", senses),
            ("four_ways", four_ways),
            ("prompts", prompts),
            ("early_lens", early_lens),
            ("capital_facts", capital_facts),
            ("patched_texts", patched_texts),
            ("head_map", head_map),
            ("number_direction", number_direction),
            ("instruction_tuning", instruction_tuning),
            ("preference_tuning", preference_tuning),
            ("tools_and_retrieval", tools_and_retrieval),
            ("still_missing", still_missing),
            ("image_data", image_data),
            ("chorales", chorales),
            ("captions", captions),
            ("scattered", scattered),
        )
    },
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
    "positions": (positions,),
    "small_gpt": (
        "{how}.",
        Table("written", "after so many steps it writes", {"": "`{0!r}`"}),
        SHOWN,
    ),
    "positions_longer": ("{how}.", positions_longer),
    "longer_rotary": ("{how}.", longer_rotary),
    "why_transformer": ("{how}.", why_transformer, SHOWN),
    "step_time": ("{how}.", step_time),
    "cache_cost": ("{how}.", cache_cost, SHOWN),
    "changes_of_2017": ("{how}.", changes_of_2017, SHOWN),
    "sublayer_order": ("{how}.", sublayer_order, SHOWN),
    "without_attention": ("{how}.", without_attention, SHOWN),
    "very_deep": ("{how}.", very_deep, SHOWN),
    "deeper_or_wider": ("{how}.", deeper_or_wider, SHOWN),
    "ladder": ("{how}. Means and their 95 % intervals.", ladder),
    "mirage": ("{how}. Mean of the seeds, lowest to highest.", mirage),
    "mirage_longer": ("{how}. Mean of the seeds, lowest to highest.", mirage),
    "modifications": (
        "**Void as a test of encoder-decoders: vanilla does not use its source (the next result).** {settings}. {progress}."
        " Losses: {rows_are}. Less vanilla's: {against_vanilla_is}.",
        modifications,
    ),
    "unused_source": ("{how}.", unused_source),
    "free_running": (
        "{task}. Held out: {held_out_is}. Known triples: {known_triples_is}. Scheduled sampling: {scheduled}."
        " Norm: {gradient_norm_is}.",
        free_running,
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
    "overfitting": ("{how}.", overfitting, SHOWN),
    "seeds": ("{how}.", seeds, SHOWN),
}
