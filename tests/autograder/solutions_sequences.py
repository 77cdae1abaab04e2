"""The assignment on sequences solved a second time, with lists and loops."""

import math

import numpy as np


def teacher_forcing(targets, bos, eos):
    room = max(map(len, targets)) + 1
    inputs, outputs = np.zeros((len(targets), room), dtype=int), np.zeros((len(targets), room), dtype=int)
    for row, target in enumerate(targets):
        inputs[row, 0] = bos
        for i, word in enumerate(target):
            inputs[row, i + 1] = outputs[row, i] = word
        outputs[row, len(target)] = eos
    return inputs, outputs


def reverse(tokens, lengths):
    rows = []
    for row, n in zip(tokens.tolist(), lengths.tolist(), strict=True):
        rows.append(list(reversed(row[:n])) + row[n:])
    return rows


def last_states(states, lengths):
    return np.stack([row[n - 1] for row, n in zip(states.numpy(), lengths.tolist(), strict=True)])


def teacher_share(step, kind, k):
    if kind == "linear":
        return 1 - k * step if k * step < 1 else 0
    if kind == "exponential":
        return math.exp(step * math.log(k))
    return 1 / (1 + math.exp(step / k) / k)


def mixed_inputs(truth, own, coins, share):
    rows = []
    for b in range(len(truth)):
        row = [int(truth[b, 0])]
        for t in range(1, truth.shape[1]):
            row.append(int(truth[b, t]) if float(coins[b, t]) < share else int(own[b, t - 1]))
        rows.append(row)
    return rows


def write(context, E, W, U, C, V, bos, eos, longest, every_step):
    context, E, W, U, C, V = (t.numpy().astype(float) for t in (context, E, W, U, C, V))
    h, word, tokens, states = context, bos, [], []
    for _ in range(longest):
        total = np.dot(E[word], W) + np.dot(h, U)
        if every_step:
            total = total + np.dot(context, C)
        h = np.tanh(total)
        word = int(np.argmax(h.dot(V)))
        tokens.append(word)
        states.append(h)
        if word == eos:
            break
    return np.array(tokens), np.array(states)


def clipped_precision(hypothesis, reference, n):
    left = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    groups = [tuple(hypothesis[i : i + n]) for i in range(len(hypothesis) - n + 1)]
    right = 0
    for group in groups:
        if group in left:
            left.remove(group)
            right += 1
    return right / len(groups) if groups else 0


SOLUTIONS = {
    f"sequences.{function.__name__}": function
    for function in (teacher_forcing, reverse, last_states, teacher_share, mixed_inputs, write, clipped_precision)
}
