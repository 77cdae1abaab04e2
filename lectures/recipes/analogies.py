"""Questions "a is to b as c is to …", by kind, and how a table of vectors answers them.

Mikolov et al. (2013a) ask such questions in thousands; these are few, of words that Shakespeare uses too. Each answer
is compared with two that ought to be worse (Linzen 2016): the nearest neighbour of c, which ignores a and b, and the
formula without its rule that a, b and c are no answers.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nlmcore.word2vec import analogy, nearest

QUESTIONS: dict[str, list[str]] = {
    "man and woman": [
        "man woman king queen",
        "man woman lord lady",
        "father mother son daughter",
        "father mother brother sister",
        "he she his her",
        "he she him her",
        "husband wife father mother",
        "king queen prince princess",
    ],
    "verbs": [
        "walk walked swim swam",
        "go went come came",
        "see saw know knew",
        "take took give gave",
        "is are was were",
        "do did have had",
        "speak spoke make made",
    ],
    "other forms": [
        "i my he his",
        "my mine thy thine",
        "i am thou art",
        "good better bad worse",
        "great greater strong stronger",
        "man men woman women",
        "king kings lord lords",
        "eye eyes hand hands",
        "day days year years",
    ],
    "places": [
        "paris france london england",
        "paris france rome italy",
        "france french england english",
        "england english rome roman",
    ],
}


def ask(vectors: Tensor, ids: dict[str, int], names: dict[int, str]) -> dict[str, Any]:
    """Every question to one table. ids: word -> row; names: row -> word. A question with an unknown word: None."""
    unit = normalize(vectors, dim=1)
    found: dict[str, Any] = {"answers": {}, "by_kind": {}}
    totals = {"asked": 0, "right": 0, "nearest_to_c_right": 0, "without_the_rule_right": 0, "without_the_rule_c": 0}
    for kind, questions in QUESTIONS.items():
        right = asked = 0
        for question in questions:
            words = question.split()
            if any(word not in ids for word in words):
                found["answers"][question] = None
                continue
            a, b, c, d = (ids[word] for word in words)
            best = [names[i] for i, _ in analogy(vectors, a, b, c, 3)]
            free = int((unit @ (unit[c] - unit[a] + unit[b])).argmax())
            asked += 1
            right += best[0] == words[3]
            totals["nearest_to_c_right"] += nearest(vectors, c, 1)[0][0] == d
            totals["without_the_rule_right"] += free == d
            totals["without_the_rule_c"] += free == c
            found["answers"][question] = best
        found["by_kind"][kind] = [right, asked]
        totals["asked"] += asked
        totals["right"] += right
    return found | totals


def whole_words(pieces: list[str], vectors: Tensor) -> tuple[Tensor, dict[str, int], dict[int, str]]:
    """The rows of a tokenizer's vocabulary that are whole words of small letters: table, ids and names."""
    rows = [i for i, piece in enumerate(pieces) if piece.isascii() and piece.isalpha() and piece.islower()]
    words = [pieces[i] for i in rows]
    return vectors[torch.tensor(rows)], {w: i for i, w in enumerate(words)}, dict(enumerate(words))
