"""Word vectors by prediction: skip-gram and CBOW with negative sampling.

Stochastic gradient descent with a rate that falls linearly, summed (not averaged) over the pairs of a batch, as if each
pair had taken its own step.

Source: Mikolov et al. 2013a (arXiv 1301.3781), Mikolov et al. 2013b (arXiv 1310.4546).
Departs from the papers: all pairs of a batch see the vectors from before the batch; blocks of text are read in random
order within an epoch.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import embedding
from tqdm import tqdm

from nlmcore.checks import Probability, Range, Size, check_sizes, checked, described
from nlmcore.word2vec.objective import cbow_gradient, cbow_loss, skipgram_gradient, skipgram_loss
from nlmcore.word2vec.sampling import (
    Blocks,
    keep_probability,
    mean_pairs,
    noise_distribution,
    read,
    sample,
    sample_blocks,
)
from nlmcore.word2vec.vectors import analogy, nearest

Word = int | str
LearningRate = Annotated[float | int, Range(0, 1, above=True, closed=True)]

MAX_BATCH = 1024
MAX_STEP = 3.0
"""Learning rate times pairs that one word may have in a batch; 10 and more diverge on a vocabulary of 28 words."""


class Word2Vec(ABC):
    """What skip-gram and CBOW share: the vectors, the training loop, and the questions.

    vocabulary: the words, or only their number. window: how far a word looks at most. n_negatives: k, noise words per
    pair. subsample: the threshold t above which frequent words are thinned out (0: never).
    """

    shared_negatives: ClassVar[int]
    tables: ClassVar[tuple[str, str]]  # whose vectors the word in the middle and the words around it have
    loss: ClassVar[Callable[..., Tensor]]  # of (centre, context, negatives, window, n_negatives): see `objective`

    @checked
    def __init__(
        self,
        vocabulary: Sequence[str] | int,
        d_model: Size = 100,
        *,
        window: Size = 5,
        n_negatives: Size = 5,
        subsample: Probability = 1e-3,
        generator: torch.Generator | None = None,
    ) -> None:
        self.words = list(vocabulary) if isinstance(vocabulary, Sequence) else None
        if isinstance(vocabulary, str) or not all(isinstance(word, str) for word in self.words or ()):
            raise TypeError(f"vocabulary must be a list of words or their number, got {described(vocabulary)}")
        if self.words is not None and (twice := len(self.words) - len(set(self.words))):
            raise ValueError(f"vocabulary must hold every word once, got {twice} twice")
        self.vocab_size: int = vocabulary if self.words is None else len(self.words)  # type: ignore[assignment]
        check_sizes(vocabulary=self.vocab_size)
        self.d_model, self.window, self.n_negatives, self.subsample = d_model, window, n_negatives, subsample
        self.ids = {word: i for i, word in enumerate(self.words)} if self.words is not None else None
        shape = (self.vocab_size, d_model)
        self.input: Float[Tensor, "vocab d_model"] = (torch.rand(shape, generator=generator) - 0.5) / d_model
        self.output: Float[Tensor, "vocab d_model"] = torch.zeros(shape)

    @property
    def vectors(self) -> Float[Tensor, "vocab d_model"]:
        """e(w)."""
        return self.input

    @checked
    def train(
        self,
        sequences: Iterable[Any],
        epochs: Size = 5,
        *,
        learning_rate: LearningRate = 0.025,
        min_learning_rate: Probability = 1e-4,
        batch_size: Size | None = None,
        block_size: Size = 32,
        shared_negatives: Size | None = None,
        progress: bool = True,
        generator: torch.Generator | None = None,
    ) -> list[float]:
        """Learn from sequences of words (or ids), whose ends no window crosses. Returns each epoch's loss per word.

        batch_size: words per step; None: as many as make a stable step, up to 1024. They come in blocks of block_size
        that share `shared_negatives` noise words (None: 32 for skip-gram, 16 for CBOW). The loss is measured on every
        20th batch. progress: show a bar. Raises ValueError if the vectors diverge.
        """
        if min_learning_rate > learning_rate:
            raise ValueError(
                f"min_learning_rate must be at most learning_rate={learning_rate}, got {min_learning_rate}"
            )
        tokens, lengths = read(sequences, self.ids, self.vocab_size)
        counts = torch.bincount(tokens, minlength=self.vocab_size)
        keep, noise = keep_probability(counts, self.subsample), noise_distribution(counts)
        if batch_size is None:
            batch_size = self._batch_size(counts * keep, learning_rate * mean_pairs(lengths, self.window))
        size = min(block_size, batch_size)
        per_step = batch_size // size
        losses: list[float] = []
        with tqdm(total=epochs * len(tokens), unit="word", unit_scale=True, disable=not progress) as bar:
            for epoch in range(epochs):
                blocks = sample_blocks(tokens, lengths, keep, self.window, size, generator)
                noise_words = sample(noise, (len(blocks), shared_negatives or self.shared_negatives), generator)
                measured = []
                for step, start in enumerate(range(0, len(blocks), per_step)):
                    batch, drawn = blocks[start : start + per_step], noise_words[start : start + per_step]
                    done = (epoch + start / len(blocks)) / epochs
                    if step % 20 == 0:
                        measured.append(self._loss(batch, drawn))
                        bar.set_postfix(loss=f"{measured[-1]:.3f}", refresh=False)
                    self._step(batch, drawn, max(min_learning_rate, learning_rate * (1 - done)))
                    bar.update(len(tokens) * len(batch) / len(blocks))
                losses.append(sum(measured) / max(1, len(measured)))
                if not math.isfinite(losses[-1]):
                    given = f"{learning_rate} and {batch_size}: the vectors diverged in epoch {epoch}"
                    raise ValueError(f"learning_rate or batch_size must be smaller, got {given}")
        return losses

    def _batch_size(self, frequency: Tensor, rate_per_word: float) -> int:
        """A vector takes one summed step per batch, so the most frequent word must not occur too often in it."""
        share = float(frequency.max() / frequency.sum())
        step_of_one = rate_per_word * (1 + self.n_negatives)  # all pairs and their noise
        return max(1, min(MAX_BATCH, int(MAX_STEP / (step_of_one * share)) if step_of_one else MAX_BATCH))

    def _roles(self, blocks: Blocks, noise: Tensor) -> list[tuple[Tensor, Tensor]]:
        middle, outer = (getattr(self, name) for name in self.tables)
        return [(middle, blocks.centre), (outer, blocks.tokens), (self.output, noise)]

    def _step(self, blocks: Blocks, noise: Tensor, learning_rate: float) -> None:
        """One step down the gradient of some blocks; only the rows of their words move."""
        roles = self._roles(blocks, noise)
        vectors = [embedding(ids, table) for table, ids in roles]
        gradients = self.gradient(*vectors, blocks.window(), self.n_negatives)
        for (table, ids), gradient in zip(roles, gradients, strict=True):
            table.index_add_(0, ids.reshape(-1), gradient.flatten(0, 1).mul_(-learning_rate))

    def _loss(self, blocks: Blocks, noise: Tensor) -> float:
        vectors = [embedding(ids, table) for table, ids in self._roles(blocks, noise)]
        loss = self.loss(*vectors, blocks.window(), self.n_negatives)
        return loss.item() / max(1, int(blocks.seen.any(2).sum()))

    @abstractmethod
    def gradient(self, *arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
        """The gradient of `loss` with respect to centre, context and negatives."""

    def nearest(self, word: Word, k: int | None = None) -> list[tuple[Word, float]]:
        """The k words most like `word`, best first, with their cosines. k=None: 10, or all the others if fewer."""
        return self._spell(nearest(self.vectors, self._id("word", word), k))

    def analogy(self, a: Word, b: Word, c: Word, k: int = 1) -> list[tuple[Word, float]]:
        """a is to b as c is to ...: the k best answers with their cosines, without a, b and c."""
        return self._spell(analogy(self.vectors, self._id("a", a), self._id("b", b), self._id("c", c), k))

    def _id(self, name: str, word: Word) -> int:
        if not isinstance(word, str):
            return word
        if self.ids is None or word not in self.ids:
            known = "no words were given" if self.ids is None else f"{self.vocab_size} words"
            raise ValueError(f"{name} must be in the vocabulary ({known}), got {word!r}")
        return self.ids[word]

    def _spell(self, answers: list[tuple[int, float]]) -> list[tuple[Word, float]]:
        return [(self.words[i] if self.words else i, cosine) for i, cosine in answers]


class SkipGram(Word2Vec):
    """A word predicts each of its neighbours: v of the word against u of the neighbour."""

    shared_negatives, tables = 32, ("input", "output")
    loss, gradient = staticmethod(skipgram_loss), staticmethod(skipgram_gradient)


class CBOW(Word2Vec):
    """The mean of its neighbours predicts a word: mean v of the neighbours against u of the word.

    corrected: divide a neighbour's gradient by the number of neighbours, unlike the original program; that needs a
    learning rate of about 0.1.
    """

    shared_negatives, tables = 16, ("output", "input")
    loss = staticmethod(cbow_loss)

    @checked
    def __init__(
        self, vocabulary: Sequence[str] | int, d_model: Size = 100, *, corrected: bool = False, **options: Any
    ) -> None:
        super().__init__(vocabulary, d_model, **options)
        self.corrected = corrected

    def gradient(self, *arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
        return cbow_gradient(*arguments, self.corrected)  # type: ignore[call-arg]
