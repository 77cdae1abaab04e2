"""Classifying texts of different length that are padded with 0: batches, the loss, and how many are right."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def batches(tokens: Tensor, labels: Tensor, size: int, seed: int, epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
    """All texts once, in an order of this epoch."""
    order = torch.randperm(len(tokens), generator=torch.Generator().manual_seed(1000 * seed + epoch))
    for i in order.split(size):
        yield tokens[i], labels[i]


def loss(classifier: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    tokens, labels = batch
    return F.cross_entropy(classifier(tokens, tokens != 0), labels)


@torch.no_grad()
def percent_right(classifier: nn.Module, tokens: Tensor, labels: Tensor) -> float:
    right = classifier.eval()(tokens, tokens != 0).argmax(-1) == labels
    return round(100 * float(right.float().mean()), 2)
