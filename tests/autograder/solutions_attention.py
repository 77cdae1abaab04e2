"""The assignment on attention solved a second time, in NumPy and loops, by the equations and not by the reference."""

import math

import numpy as np
import torch


def dot_score(query, keys):
    return torch.tensor([sum(float(a) * float(b) for a, b in zip(query, key, strict=True)) for key in keys])


def bilinear_score(query, keys, W):
    return np.einsum("a,ab,nb->n", query.numpy(), W.numpy(), keys.numpy())


def additive_score(query, keys, W_query, W_key, v):
    scores = []
    for key in keys.numpy():
        hidden = np.tanh(W_query.numpy() @ query.numpy() + W_key.numpy() @ key)
        scores.append(float(np.dot(v.numpy(), hidden)))
    return scores


def attend(scores, values, mask=None):
    shape = tuple(scores.shape)
    flat_scores = scores.numpy().astype(float).reshape(-1, *shape[-2:])
    flat_values = values.numpy().astype(float).reshape(-1, *values.shape[-2:])
    flat_mask = (np.ones(shape, bool) if mask is None else np.broadcast_to(mask.numpy(), shape)).reshape(
        flat_scores.shape
    )
    weights = np.zeros_like(flat_scores)
    context = np.zeros((*flat_scores.shape[:2], values.shape[-1]))
    for b, i in np.ndindex(*flat_scores.shape[:2]):
        allowed = [j for j in range(shape[-1]) if flat_mask[b, i, j]]
        if not allowed:
            continue
        top = max(flat_scores[b, i, j] for j in allowed)
        total = sum(math.exp(flat_scores[b, i, j] - top) for j in allowed)
        for j in allowed:
            weights[b, i, j] = math.exp(flat_scores[b, i, j] - top) / total
            context[b, i] += weights[b, i, j] * flat_values[b, j]
    return context.reshape(*shape[:-1], -1), weights.reshape(shape)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k).div(k.size(-1) ** 0.5)
    return attend(scores, v, mask)


def decoder_mask(lengths, time):
    made = [[[[u <= t and u < n for u in range(time)] for t in range(time)]] for n in lengths.tolist()]
    return torch.tensor(made).reshape(len(lengths), 1, time, time)


def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    width = W_q.shape[1] // n_heads
    full = (len(x), n_heads, x.shape[1], x.shape[1])
    allowed = torch.ones(full, dtype=torch.bool) if mask is None else mask.expand(full)
    output, weights = [], []
    for b, sentence in enumerate(x):
        parts, seen = [], []
        for h in range(n_heads):
            columns = slice(h * width, (h + 1) * width)
            q, k, v = sentence @ W_q[:, columns], sentence @ W_k[:, columns], sentence @ W_v[:, columns]
            context, alpha = attend(q @ k.T / width**0.5, v, allowed[b, h])
            parts.append(context)
            seen.append(alpha)
        output.append(np.concatenate(parts, axis=-1) @ W_o.numpy())
        weights.append(seen)
    return np.array(output), np.array(weights)


SOLUTIONS = {
    f"attention.{function.__name__}": function
    for function in (
        dot_score,
        bilinear_score,
        additive_score,
        attend,
        scaled_dot_product_attention,
        decoder_mask,
        multi_head_attention,
    )
}
