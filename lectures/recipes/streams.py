"""Language models on a corpus: documents as ids, in streams of batches that continue each other, and in rows."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

BOS, EOS = 1, 2


def as_document(ids: list[int]) -> list[int]:
    """<bos> w_1 … w_T <eos>: every document is read from its beginning, and its end is predicted."""
    return [BOS, *ids, EOS]


class Stream:
    """All documents in one row, cut into `batch` rows that are read on side by side, `time` predictions at a time.

    Called with an epoch it gives (tokens, targets). Each pass over the text begins at another place of it, so that the
    cuts, across which no gradient flows, move.

    stretch: so many batches are an epoch (None: the whole pass), and `fit` begins every epoch with no state. A
    recurrent network that always goes on from its state never learns to begin: it comes to rely on values that its
    memory took long ago, and fails on a new text.
    """

    def __init__(self, documents: Sequence[list[int]], batch: int, time: int, stretch: int | None = None) -> None:
        self.text = torch.tensor([token for document in documents for token in document])
        self.batch, self.time, self.stretch = batch, time, stretch
        rows = len(self.text) // batch
        self.batches = len(range(0, rows - time, time))
        """Batches of a pass."""

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        stretch = self.stretch or self.batches
        passes, part = divmod(epoch, -(-self.batches // stretch))
        rows = len(self.text) // self.batch
        text = self.text.roll(-passes * self.time // 2)[: rows * self.batch].view(self.batch, rows)
        for i in range(part * stretch, min((part + 1) * stretch, self.batches)):
            start = i * self.time
            yield text[:, start : start + self.time], text[:, start + 1 : start + self.time + 1]


def in_rows(documents: Sequence[list[int]]) -> Tensor:
    """Documents as rows (document, time), padded with 0 behind: for `nlmcore.metrics.perplexity(…, ignore=0)`."""
    rows = [torch.tensor(document) for document in documents]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
