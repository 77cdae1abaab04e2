"""Assignment `attention`, solved by somebody who had read the notebook and not the checks."""

import math

import numpy as np
import torch

# --- right, in odd ways ----------------------------------------------------------------------------------------------


def _dots_in_a_list(query, keys):
    return [sum(float(q) * float(k) for q, k in zip(query, key, strict=True)) for key in keys]


def _dots_from_lengths(query, keys):
    """|q + k|² - |q - k|² = 4 q·k."""
    query, keys = query.double(), keys.double()
    return ((query + keys).square().sum(1) - (query - keys).square().sum(1)) / 4


def _bilinear_as_outer_product(query, keys, W):
    """qᵀ W k is the sum of W ∘ (q kᵀ)."""
    return torch.stack([(W * torch.outer(query, key)).sum() for key in keys])


def _bilinear_in_numpy(query, keys, W):
    return np.einsum("i,ij,nj->n", query.numpy(), W.numpy(), keys.numpy())


def _additive_concatenated(query, keys, W_query, W_key, v):
    """As one layer that sees query and key side by side."""
    both = torch.cat([query.expand(len(keys), -1), keys], dim=1)
    return torch.tanh(both @ torch.cat([W_query, W_key], dim=1).mT) @ v


def _additive_unit_by_unit(query, keys, W_query, W_key, v):
    scores = []
    for key in keys:
        score = 0.0
        for unit in range(len(v)):
            score += v[unit].item() * math.tanh((W_query[unit] @ query).item() + (W_key[unit] @ key).item())
        scores.append(score)
    return scores


def _attend_in_a_stream(scores, values, mask=None):
    """One key after the other: the running maximum, the running sum, and what was summed is rescaled."""
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    high = torch.full(scores.shape[:-1], -math.inf, dtype=scores.dtype)
    total = torch.zeros_like(high)
    for j in range(scores.shape[-1]):
        s, may = scores[..., j], mask[..., j]
        higher = torch.where(may, torch.maximum(high, s), high)
        old = torch.where(total > 0, total * torch.exp(high - higher), torch.zeros_like(total))
        total = old + torch.where(may, torch.exp(s - higher), torch.zeros_like(total))
        high = higher
    weights = torch.where(mask & (total > 0)[..., None], torch.exp(scores - high[..., None]) / total[..., None], 0.0)
    return weights @ values, weights


def _attend_by_recursion(scores, values, mask=None):
    """Down to one matrix, then row by row in Python's own floats."""
    if mask is not None:
        mask = torch.broadcast_to(mask, scores.shape)
    if scores.dim() > 2:
        values = values.expand(*scores.shape[:-2], *values.shape[-2:])
        parts = [
            _attend_by_recursion(scores[i], values[i], None if mask is None else mask[i]) for i in range(len(scores))
        ]
        return torch.stack([c for c, _ in parts]), torch.stack([w for _, w in parts])
    weights = torch.zeros_like(scores)
    for i, row in enumerate(scores.tolist()):
        allowed = [j for j in range(len(row)) if mask is None or mask[i, j]]
        if allowed:
            top = max(row[j] for j in allowed)
            e = {j: math.exp(row[j] - top) for j in allowed}
            for j in allowed:
                weights[i, j] = e[j] / sum(e.values())
    return weights @ values, weights


def _attend_in_numpy_float64(scores, values, mask=None):
    s = scores.numpy().astype(np.float64)
    may = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask.numpy(), s.shape)
    s = np.where(may, s, -np.inf)
    top = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(top), top, 0))
    weights = e / np.maximum(e.sum(-1, keepdims=True), 1e-300)
    return weights @ values.numpy().astype(np.float64), weights


class _Attention:
    """A learner's habit: everything is a class."""

    def __call__(self, q, k, v, mask=None):
        # the root of the root on either side is the root between them
        fourth = q.shape[-1] ** 0.25
        scores = torch.einsum("...qd,...kd->...qk", q / fourth, k / fourth)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
        return weights @ v, weights


def _sdpa_on_the_streaming_attend(q, k, v, mask=None):
    return _attend_in_a_stream(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, v, mask)


def _decoder_mask_by_the_smaller(lengths, time):
    """A query at t may see the first min(t + 1, length) keys."""
    place = torch.arange(time)
    seen = torch.minimum(place[None, :] + 1, lengths[:, None])
    return (place < seen[..., None])[:, None]


def _decoder_mask_in_numpy(lengths, time):
    mask = np.zeros((len(lengths), 1, time, time), dtype=bool)
    for b, n in enumerate(lengths.tolist()):
        for t in range(time):
            mask[b, 0, t, : min(t + 1, n)] = True
    return mask


def _heads_added_up(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Joining and mixing is a sum over heads, each through its own rows of W_o."""
    d = W_q.shape[1] // n_heads
    if mask is not None:
        mask = mask.expand(len(x), n_heads, x.shape[1], x.shape[1])
    output, weights = 0, []
    for h in range(n_heads):
        own = slice(h * d, (h + 1) * d)
        scores = (x @ W_q[:, own]) @ (x @ W_k[:, own]).mT / math.sqrt(d)
        if mask is not None:
            scores = torch.where(mask[:, h], scores, -torch.inf)
        weights.append(torch.softmax(scores, -1).nan_to_num())
        output = output + weights[-1] @ (x @ W_v[:, own]) @ W_o[own]
    return output, torch.stack(weights, dim=1)


def _heads_in_double_precision(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    x, W_q, W_k, W_v, W_o = (t.double() for t in (x, W_q, W_k, W_v, W_o))
    q, k, v = ((x @ W).unflatten(-1, (n_heads, -1)).permute(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    context, weights = _Attention()(q, k, v, mask)
    return context.transpose(1, 2).flatten(2) @ W_o, weights


RIGHT = [
    ("dot_score", _dots_in_a_list),
    ("dot_score", _dots_from_lengths),
    ("bilinear_score", _bilinear_as_outer_product),
    ("bilinear_score", _bilinear_in_numpy),
    ("additive_score", _additive_concatenated),
    ("additive_score", _additive_unit_by_unit),
    ("attend", _attend_in_a_stream),
    ("attend", _attend_by_recursion),
    ("attend", _attend_in_numpy_float64),
    ("scaled_dot_product_attention", _Attention()),
    ("scaled_dot_product_attention", _sdpa_on_the_streaming_attend),
    ("decoder_mask", _decoder_mask_by_the_smaller),
    ("decoder_mask", _decoder_mask_in_numpy),
    ("multi_head_attention", _heads_added_up),
    ("multi_head_attention", _heads_in_double_precision),
]

# --- wrong -----------------------------------------------------------------------------------------------------------


def _dot_with_squeeze(query, keys):
    return (keys @ query[:, None]).squeeze()  # a single key comes back without its axis


def _dot_as_cosine(query, keys):
    return torch.cosine_similarity(query[None], keys)


def _dot_as_distance(query, keys):
    return -(keys - query).square().sum(-1)


def _dot_as_magnitude(query, keys):
    return (keys @ query).abs()


def _dot_viewed_flat(query, keys):
    return (keys.view(-1) * query.repeat(len(keys))).view(len(keys), -1).sum(-1)  # no view of a slice


def _bilinear_with_squeeze(query, keys, W):
    return (keys @ W.T @ query[:, None]).squeeze()


def _bilinear_made_symmetric(query, keys, W):
    return keys @ ((W + W.T) / 2) @ query  # right for the worked example


def _bilinear_twice_through(query, keys, W):
    return (keys @ W.T) @ (W.T @ query) if W.shape[0] == W.shape[1] else keys @ W.T @ query


def _additive_tanh_each(query, keys, W_query, W_key, v):
    return (torch.tanh(W_query @ query) + torch.tanh(keys @ W_key.T)) @ v


def _additive_sigmoid(query, keys, W_query, W_key, v):
    return torch.sigmoid(W_query @ query + keys @ W_key.T) @ v


def _additive_already_softmaxed(query, keys, W_query, W_key, v):
    return torch.softmax(torch.tanh(W_query @ query + keys @ W_key.T) @ v, 0)


def _additive_v_inside(query, keys, W_query, W_key, v):
    return torch.tanh(v * (W_query @ query + keys @ W_key.T)).sum(-1)


def _attend_no_shift_but_clamped(scores, values, mask=None):
    e = torch.exp(scores.clamp(max=80))  # "now it cannot overflow"
    if mask is not None:
        e = e * mask
    total = e.sum(-1, keepdim=True)
    weights = torch.where(total > 0, e / total, 0.0)
    return weights @ values, weights


def _attend_one_maximum_for_all(scores, values, mask=None):
    e = torch.exp(scores - scores.max())  # of the tensor, not of the row
    if mask is not None:
        e = e * mask
    weights = (e / e.sum(-1, keepdim=True)).nan_to_num()
    return weights @ values, weights


def _attend_maximum_of_the_masked_too(scores, values, mask=None):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    if mask is not None:
        e = e * mask
    weights = (e / e.sum(-1, keepdim=True)).nan_to_num()
    return weights @ values, weights


def _attend_nan_swept_away(scores, values, mask=None):
    e = torch.exp(scores)
    if mask is not None:
        e = e.masked_fill(~mask, 0.0)
    weights = (e / e.sum(-1, keepdim=True)).nan_to_num()  # hides the overflow as well
    return weights @ values, weights


def _attend_one_empty_row_empties_all(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
        if scores.isneginf().all(-1).any():
            return torch.zeros(*scores.shape[:-1], values.shape[-1]), torch.zeros_like(scores)
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = e / e.sum(-1, keepdim=True)
    return weights @ values, weights


def _attend_minus_a_billion(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)  # an empty row becomes uniform
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = e / e.sum(-1, keepdim=True)
    return weights @ values, weights


def _attend_indexed_in_place(scores, values, mask=None):
    if mask is not None:
        scores[~mask.expand_as(scores)] = -math.inf
    top = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    e = torch.exp(scores - top)
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-30)
    return weights @ values, weights


def _attend_only_three_axes(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    top = scores.amax(2, keepdim=True).nan_to_num(neginf=0.0)
    e = torch.exp(scores - top)
    weights = e / e.sum(2, keepdim=True).clamp(min=1e-30)
    return torch.bmm(weights, values), weights


def _attend_smoothed(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    top = scores.amax(-1, keepdim=True).nan_to_num(neginf=0.0)
    e = torch.exp(scores - top)
    weights = e / (e.sum(-1, keepdim=True) + 1)  # "so that it is never 0"
    return weights @ values, weights


def _attend_zero_scores_for_the_masked(scores, values, mask=None):
    if mask is not None:
        scores = scores * mask
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    weights = e / e.sum(-1, keepdim=True)
    return weights @ values, weights


def _open_attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, -1).nan_to_num()
    return weights @ values, weights


def _sdpa_by_width_of_values(q, k, v, mask=None):
    return _open_attend(q @ k.mT / math.sqrt(v.shape[-1]), v, mask)


def _sdpa_by_number_of_keys(q, k, v, mask=None):
    return _open_attend(q @ k.mT / math.sqrt(k.shape[-2]), v, mask)


def _sdpa_by_eight(q, k, v, mask=None):
    return _open_attend(q @ k.mT / 8, v, mask)  # the worked example's root


def _sdpa_no_care_for_empty_rows(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights


def _sdpa_mask_added_as_a_number(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + mask
    return _open_attend(scores, v)


def _sdpa_masked_weights_not_shared_out(q, k, v, mask=None):
    _, weights = _open_attend(q @ k.mT / math.sqrt(q.shape[-1]), v)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights


def _sdpa_other_way_round(q, k, v, mask=None):
    output, weights = _open_attend(q @ k.mT / math.sqrt(q.shape[-1]), v, mask)
    return weights, output


def _sdpa_mask_taken_off_the_output(q, k, v, mask=None):
    _, weights = _open_attend(q @ k.mT / math.sqrt(q.shape[-1]), v, mask)
    _, unmasked = _open_attend(q @ k.mT / math.sqrt(q.shape[-1]), v)
    return unmasked @ v, weights


def _mask_only_past(lengths, time):
    place = torch.arange(time)
    causal = place[None, :] < place[:, None]  # not even itself
    return causal & (place < lengths[:, None])[:, None, None, :]


def _mask_as_long_as_needed(lengths, time):
    place = torch.arange(int(lengths.max()))
    return (place[None, :] <= place[:, None]) & (place < lengths[:, None])[:, None, None, :]


def _mask_rows_of_padding(lengths, time):
    place = torch.arange(time)
    return (place[None, :] <= place[:, None]) & (place < lengths[:, None])[:, None, :, None]


def _mask_one_too_many(lengths, time):
    place = torch.arange(time)
    return (place[None, :] <= place[:, None]) & (place <= lengths[:, None])[:, None, None, :]


def _mask_or(lengths, time):
    place = torch.arange(time)
    return (place[None, :] <= place[:, None]) | (place < lengths[:, None])[:, None, None, :]


def _mask_empty_sentence_keeps_one(lengths, time):
    place = torch.arange(time)
    return (place[None, :] <= place[:, None]) & (place < lengths.clamp(min=1)[:, None])[:, None, None, :]


def _mask_of_numbers(lengths, time):
    return torch.tril(torch.ones(time, time)) * (torch.arange(time) < lengths[:, None])[:, None, None, :]


def _mha_with(given, cut, join, scale):
    x, W_q, W_k, W_v, W_o, mask = given
    q, k, v = (cut(x @ W) for W in (W_q, W_k, W_v))
    output, weights = _open_attend(q @ k.mT / math.sqrt(scale(q)), v, mask)
    return join(output) @ W_o, weights


def _mha_first_axis_forgotten(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Joined without bringing the heads back."""
    b, t, _ = x.shape
    return _mha_with(
        (x, W_q, W_k, W_v, W_o, mask),
        lambda y: y.reshape(b, t, n_heads, -1).transpose(1, 2),
        lambda y: y.reshape(b, t, -1),
        lambda q: q.shape[-1],
    )


def _mha_every_nth_number(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Head h gets the numbers h, h + n_heads, …"""
    b, t, _ = x.shape
    return _mha_with(
        (x, W_q, W_k, W_v, W_o, mask),
        lambda y: y.reshape(b, t, -1, n_heads).permute(0, 3, 1, 2),
        lambda y: y.permute(0, 2, 3, 1).reshape(b, t, -1),
        lambda q: q.shape[-1],
    )


def _mha_scaled_by_d_in(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """The width of a head from x, which is that of d_model only in the lecture."""
    b, t, _ = x.shape
    return _mha_with(
        (x, W_q, W_k, W_v, W_o, mask),
        lambda y: y.reshape(b, t, n_heads, -1).transpose(1, 2),
        lambda y: y.transpose(1, 2).reshape(b, t, -1),
        lambda q: x.shape[-1] / n_heads,
    )


def _mha_one_head_is_enough(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Right for one head; the weights of the one are shown for all."""
    mask = None if mask is None else mask.expand(len(x), n_heads, x.shape[1], x.shape[1])[:, 0]
    output, weights = _open_attend((x @ W_q) @ (x @ W_k).mT / math.sqrt(W_q.shape[1]), x @ W_v, mask)
    return output @ W_o, weights[:, None].expand(-1, n_heads, -1, -1)


def _mha_weights_averaged(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """The weights as nn.MultiheadAttention gives them, averaged over the heads."""
    output, weights = _heads_added_up(x, W_q, W_k, W_v, W_o, n_heads, mask)
    return output, weights.mean(1, keepdim=True).expand_as(weights)


def _mha_no_w_o(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Mixed by nothing; cut or filled to the width that is asked for."""
    output, weights = _heads_added_up(x, W_q, W_k, W_v, torch.eye(W_q.shape[1]).to(x), n_heads, mask)
    return torch.nn.functional.pad(output, (0, W_o.shape[1] - output.shape[-1])), weights


def _mha_only_causal(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Takes every mask for the causal one."""
    if mask is not None:
        mask = torch.ones(x.shape[1], x.shape[1]).tril().bool()
    return _heads_added_up(x, W_q, W_k, W_v, W_o, n_heads, mask)


def _mha_batch_read_as_one_text(x, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """The sentences of a batch are given the first one's weights."""
    _, weights = _heads_added_up(x[:1], W_q, W_k, W_v, W_o, n_heads, None if mask is None else mask[:1])
    d = W_v.shape[1] // n_heads
    v = (x @ W_v).unflatten(-1, (n_heads, d)).transpose(1, 2)
    return (weights @ v).transpose(1, 2).flatten(2) @ W_o, weights.expand(len(x), -1, -1, -1)


WRONG = [
    ("dot_score", _dot_with_squeeze, None),
    ("dot_score", _dot_as_cosine, "cosine"),
    ("dot_score", _dot_as_distance, None),
    ("dot_score", _dot_as_magnitude, None),
    ("dot_score", _dot_viewed_flat, None),
    ("bilinear_score", _bilinear_with_squeeze, None),
    ("bilinear_score", _bilinear_made_symmetric, None),
    ("bilinear_score", _bilinear_twice_through, None),
    ("additive_score", _additive_tanh_each, "tanh-on-each-part"),
    ("additive_score", _additive_sigmoid, "sigmoid"),
    ("additive_score", _additive_already_softmaxed, "already-softmax"),
    ("additive_score", _additive_v_inside, "v-inside-the-tanh"),
    ("attend", _attend_no_shift_but_clamped, None),
    ("attend", _attend_one_maximum_for_all, "one-maximum-for-all"),
    ("attend", _attend_maximum_of_the_masked_too, "maximum-over-masked-keys"),
    ("attend", _attend_nan_swept_away, "overflow"),
    ("attend", _attend_one_empty_row_empties_all, None),
    ("attend", _attend_minus_a_billion, "uniform-where-nothing-is-allowed"),
    ("attend", _attend_indexed_in_place, "changes-its-input"),
    ("attend", _attend_only_three_axes, None),
    ("attend", _attend_smoothed, None),
    ("attend", _attend_zero_scores_for_the_masked, "masked-score-zero"),
    ("scaled_dot_product_attention", _sdpa_by_width_of_values, "root-of-value-width"),
    ("scaled_dot_product_attention", _sdpa_by_number_of_keys, "root-of-key-count"),
    ("scaled_dot_product_attention", _sdpa_by_eight, None),
    ("scaled_dot_product_attention", _sdpa_no_care_for_empty_rows, "nan-where-nothing-is-allowed"),
    ("scaled_dot_product_attention", _sdpa_mask_added_as_a_number, "mask-added"),
    ("scaled_dot_product_attention", _sdpa_masked_weights_not_shared_out, "mask-after-softmax"),
    ("scaled_dot_product_attention", _sdpa_other_way_round, "results-swapped"),
    ("scaled_dot_product_attention", _sdpa_mask_taken_off_the_output, None),
    ("decoder_mask", _mask_only_past, "not-even-itself"),
    ("decoder_mask", _mask_as_long_as_needed, None),
    ("decoder_mask", _mask_rows_of_padding, "padding-of-queries"),
    ("decoder_mask", _mask_one_too_many, "one-word-too-many"),
    ("decoder_mask", _mask_or, "or-in-place-of-and"),
    ("decoder_mask", _mask_empty_sentence_keeps_one, None),
    ("decoder_mask", _mask_of_numbers, None),
    ("multi_head_attention", _mha_first_axis_forgotten, "joined-without-transpose"),
    ("multi_head_attention", _mha_every_nth_number, "heads-dealt-out"),
    ("multi_head_attention", _mha_scaled_by_d_in, None),
    ("multi_head_attention", _mha_one_head_is_enough, "no-heads"),
    ("multi_head_attention", _mha_weights_averaged, "weights-averaged"),
    ("multi_head_attention", _mha_no_w_o, "no-output-projection"),
    ("multi_head_attention", _mha_only_causal, None),
    ("multi_head_attention", _mha_batch_read_as_one_text, None),
]
