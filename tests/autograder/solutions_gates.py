"""The assignment on gates solved a second time, number by number, in plain Python and NumPy."""

import math

import numpy as np


def sigma(a):
    return 1 / (1 + math.exp(-a))


def affine(x, h, W, U, b, j):
    """Entry j of x W + h U + b for one text."""
    return float(sum(x * W[:, j]) + sum(h * U[:, j]) + b[j])


def arrays(*tensors):
    return tuple(t.numpy().astype(float) for t in tensors)


def leaky(news, gates, h0):
    news, gates, h0 = arrays(news, gates, h0)
    states, left = np.zeros_like(news), np.ones_like(news)
    for t in range(len(news)):
        for u in range(news.shape[1]):
            before = h0[u] if t == 0 else states[t - 1, u]
            states[t, u] = news[t, u] + gates[t, u] * (before - news[t, u])
            left[t, u] = math.prod(gates[: t + 1, u])
    return states, left


def ugrnn_step(x, h, W_R, U_R, b_R, W_G, U_G, b_G):
    x, h, W_R, U_R, b_R, W_G, U_G, b_G = arrays(x, h, W_R, U_R, b_R, W_G, U_G, b_G)
    new, G, R = (np.zeros_like(h) for _ in range(3))
    for n, j in np.ndindex(h.shape):
        G[n, j] = sigma(affine(x[n], h[n], W_G, U_G, b_G, j))
        R[n, j] = math.tanh(affine(x[n], h[n], W_R, U_R, b_R, j))
        new[n, j] = R[n, j] + G[n, j] * (h[n, j] - R[n, j])
    return new, G, R


def gru_step(x, h, W, U, b, d):
    x, h, W, U, b, d = arrays(x, h, W, U, b, d)
    new, r, z, candidate = (np.zeros_like(h) for _ in range(4))
    for n, j in np.ndindex(h.shape):
        r[n, j] = sigma(affine(x[n], h[n], W[0], U[0], b[0], j))
        z[n, j] = sigma(affine(x[n], h[n], W[1], U[1], b[1], j))
        from_past = float(h[n] @ U[2][:, j]) + d[j]
        candidate[n, j] = math.tanh(float(x[n] @ W[2][:, j]) + b[2, j] + r[n, j] * from_past)
        new[n, j] = z[n, j] * h[n, j] + (1 - z[n, j]) * candidate[n, j]
    return new, r, z, candidate


def lstm_step(x, h, c, W, U, b):
    x, h, c, W, U, b = arrays(x, h, c, W, U, b)
    new_h, new_c, gates = np.zeros_like(h), np.zeros_like(h), np.zeros((4, *h.shape))
    for n, j in np.ndindex(h.shape):
        for k, squash in enumerate((sigma, sigma, math.tanh, sigma)):
            gates[k, n, j] = squash(affine(x[n], h[n], W[k], U[k], b[k], j))
        i, f, g, o = gates[:, n, j]
        new_c[n, j] = f * c[n, j] + i * g
        new_h[n, j] = o * math.tanh(new_c[n, j])
    return new_h, new_c, gates


def lstm_backward(gates, c_before, d_h, d_c):
    """By central differences of ⟨d_h, h⟩ + ⟨d_c, c⟩ along each sum and the old memory."""
    gates, c_before, d_h, d_c = arrays(gates, c_before, d_h, d_c)
    found = np.zeros((5, *d_c.shape))
    for n, j in np.ndindex(d_c.shape):
        i, f, g, o = gates[:, n, j]
        slopes = (i * (1 - i), f * (1 - f), 1 - g * g, o * (1 - o), 1.0)

        def value(i, f, g, o, before, n=n, j=j):
            memory = f * before + i * g
            return d_h[n, j] * o * math.tanh(memory) + d_c[n, j] * memory

        at = [i, f, g, o, c_before[n, j]]
        for k in range(5):
            ends = []
            for step in (1e-6, -1e-6):
                moved = list(at)
                moved[k] += step
                ends.append(value(*moved))
            found[k, n, j] = (ends[0] - ends[1]) / 2e-6 * slopes[k]
    return tuple(found)


def jacobian_norms(hs, U):
    hs, U = arrays(hs, U)
    norms, vectors = [1.0], np.eye(len(U))  # rows: ∂h_T[a]/∂h_{T−d}
    for h in hs[:0:-1]:
        vectors = np.array([[sum(v * (1 - h * h) * U[b]) for b in range(len(U))] for v in vectors])
        norms.append(math.sqrt(np.linalg.eigvalsh(vectors @ vectors.T)[-1].clip(min=0)))
    return norms


SOLUTIONS = {
    f"gates.{function.__name__}": function
    for function in (leaky, ugrnn_step, gru_step, lstm_step, lstm_backward, jacobian_norms)
}
