"""Language models on a corpus: documents as ids, in streams of batches that continue each other, and in rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

BOS, EOS = 1, 2


def as_document(ids: list[int]) -> list[int]:
    """<bos> w_1 … w_T <eos>: every document is read from its beginning, and its end is predicted."""
    return [BOS, *ids, EOS]


@dataclass(frozen=True)
class Stream:
    """All documents in one row, cut into `batch` rows that are read on side by side, `time` predictions at a time.

    Called with an epoch it gives (tokens, targets). Each epoch begins at another place of the text, so that the cuts,
    across which no gradient flows, move.
    """

    documents: Sequence[list[int]]
    batch: int
    time: int

    def __call__(self, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
        text = torch.tensor([token for document in self.documents for token in document])
        text = text.roll(-epoch * self.time // 2)
        rows = len(text) // self.batch
        text = text[: rows * self.batch].view(self.batch, rows)
        for start in range(0, rows - self.time, self.time):
            yield text[:, start : start + self.time], text[:, start + 1 : start + self.time + 1]

    @property
    def batches(self) -> int:
        """Batches of an epoch."""
        rows = sum(map(len, self.documents)) // self.batch
        return len(range(0, rows - self.time, self.time))


def in_rows(documents: Sequence[list[int]]) -> Tensor:
    """Documents as rows (document, time), padded with 0 behind: for `nlmcore.metrics.perplexity(…, ignore=0)`."""
    rows = [torch.tensor(document) for document in documents]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
