"""The loop over time of a layer of recurrent cells: through PyTorch's fused kernels, or with its backward by hand.

**Fused kernels** replace `Cell.through_time`, with equal outputs and gradients. The kernels of
torch.nn.RNN, GRU and LSTM take the cells' own parameters, so nothing is copied. Time is the first dimension here. A
layer is one direction or two (forward, backward), each with its four weights and its state (h,) or (h, c).

Padding must change nothing, neither outputs nor the last state. So real tokens are moved to the front of their row, in
reading order. Then the outputs at real tokens are right, and the last h is the output at the last real token. The
LSTM's last c is in no output, so the LSTM is made to hold it: one more input, 1 at padding, closes the input gate (i =
0) and opens the forget gate (f = 1), and c_t = f ⊙ c_{t-1} + i ⊙ g = c_{t-1} exactly. A GPU takes a packed sequence; on
a CPU, packing loses three quarters of the speed.

**An LSTM without the kernel** has its backward pass written by hand, because PyTorch's graph of a step costs more than
the step.

    ∂L/∂c_t += ∂L/∂h_t ⊙ o_t ⊙ (1 − tanh² c_t)           from h_t = o_t ⊙ tanh(c_t)
    ∂L/∂c_{t-1} = ∂L/∂c_t ⊙ f_t                           the path on which gradients survive
    ∂L/∂a_t: each gate's upstream ⊙ local gradient       a_t = x_t W + h_{t-1} U + b; σ' = σ (1 − σ), tanh' = 1 − tanh²
    ∂L/∂U = Σ_t h_{t-1}ᵀ (∂L/∂a_t)                        Werbos (1990), "Backpropagation through time"

U's gradient is a sum over times, which is one product after the loop. The forward pass is `LSTMCell.step`. `Recurrent`
uses this for an LSTM with `fused=False`.
"""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

CUDNN_MODES = ("rnn_relu", "rnn_tanh", "lstm", "gru")  # the kernels, in the order of cuDNN's numbers
KERNELS: dict[str, Any] = {name: getattr(torch._VF, name) for name in CUDNN_MODES}
CLOSED, OPEN = -1e4, 1e4  # σ is exactly 0 and 1 there
Parts = tuple[Tensor, ...]  # the state of one direction, (h,) or (h, c), each (batch, hidden)
# (upstream, tanh) -> upstream · (1 − tanh²), and (upstream, σ) -> upstream · σ (1 − σ), in one pass each
tanh_backward = torch.ops.aten.tanh_backward.default
tanh_backward_into = torch.ops.aten.tanh_backward.grad_input
sigmoid_backward_into = torch.ops.aten.sigmoid_backward.grad_input


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


def run_lstm(step: Callable[..., Any], projected: Tensor, weight_hh: Tensor, h: Tensor, c: Tensor) -> tuple:
    """x W + b (time, batch, 4 · hidden) and a state to all hidden states (time, batch, hidden), and the last (h, c)."""
    outputs, c = ThroughTime.apply(step, projected, weight_hh, h, c)  # type: ignore[no-untyped-call]
    return outputs, outputs[-1], c


class ThroughTime(torch.autograd.Function):
    """Forward with `step(projected_t, state, U) -> (state, gates)`, backward with the equations above."""

    @staticmethod
    def forward(
        ctx: Any, step: Callable[..., Any], projected: Tensor, weight_hh: Tensor, h: Tensor, c: Tensor
    ) -> tuple[Tensor, Tensor]:
        U, state, hidden = weight_hh.T, (h, c), []
        ctx.memories, ctx.gates = [], []  # c_{t-1} and the gates at every t
        for projected_t in projected.unbind(0):
            ctx.memories.append(state[1])
            state, gates = step(projected_t, state, U)
            hidden.append(state[0])
            ctx.gates.append(tuple(gates.values()))
        outputs = torch.stack(hidden)
        ctx.save_for_backward(weight_hh, h, outputs)
        return outputs, state[1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_h: Tensor, dc: Tensor) -> tuple[None, Tensor, Tensor, Tensor, Tensor]:
        U_T, h, outputs = ctx.saved_tensors  # (4 · hidden, hidden), as stored
        da = grad_h.new_empty(len(grad_h), len(h), len(U_T))  # ∂L/∂a_t, also that of x_t W + b
        blocks = da.unflatten(-1, (4, -1)).unbind(0)
        from_outputs = [torch.zeros_like(h), *grad_h.unbind(0)]  # nothing but the loop has seen h_0
        dh = from_outputs[-1]
        for t in reversed(range(len(da))):
            i, f, g, o, memory = ctx.gates[t]
            di, df, dg, do = blocks[t].unbind(1)
            dc = dc + tanh_backward(dh * o, memory)
            sigmoid_backward_into(dc * g, i, grad_input=di)
            sigmoid_backward_into(dc * ctx.memories[t], f, grad_input=df)
            tanh_backward_into(dc * i, g, grad_input=dg)
            sigmoid_backward_into(dh * memory, o, grad_input=do)
            dc = dc * f
            dh = torch.addmm(from_outputs[t], da[t], U_T)  # its own output's, and ∂L/∂a_t Uᵀ
        read = torch.cat([h.unsqueeze(0), outputs[:-1]])  # h_{t-1} at every t
        return None, da, da.flatten(0, 1).T @ read.flatten(0, 1), dh, dc
