"""The assignment on recurrence solved a second time, in NumPy, text by text and by the equations."""

import math

import numpy as np


def rnn_step(x, h, W, U, b):
    made = np.zeros(tuple(h.shape))
    for n in range(len(h)):
        for j in range(h.shape[1]):
            a = float(b[j])
            a += sum(float(x[n, i]) * float(W[i, j]) for i in range(x.shape[1]))
            a += sum(float(h[n, i]) * float(U[i, j]) for i in range(h.shape[1]))
            made[n, j] = math.tanh(a)
    return made


def rnn_forward(xs, lengths, h0, W, U, b):
    xs, h0, W, U, b = (t.numpy().astype(float) for t in (xs, h0, W, U, b))
    states = np.zeros((xs.shape[0], xs.shape[1], len(U)))
    for n, length in enumerate(lengths.tolist()):
        h = h0[n]
        for t in range(length):
            h = np.tanh(W.T @ xs[n, t] + U.T @ h + b)
            states[n, t] = h
        states[n, length:] = h
    return states, states[:, -1]


def text_loss(logits, targets, lengths):
    z = logits.numpy().astype(float)
    loss, gradient, N = 0.0, np.zeros_like(z), int(lengths.sum())
    for n, length in enumerate(lengths.tolist()):
        for t in range(length):
            shifted, target = z[n, t] - z[n, t].max(), int(targets[n, t])
            p = np.exp(shifted) / np.exp(shifted).sum()
            loss -= (shifted[target] - math.log(np.exp(shifted).sum())) / N
            gradient[n, t] = p / N
            gradient[n, t, target] -= 1 / N
    return loss, gradient


def rnn_backward(xs, h0, hs, d_hs, U):
    """By pairs (loss at t, use at s ≤ t), as the lecture's double sum has it."""
    xs, h0, hs, d_hs, U = (t.numpy().astype(float) for t in (xs, h0, hs, d_hs, U))
    return _pairs(xs, h0, hs, d_hs, U, hs.shape[1])


def truncated_backward(xs, h0, hs, d_hs, U, k):
    xs, h0, hs, d_hs, U = (t.numpy().astype(float) for t in (xs, h0, hs, d_hs, U))
    return _pairs(xs, h0, hs, d_hs, U, k)[:3]


def _pairs(xs, h0, hs, d_hs, U, k):
    units = len(U)
    d_W, d_U, d_b, d_h0 = np.zeros((xs.shape[2], units)), np.zeros((units, units)), np.zeros(units), np.zeros_like(h0)
    for n in range(len(xs)):
        for t in range(xs.shape[1]):
            arriving = d_hs[n, t]
            for s in range(t, t // k * k - 1, -1):
                at_sum = arriving * (1 - hs[n, s] ** 2)
                d_W += np.outer(xs[n, s], at_sum)
                d_U += np.outer(hs[n, s - 1] if s else h0[n], at_sum)
                d_b += at_sum
                arriving = U @ at_sum
            if t < k:
                d_h0[n] += arriving
    return d_W, d_U, d_b, d_h0


def clip(gradients, largest):
    numbers = [float(v) for g in gradients for v in g.reshape(-1)]
    norm = math.sqrt(math.fsum(v * v for v in numbers))
    if norm <= largest:
        return norm, numbers
    return norm, [v / norm * largest for v in numbers]


SOLUTIONS = {
    f"recurrence.{function.__name__}": function
    for function in (rnn_step, rnn_forward, text_loss, rnn_backward, truncated_backward, clip)
}
