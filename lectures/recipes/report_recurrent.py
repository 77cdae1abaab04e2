"""The pages of results of the recurrent networks' recipes: labelling, classifying, what a generator reads."""

from typing import Any

from lectures.recipes.markdown import markdown_table


def restore(result: dict[str, Any]) -> str:
    marks = list(next(iter(result["rows"].values()))["f1_by_mark"])
    rows = [
        [
            name,
            *(f"{row[key]:.1f}" for key in ("words_right", "capitals_f1", "marks_f1")),
            *(f"{row['f1_by_mark'][mark]:.1f}" for mark in marks),
        ]
        for name, row in result["rows"].items()
    ]
    head = ["", "words right %", "F1 of capitals", "F1 of marks", *(f"F1 of {mark}" for mark in marks)]
    return f"{result['task']}.\n\n{markdown_table(head, rows)}\n\n{result['what_it_shows']}."


def genre(result: dict[str, Any]) -> str:
    lengths = list(next(iter(result["rows"].values())))
    rows = [[name, *(f"{row[n]:.1f}" for n in lengths)] for name, row in result["rows"].items()]
    plays = "; ".join(f"{play} {share:.0f}%" for play, share in result["right_after_160_words_by_play"].items())
    return (
        f"{result['task']}. Vocabulary: {result['vocabulary']}.\n\n"
        + markdown_table(["percent right after … words", *lengths], rows)
        + f"\n\nRight after 160 words, by play: {plays}. {result['what_it_shows']}."
    )


def free_running(result: dict[str, Any]) -> str:
    def cells(row: dict[str, Any], key: str, digits: int) -> str:
        return ", ".join(f"{value:.{digits}f}" for value in row[key])

    rows = [
        [
            name,
            ", ".join(f"{line[-1]:.2f}" for line in row["held_out"]),
            cells(row, "known_triples", 2),
            ", ".join(f"{mean:.2f} ± {deviation:.2f}" for mean, deviation in row["gradient_norm"]),
        ]
        for name, row in result["rows"].items()
    ]
    rows.append(["letters by their place alone", f"{result['by_place_alone']:.2f}", "", ""])
    rows.append(["held-out names", "", f"{result['known_triples_of_held_out']:.2f}", ""])
    head = ["one number per seed", "held-out nats per letter", "known triples", "norm of the gradient"]
    return (
        f"{result['task']}. Held out: {result['held_out_is']}. Known triples: {result['known_triples_is']}. Scheduled"
        f" sampling: {result['scheduled']}. Norm: {result['gradient_norm_is']}.\n\n"
        + markdown_table(head, rows)
        + f"\n\n{result['what_it_shows']}."
    )
