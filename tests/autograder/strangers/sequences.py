import math
from collections import Counter
from itertools import zip_longest

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence


def teacher_forcing_by_zip(targets, bos, eos):
    def filled(rows):
        return list(zip(*zip_longest(*rows, fillvalue=0), strict=True))

    return filled([[bos, *row] for row in targets]), filled([[*row, eos] for row in targets])


def teacher_forcing_by_padding(targets, bos, eos):
    rows = [torch.tensor(row, dtype=torch.int64) for row in targets]
    begin, end = torch.tensor([bos]), torch.tensor([eos])
    return tuple(
        pad_sequence(part, batch_first=True).numpy()
        for part in ([torch.cat([begin, row]) for row in rows], [torch.cat([row, end]) for row in rows])
    )


def reverse_by_sorting(tokens, lengths):
    place = torch.arange(tokens.shape[1]).expand_as(tokens)
    key = torch.where(place < lengths[:, None], -place, place)
    return tokens.gather(1, key.argsort(dim=1, stable=True))


def reverse_by_exchange(tokens, lengths):
    rows = tokens.numpy().copy()
    for row, n in zip(rows, lengths.tolist(), strict=True):
        left, right = 0, n - 1
        while left < right:
            row[left], row[right] = row[right], row[left]
            left, right = left + 1, right - 1
    return rows


def last_states_by_sum(states, lengths):
    chosen = torch.nn.functional.one_hot(lengths - 1, states.shape[1]).double()
    return torch.einsum("btd,bt->bd", states.double(), chosen)


def last_states_by_lists(states, lengths):
    return [row[:n][-1] for row, n in zip(states.tolist(), lengths.tolist(), strict=True)]


def teacher_share_by_table(step, kind, k):
    return {
        "linear": lambda: max(0.0, 1 - k * step),
        "exponential": lambda: math.exp(step * math.log(k)),
        "inverse sigmoid": lambda: 1 / (1 + math.exp(step / k - math.log(k))),
    }[kind]()


def teacher_share_in_numpy(step, kind, k):
    if kind == "linear":
        return np.clip(np.float64(1) - k * step, 0, 1)
    return torch.tensor(k, dtype=torch.float64) ** step if kind == "exponential" else k / (k + np.exp(step / k))


def mixed_inputs_by_loop(truth, own, coins, share):
    return [
        [int(truth[b, t] if t == 0 or coins[b, t] < share else own[b, t - 1]) for t in range(truth.shape[1])]
        for b in range(truth.shape[0])
    ]


class MixedInputsByArithmetic:
    """Numbers instead of choices; the shift by rolling."""

    def __call__(self, truth, own, coins, share):
        reads_truth = (coins < share).long()
        reads_truth[:, 0] = 1
        return truth * reads_truth + own.roll(1, dims=1) * (1 - reads_truth)


def write_in_numpy(context, E, W, U, C, V, bos, eos, longest, every_step):
    context, E, W, U, C, V = (np.asarray(part, dtype=np.float64) for part in (context, E, W, U, C, V))
    read, h, words, states = E @ W, context, [], []
    while len(words) < longest:
        h = np.tanh(read[words[-1] if words else bos] + h @ U + every_step * (context @ C))
        states.append(h)
        words.append(int((h @ V).argmax()))
        if words[-1] == eos:
            break
    return words, np.stack(states)


def write_by_recursion(context, E, W, U, C, V, bos, eos, longest, every_step):
    constant = context @ C if every_step else torch.zeros_like(context)

    def go_on(h, last, left):
        if not left:
            return []
        h = (E[last] @ W + h @ U + constant).tanh()
        word = int((h @ V).argmax())
        return [(word, h)] + ([] if word == eos else go_on(h, word, left - 1))

    words, states = zip(*go_on(context, bos, longest), strict=True)
    return torch.tensor(words), torch.stack(states)


def clipped_precision_by_crossing_out(hypothesis, reference, n):
    left = ["".join(f"{word}." for word in reference[i : i + n]) for i in range(len(reference) - n + 1)]
    found = total = 0
    for i in range(len(hypothesis) - n + 1):
        group = "".join(f"{word}." for word in hypothesis[i : i + n])
        total += 1
        if group in left:
            left.remove(group)
            found += 1
    return torch.tensor(found / total if total else 0.0, dtype=torch.float64)


def clipped_precision_by_zip(hypothesis, reference, n):
    ours, theirs = (list(zip(*(text[i:] for i in range(n)), strict=False)) for text in (hypothesis, reference))
    return sum(min(ours.count(group), theirs.count(group)) for group in set(ours)) / max(1, len(ours))


RIGHT = [
    ("teacher_forcing", teacher_forcing_by_zip),
    ("teacher_forcing", teacher_forcing_by_padding),
    ("reverse", reverse_by_sorting),
    ("reverse", reverse_by_exchange),
    ("last_states", last_states_by_sum),
    ("last_states", last_states_by_lists),
    ("teacher_share", teacher_share_by_table),
    ("teacher_share", teacher_share_in_numpy),
    ("mixed_inputs", mixed_inputs_by_loop),
    ("mixed_inputs", MixedInputsByArithmetic()),
    ("write", write_in_numpy),
    ("write", write_by_recursion),
    ("clipped_precision", clipped_precision_by_crossing_out),
    ("clipped_precision", clipped_precision_by_zip),
]


def _filled(rows, time, fill=0):
    return torch.tensor([[*row, *[fill] * (time - len(row))] for row in rows])


def teacher_forcing_not_shifted(targets, bos, eos):
    time = max(map(len, targets)) + 1
    return _filled([[bos, *row] for row in targets], time), _filled([[bos, *row] for row in targets], time)


def teacher_forcing_eos_behind_the_padding(targets, bos, eos):
    time = max(map(len, targets))
    body = _filled(targets, time)
    column = torch.ones(len(targets), 1, dtype=torch.long)
    return torch.cat([bos * column, body], 1), torch.cat([body, eos * column], 1)


def teacher_forcing_reads_eos_too(targets, bos, eos):
    time = max(map(len, targets)) + 2
    whole = _filled([[bos, *row, eos] for row in targets], time)
    return whole[:, :-1], whole[:, 1:]


def teacher_forcing_cuts_the_whole_batch(targets, bos, eos):
    """bos, words, eos, padded, and then the last column off: short rows still read their eos."""
    time = max(map(len, targets)) + 2
    whole = _filled([[bos, *row, eos] for row in targets], time)
    return whole[:, : time - 1], whole[:, 1:]


def teacher_forcing_padding_in_front(targets, bos, eos):
    time = max(map(len, targets)) + 1
    return tuple(
        torch.tensor([[0] * (time - len(row)) + row for row in rows])
        for rows in ([[bos, *row] for row in targets], [[*row, eos] for row in targets])
    )


def teacher_forcing_filled_with_eos(targets, bos, eos):
    time = max(map(len, targets)) + 1
    return _filled([[bos, *row] for row in targets], time), _filled([[*row, eos] for row in targets], time, eos)


def teacher_forcing_without_eos(targets, bos, eos):
    time = max(map(len, targets)) + 1
    return _filled([[bos, *row] for row in targets], time), _filled(targets, time)


def teacher_forcing_exchanged(targets, bos, eos):
    time = max(map(len, targets)) + 1
    return _filled([[*row, eos] for row in targets], time), _filled([[bos, *row] for row in targets], time)


def teacher_forcing_empty_ones_left_out(targets, bos, eos):
    time = max(map(len, targets)) + 1
    return (
        _filled([[bos, *row] if row else [] for row in targets], time),
        _filled([[*row, eos] if row else [] for row in targets], time),
    )


def reverse_all_of_it(tokens, lengths):
    return tokens.flip(1)


def reverse_the_batch(tokens, lengths):
    return tokens.flip(0)


def reverse_in_place(tokens, lengths):
    for b, n in enumerate(lengths.tolist()):
        tokens[b, :n] = tokens[b, :n].flip(0)
    return tokens


def reverse_into_a_view(tokens, lengths):
    out = tokens[:]
    for b, n in enumerate(lengths.tolist()):
        out[b, :n] = tokens[b, :n].flip(0)
    return out


def reverse_by_the_longest(tokens, lengths):
    out, n = tokens.clone(), int(lengths.max())
    out[:, :n] = tokens[:, :n].flip(1)
    return out


def reverse_by_the_first_length(tokens, lengths):
    out, n = tokens.clone(), int(lengths[0])
    out[:, :n] = tokens[:, :n].flip(1)
    return out


def reverse_all_but_the_last(tokens, lengths):
    out = tokens.clone()
    for b, n in enumerate(lengths.tolist()):
        out[b, : n - 1] = tokens[b, : n - 1].flip(0)
    return out


def reverse_by_counting_words(tokens, lengths):
    """Drops the padding, and the room with it."""
    longest = int(lengths.max())
    return torch.stack(
        [torch.cat([row[:n].flip(0), row.new_zeros(longest - n)]) for row, n in zip(tokens, lengths, strict=True)]
    )


def reverse_by_sorting_the_words(tokens, lengths):
    out = torch.zeros_like(tokens)
    for b, n in enumerate(lengths.tolist()):
        out[b, :n] = tokens[b, :n].sort(descending=True).values
    return out


def last_states_of_the_room(states, lengths):
    return states[:, -1]


def last_states_one_too_far(states, lengths):
    return states[torch.arange(len(states)), lengths.clamp(max=states.shape[1] - 1)]


def last_states_for_each_every_place(states, lengths):
    return states[:, lengths - 1]


def last_states_of_the_first_length(states, lengths):
    return states[:, lengths[0] - 1]


def last_states_of_the_longest(states, lengths):
    return states[:, lengths.max() - 1]


def last_states_of_the_shortest(states, lengths):
    return states[:, lengths.min() - 1]


def last_states_batch_for_time(states, lengths):
    return states[:, len(states) - 1] if len(states) <= states.shape[1] else states[:, -1]


def last_states_of_the_last_length(states, lengths):
    return states[:, lengths[-1] - 1]


def last_states_mean(states, lengths):
    seen = torch.arange(states.shape[1]) < lengths[:, None]
    return (states * seen[..., None]).sum(1) / lengths[:, None]


def last_states_by_gather_of_one_number(states, lengths):
    return states.gather(1, (lengths - 1)[:, None, None])[:, 0].expand(-1, states.shape[2])


def last_states_of_one_sentence(states, lengths):
    return states[0, lengths - 1]


def teacher_share_never_below_nothing_forgotten(step, kind, k):
    return {"linear": 1 - k * step, "exponential": k**step, "inverse sigmoid": k / (k + math.exp(step / k))}[kind]


def teacher_share_exponential_by_e(step, kind, k):
    return {
        "linear": max(0, 1 - k * step),
        "exponential": math.exp(-k * step),
        "inverse sigmoid": k / (k + math.exp(step / k)),
    }[kind]


def teacher_share_sigmoid_by_product(step, kind, k):
    if kind == "linear":
        return max(0, 1 - k * step)
    return k**step if kind == "exponential" else 1 / (1 + math.exp(step / k))


def teacher_share_divides_by_k_first(step, kind, k):
    if kind == "linear":
        return max(0, 1 - step / k)
    return k**step if kind == "exponential" else k / (k + math.exp(step / k))


def teacher_share_own_words(step, kind, k):
    return 1 - {
        "linear": max(0, 1 - k * step),
        "exponential": k**step,
        "inverse sigmoid": k / (k + math.exp(step / k)),
    }.get(kind, 0)


def teacher_share_sigmoid_times(step, kind, k):
    if kind == "linear":
        return max(0, 1 - k * step)
    return k**step if kind == "exponential" else k / (k + math.exp(min(700, step * k)))


def teacher_share_sigmoid_of_floor(step, kind, k):
    if kind == "linear":
        return max(0, 1 - k * step)
    return k**step if kind == "exponential" else k / (k + math.exp(step // k))


def mixed_inputs_without_shift(truth, own, coins, share):
    mixed = torch.where(coins < share, truth, own)
    mixed[:, 0] = truth[:, 0]
    return mixed


def mixed_inputs_first_from_behind(truth, own, coins, share):
    return torch.where(coins < share, truth, own.roll(1, 1))


def mixed_inputs_the_other_side(truth, own, coins, share):
    mixed = torch.where(coins < share, own.roll(1, 1), truth)
    mixed[:, 0] = truth[:, 0]
    return mixed


def mixed_inputs_one_coin_per_sentence(truth, own, coins, share):
    mixed = torch.where(coins[:, :1] < share, truth, own.roll(1, 1))
    mixed[:, 0] = truth[:, 0]
    return mixed


def mixed_inputs_rolls_the_batch(truth, own, coins, share):
    mixed = torch.where(coins < share, truth, own.roll(1, 0))
    mixed[:, 0] = truth[:, 0]
    return mixed


def mixed_inputs_rolls_the_flat_list(truth, own, coins, share):
    return torch.where(coins < share, truth, own.roll(1))


def mixed_inputs_coins_shifted_too(truth, own, coins, share):
    mixed = truth.clone()
    mixed[:, 1:] = torch.where(coins[:, :-1] < share, truth[:, 1:], own[:, :-1])
    return mixed


def mixed_inputs_truth_of_the_step_before(truth, own, coins, share):
    mixed = truth.clone()
    mixed[:, 1:] = torch.where(coins[:, 1:] < share, truth[:, :-1], own[:, :-1])
    return mixed


def mixed_inputs_shifts_the_wrong_way(truth, own, coins, share):
    mixed = torch.where(coins < share, truth, own.roll(-1, 1))
    mixed[:, 0] = truth[:, 0]
    return mixed


def mixed_inputs_by_half(truth, own, coins, share):
    mixed = torch.where(coins < 0.5, truth, own.roll(1, 1))
    mixed[:, 0] = truth[:, 0]
    return mixed


def _write(context, E, W, U, C, V, bos, eos, longest, every_step, *, rule):
    h = torch.zeros_like(context) if rule == "zero first" else context
    last, words, states = bos, [], []
    for i in range(longest):
        x = E[bos if rule == "always bos" else last] @ W
        h = x + h @ (U.T if rule == "transposed" else U)
        if every_step and rule != "never the context" and not (rule == "context once" and i):
            h = h + (h @ C if rule == "state through C" else context @ C)
        elif rule == "context always":
            h = h + context @ C
        if rule != "linear":
            h = h.tanh()
        last = int((states[-1] if rule == "word of the state before" and states else h).matmul(V).argmax())
        if rule == "without eos" and last == eos:
            break
        words.append(last)
        states.append(h)
        if last == eos and rule != "goes on":
            break
    if rule == "with the context":
        states.insert(0, context)
    if rule == "with bos":
        words.insert(0, bos)
    if rule == "last state only":
        return words, states[-1]
    return words, torch.stack(states) if states else torch.zeros(0, len(context))


def write_from_zero(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="zero first")


def write_reads_bos_always(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="always bos")


def write_turns_u_over(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="transposed")


def write_never_the_context(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="never the context")


def write_context_once(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="context once")


def write_context_always(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="context always")


def write_state_through_c(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="state through C")


def write_without_tanh(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="linear")


def write_without_eos(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="without eos")


def write_goes_on_after_eos(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="goes on")


def write_with_the_context_as_a_state(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="with the context")


def write_with_bos(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="with bos")


def write_last_state_only(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="last state only")


def write_word_of_the_state_before(context, E, W, U, C, V, bos, eos, longest, every_step):
    return _write(context, E, W, U, C, V, bos, eos, longest, every_step, rule="word of the state before")


def _groups(text, n):
    return [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]


def clipped_precision_not_clipped(hypothesis, reference, n):
    ours, theirs = _groups(hypothesis, n), set(_groups(reference, n))
    return sum(group in theirs for group in ours) / len(ours) if ours else 0.0


def clipped_precision_recall(hypothesis, reference, n):
    ours, theirs = Counter(_groups(hypothesis, n)), Counter(_groups(reference, n))
    return (ours & theirs).total() / theirs.total() if theirs else 0.0


def clipped_precision_sets(hypothesis, reference, n):
    ours, theirs = set(_groups(hypothesis, n)), set(_groups(reference, n))
    return len(ours & theirs) / len(ours) if ours else 0.0


def clipped_precision_each_group_once_of_all(hypothesis, reference, n):
    ours, theirs = _groups(hypothesis, n), _groups(reference, n)
    return len(set(ours) & set(theirs)) / len(ours) if ours else 0.0


def clipped_precision_over_all_words(hypothesis, reference, n):
    ours, theirs = Counter(_groups(hypothesis, n)), Counter(_groups(reference, n))
    return (ours & theirs).total() / len(hypothesis) if hypothesis else 0.0


def clipped_precision_one_for_short_texts(hypothesis, reference, n):
    ours, theirs = Counter(_groups(hypothesis, n)), Counter(_groups(reference, n))
    return (ours & theirs).total() / ours.total() if ours else 1.0


def clipped_precision_single_words_only(hypothesis, reference, n):
    ours, theirs = Counter(hypothesis), Counter(reference)
    return (ours & theirs).total() / len(hypothesis) if len(hypothesis) >= n else 0.0


def clipped_precision_last_group_forgotten(hypothesis, reference, n):
    ours, theirs = (Counter(tuple(text[i : i + n]) for i in range(len(text) - n)) for text in (hypothesis, reference))
    return (ours & theirs).total() / ours.total() if ours else 0.0


def clipped_precision_side_by_side(hypothesis, reference, n):
    """Groups that do not overlap."""
    ours, theirs = (Counter(_groups(text, n)[::n]) for text in (hypothesis, reference))
    return (ours & theirs).total() / ours.total() if ours else 0.0


def clipped_precision_mean_of_orders(hypothesis, reference, n):
    shares = [clipped_precision_by_zip(hypothesis, reference, order) for order in range(1, n + 1)]
    return math.prod(shares) ** (1 / n)


def clipped_precision_short_groups_at_the_end(hypothesis, reference, n):
    ours, theirs = (Counter(tuple(text[i : i + n]) for i in range(len(text))) for text in (hypothesis, reference))
    return (ours & theirs).total() / ours.total() if len(hypothesis) >= n else 0.0


def clipped_precision_groups_without_order(hypothesis, reference, n):
    ours, theirs = (Counter(tuple(sorted(group)) for group in _groups(text, n)) for text in (hypothesis, reference))
    return (ours & theirs).total() / ours.total() if ours else 0.0


WRONG = [
    ("teacher_forcing", teacher_forcing_not_shifted, "not-shifted"),
    ("teacher_forcing", teacher_forcing_eos_behind_the_padding, "eos-behind-the-padding"),
    ("teacher_forcing", teacher_forcing_reads_eos_too, "eos-is-read-in-shorter-rows"),
    ("teacher_forcing", teacher_forcing_cuts_the_whole_batch, "eos-is-read-in-shorter-rows"),
    ("teacher_forcing", teacher_forcing_padding_in_front, "filled-in-front"),
    ("teacher_forcing", teacher_forcing_filled_with_eos, "filled-with-eos"),
    ("teacher_forcing", teacher_forcing_without_eos, "eos-left-out"),
    ("teacher_forcing", teacher_forcing_exchanged, "exchanged"),
    ("teacher_forcing", teacher_forcing_empty_ones_left_out, None),
    ("reverse", reverse_all_of_it, "padding-in-front"),
    ("reverse", reverse_the_batch, "rows-reversed"),
    ("reverse", reverse_in_place, "in-place"),
    ("reverse", reverse_into_a_view, "in-place"),
    ("reverse", reverse_by_the_longest, "by-the-longest"),
    ("reverse", reverse_by_the_first_length, None),
    ("reverse", reverse_all_but_the_last, None),
    ("reverse", reverse_by_counting_words, None),
    ("reverse", reverse_by_sorting_the_words, None),
    ("last_states", last_states_of_the_room, "state-of-the-padding"),
    ("last_states", last_states_one_too_far, "one-too-far"),
    ("last_states", last_states_for_each_every_place, "every-place-of-every-sentence"),
    ("last_states", last_states_of_the_first_length, "one-place-for-all"),
    ("last_states", last_states_of_the_longest, "one-place-for-all"),
    ("last_states", last_states_of_the_shortest, "one-place-for-all"),
    ("last_states", last_states_batch_for_time, "one-place-for-all"),
    ("last_states", last_states_of_the_last_length, "one-place-for-all"),
    ("last_states", last_states_mean, "mean"),
    ("last_states", last_states_by_gather_of_one_number, None),
    ("last_states", last_states_of_one_sentence, None),
    ("teacher_share", teacher_share_never_below_nothing_forgotten, None),
    ("teacher_share", teacher_share_exponential_by_e, "e-to-the-minus-k"),
    ("teacher_share", teacher_share_sigmoid_by_product, "plain-sigmoid"),
    ("teacher_share", teacher_share_divides_by_k_first, None),
    ("teacher_share", teacher_share_own_words, "reversed"),
    ("teacher_share", teacher_share_sigmoid_times, "step-times-k"),
    ("teacher_share", teacher_share_sigmoid_of_floor, None),
    ("mixed_inputs", mixed_inputs_without_shift, "own-word-of-the-same-step"),
    ("mixed_inputs", mixed_inputs_first_from_behind, "first-place-too"),
    ("mixed_inputs", mixed_inputs_the_other_side, "coin-reversed"),
    ("mixed_inputs", mixed_inputs_one_coin_per_sentence, "one-coin-per-sentence"),
    ("mixed_inputs", mixed_inputs_rolls_the_batch, None),
    ("mixed_inputs", mixed_inputs_rolls_the_flat_list, "first-place-too"),
    ("mixed_inputs", mixed_inputs_coins_shifted_too, "coin-of-the-place-before"),
    ("mixed_inputs", mixed_inputs_truth_of_the_step_before, None),
    ("mixed_inputs", mixed_inputs_shifts_the_wrong_way, "own-word-of-the-next-step"),
    ("mixed_inputs", mixed_inputs_by_half, "share-ignored"),
    ("write", write_from_zero, "starts-from-zeros"),
    ("write", write_reads_bos_always, "reads-bos-again-and-again"),
    ("write", write_turns_u_over, "matrix-from-the-left"),
    ("write", write_never_the_context, "context-never-fed"),
    ("write", write_context_once, "context-never-fed"),
    ("write", write_context_always, "context-always-fed"),
    ("write", write_state_through_c, None),
    ("write", write_without_tanh, "tanh-forgotten"),
    ("write", write_without_eos, "eos-left-out"),
    ("write", write_goes_on_after_eos, "past-the-end"),
    ("write", write_with_the_context_as_a_state, "context-among-the-states"),
    ("write", write_with_bos, "bos-included"),
    ("write", write_last_state_only, None),
    ("write", write_word_of_the_state_before, None),
    ("clipped_precision", clipped_precision_not_clipped, "not-clipped"),
    ("clipped_precision", clipped_precision_recall, "recall"),
    ("clipped_precision", clipped_precision_sets, "kinds-counted-once"),
    ("clipped_precision", clipped_precision_each_group_once_of_all, "kinds-counted-once"),
    ("clipped_precision", clipped_precision_over_all_words, "divided-by-words"),
    ("clipped_precision", clipped_precision_one_for_short_texts, None),
    ("clipped_precision", clipped_precision_single_words_only, "n-ignored"),
    ("clipped_precision", clipped_precision_last_group_forgotten, "last-group-left-out"),
    ("clipped_precision", clipped_precision_side_by_side, "side-by-side"),
    ("clipped_precision", clipped_precision_mean_of_orders, None),
    ("clipped_precision", clipped_precision_short_groups_at_the_end, "shorter-groups-counted"),
    ("clipped_precision", clipped_precision_groups_without_order, None),
]
