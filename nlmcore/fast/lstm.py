"""The LSTM's loop over time with its backward pass written by hand: PyTorch's graph of a step costs more than the step.

    ∂L/∂c_t += ∂L/∂h_t ⊙ o_t ⊙ (1 − tanh² c_t)           from h_t = o_t ⊙ tanh(c_t)
    ∂L/∂c_{t-1} = ∂L/∂c_t ⊙ f_t                           the path on which gradients survive
    ∂L/∂a_t: each gate's upstream ⊙ local gradient       a_t = W x_t + U h_{t-1} + b; σ' = σ (1 − σ), tanh' = 1 − tanh²
    ∂L/∂U = Σ_t (∂L/∂a_t) h_{t-1}ᵀ                        Werbos (1990), "Backpropagation through time"

U's gradient is a sum over times, which is one product after the loop. The forward pass is `LSTMCell.step`. `Recurrent`
uses this for an LSTM with `fused=False`, where it trains 1.5 to 2 times as fast as a loop around torch.nn.LSTMCell.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# (upstream, tanh) -> upstream · (1 − tanh²), and (upstream, σ) -> upstream · σ (1 − σ), in one pass each
tanh_backward = torch.ops.aten.tanh_backward.default
tanh_backward_into = torch.ops.aten.tanh_backward.grad_input
sigmoid_backward_into = torch.ops.aten.sigmoid_backward.grad_input


def run_lstm(step: Callable[..., Any], projected: Tensor, weight_hh: Tensor, h: Tensor, c: Tensor) -> tuple:
    """W x + b (time, batch, 4 · hidden) and a state to all hidden states (time, batch, hidden), and the last (h, c)."""
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
        U, h, outputs = ctx.saved_tensors
        da = grad_h.new_empty(len(grad_h), len(h), len(U))  # ∂L/∂a_t, also that of W x_t + b
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
            dh = torch.addmm(from_outputs[t], da[t], U)  # its own output's, and Uᵀ ∂L/∂a_t
        read = torch.cat([h.unsqueeze(0), outputs[:-1]])  # h_{t-1} at every t
        return None, da, da.flatten(0, 1).T @ read.flatten(0, 1), dh, dc
