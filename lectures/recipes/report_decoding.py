"""Pages of the report about decoding, and about translators without attention. `report` puts them in."""

from statistics import mean
from typing import Any

from lectures.recipes.markdown import markdown_table


def dullness(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{model}: {name}",
            f"{row['probability']:.3f}",
            f"{row['along'][0]:.3f}",
            f"{row['along'][-1]:.3f}",
            f"{row['improbable']:.0%}",
            f"{row['repeated']:.0%}",
        ]
        for model, by in result["rows"].items()
        for name, row in by.items()
    ]
    head = ["", "probability per token", "at the beginning", "at the end", "tokens below 0.01", "repeated"]
    parts = [
        f"{result['task']}. Probability: {result['probability_is']}. Repeated: {result['repeated_is']}.",
        markdown_table(head, rows),
    ]
    for part in result["wide_beams"].values():
        beams = [
            [beam, f"{row['log_prob']:.3f}", f"{row['quality']:.2f}", f"{row['length']:.1%}", f"{row['empty']:.0%}"]
            for beam, row in part["beams"].items()
        ]
        table = markdown_table(["beam", "mean ln P", "quality", "length, of the reference's", "empty"], beams)
        parts.append(f"Wide beams, {part['what']}.\n\n{table}")
    return "\n\n".join(parts) + f"\n\n{result['what_it_shows']}."


def thought_vector(result: dict[str, Any]) -> str:
    lengths = list(next(iter(result["exact"].values())))
    rows = [
        [name, f"{result['parameters'][name]:,}", *(f"{mean(by[at]):.0%}" for at in lengths)]
        for name, by in result["exact"].items()
    ]
    places = [[name, *(f"{100 * share:.1f}" for share in shares)] for name, shares in result["wrong_by_place"].items()]
    numbers = [str(place + 1) for place in range(len(places[0]) - 1)]
    return (
        f"{result['task']}. {result['exact_is'].capitalize()}; here their means.\n\n"
        + markdown_table(["right, source of … words", "parameters", *lengths], rows)
        + f"\n\nIn percent: {result['wrong_by_place_is']}.\n\n"
        + markdown_table(["wrong word at place", *numbers], places)
        + f"\n\n{result['what_it_shows']}."
    )
