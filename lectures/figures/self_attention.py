"""The picture at the top of the lecture `self_attention`: four heads of MiniLM draw what looks like a dependency parse."""

from nlmcore.pretrained import minilm
from lectures.show import Edge, edges_svg
from lectures.widgets.attention import all_attention

SENTENCE = "The young doctor quickly closed the heavy door."
CHOSEN = {  # (layer, head): which of its edges, by the place of the words
    (1, 7): [(0, 2), (5, 7)],
    (2, 8): [(1, 2), (6, 7)],
    (2, 3): [(2, 4)],
    (3, 1): [(4, 7)],
}


def heads_as_edges() -> str:
    words, weights = all_attention(*minilm(), SENTENCE)
    edges = []
    for colour, ((layer, head), places) in enumerate(CHOSEN.items()):
        for reads, read in places:
            weight = float(weights[layer, head, reads + 1, read + 1])  # [CLS] comes first
            edges.append(Edge(reads, read, weight, f"{weight:.2f}", colour))
    names = [
        "determiner to its noun",
        "adjective to its noun",
        "subject to its verb",
        "verb to its object",
    ]
    notes = [
        f"layer {layer}, head {head}: {name}"
        for (layer, head), name in zip(CHOSEN, names, strict=True)
    ]
    return edges_svg(words[1:-1], edges, notes=notes)


PICTURES = {"heads_as_edges": heads_as_edges}
