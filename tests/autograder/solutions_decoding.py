"""The assignment on decoding solved a second time: probabilities and lists in place of logarithms and tensors."""

import heapq
import itertools
import math

import numpy as np


def greedy(log_probs, start, eos, longest):
    def after(last, left):
        if left == 0:
            return []
        word = max(range(len(log_probs)), key=lambda w: float(log_probs[last, w]))
        return [word] if word == eos else [word, *after(word, left - 1)]

    return after(start, longest)


def top_k(logits, k, temperature):
    chosen = heapq.nlargest(k, range(len(logits)), key=lambda i: float(logits[i]))
    e = {i: math.exp(float(logits[i]) / temperature) for i in chosen}
    return [e.get(i, 0.0) / sum(e.values()) for i in range(len(logits))]


def nucleus(logits, p):
    e = np.exp(logits.numpy().astype(float) - float(logits.max()))
    share = e / e.sum()
    kept, total = [], 0.0
    for i in np.argsort(-share):
        kept.append(i)
        total += share[i]
        if total >= p:
            break
    made = np.zeros(len(share))
    made[kept] = share[kept] / total
    return made


def beam_step(scores, log_probs, beam):
    everything = [
        (float(scores[parent]) + float(log_probs[parent, word]), parent, word)
        for parent, word in itertools.product(range(len(scores)), range(log_probs.shape[1]))
    ]
    best = heapq.nlargest(beam, everything)
    return [s for s, _, _ in best], [parent for _, parent, _ in best], [word for _, _, word in best]


def beam_search(log_probs, start, eos, beam, longest):
    held = [((), 1.0)]
    for _ in range(longest):
        grown = []
        for words, p in held:
            if words[-1:] == (eos,):
                grown.append((words, p))
            else:
                last = words[-1] if words else start
                grown.extend(((*words, w), p * math.exp(float(log_probs[last, w]))) for w in range(len(log_probs)))
        held = sorted(grown, key=lambda h: h[1], reverse=True)[:beam]
    return list(held[0][0]), math.log(held[0][1])


def length_penalty(log_probs, lengths, penalty):
    scores = [float(lp) / math.exp(penalty * math.log(int(n))) for lp, n in zip(log_probs, lengths, strict=True)]
    return scores, scores.index(max(scores))


SOLUTIONS = {
    f"decoding.{function.__name__}": function
    for function in (greedy, top_k, nucleus, beam_step, beam_search, length_penalty)
}
