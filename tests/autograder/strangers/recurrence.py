"""Recurrence, solved by people who had read the notebook and not the checks: right in odd ways, and wrong."""

import math

import numpy as np
import torch

# ---------------------------------------------------------------------------------------------- right, in odd ways


def _np(*tensors):
    return [np.asarray(t, dtype=float) for t in tensors]


class Step:
    """One matrix for both: [x, h, 1] times W above U above b."""

    def __call__(self, x, h, W, U, b):
        x, h, W, U, b = _np(x, h, W, U, b)
        return np.tanh(np.hstack([x, h, np.ones((len(x), 1))]) @ np.vstack([W, U, b]))


def step_unit_by_unit(x, h, W, U, b):
    return [
        [
            math.tanh(sum(float(row[i] * W[i, j]) for i in range(len(W))) + float(old @ U[:, j]) + float(b[j]))
            for j in range(len(b))
        ]
        for row, old in zip(x, h, strict=True)
    ]


def forward_text_by_text(xs, lengths, h0, W, U, b):
    """Each text for itself, and the last state repeated."""
    states = torch.empty(*xs.shape[:2], len(b), dtype=torch.float64)
    last = h0.double().clone()
    for n, length in enumerate(lengths.tolist()):
        for t in range(xs.shape[1]):
            if t < length:
                last[n] = torch.tanh(xs[n, t].double() @ W.double() + last[n] @ U.double() + b.double())
            states[n, t] = last[n]
    return states, last


def forward_by_arithmetic(xs, lengths, h0, W, U, b):
    """No where: h + alive · (new - h)."""
    h, states = h0, []
    for t, x in enumerate(xs.unbind(1)):
        h = h + (t < lengths).to(h.dtype).unsqueeze(1) * (torch.tanh(x @ W + h @ U + b) - h)
        states.append(h)
    return [torch.stack(states, 1), h]


def loss_over_a_flat_list(logits, targets, lengths):
    """Only what counts is ever looked at."""
    logits = logits.double()
    d_logits, loss = torch.zeros_like(logits), 0.0
    places = [(n, t) for n, length in enumerate(lengths.tolist()) for t in range(length)]
    for n, t in places:
        log_p = logits[n, t] - torch.logsumexp(logits[n, t], dim=0)
        loss -= float(log_p[targets[n, t]]) / len(places)
        d_logits[n, t] = log_p.exp() / len(places)
        d_logits[n, t, targets[n, t]] -= 1 / len(places)
    return loss, d_logits.numpy()


def loss_by_boolean_index(logits, targets, lengths):
    counts = torch.arange(logits.shape[1])[None] < lengths[:, None]
    log_p = logits[counts].log_softmax(-1)
    hot = torch.eye(logits.shape[-1], dtype=logits.dtype)[targets[counts]]
    d_logits = torch.zeros_like(logits)
    d_logits[counts] = (log_p.exp() - hot) / counts.sum()
    return -(log_p * hot).sum() / counts.sum(), d_logits


def backward_collected(xs, h0, hs, d_hs, U):
    """All d_a first, from last to first; then each gradient is one product over all times at once."""
    slopes, d_as, later = 1 - hs**2, [], 0.0
    for t in range(hs.shape[1])[::-1]:
        d_as.insert(0, (d_hs[:, t] + later) * slopes[:, t])
        later = d_as[0] @ U.T
    d_a = torch.stack(d_as, 1)
    before = torch.cat([h0[:, None], hs[:, :-1]], 1)
    return torch.einsum("nti,nth->ih", xs, d_a), torch.einsum("ntg,nth->gh", before, d_a), d_a.sum((0, 1)), later


def backward_by_recursion(xs, h0, hs, d_hs, U):
    """The last time is taken off, the rest is the same question with one time less."""
    xs, h0, hs, d_hs, U = _np(xs, h0, hs, d_hs, U)

    def rest(time, d_h):
        if time == 0:
            return np.zeros((xs.shape[2], len(U))), np.zeros_like(U), np.zeros(len(U)), d_h
        t = time - 1
        d_a = (d_hs[:, t] + d_h) * (1 - hs[:, t] ** 2)
        d_W, d_U, d_b, d_h0 = rest(t, d_a @ U.T)
        return d_W + xs[:, t].T @ d_a, d_U + (hs[:, t - 1] if t else h0).T @ d_a, d_b + d_a.sum(0), d_h0

    return rest(hs.shape[1], np.zeros_like(h0))


def truncated_by_loss(xs, h0, hs, d_hs, U, k):
    """Not by pieces but by losses: each goes back alone, as the picture has it."""
    time = hs.shape[1]
    before = torch.cat([h0[:, None], hs[:, :-1]], 1).double()
    d_W = torch.zeros(xs.shape[2], len(U), dtype=torch.float64)
    d_U, d_b = torch.zeros(len(U), len(U), dtype=torch.float64), torch.zeros(len(U), dtype=torch.float64)
    for loss in range(time):
        d_h = d_hs[:, loss].double()
        for t in range(loss, loss // k * k - 1, -1):
            d_a = d_h * (1 - hs[:, t].double() ** 2)
            d_W, d_U, d_b = d_W + xs[:, t].double().T @ d_a, d_U + before[:, t].T @ d_a, d_b + d_a.sum(0)
            d_h = d_a @ U.double().T
    return d_W, d_U, d_b


def truncated_by_pieces(xs, h0, hs, d_hs, U, k):
    parts = zip(*(p.split(k, dim=1) for p in (xs, hs, d_hs)), strict=True)
    pieces = []
    for x, h, d in parts:
        pieces.append(backward_collected(x, h0, h, d, U)[:3])
        h0 = h[:, -1]
    return [sum(p) for p in zip(*pieces, strict=True)]


def clip_in_python(gradients, largest):
    numbers = [float(v) for g in gradients for v in g.reshape(-1)]
    norm = math.hypot(*numbers)
    return norm, [v * largest / norm for v in numbers] if norm > largest else numbers


def clip_by_minimum(gradients, largest):
    """No if: the factor is never more than 1, and 0/0 does not occur."""
    long = np.concatenate([g.numpy().ravel() for g in gradients])
    norm = np.sqrt(np.square(long).sum())
    return norm, long * min(1.0, largest / max(norm, 1e-30))


RIGHT = [
    ("rnn_step", Step()),
    ("rnn_step", step_unit_by_unit),
    ("rnn_forward", forward_text_by_text),
    ("rnn_forward", forward_by_arithmetic),
    ("text_loss", loss_over_a_flat_list),
    ("text_loss", loss_by_boolean_index),
    ("rnn_backward", backward_collected),
    ("rnn_backward", backward_by_recursion),
    ("truncated_backward", truncated_by_loss),
    ("truncated_backward", truncated_by_pieces),
    ("clip", clip_in_python),
    ("clip", clip_by_minimum),
]

# ---------------------------------------------------------------------------------------------- wrong


def step_bias_twice(x, h, W, U, b):
    """A bias with the input and one with the state, as in PyTorch, but both are b."""
    return torch.tanh(x @ W + b + h @ U + b)


def step_state_times_itself(x, h, W, U, b):
    """* for @: with one unit the same."""
    return torch.tanh(x @ W + h * U.diagonal() + b)


def step_two_tanhs(x, h, W, U, b):
    return torch.tanh(x @ W + b) + torch.tanh(h @ U)


def step_columns(x, h, W, U, b):
    """As books with column vectors have it: right shapes where in = hidden."""
    return torch.tanh(x @ W.T + h @ U.T + b)


def step_bias_after(x, h, W, U, b):
    return torch.tanh(x @ W + h @ U) + b


def _scan(xs, lengths, h0, W, U, b, alive):
    h, states = h0, []
    for t in range(xs.shape[1]):
        h = torch.where(alive(t, lengths)[:, None], torch.tanh(xs[:, t] @ W + h @ U + b), h)
        states.append(h)
    return torch.stack(states, 1), h


def forward_one_step_longer(xs, lengths, h0, W, U, b):
    return _scan(xs, lengths, h0, W, U, b, lambda t, lengths: t <= lengths)


def forward_one_step_shorter(xs, lengths, h0, W, U, b):
    return _scan(xs, lengths, h0, W, U, b, lambda t, lengths: t < lengths - 1)


def forward_last_is_last_column_of_run(xs, lengths, h0, W, U, b):
    """States stay, but `last` is picked at length - 1, and -1 is the last one: wrong for empty texts."""
    states, _ = _scan(xs, lengths, h0, W, U, b, lambda t, lengths: t < lengths)
    states_free, _ = _scan(xs, lengths, h0, W, U, b, lambda t, lengths: t < lengths + 10**6)
    return states, states_free[range(len(xs)), lengths - 1]


def forward_zeros_for_padding(xs, lengths, h0, W, U, b):
    """Inputs of padding set to 0: the state goes on all the same."""
    masked = xs * (torch.arange(xs.shape[1]) < lengths[:, None])[..., None]
    return _scan(masked, lengths, h0, W, U, b, lambda t, lengths: t < lengths + 10**6)


def forward_time_first(xs, lengths, h0, W, U, b):
    """stack at dim 0 and a reshape, which mixes texts and times."""
    states, last = _scan(xs, lengths, h0, W, U, b, lambda t, lengths: t < lengths)
    return states.transpose(0, 1).reshape(states.shape), last


def forward_stops_all(xs, lengths, h0, W, U, b):
    """The shortest text ends them all."""
    return _scan(xs, lengths, h0, W, U, b, lambda t, lengths: (t < lengths.min()).expand(len(lengths)))


def forward_forgets_h0(xs, lengths, h0, W, U, b):
    return _scan(xs, lengths, torch.zeros_like(h0), W, U, b, lambda t, lengths: t < lengths)


def _places(logits, targets, lengths):
    log_p = torch.log_softmax(logits, -1)
    losses = -log_p.gather(-1, targets[..., None])[..., 0]
    d = log_p.exp()
    d = d - torch.nn.functional.one_hot(targets, logits.shape[-1])
    return losses, d, torch.arange(logits.shape[1]) < lengths[:, None]


def loss_mean_of_means(logits, targets, lengths):
    """A mean per text, then a mean of texts."""
    losses, d, counts = _places(logits, targets, lengths)
    per = lengths.clamp(min=1)
    losses, d = losses * counts, d * counts[..., None]
    return (losses.sum(1) / per).mean(), d / per[:, None, None] / len(lengths)


def loss_divided_by_the_table(logits, targets, lengths):
    losses, d, counts = _places(logits, targets, lengths)
    return (losses * counts).mean(), d * counts[..., None] / counts.numel()


def loss_gradient_with_padding(logits, targets, lengths):
    """The loss is masked; the gradient is not."""
    losses, d, counts = _places(logits, targets, lengths)
    return losses[counts].mean(), d / counts.sum()


def loss_padding_is_id_0(logits, targets, lengths):
    """Takes id 0 for padding, whatever the lengths say."""
    losses, d, _ = _places(logits, targets, lengths)
    counts = targets != 0
    return (losses * counts).sum() / counts.sum().clamp(min=1), d * counts[..., None] / counts.sum().clamp(min=1)


def loss_one_too_many(logits, targets, lengths):
    losses, d, _ = _places(logits, targets, lengths)
    counts = torch.arange(logits.shape[1]) <= lengths[:, None]
    return losses[counts].mean(), d * counts[..., None] / counts.sum()


def loss_log_of_softmax(logits, targets, lengths):
    """ln 0 when a target is far behind."""
    _, d, counts = _places(logits, targets, lengths)
    p = torch.softmax(logits, -1).gather(-1, targets[..., None])[..., 0]
    return -torch.log(p[counts]).mean(), d * counts[..., None] / counts.sum()


def loss_softmax_over_time(logits, targets, lengths):
    log_p = torch.log_softmax(logits, 1)
    _, _, counts = _places(logits, targets, lengths)
    d = log_p.exp() - torch.nn.functional.one_hot(targets, logits.shape[-1])
    losses = -log_p.gather(-1, targets[..., None])[..., 0]
    return losses[counts].mean(), d * counts[..., None] / counts.sum()


def loss_target_of_the_next(logits, targets, lengths):
    """Shifts the targets once more, though they are shifted already."""
    losses, d, counts = _places(logits, targets.roll(-1, 1), lengths)
    return losses[counts].mean(), d * counts[..., None] / counts.sum()


def _bptt(xs, h0, hs, d_hs, U, slope=lambda h: 1 - h**2, before=None, back=None, goes_on=lambda d_a, later: d_a):
    back = U.T if back is None else back
    before = torch.cat([h0[:, None], hs[:, :-1]], 1) if before is None else before
    d_W, d_U, d_b, later = torch.zeros(xs.shape[2], len(U)).to(U), torch.zeros_like(U), torch.zeros_like(U[0]), 0.0
    for t in reversed(range(hs.shape[1])):
        d_a = (d_hs[:, t] + later) * slope(hs[:, t])
        d_W, d_U, d_b = d_W + xs[:, t].T @ d_a, d_U + before[:, t].T @ d_a, d_b + d_a.sum(0)
        later = goes_on(d_a, d_hs[:, t] + later) @ back
    return d_W, d_U, d_b, later


def backward_no_transpose(xs, h0, hs, d_hs, U):
    return _bptt(xs, h0, hs, d_hs, U, back=U)


def backward_own_state(xs, h0, hs, d_hs, U):
    """h_t in the place of h_{t-1}."""
    return _bptt(xs, h0, hs, d_hs, U, before=hs)


def backward_zeros_before_the_first(xs, h0, hs, d_hs, U):
    """h_0 taken for zeros, which it mostly is."""
    return _bptt(xs, torch.zeros_like(h0), hs, d_hs, U)


def backward_slope_skipped(xs, h0, hs, d_hs, U):
    """What goes on to the step before has not been through the tanh."""
    return _bptt(xs, h0, hs, d_hs, U, goes_on=lambda d_a, d_h: d_h)


def backward_tanh_of_state(xs, h0, hs, d_hs, U):
    return _bptt(xs, h0, hs, d_hs, U, slope=lambda h: 1 - torch.tanh(h) ** 2)


def backward_first_to_last(xs, h0, hs, d_hs, U):
    """The loop in the forward direction."""
    d_W, d_U, d_b, later = torch.zeros(xs.shape[2], len(U)).to(U), torch.zeros_like(U), torch.zeros_like(U[0]), 0.0
    before = torch.cat([h0[:, None], hs[:, :-1]], 1)
    for t in range(hs.shape[1]):
        d_a = (d_hs[:, t] + later) * (1 - hs[:, t] ** 2)
        d_W, d_U, d_b = d_W + xs[:, t].T @ d_a, d_U + before[:, t].T @ d_a, d_b + d_a.sum(0)
        later = d_a @ U.T
    return d_W, d_U, d_b, later


def backward_wraps_around(xs, h0, hs, d_hs, U):
    """hs[:, t - 1] at t = 0 is the last state, and Python says nothing."""
    return _bptt(xs, h0, hs, d_hs, U, before=hs.roll(1, 1))


def backward_averages_the_batch(xs, h0, hs, d_hs, U):
    d_W, d_U, d_b, d_h0 = _bptt(xs, h0, hs, d_hs, U)
    return d_W / len(xs), d_U / len(xs), d_b / len(xs), d_h0


def truncated_restarts(xs, h0, hs, d_hs, U, k):
    """Every piece begins with h0 again."""
    parts = [_bptt(x, h0, h, d, U)[:3] for x, h, d in zip(*(p.split(k, 1) for p in (xs, hs, d_hs)), strict=True)]
    return tuple(map(sum, zip(*parts, strict=True)))


def truncated_drops_the_rest(xs, h0, hs, d_hs, U, k):
    """Only whole pieces; the text itself when it is shorter."""
    whole = hs.shape[1] // k * k or hs.shape[1]
    return truncated_by_pieces(xs[:, :whole], h0, hs[:, :whole], d_hs[:, :whole], U, k)


def truncated_only_last_piece(xs, h0, hs, d_hs, U, k):
    """The last k steps of the text, as if they were all."""
    start = max(hs.shape[1] - k, 0)
    return _bptt(xs[:, start:], hs[:, start - 1] if start else h0, hs[:, start:], d_hs[:, start:], U)[:3]


def truncated_window(xs, h0, hs, d_hs, U, k):
    """Each loss reaches k steps back, wherever the pieces begin."""
    sums = None
    for t in range(hs.shape[1]):
        start = max(t - k + 1, 0)
        d = torch.zeros_like(d_hs[:, start : t + 1])
        d[:, -1] = d_hs[:, t]
        part = _bptt(xs[:, start : t + 1], hs[:, start - 1] if start else h0, hs[:, start : t + 1], d, U)[:3]
        sums = part if sums is None else tuple(a + b for a, b in zip(sums, part, strict=True))
    return sums


def truncated_from_the_end(xs, h0, hs, d_hs, U, k):
    """Pieces counted from the end, so that the rest comes first."""
    ends = list(range(hs.shape[1], 0, -k))
    sums = None
    for end in ends:
        start = max(end - k, 0)
        piece = slice(start, end)
        part = _bptt(xs[:, piece], hs[:, start - 1] if start else h0, hs[:, piece], d_hs[:, piece], U)[:3]
        sums = part if sums is None else tuple(a + b for a, b in zip(sums, part, strict=True))
    return sums


def truncated_not_at_all(xs, h0, hs, d_hs, U, k):
    return _bptt(xs, h0, hs, d_hs, U)[:3]


def truncated_mean_of_pieces(xs, h0, hs, d_hs, U, k):
    return tuple(part / len(hs[0].split(k)) for part in truncated_by_pieces(xs, h0, hs, d_hs, U, k))


def clip_each_alone(gradients, largest):
    norms = [g.norm() for g in gradients]
    parts = [g.flatten() * (largest / n if n > largest else 1.0) for g, n in zip(gradients, norms, strict=True)]
    return torch.stack(norms).norm(), torch.cat(parts)


def clip_sum_of_norms(gradients, largest):
    long, norm = torch.cat([g.flatten() for g in gradients]), sum(g.norm() for g in gradients)
    return norm, long * largest / norm if norm > largest else long


def clip_always(gradients, largest):
    """Makes short gradients longer, and zeros to nan."""
    long = torch.cat([g.flatten() for g in gradients])
    return long.norm(), long * largest / long.norm()


def clip_squared(gradients, largest):
    long = torch.cat([g.flatten() for g in gradients])
    norm = (long**2).sum()
    return norm, long * largest / norm if norm > largest else long


def clip_values(gradients, largest):
    long = torch.cat([g.flatten() for g in gradients])
    return long.norm(), long.clamp(-largest, largest)


def clip_norm_after(gradients, largest):
    long = torch.cat([g.flatten() for g in gradients])
    long = long * largest / long.norm() if long.norm() > largest else long
    return long.norm(), long


def clip_mean_square(gradients, largest):
    long = torch.cat([g.flatten() for g in gradients])
    norm = (long**2).mean().sqrt()
    return norm, long * largest / norm if norm > largest else long


def clip_in_place(gradients, largest):
    """Right numbers; the caller's gradients are shortened, too."""
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    if norm > largest:
        for g in gradients:
            g *= largest / norm
    return norm, torch.cat([g.flatten() for g in gradients])


WRONG = [
    ("rnn_step", step_bias_twice, "bias-twice"),
    ("rnn_step", step_state_times_itself, None),
    ("rnn_step", step_two_tanhs, "tanh-of-the-parts"),
    ("rnn_step", step_columns, "u-transposed"),
    ("rnn_step", step_bias_after, "bias-after-the-tanh"),
    ("rnn_forward", forward_one_step_longer, "one-step-too-many"),
    ("rnn_forward", forward_one_step_shorter, "one-step-too-few"),
    ("rnn_forward", forward_last_is_last_column_of_run, None),
    ("rnn_forward", forward_zeros_for_padding, "padding-read"),
    ("rnn_forward", forward_time_first, "time-before-texts"),
    ("rnn_forward", forward_stops_all, None),
    ("rnn_forward", forward_forgets_h0, "start-ignored"),
    ("text_loss", loss_mean_of_means, "mean-of-means"),
    ("text_loss", loss_divided_by_the_table, "divided-by-all-places"),
    ("text_loss", loss_gradient_with_padding, "gradient-at-padding"),
    ("text_loss", loss_padding_is_id_0, None),
    ("text_loss", loss_one_too_many, "one-place-too-many"),
    ("text_loss", loss_log_of_softmax, "log-of-zero"),
    ("text_loss", loss_softmax_over_time, "softmax-over-time"),
    ("text_loss", loss_target_of_the_next, None),
    ("rnn_backward", backward_no_transpose, "u-not-transposed"),
    ("rnn_backward", backward_own_state, "state-of-the-same-time"),
    ("rnn_backward", backward_zeros_before_the_first, "start-taken-for-zeros"),
    ("rnn_backward", backward_slope_skipped, "tanh-skipped"),
    ("rnn_backward", backward_tanh_of_state, "tanh-twice"),
    ("rnn_backward", backward_first_to_last, "from-the-first-to-the-last"),
    ("rnn_backward", backward_wraps_around, "last-state-before-the-first"),
    ("rnn_backward", backward_averages_the_batch, "averaged-over-texts"),
    ("truncated_backward", truncated_restarts, "every-piece-from-h0"),
    ("truncated_backward", truncated_drops_the_rest, "rest-dropped"),
    ("truncated_backward", truncated_only_last_piece, "last-piece-only"),
    ("truncated_backward", truncated_window, "a-window-for-each-loss"),
    ("truncated_backward", truncated_from_the_end, "counted-from-the-end"),
    ("truncated_backward", truncated_not_at_all, "not-cut"),
    ("truncated_backward", truncated_mean_of_pieces, "mean-of-the-pieces"),
    ("clip", clip_each_alone, "each-tensor-by-its-own-norm"),
    ("clip", clip_sum_of_norms, "norms-added"),
    ("clip", clip_always, "always-divided"),
    ("clip", clip_squared, "square-root-forgotten"),
    ("clip", clip_values, "each-entry"),
    ("clip", clip_norm_after, "norm-after-clipping"),
    ("clip", clip_mean_square, "root-of-the-mean"),
    ("clip", clip_in_place, "in-place"),
]
