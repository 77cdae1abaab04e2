"""What the exercises of "ngrams" promise beyond what every assignment must (`test_checks.py`)."""

import torch

from nlmcore.ngram import NGramLM
from solutions.ngrams.checks import EXERCISES


def test_the_references_are_the_librarys_models():
    """The questions have another form than `nlmcore.ngram`; their numbers are the same."""
    words = torch.randint(0, 6, (60,), generator=torch.Generator().manual_seed(0))
    words = torch.cat([words, torch.arange(6), words[:1]])  # every word is a context
    counts = torch.zeros(6, 6, dtype=torch.int64)
    for a, b in zip(words[:-1].tolist(), words[1:].tolist(), strict=True):
        counts[a, b] += 1

    def library(order, smoothing, context, **options):
        model = NGramLM(order, 6, smoothing, **options).fit(words)
        return torch.tensor([model.probability(w, context) for w in range(6)], dtype=torch.float64)

    def reference(name, *arguments):
        return EXERCISES[f"ngrams.{name}"].reference(*arguments)

    weights = [0.2, 0.3, 0.5]
    for a in range(6):
        wanted = library(2, "additive", [a], pseudocount=0.5)
        assert torch.allclose(reference("additive", counts, 0.5)[a].double(), wanted)
        assert torch.allclose(reference("conditional_probabilities", counts)[a].double(), library(2, "mle", [a]))
        for b in range(6):
            mixed = reference("interpolated", words, [a, b], weights, 6).double()
            wanted = library(3, "interpolation", [a, b], weights=weights, base="unigram")
            assert torch.allclose(mixed, wanted, atol=1e-6)
