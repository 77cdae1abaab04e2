"""Widgets about probabilities that come from counts: lengths of sentences, smoothing, perplexity."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ipywidgets

from lectures.show import bar_list_svg
from lectures.show.live import Live, live, slider, swapped

SentenceProbability = Callable[[list[str], float], float]
"""(words, probability of <eos>) -> probability of exactly this sentence."""

Estimate = Callable[[Mapping[str, int], Sequence[str], float], Mapping[str, float]]
"""(counts of the next word, vocabulary, pseudocount k) -> probability of every word of the vocabulary."""

Perplexity = Callable[[list[float]], float]
"""(probability that the model gave to each word of the text) -> perplexity."""


def length_playground(
    probability: SentenceProbability,
    words: Sequence[str],
    *,
    longest: int = 6,
    yours: SentenceProbability | None = None,
) -> Live:
    """How much probability all sentences of each length have together, when <eos> has probability p at every step."""
    sentences = [[list(s) for s in itertools.product(words, repeat=n)] for n in range(longest + 1)]

    def draw(probability: SentenceProbability, p: float) -> str:
        sums = [sum(probability(sentence, p) for sentence in of_length) for of_length in sentences]
        together = sum(sums)
        return bar_list_svg(
            sums,
            [f"{n} word{'' if n == 1 else 's'}" for n in range(longest + 1)],
            reach=1.0,
            says=[
                f"{total:.3f} · {len(of):,} sentence{'' if len(of) == 1 else 's'}"
                for total, of in zip(sums, sentences, strict=True)
            ],
            title=f"all sentences of a length, P(<eos>) = {p:.2f}",
            note=f"up to {longest} words together: {together:.3f}",
            alt=f"Total probability by length of sentence with P(<eos>) = {p:.2f}: "
            + ", ".join(f"{n} words {total:.3f}" for n, total in enumerate(sums))
            + f"; together {together:.3f}.",
        )

    return live(
        partial(draw, probability),
        yours=swapped(draw, yours),
        p=slider(0.0, 0.0, 0.9, 0.05, "probability of <eos> at every step", "460px"),
    )


def count_playground(
    counts: Mapping[str, Mapping[str, int]],
    vocabulary: Sequence[str],
    estimate: Estimate,
    *,
    yours: Estimate | None = None,
) -> Live:
    """What was seen after each context, and the probabilities that an estimate makes of it with a pseudocount k.

    counts: context -> {next word: how often}. Words that were never seen after the context count 0.
    """

    def draw(estimate: Estimate, context: str, k: float) -> str:
        seen = counts[context]
        given = estimate(seen, vocabulary, k)
        values = [float(given[word]) for word in vocabulary]
        total = sum(seen.values())
        sums = f"they sum to {sum(values):.2f}"
        return bar_list_svg(
            values,
            list(vocabulary),
            reach=1.0,
            highlight=[i for i, word in enumerate(vocabulary) if not seen.get(word)],
            says=[
                f"{value:.3f} · seen {seen.get(word, 0)} of {total}"
                for word, value in zip(vocabulary, values, strict=True)
            ],
            title=f"P(next word | {context}), k = {k:g}",
            note=f"{sums}; orange: never seen after “{context}”",
            alt=f"Probabilities of the next word after {context} with pseudocount {k:g}: "
            + ", ".join(f"{word} {value:.3f}" for word, value in zip(vocabulary, values, strict=True))
            + f"; {sums}.",
        )

    return live(
        partial(draw, estimate),
        yours=swapped(draw, yours),
        rows=[["context"], ["k"]],
        context=_buttons(list(counts), "after"),
        k=slider(0.0, 0.0, 3.0, 0.1, "pseudocount k", "420px"),
    )


def perplexity_playground(
    perplexity: Perplexity,
    words: Sequence[str],
    probabilities: Sequence[float],
    surprise: Callable[[float], float],
    *,
    yours: Perplexity | None = None,
) -> Live:
    """One slider per word: the probability that the model gave it. Its surprise in bits, the mean, the perplexity.

    surprise: probability -> bits. The perplexity is what `perplexity` (or yours) makes of the probabilities.
    """

    def draw(perplexity: Perplexity, **given: float) -> str:
        p = [float(given[f"p{i}"]) for i in range(len(words))]
        bits = [surprise(value) for value in p]
        mean, found = sum(bits) / len(bits), perplexity(p)
        note = f"mean {mean:.2f} bits per word\nperplexity {found:.2f}: like {found:.1f} equally likely words"
        return bar_list_svg(
            bits,
            list(words),
            reach=8.0,
            says=[f"{b:.2f} bits · P = {value:.3f}" for b, value in zip(bits, p, strict=True)],
            title="surprise of each word, −log₂ P(word | words before)",
            note=note,
            alt="Surprise in bits: "
            + ", ".join(f"{w} {b:.2f}" for w, b in zip(words, bits, strict=True))
            + f"; {note}.",
            width=480,
        )

    sliders: dict[str, Any] = {
        f"p{i}": _probability(p, f"P({word} | …)") for i, (word, p) in enumerate(zip(words, probabilities, strict=True))
    }
    return live(partial(draw, perplexity), yours=swapped(draw, yours), **sliders)


def _buttons(options: Sequence[Any], label: str) -> ipywidgets.ToggleButtons:
    return ipywidgets.ToggleButtons(options=list(options), description=label, style={"button_width": "auto"})


def _probability(value: float | int, label: str) -> ipywidgets.FloatSlider:
    control = slider(float(value), 0.005, 1.0, 0.005, label, "330px")
    control.readout_format = ".3f"
    return control
