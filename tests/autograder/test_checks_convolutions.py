"""What the exercises of "convolutions" promise beyond what every assignment must (`test_checks.py`)."""

import numpy as np
import torch
import torch.nn.functional as F

from autograder.check import examine
from nlmcore.convolutional import GatedConvolution, TextCNN
from solutions.convolutions.checks import EXERCISES
from tests.autograder.answers import answers, second

SOLUTIONS = second(answers("convolutions"))


def reference(name, *arguments):
    return EXERCISES[f"convolutions.{name}"].reference(*arguments)


def test_the_references_are_pytorchs_and_the_librarys_convolutions():
    draw = torch.Generator().manual_seed(0)
    x, weight, bias = (torch.randn(*s, generator=draw) for s in ((2, 9, 3), (3, 3, 6), (6,)))
    wanted = F.conv1d(F.pad(x.mT, (4, 0)), weight.permute(2, 1, 0), bias, dilation=2).mT
    given = [t.numpy() for t in (x, weight, bias)]
    assert np.allclose(reference("causal_convolution", *given, 2), wanted, atol=1e-5)

    layer = GatedConvolution(3, 3, dilation=2)
    with torch.no_grad():
        layer.linear.weight.copy_(weight.flatten(0, 1).T)
        layer.linear.bias.copy_(bias)
        past = torch.randn(2, 4, 3, generator=draw)
        output, kept = reference("gated_block", given[0], past.numpy(), *given[1:], 2)
        assert np.allclose(output, x + layer(torch.cat([past, x], dim=1)), atol=1e-5)
    assert np.array_equal(kept, x[:, -4:])


def test_the_features_of_long_texts_are_kims_without_the_windows_that_overhang():
    model = TextCNN(11, 2, d_embedding=3, widths=(2,), n_filters=4)
    tokens = torch.randint(0, 11, (3, 8), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        weight, bias = model.filters[0].weight.permute(2, 1, 0), model.filters[0].bias
        found = reference("text_features", model.embedding(tokens), torch.full((3,), 8), [weight], [bias])
        inside = model.filters[0](model.embedding(tokens).mT).amax(dim=-1)
    assert torch.allclose(found, inside, atol=1e-5)


def test_the_gradients_of_cbow_are_autograds():
    draw = torch.Generator().manual_seed(1)
    words = torch.tensor([3, 1, 3, 3, 0, 2])
    E, U = (torch.randn(5, 4, generator=draw, dtype=torch.float64, requires_grad=True) for _ in range(2))
    near = [[s for s in range(6) if 0 < abs(s - t) <= 2] for t in range(6)]
    h = torch.stack([E[words[context]].mean(0) for context in near])
    wanted = torch.autograd.grad(F.cross_entropy(h @ U.T, words), (E, U))
    _, *found = reference("cbow", words.numpy(), 2, E.detach().numpy(), U.detach().numpy())
    assert all(np.allclose(a, b) for a, b in zip(found, wanted, strict=True))


def test_autograd_is_absent_where_the_gradient_is_the_question_and_only_there():
    def by_autograd(words, m, E, U):
        E, U = torch.tensor(E, requires_grad=True), torch.tensor(U, requires_grad=True)
        (E[words] @ U.T).sum().backward()
        return SOLUTIONS["cbow"](words, m, E.detach().numpy(), U.detach().numpy())

    assert examine(EXERCISES["convolutions.cbow"], by_autograd, 7).points == 0
    assert examine(EXERCISES["convolutions.train"], SOLUTIONS["train"], 7).passed
