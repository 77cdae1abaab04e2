"""Figure: what in the skip-gram vectors of Shakespeare depends on the seed?

The training of `word_vectors` (window 2, 20 epochs) with five seeds. For each: the words nearest to *king*, the analogies
that are right, and where the sum lands if the three words of a question are not excluded.
"""

from typing import Any

import torch
from nlmcore.word2vec import build_vocabulary
from torch.nn.functional import normalize

from lectures.recipes.run import Run, recipe
from lectures.recipes.word_vectors import KEPT, KINDS, MIN_COUNT, QUESTIONS, paragraphs, questions_to, train

SEEDS, NEAR = 5, 6


def where_the_sum_lands(vectors: torch.Tensor, words: list[str]) -> dict[str, float]:
    """Mean cosines of the sum a* − a + b with a*, b and b*, and how often each is the nearest of all words."""
    ids, unit = {word: i for i, word in enumerate(words)}, normalize(vectors, dim=1)
    asked = [question.split() for questions in QUESTIONS.values() for question in questions]
    asked = [question for question in asked if all(word in ids for word in question)]
    found = {f"{what} {name}": 0.0 for name in ("a*", "b", "b*") for what in ("cosine with", "nearest is")}
    for question in asked:
        a, b, a_star, b_star = (ids[word] for word in question)
        cosines = unit @ normalize(unit[a_star] - unit[a] + unit[b], dim=0)
        for name, i in (("a*", a_star), ("b", b), ("b*", b_star)):
            found[f"cosine with {name}"] += float(cosines[i]) / len(asked)
            found[f"nearest is {name}"] += int(cosines.argmax()) == i
    return {name: round(value, 3) for name, value in found.items()}


@recipe(3)
def cook(run: Run) -> None:
    texts = paragraphs(run.size(None, 4000))
    words = build_vocabulary(texts, run.size(MIN_COUNT, 2))
    kind, window = KINDS[KEPT]
    rows: list[dict[str, Any]] = []
    for seed in range(run.size(SEEDS, 2)):
        model = train(run, f"{KEPT}, seed {seed}", kind, window, texts, words)
        answers = questions_to(model.vectors, words)
        near = [word for word, _ in model.nearest("king", NEAR)] if "king" in words else []
        rows.append(
            {
                "near_king": near,
                "right": answers["right"],
                **where_the_sum_lands(model.vectors, words),
                "famous": (answers["answers"]["man woman king queen"] or [""])[0],
            }
        )
    run.save_result(
        "vector_seeds",
        {
            "question": "Skip-gram vectors of Shakespeare with five seeds: neighbours and analogies.",
            "asked": answers["asked"],
            "rows": rows,
        },
    )
