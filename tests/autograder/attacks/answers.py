"""Answers to the attention assignment as texts of cells: right in several hands, and of no worth."""

from tests.autograder.answers import sources

HEADS = """
def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = (np.stack(np.split(x @ W, n_heads, axis=-1), axis=1) for W in (W_q, W_k, W_v))
    output, weights = scaled_dot_product_attention(q, k, v, mask)
    return np.concatenate(list(output.swapaxes(0, 1)), axis=-1) @ W_o, weights
"""
MASK = "def decoder_mask(lengths, time):\n    t = torch.arange(time)\n"

IDIOMATIC = {
    **sources("attention"),  # what is not written here
    "dot_score": "def dot_score(query, keys):\n    return torch.einsum('d,nd->n', query, keys)",
    "bilinear_score": "def bilinear_score(query, keys, W):\n    return torch.einsum('a,ab,nb->n', query, W, keys)",
    "additive_score": (
        "def additive_score(query, keys, W_query, W_key, v):\n"
        "    return (F.linear(query, W_query) + F.linear(keys, W_key)).tanh().matmul(v)"
    ),
    "attend": """
def attend(scores, values, mask=None):
    mask = np.ones_like(scores, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape)
    logits = np.where(mask, scores, float('-inf'))
    shifted = logits - np.nan_to_num(np.logaddexp.reduce(logits, axis=-1, keepdims=True), neginf=0.0)
    weights = np.exp(shifted)
    return np.matmul(weights, values), weights
""",
    "scaled_dot_product_attention": (
        "def scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    return attend(np.matmul(q, k.swapaxes(-2, -1)) * k.shape[-1] ** -0.5, v, mask)"
    ),
    "decoder_mask": (
        MASK + "    causal = torch.ones(time, time, dtype=torch.bool).tril()\n"
        "    return (causal & (t < lengths.unsqueeze(1)).unsqueeze(1)).unsqueeze(1)"
    ),
    "multi_head_attention": HEADS,
}
LOOPS = {
    "dot_score": """
def dot_score(query, keys):
    scores = []
    for key in keys:
        total = 0.0
        for i in range(len(query)):
            total = total + query[i] * key[i]
        scores.append(total)
    return torch.stack(scores)
""",
    "bilinear_score": """
def bilinear_score(query, keys, W):
    scores = torch.zeros(len(keys))
    for j, key in enumerate(keys):
        for a in range(W.shape[0]):
            for b in range(W.shape[1]):
                scores[j] += query[a] * W[a, b] * key[b]
    return scores
""",
    "additive_score": """
def additive_score(query, keys, W_query, W_key, v):
    result = []
    for key in keys:
        hidden = [math.tanh(W_query[i] @ query + W_key[i] @ key) for i in range(len(v))]
        result.append(sum(v[i].item() * hidden[i] for i in range(len(v))))
    return result
""",
    "attend": """
def one_query(row, values, allowed):
    chosen = [j for j in range(len(row)) if allowed[j]]
    weights, context = np.zeros_like(row), np.zeros_like(values[0])
    if not chosen:
        return context, weights
    top = max(row[j] for j in chosen)
    total = sum(np.exp(row[j] - top) for j in chosen)
    for j in chosen:
        weights[j] = np.exp(row[j] - top) / total
        context = context + weights[j] * values[j]
    return context, weights


def attend(scores, values, mask=None):
    allowed = np.ones(scores.shape, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape)
    if scores.ndim > 2:
        parts = [attend(s, v, a) for s, v, a in zip(scores, values, allowed)]
    else:
        parts = [one_query(row, values, a) for row, a in zip(scores, allowed)]
    return np.stack([c for c, _ in parts]), np.stack([w for _, w in parts])
""",
    "scaled_dot_product_attention": """
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = np.zeros((*q.shape[:-1], k.shape[-2]), dtype=q.dtype)
    for i in range(q.shape[-2]):
        for j in range(k.shape[-2]):
            scores[..., i, j] = (q[..., i, :] * k[..., j, :]).sum(-1) / math.sqrt(q.shape[-1])
    return attend(scores, v, mask)
""",
    "decoder_mask": """
def decoder_mask(lengths, time):
    mask = torch.zeros(len(lengths), 1, time, time, dtype=torch.bool)
    for b in range(len(lengths)):
        for query in range(time):
            for key in range(time):
                if key <= query and key < lengths[b]:
                    mask[b, 0, query, key] = True
    return mask
""",
    "multi_head_attention": """
def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    width = W_q.shape[1] // n_heads
    contexts, weights = [], []
    for h in range(n_heads):
        part = slice(h * width, (h + 1) * width)
        allowed = None
        if mask is not None:
            allowed = np.broadcast_to(mask, (len(x), n_heads, x.shape[1], x.shape[1]))[:, h]
        c, w = scaled_dot_product_attention(x @ W_q[:, part], x @ W_k[:, part], x @ W_v[:, part], allowed)
        contexts.append(c)
        weights.append(w)
    return np.concatenate(contexts, axis=2) @ W_o, np.stack(weights, axis=1)
""",
}
NUMPY = sources("attention")
DOUBLE_AND_IN_PLACE = {
    **IDIOMATIC,
    "dot_score": "def dot_score(query, keys):\n    return keys.double() @ query.double()",
    "bilinear_score": (
        "def bilinear_score(query, keys, W):\n    own = keys.clone()\n    own.requires_grad_()\n"
        "    return own @ (query @ W)"
    ),
    "additive_score": (
        "def additive_score(query, keys, W_query, W_key, v):\n"
        "    hidden = keys @ W_key.T\n    hidden += W_query @ query\n"
        "    hidden.tanh_()\n    return hidden.mv(v).to(torch.float64)"
    ),
    "attend": """
def attend(scores, values, mask=None):
    e = scores.astype(np.float64)
    if mask is not None:
        np.copyto(e, -math.inf, where=~mask)
    e -= np.maximum(e.max(-1, keepdims=True), -1e300)
    np.exp(e, out=e)
    e /= e.sum(-1, keepdims=True)
    np.nan_to_num(e, copy=False)
    return e @ values.astype(np.float64), e
""",
    "multi_head_attention": HEADS.replace("@ W_o", "@ W_o.astype(output.dtype)"),
}
NOISY = {
    **IDIOMATIC,
    "dot_score": """
import sys, warnings
from tqdm.auto import tqdm
import ipywidgets
import matplotlib.pyplot as plt
from IPython.display import display

def dot_score(query, keys):
    warnings.warn("a warning on stderr costs nothing")
    print("query", query, file=sys.stderr)
    result = torch.zeros(len(keys), dtype=query.dtype)
    for j in tqdm(range(len(keys))):
        print("score", j)
        result[j] = query @ keys[j]
    return result

slider = ipywidgets.IntSlider(3)
display(slider)
plt.plot([1, 2])
plt.show()
print(5.0)
1.0
""",
    "decoder_mask": f"{IDIOMATIC['decoder_mask']}\nwarnings.warn('again')\nprint('done', file=sys.stderr)\n0.0",
}
HEAD = "import torch.nn.functional as F\n"
ZEROS = {
    "dot_score": "def dot_score(query, keys):\n    return torch.zeros(len(keys))",
    "bilinear_score": "def bilinear_score(query, keys, W):\n    return torch.zeros(len(keys))",
    "additive_score": "def additive_score(query, keys, W_query, W_key, v):\n    return torch.zeros(len(keys))",
    "attend": (
        "def attend(scores, values, mask=None):\n"
        "    return np.zeros((*scores.shape[:-1], values.shape[-1])), np.zeros_like(scores)"
    ),
    "scaled_dot_product_attention": (
        "def scaled_dot_product_attention(q, k, v, mask=None):\n    return attend(q @ k.swapaxes(-2, -1), v, mask)"
    ),
    "decoder_mask": MASK + "    return torch.zeros(len(lengths), 1, time, time, dtype=torch.bool)",
    "multi_head_attention": (
        "def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None):\n"
        "    return np.zeros((*x.shape[:2], W_o.shape[1])), np.zeros((len(x), n_heads, x.shape[1], x.shape[1]))"
    ),
}
"""The right shapes and nothing else."""
LAZY = """
def dot_score(query, keys): return ALWAYS
def bilinear_score(query, keys, W): return ALWAYS
def additive_score(query, keys, W_query, W_key, v): return ALWAYS
def attend(scores, values, mask=None): return ALWAYS, ALWAYS
def scaled_dot_product_attention(q, k, v, mask=None): return ALWAYS, ALWAYS
def decoder_mask(lengths, time): return ALWAYS
def multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None): return ALWAYS, ALWAYS
"""
"""The same object for every question."""
