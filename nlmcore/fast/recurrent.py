"""A layer of recurrent cells through PyTorch's fused kernels: the whole loop over time in one call.

It replaces `nlmcore.recurrent.recurrent.through_time`, with equal outputs and gradients. The kernels of torch.nn.RNN,
GRU and LSTM take the cells' own parameters, so nothing is copied. Time is the first dimension here. A layer is one
direction or two (forward, backward), each with its four weights and its state (h,) or (h, c).

Padding must change nothing, neither outputs nor the last state. So real tokens are moved to the front of their row, in
reading order. Then the outputs at real tokens are right, and the last h is the output at the last real token. The
LSTM's last c is in no output, so the LSTM is made to hold it: one more input, 1 at padding, closes the input gate
(i = 0) and opens the forget gate (f = 1), and c_t = f ⊙ c_{t-1} + i ⊙ g = c_{t-1} exactly. On a GPU, cuDNN does this
with a packed sequence; on a CPU, packing would lose the fast kernel and three quarters of the speed.
"""

from typing import Any, cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

CUDNN_MODES = ("rnn_relu", "rnn_tanh", "lstm", "gru")  # the kernels, in the order of cuDNN's numbers
KERNELS: dict[str, Any] = {name: getattr(torch._VF, name) for name in CUDNN_MODES}
CLOSED, OPEN = -1e4, 1e4  # σ is exactly 0 and 1 there
Parts = tuple[Tensor, ...]  # the state of one direction, (h,) or (h, c), each (batch, hidden)


def run_kernel(
    kernel: str, weights: list[list[Tensor]], x: Tensor, states: list[Parts], mask: Tensor | None = None
) -> tuple[Tensor, list[Parts]]:
    """All hidden states (time, batch, directions · hidden) of a layer, and each direction's last state.

    weights, states: of each direction. mask (time, batch), True = a real token; outputs at padding are zero, and a text
    without a real token keeps its state.
    """
    if mask is not None:
        return _run_padded(kernel, weights, x, states, mask)
    initial = [torch.stack(part) for part in zip(*states, strict=True)]  # each (directions, batch, hidden)
    outputs, *final = _call(kernel, weights, initial, x)
    return outputs, list(zip(*final, strict=True))


def flatten_weights(kernel: str, weights: list[list[Tensor]]) -> None:
    """Lay a layer's weights out in one piece of GPU memory, as cuDNN wants them. Elsewhere: nothing."""
    flat = [w for direction in weights for w in direction]
    if all(w.is_cuda and torch.backends.cudnn.is_acceptable(w) and w.dtype == flat[0].dtype for w in flat):
        sizes = (flat[0].shape[1], CUDNN_MODES.index(kernel), flat[1].shape[1], 0)
        with torch.no_grad(), torch.cuda.device_of(flat[0]):
            torch._cudnn_rnn_flatten_weight(flat, 4, *sizes, 1, False, len(weights) == 2)


def _call(kernel: str, weights: list[list[Tensor]], initial: list[Tensor], *x: Tensor) -> tuple[Tensor, ...]:
    """Run a kernel over x (time, batch, input), or over a packed sequence's data and batch sizes.

    On a CPU without AVX-512, autocast to bfloat16 sends the LSTM to a library that then refuses it; the same numbers
    come from casting everything first.
    """
    if x[0].device.type == "cpu" and torch.is_autocast_enabled("cpu"):
        dtype = torch.get_autocast_dtype("cpu")
        weights = [[w.to(dtype) for w in direction] for direction in weights]
        with torch.autocast("cpu", enabled=False):
            return _call(kernel, weights, [part.to(dtype) for part in initial], x[0].to(dtype), *x[1:])
    state = initial if len(initial) == 2 else initial[0]  # of an LSTM [h, c], of the others h
    flat = [w for direction in weights for w in direction]
    # biases, one layer, no dropout (so "train" only means: keep what the backward pass needs), bidirectional
    options = (True, 1, 0.0, torch.is_grad_enabled(), len(weights) == 2)
    batch_first = (False,) if len(x) == 1 else ()
    return KERNELS[kernel](*x, state, flat, *options, *batch_first)


def _run_padded(
    kernel: str, weights: list[list[Tensor]], x: Tensor, states: list[Parts], mask: Tensor
) -> tuple[Tensor, list[Parts]]:
    lengths = mask.sum(0)
    run = run_packed if x.is_cuda else run_held
    outputs, last = [], []
    for direction, (own, state) in enumerate(zip(weights, states, strict=True)):
        order = _reading_order(mask, backward=direction == 1)  # (time, batch)
        h, final = run(kernel, own, _gather(x, order), state, lengths)
        outputs.append(_gather(h, torch.argsort(order, dim=0)))
        some = (lengths > 0).unsqueeze(-1)
        last.append(tuple(torch.where(some, new, old) for new, old in zip(final, state, strict=True)))
    return torch.cat(outputs, dim=-1) * mask.unsqueeze(-1), last


def run_held(kernel: str, weights: list[Tensor], x: Tensor, state: Parts, lengths: Tensor) -> tuple[Tensor, Parts]:
    """One direction over texts that are padded at their end; the memory is held during padding."""
    if len(state) == 2:
        padding = torch.arange(len(x), device=x.device).unsqueeze(-1) >= lengths  # (time, batch)
        x = torch.cat([x, padding.unsqueeze(-1).to(x.dtype)], dim=-1)
        hold = x.new_tensor([CLOSED, OPEN, 0.0, 0.0]).repeat_interleave(state[0].shape[1])
        weights = [torch.cat([weights[0], hold.unsqueeze(-1)], dim=-1), *weights[1:]]
    initial = [part.unsqueeze(0) for part in state]
    outputs, *final = _call(kernel, [weights], initial, x)
    h = outputs[lengths.clamp(min=1) - 1, torch.arange(x.shape[1], device=x.device)]
    return outputs, (h, *(part.squeeze(0) for part in final[1:]))


def run_packed(kernel: str, weights: list[Tensor], x: Tensor, state: Parts, lengths: Tensor) -> tuple[Tensor, Parts]:
    """The same through a packed sequence."""
    packed = pack_padded_sequence(x, lengths.clamp(min=1).cpu(), enforce_sorted=False)
    there, back = cast(Tensor, packed.sorted_indices), cast(Tensor, packed.unsorted_indices)
    initial = [part.index_select(0, there).unsqueeze(0) for part in state]
    data, *final = _call(kernel, [weights], initial, packed.data, packed.batch_sizes)
    outputs, _ = pad_packed_sequence(PackedSequence(data, *packed[1:]), total_length=len(x))
    return outputs, tuple(part.squeeze(0).index_select(0, back) for part in final)


def _reading_order(mask: Tensor, backward: bool) -> Tensor:
    """For each row, the times in the order of reading: real tokens first, from the front or from the back."""
    if not backward:
        return torch.argsort(mask.int(), dim=0, descending=True, stable=True)
    return len(mask) - 1 - torch.argsort(mask.flip(0).int(), dim=0, descending=True, stable=True)


def _gather(x: Tensor, order: Tensor) -> Tensor:
    return x.gather(0, order.unsqueeze(-1).expand(-1, -1, x.shape[-1]))
