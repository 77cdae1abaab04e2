"""The stored results as one page of tables, each with the command that makes it again.

    python -m lectures.recipes.report            writes lectures/results/README.md
    python lectures/results/draw.py             draws the pictures that the page shows

The page is never written by hand; a test holds it to the results.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

from lectures.recipes.markdown import markdown_table
from lectures import FOLDER
from lectures.recipes.report_costs import attention_cost, few_shot, looking_back, source_and_target
from lectures.recipes.report_decoding import dullness, thought_vector
from lectures.recipes.report_recurrent import free_running, genre, restore

Row = list[str]


def perplexity(result: dict[str, Any]) -> str:
    orders = ["1", "2", "3", "4", "5"]
    ngrams = [
        [name.replace("_", " "), *("∞" if by[order] is None else f"{by[order]:.1f}" for order in orders)]
        for name, by in result["ngram"].items()
    ]
    neural = [
        [name, f"{row['perplexity']:.1f}", f"{row['parameters']:,}", str(row["training"]["passes"])]
        for name, row in result["neural"].items()
    ]
    test = result["test"]
    return (
        f"Vocabulary: {result['vocabulary']}. {test['words']:,} test words,"
        f" {test['unknown_share']:.1%} of them unknown. ∞: {result['null'].removeprefix('infinite: ')}.\n\n"
        + markdown_table(["n-gram, order", *orders], ngrams)
        + "\n\n"
        + markdown_table(["neural model (window)", "perplexity", "parameters", "passes over the text"], neural)
    )


def unseen_contexts(result: dict[str, Any]) -> str:
    models = list(result["overall"])
    rows = [
        [n, f"{row['share']:.1%}", *(f"{row[model]:.1f}" for model in models)]
        for n, row in result["by_words_seen"].items()
    ]
    rows.append(["all", "100.0%", *(f"{result['overall'][model]:.1f}" for model in models)])
    network = result["network"]
    return (
        f"Vocabulary: {result['vocabulary']}. {result['words']:,} test words. The network has {network['parameters']:,}"
        f" parameters and was trained for {network['passes']} passes.\n\n"
        + markdown_table(["of the 4 words before, seen together in training", "share of words", *models], rows)
    )


def guessing(result: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{row['bits_per_key']:.2f}",
            *(f"{bound:.2f}" for bound in row["bounds"]),
            f"{row['first_guess_right']:.0%}",
            f"{row['bits_per_character']:.2f}",
        ]
        for name, row in result["players"].items()
    ]
    human = result["shannon"]
    rows.append(["a reader of 1951", "", f"{human['lower']:.2f}", f"{human['upper']:.2f}", "", ""])
    rows.append(["SmolLM2", "", "", "", "", f"{result['SmolLM2']['bits_per_character']:.2f}"])
    head = [
        "player",
        "bits per key",
        "lower bound",
        "upper bound",
        "first guess right",
        "bits per character as written",
    ]
    return (
        f"Passages: {result['passages']}. Keys: {result['keys']}. n-grams of characters with Kneser–Ney smoothing."
        f" The reader: {human['source']}. SmolLM2: {result['SmolLM2']['note']}.\n\n" + markdown_table(head, rows)
    )


def word_vectors(result: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{t['right']} of {t['asked']}",
            *(f"{right} of {asked}" for right, asked in t["by_kind"].values()),
            str(t["nearest_to_c_right"]),
            str(t["without_the_rule_right"]),
            str(t["without_the_rule_c"]),
        ]
        for name, t in result["tables"].items()
    ]
    kinds = list(next(iter(result["tables"].values()))["by_kind"])
    head = ["vectors", "right", *kinds, "nearest to a* alone", "words of the question allowed", "then it says a*"]
    return (
        f"{result['words']:,} words of Shakespeare, {result['training']['epochs']} readings,"
        f" {result['vocabulary']:,} words with {result['training']['d_model']} numbers each.\n\n"
        + markdown_table(head, rows)
    )


def memory(result: dict[str, Any]) -> str:
    cells = result["cells"]
    delays = list(next(iter(result["copy_accuracy"].values())))
    copied = [[cells[c], *(f"{by[d]:.0%}" for d in delays)] for c, by in result["copy_accuracy"].items()]
    distances = [10, 20, 50, 100]
    norms = result["gradient_log10"]["at initialisation"]
    gradients = [[cells[c], *(f"{line[d]:.1f}" for d in distances)] for c, line in norms.items()]
    return (
        f"{result['copy_task']}.\n\n"
        + markdown_table(["copied right after a delay of", *delays], copied)
        + f"\n\nAt initialisation, {result['gradient_is']}.\n\n"
        + markdown_table(["log10 gradient norm at distance", *map(str, distances)], gradients)
        + f"\n\n{result['what_it_shows']}."
    )


def initialisation(result: dict[str, Any]) -> str:
    delays = list(next(iter(result["copy_accuracy"].values())))
    norms = result["gradient_log10"]
    rows = [
        [name, *(f"{by[d]:.0%}" for d in delays), f"{norms[name][-1]:.1f}"]
        for name, by in result["copy_accuracy"].items()
    ]
    head = ["recurrent matrix", *(f"right after {d} blanks" for d in delays), "log10 gradient norm at distance 100"]
    return f"{result['copy_task']}.\n\n{markdown_table(head, rows)}\n\n{result['what_it_shows']}."


def capacity(result: dict[str, Any]) -> str:
    cells = result["cells"]
    parts = []
    tasks = (("memorising", "bits_per_parameter", "memorising_is"), ("characters", "perplexity", "characters_are"))
    for kind, unit, what in tasks:
        sizes = list(next(iter(result[kind].values())))
        rows = [[cells[c], *(f"{by[size][unit]:.2f}" for size in sizes)] for c, by in result[kind].items()]
        head = [f"{unit.replace('_', ' ')}, parameters about", *(f"{int(size):,}" for size in sizes)]
        parts.append(f"{kind.capitalize()}: {result[what]}.\n\n{markdown_table(head, rows)}")
    return "\n\n".join(parts) + f"\n\n{result['what_it_shows']}."


def quality_by_length(result: dict[str, Any]) -> str:
    lengths = list(next(iter(result["lines"].values())))
    rows = [[name, *(f"{by[at]['bleu']:.0f}" for at in lengths)] for name, by in result["lines"].items()]
    return f"{result['task']}.\n\n" + markdown_table(["BLEU, source of … words", *lengths], rows)


def pronunciation(result: dict[str, Any]) -> str:
    rows = [
        [f"here: {name}", f"{row['phoneme_error_rate']:.2f}", f"{row['word_error_rate']:.2f}"]
        for name, row in result["here"].items()
    ]
    rows += [[row["what"], "", f"{row['word_error_rate']:.2f}"] for row in result["published"]]
    return f"Split: {result['split']}. The published split is {result['published_split']}.\n\n" + markdown_table(
        ["", "phoneme errors %", "word errors %"], rows
    )


def exposure_bias(result: dict[str, Any]) -> str:
    rows = [
        [name, f"{row['test']['phoneme_error_rate']:.2f}", *(f"{100 * share:.1f}" for share in row["free"][:8])]
        for name, row in result["rows"].items()
    ]
    places = [f"place {i}" for i in range(1, 9)]
    return (
        f"{result['task']}. Columns by place: {result['free']}, in percent.\n\n"
        + markdown_table(["", "phoneme errors %", *places], rows)
        + f"\n\n{result['what_it_shows']}."
    )


def char_gpt(result: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{row['parameters']:,}",
            f"{row['tokens'] / 1e6:.2f}",
            f"{row['seconds']:.0f}",
            f"{row['perplexity']:.2f}",
            f"{row['bits_per_character']:.3f}",
        ]
        for name, row in result["rows"].items()
    ]
    head = ["", "parameters", "million tokens read", "seconds", "perplexity per token", "bits per character"]
    return f"Seconds: {result['seconds_are']}.\n\n{markdown_table(head, rows)}\n\n{result['what_it_shows']}."


def bpe_gpt(result: dict[str, Any]) -> str:
    return char_gpt(result)


def numbers_transformer(result: dict[str, Any]) -> str:
    beside = f"Recurrent lines: {result['recurrent_lines_are']}"
    costs = [
        [name, f"{row['parameters']:,}", f"{row['steps']:,}", f"{row['seconds']:.0f}"]
        for name, row in result["costs"].items()
    ]
    return (
        f"{quality_by_length(result)}\n\n{beside}. {result['what_it_shows']}.\n\nCosts: {result['costs_are']}.\n\n"
        + markdown_table(["", "parameters", "steps", "seconds"], costs)
    )


def pronunciation_transformer(result: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{row['phoneme_error_rate']:.2f}",
            f"{row['word_error_rate']:.2f}",
            f"{row['parameters']:,}",
            str(row["epochs"]),
            f"{row['seconds']:.0f}",
        ]
        for name, row in result["rows"].items()
    ]
    head = ["", "phoneme errors %", "word errors %", "parameters", "passes", "seconds"]
    return (
        f"Split: {result['split']}. Seconds: {result['seconds_are']}.\n\n{markdown_table(head, rows)}\n\n"
        f"{result['what_it_shows']}."
    )


def warmup(result: dict[str, Any]) -> str:
    rates = list(next(iter(result["runs"].values())))
    rows = [
        [name, *("diverged" if by[rate]["dev"] is None else f"{by[rate]['dev']:.2f}" for rate in rates)]
        for name, by in result["runs"].items()
    ]
    gradients = [
        [f"{norm}, {depth} layers, {initial}", *(f"{by[depth][at]:.3f}" for at in (0, int(depth) // 2, -1))]
        for initial, by_norm in result["gradients"].items()
        for norm, by in by_norm.items()
        for depth in by
    ]
    return (
        f"Runs: {result['layers']} layers; {result['runs_are']}.\n\n"
        + markdown_table(["nats per character on dev, at a rate of", *rates], rows)
        + f"\n\nGradients: {result['gradients_are']}.\n\n"
        + markdown_table(["at initialisation", "first layer", "middle", "last layer"], gradients)
        + f"\n\n{result['what_it_shows']}."
    )


PAGES = (
    *(
        perplexity,
        unseen_contexts,
        guessing,
        word_vectors,
        memory,
        initialisation,
        capacity,
        quality_by_length,
        pronunciation,
        exposure_bias,
    ),
    *(char_gpt, bpe_gpt, numbers_transformer, pronunciation_transformer, warmup),
    *(looking_back, source_and_target, attention_cost, few_shot),
    *(restore, genre, free_running),
    *(thought_vector, dullness),
)


def page(folder: Path) -> str:
    """The whole page, from the JSON files of `folder`; a result that was not made yet is left out."""
    parts = [
        "# Results\n\nWritten by `python -m lectures.recipes.report` from the files beside it. One seed, small models,"
        " two CPU cores: where a paper's claim does not hold here, that is said."
    ]
    for render in PAGES:
        file = folder / f"{render.__name__}.json"
        if not file.exists():
            continue
        result = json.loads(file.read_text(encoding="utf-8"))
        command = result["made_by"]["command"]
        parts.append(f"## {result['question']}\n\n`{command}`\n\n{picture(file)}{render(result)}")
    return "\n\n".join(parts) + "\n"


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


if __name__ == "__main__":
    place = FOLDER / "results"
    (place / "README.md").write_text(page(place), encoding="utf-8")
    print(place / "README.md")
