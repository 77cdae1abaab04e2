"""What models are trained on: contiguous streams, and padded, masked pairs.

    abcdefghijklmnop   as a stream in 2 rows, 3 at a time:   inputs  abc  def  g     targets  bcd  efg  h
                                                                     hij  klm  n              ijk  lmn  o

Row r of a stream's next batch continues where row r of this one ends, so a state can be carried from one batch to the
next. Pairs are put in batches with others of about their length, padded with 0, with masks that are True where a token
is real.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from nlmcore.checks import Size, checked
from nlmcore.corpora.corpus import Document

PAD, BOS, EOS = 0, 1, 2


class StreamBatches:
    """(inputs, targets) of shape (batch, length), contiguous along each row from batch to batch; the last is shorter.

    Every token but the `len(tokens) - 1` modulo `batch_size` last ones is read. `batches[i]` gives batch i at once, so
    training can go on from any of them; to iterate is to read the text once more.
    """

    @checked
    def __init__(self, tokens: Tensor | Sequence[int], batch_size: Size, length: Size):
        tokens = _ids(tokens, "tokens")
        if tokens.ndim != 1 or len(tokens) <= batch_size:
            raise ValueError(f"tokens must be one row of at least {batch_size + 1}, got shape {tuple(tokens.shape)}")
        self.length = length
        per_row = (len(tokens) - 1) // batch_size
        self._inputs = tokens[: batch_size * per_row].view(batch_size, per_row)
        self._targets = tokens[1 : batch_size * per_row + 1].view(batch_size, per_row)

    def __len__(self) -> int:
        return -(-self._inputs.shape[1] // self.length)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} batches, got index {i}")
        here = slice(i % len(self) * self.length, (i % len(self) + 1) * self.length)
        return self._inputs[:, here], self._targets[:, here]

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return (self[i] for i in range(len(self)))


class PairBatch(NamedTuple):
    """Shapes (batch, source) and (batch, target); masks are True where a token is real.

    The names are those that `nlmcore.training.fit` understands, so you can pass it these batches directly.
    """

    source: Tensor  # the source and `<eos>`
    source_mask: Tensor
    tokens: Tensor  # `<bos>` and the target: what the decoder reads
    targets: Tensor  # the target and `<eos>`: what the decoder should predict
    mask: Tensor  # of tokens and targets


class PairBatches:
    """Pairs of id sequences in batches of similar length; every pair once per iteration.

    With a generator, each iteration draws a new order: pairs are shuffled, sorted by length within pools of
    `pool` batches, and the batches are shuffled. Without one, they come sorted, always in the same order.
    A source or a target may be empty: the model then reads, or predicts, only `<eos>`.
    """

    @checked
    def __init__(
        self,
        pairs: Iterable[tuple[Sequence[int], Sequence[int]]],
        batch_size: Size,
        generator: torch.Generator | None = None,
        pool: Size = 50,
    ):
        try:
            self.pairs = [(list(source), list(target)) for source, target in pairs]
        except (TypeError, ValueError) as error:
            raise TypeError(f"pairs must be pairs (source, target) of sequences of ids, got {pairs!r:.60}") from error
        if not self.pairs:
            raise ValueError("pairs must hold at least one pair, got none")
        _ids([i for pair in self.pairs for ids in pair for i in ids], "pairs")
        self.batch_size, self.generator, self.pool = batch_size, generator, pool

    def __len__(self) -> int:
        return -(-len(self.pairs) // self.batch_size)

    def __iter__(self) -> Iterator[PairBatch]:
        count = len(self.pairs)
        if self.generator is None:
            order, pool = list(range(count)), count
        else:
            order, pool = torch.randperm(count, generator=self.generator).tolist(), self.pool * self.batch_size
        batches = []
        for start in range(0, count, pool):
            near = sorted(order[start : start + pool], key=lambda i: (len(self.pairs[i][0]), len(self.pairs[i][1])))
            batches += [near[i : i + self.batch_size] for i in range(0, len(near), self.batch_size)]
        if self.generator is not None:
            batches = [batches[i] for i in torch.randperm(len(batches), generator=self.generator).tolist()]
        for batch in batches:
            source, source_mask = pad([[*self.pairs[i][0], EOS] for i in batch])
            tokens, mask = pad([[BOS, *self.pairs[i][1]] for i in batch])
            targets, _ = pad([[*self.pairs[i][1], EOS] for i in batch])
            yield PairBatch(source, source_mask, tokens, targets, mask)


def pad(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Sequences of any lengths as one tensor (batch, longest), padded with 0 at the right, and its mask."""
    try:
        lengths = torch.tensor([len(sequence) for sequence in sequences], dtype=torch.int64)
    except TypeError as error:
        raise TypeError(f"sequences must be sequences of ids, got {sequences!r:.60}") from error
    if len(lengths) == 0:
        raise ValueError("sequences must hold at least one sequence, got none")
    longest = int(lengths.max())
    if longest == 0:
        raise ValueError("sequences must hold at least one token, got only empty ones")
    mask = torch.arange(longest) < lengths[:, None]
    padded = torch.full(mask.shape, PAD)
    padded[mask] = _ids([i for sequence in sequences for i in sequence], "sequences")
    return padded, mask


@checked
def passages(documents: Iterable[Document], characters: Size = 1000) -> list[Document]:
    """Cut documents at empty lines into passages of at least so many characters, with their labels: for classifying.

    What is left at the end of a document, being shorter, joins the passage before it.
    """
    cut = []
    for document in documents:
        texts = [""]
        for paragraph in document.text.split("\n\n"):
            if len(texts[-1]) >= characters:
                texts.append("")
            texts[-1] += ("\n\n" if texts[-1] else "") + paragraph
        if len(texts) > 1 and len(texts[-1]) < characters:
            texts[-2:] = ["\n\n".join(texts[-2:])]
        cut += [Document(text=text, label=document.label, title=document.title) for text in texts]
    return cut


def _ids(ids: Tensor | Iterable[int], name: str) -> Tensor:
    """The same as an int64 tensor. Nothing is rounded: TypeError for non-integers, ValueError below 0."""
    try:
        found = ids if isinstance(ids, Tensor) else torch.tensor(list(ids))
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name} must hold integer ids, got {ids!r:.60}") from error
    if found.numel() and found.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must hold integer ids, got {found.dtype}: {ids!r:.60}")
    if found.numel() and (least := int(found.min())) < 0:
        raise ValueError(f"{name} must be ids of at least 0, got {least}")
    return found.to(torch.int64)
