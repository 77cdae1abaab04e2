"""The LSTM's gradient by hand, held to finite differences and to PyTorch's graph."""

import pytest
import torch

from nlmcore.recurrent import LSTMState, Recurrent

BATCH, TIME, INPUT, HIDDEN = 4, 6, 5, 7


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_lstm_gradient_by_hand_is_the_gradient(unchecked: None) -> None:
    network = Recurrent("lstm", 3, 4, bidirectional=True, fused=False).double()
    x = torch.randn(2, 5, 3, dtype=torch.double, requires_grad=True)
    h, c = (torch.randn(2, 2, 4, dtype=torch.double, requires_grad=True) for _ in range(2))
    weights = dict(network.named_parameters())

    def run(x, h, c, *values):
        outputs, state = torch.func.functional_call(
            network, dict(zip(weights, values, strict=True)), (x, LSTMState(h, c))
        )
        return outputs, *state

    assert torch.autograd.gradcheck(run, (x, h, c, *weights.values()))


def test_weights_changed_before_the_backward_pass_are_noticed() -> None:
    network = Recurrent("lstm", INPUT, HIDDEN, fused=False)
    outputs, _ = network(torch.randn(BATCH, TIME, INPUT))
    with torch.no_grad():
        network.cells[0].weight_hh.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        outputs.sum().backward()
