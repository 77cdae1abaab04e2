"""Minimum Bayes risk: not the most probable text, but the one that is most like all the others.

    h* = argmax_h  1/S * sum_s utility(h, y_s),      y_1 ... y_S ~ P(. | prompt)

The single most probable text may be odd (often empty). Samples vote: each is a candidate, and each is a reference for
every candidate. Source: Eikema & Aziz (2020, "Is MAP Decoding All You Need?", their sampling-based minimum Bayes risk).
Departs from the paper: the utility is yours to give (they use METEOR); the default is the F1 of shared words
(`shared_words`), which needs no library.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import torch

from nlmcore.checks import Amount, Count, Probability, Size, checked
from nlmcore.decoding.filters import Filter
from nlmcore.decoding.reading import Prompt
from nlmcore.decoding.results import Hypothesis, Ranked, SearchTree, Status, best_first, with_tree
from nlmcore.decoding.sampling import sample
from nlmcore.language_model import LanguageModel, State

Text = tuple[int, ...]
Utility = Callable[[list[int], list[int]], float]  # (hypothesis, reference) -> how good it is; higher is better


def shared_words(hypothesis: Sequence[int], reference: Sequence[int]) -> float:
    """F1 of the tokens two texts share, with repetitions counted; two empty texts agree fully."""
    if not hypothesis and not reference:
        return 1.0
    shared = (Counter(hypothesis) & Counter(reference)).total()
    return 2 * shared / (len(hypothesis) + len(reference))


@checked
@torch.no_grad()
def minimum_bayes_risk(
    model: LanguageModel,
    prompt: Prompt,
    max_new_tokens: Count,
    *,
    eos: SupportsIndex | None = None,
    state: State = None,
    num_samples: Size = 16,
    utility: Utility = shared_words,
    temperature: Amount = 1.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
    generator: torch.Generator | None = None,
    trace: bool = False,
) -> Ranked | tuple[Ranked, SearchTree]:
    """The distinct texts among `num_samples` samples, best first, for each prompt; `score` is the expected utility.

    The paper samples without filters; they are those of `sample`. `utility` gets token ids, without <eos>.
    """
    reshaped: Any = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p, "typical_p": typical_p}
    options: Any = {"eos": eos, "state": state, "num_samples": num_samples, "filters": filters, "generator": generator}
    sampled: Any = sample(model, prompt, max_new_tokens, **reshaped, **options)
    tree = SearchTree(len(prompt)) if trace else None
    ranked = []
    for row in range(len(prompt)):
        votes: Counter[Text] = Counter()
        log_probs: dict[Text, list[float]] = {}
        for i in range(row * num_samples, (row + 1) * num_samples):
            text = tuple(sampled.tokens[i].tolist())
            if sampled.finished[i]:
                # Without the padding behind <eos>, so that equal texts are equal.
                text = text[: text.index(eos) + 1]
            votes[text] += 1  # equal samples are one candidate, and a reference that counts several times
            log_probs[text] = sampled.log_probs[i, : len(text)].tolist()
        words = {text: list(text[:-1] if text and text[-1] == eos else text) for text in votes}
        hypotheses = []
        for text in votes:
            # 1/S Σ_s utility(h, y_s), summed over the distinct texts: equal samples are compared once.
            score = float(sum(n * utility(words[text], words[other]) for other, n in votes.items()) / num_samples)
            if math.isnan(score):
                raise ValueError(f"utility must return numbers, got an average of nan for the hypothesis {words[text]}")
            hypotheses.append(Hypothesis(list(text), math.fsum(log_probs[text]), score))
        ranked.append(best_first(hypotheses))
        if tree is not None:
            _grow(tree, row, ranked[-1], log_probs)
    return with_tree(ranked, tree)


def _grow(tree: SearchTree, row: int, hypotheses: list[Hypothesis], log_probs: dict[Text, list[float]]) -> None:
    """The samples as one tree: shared prefixes are shared branches; `score` at the last token of each."""
    nodes: dict[Text, int] = {(): tree.roots[row].id}
    for hypothesis in hypotheses:
        text = tuple(hypothesis.tokens)
        for t, token in enumerate(text):
            if text[: t + 1] not in nodes:
                last = t + 1 == len(text)
                status: Status = "finished" if last else "kept"
                given = (nodes[text[:t]], token, log_probs[text][t], status)
                nodes[text[: t + 1]] = tree.add(*given, score=hypothesis.score if last else None)
