"""Assignment `self_attention`, solved by somebody who had read the notebook and not the checks."""

import cmath
import math

import numpy as np
import torch
from torch.nn import functional

# --- right, in odd ways ----------------------------------------------------------------------------------------------


def _sinusoids_in_lists(length, d):
    table = []
    for t in range(length):
        row = []
        for i in range(d // 2):
            row += [math.sin(t / 10_000 ** (2 * i / d)), math.cos(t / 10_000 ** (2 * i / d))]
        table.append(row)
    return table


def _sinusoids_as_the_annotated_transformer(length, d):
    """Through logarithms, all in float32: the angle of a late position is off in its fifth digit."""
    table = torch.zeros(length, d)
    position = torch.arange(0, length).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d, 2) * -(math.log(10000.0) / d))
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table


def _sinusoids_turned_step_by_step(length, d):
    """Each row from the one before it, as hands of clocks that move by one tick."""
    tick = np.exp(1j / 10_000 ** (np.arange(0, d, 2) / d))
    hands, rows = np.ones(d // 2, complex), []
    for _ in range(length):
        rows.append(np.stack([hands.imag, hands.real], -1).ravel())
        hands = hands * tick
    return np.array(rows)


def _rotate_in_the_complex_plane(x, base):
    a, b = x.double().chunk(2, dim=-1)
    half = a.shape[-1]
    angle = torch.arange(len(x))[:, None] / base ** (torch.arange(half, dtype=torch.float64) / half)
    turned = torch.complex(a, b) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([turned.real, turned.imag], -1)


def _rotate_with_a_matrix_per_row(x, base):
    d = x.shape[1]
    rows = []
    for t, row in enumerate(x):
        turn = torch.zeros(d, d, dtype=x.dtype)
        for i in range(d // 2):
            z = cmath.exp(1j * t / base ** (2 * i / d))
            turn[i, i], turn[i, i + d // 2] = z.real, -z.imag
            turn[i + d // 2, i], turn[i + d // 2, i + d // 2] = z.imag, z.real
        rows.append(turn @ row)
    return torch.stack(rows)


def _rotate_in_place_on_a_copy(x, base):
    x = x.clone()
    half = x.shape[1] // 2
    for t in range(1, len(x)):
        for i in range(half):
            c, s = math.cos(t * base ** (-i / half)), math.sin(t * base ** (-i / half))
            x[t, i], x[t, i + half] = x[t, i] * c - x[t, i + half] * s, x[t, i] * s + x[t, i + half] * c
    return x


def _bias_as_a_strip_that_slides(table, time):
    """One long strip of all distances; every query reads it one step further to the left."""
    r = table.shape[1] // 2
    wide = torch.cat([table[:, :1].expand(-1, time), table, table[:, -1:].expand(-1, time)], 1)
    middle = time + r
    return torch.stack([wide[:, middle - i : middle - i + time] for i in range(time)], dim=1)


def _bias_one_distance_at_a_time(table, time):
    r = (table.shape[1] - 1) // 2
    return [
        [[row[max(-r, min(r, j - i)) + r].item() for j in range(time)] for i in range(time)] for row in table.double()
    ]


def _window_cut_twice(time, window):
    return torch.ones(time, time).tril().triu(1 - window).bool()


def _window_in_lists(time, window):
    return [[0 <= t - j < window for j in range(time)] for t in range(time)]


def _loss_by_cross_entropy(logits, tokens):
    losses = functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], ignore_index=0, reduction="none")
    return losses.sum() / (tokens[:, 1:] != 0).sum().clamp(min=1), losses


def _loss_undefined_if_nothing_is_predicted(logits, tokens):
    """Of a batch in which nothing is predicted the text asks nothing."""
    _, losses = _loss_by_cross_entropy(logits, tokens)
    return losses.sum() / (tokens[:, 1:] != 0).sum(), losses


def _loss_in_plain_numbers(logits, tokens):
    batch, time = tokens.shape
    losses, all_of_them = torch.zeros(batch, max(time - 1, 0)), []
    for b in range(batch):
        for t in range(time - 1):
            if (target := int(tokens[b, t + 1])) != 0:
                row = logits[b, t].tolist()
                top = max(row)
                loss = top + math.log(math.fsum(math.exp(z - top) for z in row)) - row[target]
                losses[b, t] = loss
                all_of_them.append(loss)
    return (sum(all_of_them) / len(all_of_them) if all_of_them else 0.0), losses


def _grouped_by_an_axis_more(q, k, v):
    """(set, head of the set, time, d): the sets broadcast, nothing is repeated."""
    sets, time, d = k.shape
    q = q.reshape(sets, -1, time, d)
    scores = torch.einsum("shqd,skd->shqk", q, k) * d**-0.5
    scores = scores + torch.full((time, time), -math.inf).triu(1)
    weights = scores.softmax(-1)
    output = torch.einsum("shqk,skd->shqd", weights, v)
    return output.flatten(0, 1), weights.flatten(0, 1)


def _grouped_word_by_word(q, k, v):
    """As while writing: only the past is there at all."""
    q, k, v = (part.numpy().astype(np.float64) for part in (q, k, v))
    heads, time, d = q.shape
    output, weights = np.zeros((heads, time, v.shape[-1])), np.zeros((heads, time, time))
    for h in range(heads):
        s = h * len(k) // heads
        for t in range(time):
            e = k[s, : t + 1] @ q[h, t] / math.sqrt(d)
            e = np.exp(e - e.max())
            weights[h, t, : t + 1] = e / e.sum()
            output[h, t] = weights[h, t, : t + 1] @ v[s, : t + 1]
    return output, weights


def _grouped_with_a_large_negative_number(q, k, v):
    k, v = (part.repeat_interleave(len(q) // len(part), 0) for part in (k, v))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -1e9)  # no row is empty, so this is enough
    weights = torch.softmax(scores, -1)
    return weights @ v, weights


RIGHT = [
    ("sinusoids", _sinusoids_in_lists),
    ("sinusoids", _sinusoids_as_the_annotated_transformer),
    ("sinusoids", _sinusoids_turned_step_by_step),
    ("rotate", _rotate_in_the_complex_plane),
    ("rotate", _rotate_with_a_matrix_per_row),
    ("rotate", _rotate_in_place_on_a_copy),
    ("relative_bias", _bias_as_a_strip_that_slides),
    ("relative_bias", _bias_one_distance_at_a_time),
    ("window_mask", _window_cut_twice),
    ("window_mask", _window_in_lists),
    ("next_token_loss", _loss_by_cross_entropy),
    ("next_token_loss", _loss_undefined_if_nothing_is_predicted),
    ("next_token_loss", _loss_in_plain_numbers),
    ("grouped_attention", _grouped_by_an_axis_more),
    ("grouped_attention", _grouped_word_by_word),
    ("grouped_attention", _grouped_with_a_large_negative_number),
]

# --- wrong -----------------------------------------------------------------------------------------------------------


def _sinusoids_of(t, exponent, d):
    angle = t[:, None] / 10_000**exponent
    return torch.stack([torch.sin(angle), torch.cos(angle)], -1).reshape(len(t), d)


def _sinusoids_sines_then_cosines(length, d):
    angle = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, d, 2) / d)
    return torch.cat([torch.sin(angle), torch.cos(angle)], 1)


def _sinusoids_from_one(length, d):
    return _sinusoids_of(torch.arange(1, length + 1), torch.arange(0, d, 2) / d, d)


def _sinusoids_half_the_exponent(length, d):
    return _sinusoids_of(torch.arange(length), torch.arange(d // 2) / d, d)


def _sinusoids_two_i_twice(length, d):
    return _sinusoids_of(torch.arange(length), 2 * torch.arange(0, d, 2) / d, d)


def _sinusoids_own_angle_per_column(length, d):
    angle = torch.arange(length)[:, None] / 10_000 ** (torch.arange(d) / d)
    return torch.where(torch.arange(d) % 2 == 0, torch.sin(angle), torch.cos(angle))


def _sinusoids_of_the_worked_width(length, d):
    return _sinusoids_of(torch.arange(length), torch.arange(d // 2) / 2, d)  # 1, 100, 10000, … as with d = 4


def _sinusoids_slowest_first(length, d):
    return _sinusoids_of(torch.arange(length), torch.arange(0, d, 2).flip(0) / d, d)


def _angles(x, base):
    half = x.shape[-1] // 2
    return torch.arange(len(x))[:, None] / base ** (torch.arange(half) / half)


def _rotate_neighbours(x, base):
    angle = _angles(x, base)
    a, b = x[:, 0::2], x[:, 1::2]
    return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(1)


def _rotate_with_the_new_a(x, base):
    angle = _angles(x, base)
    a, b = x.clone().chunk(2, -1)
    a = a * angle.cos() - b * angle.sin()
    b = a * angle.sin() + b * angle.cos()
    return torch.cat([a, b], -1)


def _rotate_backwards(x, base):
    angle = -_angles(x, base)
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _rotate_ten_thousand(x, base):
    angle = _angles(x, 10_000)
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _rotate_all_pairs_alike(x, base):
    angle = torch.arange(len(x))[:, None]
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _rotate_from_one(x, base):
    return torch.as_tensor(_rotate_in_the_complex_plane(torch.cat([x[:1], x]), base))[1:]


def _rotate_in_the_callers_tensor(x, base):
    angle = _angles(x, base)
    half = x.shape[1] // 2
    old = x[:, :half].clone()
    x[:, :half] = old * angle.cos() - x[:, half:] * angle.sin()
    x[:, half:] = old * angle.sin() + x[:, half:] * angle.cos()
    return x


def _rotate_not_at_all(x, base):
    return x.clone()


def _distance(time):
    t = torch.arange(time)
    return t[None, :] - t[:, None]


def _bias_query_minus_key(table, time):
    r = table.shape[1] // 2
    return table[:, (-_distance(time)).clamp(-r, r) + r]


def _bias_nothing_beyond_reach(table, time):
    r = table.shape[1] // 2
    far = _distance(time).abs() > r
    return table[:, _distance(time).clamp(-r, r) + r].masked_fill(far, 0.0)


def _bias_round_and_round(table, time):
    r = table.shape[1] // 2
    return table[:, (_distance(time) + r) % table.shape[1]]


def _bias_heads_last(table, time):
    r = table.shape[1] // 2
    return table[:, _distance(time).clamp(-r, r) + r].permute(1, 2, 0)


def _bias_either_direction_alike(table, time):
    r = table.shape[1] // 2
    return table[:, _distance(time).abs().clamp(max=r) + r]


def _bias_reach_of_one(table, time):
    return table[:, _distance(time).clamp(-1, 1) + 1]


def _bias_no_end(table, time):
    return table[:, _distance(time) + table.shape[1] // 2]


def _window_one_more(time, window):
    back = -_distance(time)
    return (back >= 0) & (back <= window)


def _window_on_both_sides(time, window):
    return _distance(time).abs() < window


def _window_ahead(time, window):
    return (_distance(time) >= 0) & (_distance(time) < window)


def _window_of_numbers(time, window):
    back = -_distance(time)
    return ((back >= 0) & (back < window)).float()


def _window_of_two(time, window):
    back = -_distance(time)
    return (back == 0) | (back == 1)


def _window_in_blocks(time, window):
    t = torch.arange(time)
    return (t[None, :] <= t[:, None]) & (t[None, :] // window == t[:, None] // window)


def _losses(logits, targets, *, zero=True):
    losses = -torch.log_softmax(logits, -1).gather(-1, targets[..., None])[..., 0]
    return losses * (targets != 0) if zero else losses


def _loss_of_itself(logits, tokens):
    losses = _losses(logits[:, :-1], tokens[:, :-1])
    return losses.sum() / (tokens[:, :-1] != 0).sum().clamp(min=1), losses


def _loss_backwards(logits, tokens):
    losses = _losses(logits[:, 1:], tokens[:, :-1])
    return losses.sum() / (tokens[:, :-1] != 0).sum().clamp(min=1), losses


def _loss_mean_of_everything(logits, tokens):
    losses = _losses(logits[:, :-1], tokens[:, 1:])
    return losses.mean(), losses


def _loss_mean_of_sentences(logits, tokens):
    losses, counted = _losses(logits[:, :-1], tokens[:, 1:]), tokens[:, 1:] != 0
    return (losses.sum(1) / counted.sum(1).clamp(min=1)).mean(), losses


def _loss_after_padding_only(logits, tokens):
    losses = _losses(logits[:, :-1], tokens[:, 1:], zero=False) * (tokens[:, :-1] != 0)
    return losses.sum() / (tokens[:, :-1] != 0).sum().clamp(min=1), losses


def _loss_in_bits(logits, tokens):
    loss, losses = _loss_by_cross_entropy(logits, tokens)
    return loss / math.log(2), losses / math.log(2)


def _loss_summed(logits, tokens):
    _, losses = _loss_by_cross_entropy(logits, tokens)
    return losses.sum(), losses


def _loss_log_of_softmax(logits, tokens):
    p = torch.softmax(logits[:, :-1], -1).gather(-1, tokens[:, 1:, None])[..., 0]
    losses = torch.where(tokens[:, 1:] != 0, -torch.log(p), 0.0)  # a probability that is 0 in float32
    return losses.sum() / (tokens[:, 1:] != 0).sum().clamp(min=1), losses


def _loss_log_of_sum_exp(logits, tokens):
    z = logits[:, :-1]
    losses = z.exp().sum(-1).log() - z.gather(-1, tokens[:, 1:, None])[..., 0]  # e^89 is too much
    losses = torch.where(tokens[:, 1:] != 0, losses, 0.0)
    return losses.sum() / (tokens[:, 1:] != 0).sum().clamp(min=1), losses


def _loss_with_a_little_more(logits, tokens):
    p = torch.softmax(logits[:, :-1], -1).gather(-1, tokens[:, 1:, None])[..., 0]
    losses = torch.where(tokens[:, 1:] != 0, -torch.log(p + 1e-9), 0.0)  # no loss is above 20.7
    return losses.sum() / (tokens[:, 1:] != 0).sum().clamp(min=1), losses


def _loss_padding_not_zeroed(logits, tokens):
    losses = _losses(logits[:, :-1], tokens[:, 1:], zero=False)
    return losses[tokens[:, 1:] != 0].mean(), losses


def _grouped_with(q, k, v, *, hide=-math.inf, scale=None, future=1):
    k, v = (part.repeat_interleave(len(q) // len(part), 0) if len(part) != len(q) else part for part in (k, v))
    scores = q @ k.mT / (math.sqrt(q.shape[-1]) if scale is None else scale)
    if future is not None:
        scores = scores.masked_fill(torch.ones_like(scores).triu(future).bool(), hide)
    weights = torch.softmax(scores, -1)
    return weights @ v, weights


def _grouped_in_turn(q, k, v):
    """Heads 0, 1, 2, … read sets 0, 1, 0, 1, …"""
    return _grouped_with(q, k.repeat(len(q) // len(k), 1, 1), v.repeat(len(q) // len(v), 1, 1))


def _grouped_values_in_turn(q, k, v):
    """Keys right, values not."""
    return _grouped_with(q, k, v.repeat(len(q) // len(v), 1, 1))


def _grouped_threes(q, k, v):
    """Three heads a set, as in the table."""
    places = [min(h // 3, len(k) - 1) for h in range(len(q))]
    return _grouped_with(q, k[places], v[places])


def _grouped_hidden_is_zero(q, k, v):
    """Scores of what is hidden are 0, and e^0 is 1."""
    return _grouped_with(q, k, v, hide=0.0)


def _grouped_hidden_is_small(q, k, v):
    """Hidden enough for small scores."""
    return _grouped_with(q, k, v, hide=-10.0)


def _grouped_unscaled(q, k, v):
    return _grouped_with(q, k, v, scale=1.0)


def _grouped_scaled_by_all_heads(q, k, v):
    """d_model instead of d_head."""
    return _grouped_with(q, k, v, scale=math.sqrt(len(q) * q.shape[-1]))


def _grouped_scaled_by_values(q, k, v):
    return _grouped_with(q, k, v, scale=math.sqrt(v.shape[-1]))


def _grouped_without_itself(q, k, v):
    """A word may not read itself; the first reads nothing."""
    output, weights = _grouped_with(q, k, v, future=0)
    return output.nan_to_num(), weights.nan_to_num()


def _grouped_sees_all(q, k, v):
    return _grouped_with(q, k, v, future=None)


def _grouped_cut_after_the_softmax(q, k, v):
    """What is hidden is taken away afterwards, and the rest not shared out."""
    _, weights = _grouped_with(q, k, v, future=None)
    weights = weights.tril()
    return weights @ v.repeat_interleave(len(q) // len(v), 0), weights


def _grouped_by_hand_without_a_shift(q, k, v):
    """exp of the scores as they are."""
    k, v = (part.repeat_interleave(len(q) // len(part), 0) for part in (k, v))
    e = torch.exp(q @ k.mT / math.sqrt(q.shape[-1])).tril()
    weights = e / e.sum(-1, keepdim=True)
    return weights @ v, weights


def _grouped_queries_averaged(q, k, v):
    """The heads of a set share their query as well."""
    q = q.unflatten(0, (len(k), -1)).mean(1, keepdim=True).expand(-1, len(q) // len(k), -1, -1).flatten(0, 1)
    return _grouped_with(q, k, v)


WRONG = [
    ("sinusoids", _sinusoids_sines_then_cosines, "in-two-blocks"),
    ("sinusoids", _sinusoids_from_one, "counted-from-one"),
    ("sinusoids", _sinusoids_half_the_exponent, "half-the-exponent"),
    ("sinusoids", _sinusoids_two_i_twice, "twice-the-exponent"),
    ("sinusoids", _sinusoids_own_angle_per_column, "each-column-its-own"),
    ("sinusoids", _sinusoids_of_the_worked_width, None),
    ("sinusoids", _sinusoids_slowest_first, None),
    ("rotate", _rotate_neighbours, "neighbours-as-pairs"),
    ("rotate", _rotate_with_the_new_a, "new-a-for-b"),
    ("rotate", _rotate_backwards, "turned-backwards"),
    ("rotate", _rotate_ten_thousand, "base-ignored"),
    ("rotate", _rotate_all_pairs_alike, "one-angle-for-all"),
    ("rotate", _rotate_from_one, "counted-from-one"),
    ("rotate", _rotate_in_the_callers_tensor, "changes-its-input"),
    ("rotate", _rotate_not_at_all, None),
    ("relative_bias", _bias_query_minus_key, "direction-reversed"),
    ("relative_bias", _bias_nothing_beyond_reach, "nothing-beyond-the-reach"),
    ("relative_bias", _bias_round_and_round, "around-the-end"),
    ("relative_bias", _bias_heads_last, None),
    ("relative_bias", _bias_either_direction_alike, "distance-without-sign"),
    ("relative_bias", _bias_reach_of_one, None),
    ("relative_bias", _bias_no_end, None),
    ("window_mask", _window_one_more, "one-too-far"),
    ("window_mask", _window_on_both_sides, "both-sides"),
    ("window_mask", _window_ahead, "rows-and-columns-exchanged"),
    ("window_mask", _window_of_numbers, None),
    ("window_mask", _window_of_two, None),
    ("window_mask", _window_in_blocks, None),
    ("next_token_loss", _loss_of_itself, "not-shifted"),
    ("next_token_loss", _loss_backwards, "shifted-backwards"),
    ("next_token_loss", _loss_mean_of_everything, "divided-by-all"),
    ("next_token_loss", _loss_mean_of_sentences, "mean-of-sentences"),
    ("next_token_loss", _loss_after_padding_only, "padding-of-what-was-read"),
    ("next_token_loss", _loss_in_bits, "in-bits"),
    ("next_token_loss", _loss_summed, "summed"),
    ("next_token_loss", _loss_log_of_softmax, "logarithm-of-zero"),
    ("next_token_loss", _loss_log_of_sum_exp, "overflow"),
    ("next_token_loss", _loss_with_a_little_more, "logarithm-of-zero"),
    ("next_token_loss", _loss_padding_not_zeroed, "padding-not-zeroed"),
    ("grouped_attention", _grouped_in_turn, "taking-turns"),
    ("grouped_attention", _grouped_values_in_turn, "values-take-turns"),
    ("grouped_attention", _grouped_threes, None),
    ("grouped_attention", _grouped_hidden_is_zero, "hidden-scores-zero"),
    ("grouped_attention", _grouped_hidden_is_small, None),
    ("grouped_attention", _grouped_unscaled, "not-scaled"),
    ("grouped_attention", _grouped_scaled_by_all_heads, "scaled-by-all-heads"),
    ("grouped_attention", _grouped_scaled_by_values, "root-of-value-width"),
    ("grouped_attention", _grouped_without_itself, "not-even-itself"),
    ("grouped_attention", _grouped_sees_all, "future-not-hidden"),
    ("grouped_attention", _grouped_cut_after_the_softmax, "hidden-after-the-softmax"),
    ("grouped_attention", _grouped_by_hand_without_a_shift, "overflow"),
    ("grouped_attention", _grouped_queries_averaged, None),
]
