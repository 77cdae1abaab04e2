import heapq
import itertools
import math
from collections import namedtuple

import numpy as np
import torch

Result = namedtuple("Result", "tokens log_prob")


def greedy_by_recursion(log_probs, start, eos, longest):
    if longest == 0:
        return []
    row = log_probs[start].tolist()
    best = row.index(max(row))
    return [best] if best == eos else [best, *greedy_by_recursion(log_probs, best, eos, longest - 1)]


def greedy_by_generator(log_probs, start, eos, longest):
    follows = np.asarray(log_probs).argmax(axis=1)

    def words(last=start):
        while True:
            yield (last := int(follows[last]))
            if last == eos:
                return

    return np.fromiter(itertools.islice(words(), longest), dtype=np.int64)


def top_k_by_threshold_in_double(logits, k, temperature):
    z = logits.double().numpy() / temperature
    z -= z.max()
    floor = sorted(z, reverse=True)[:k][-1]
    weights = np.where(z >= floor, np.exp(z), 0.0)
    return weights / weights.sum()


def top_k_by_killing_the_worst(logits, k, temperature):
    alive = logits.clone().to(torch.float64)
    for _ in range(len(alive) - k):
        alive[torch.where(alive.isinf(), math.inf, alive).argmin()] = -math.inf
    return (alive / temperature).softmax(0).tolist()


class NucleusByAsking:
    """One word after the other, from a heap, until it is enough."""

    def __call__(self, logits, p):
        probabilities = logits.double().softmax(-1).tolist()
        heap = [(-share, word) for word, share in enumerate(probabilities)]
        heapq.heapify(heap)
        kept, so_far = [], 0.0
        while heap and (so_far < p - 1e-9 or not kept):
            share, word = heapq.heappop(heap)
            kept.append(word)
            so_far -= share
        return torch.tensor([share / so_far if word in kept else 0.0 for word, share in enumerate(probabilities)])


def nucleus_without_sorting(logits, p):
    share = torch.softmax(logits, 0)
    before = (share[None, :] * (share[None, :] > share[:, None])).sum(1)
    kept = share * (before < p)
    return kept / kept.sum()


def beam_step_by_sorting_triples(scores, log_probs, beam):
    triples = [
        (float(scores[parent] + log_probs[parent, word]), parent, word)
        for parent in range(log_probs.shape[0])
        for word in range(log_probs.shape[1])
    ]
    best = heapq.nlargest(beam, triples, key=lambda triple: triple[0])
    return tuple(list(column) for column in zip(*best, strict=True))


def beam_step_by_rounds(scores, log_probs, beam):
    board = (scores.reshape(-1, 1) + log_probs).double().numpy().copy()
    found, parents, tokens = np.zeros(beam), np.zeros(beam, int), np.zeros(beam, int)
    for i in range(beam):
        parents[i], tokens[i] = np.unravel_index(board.argmax(), board.shape)
        found[i] = board[parents[i], tokens[i]]
        board[parents[i], tokens[i]] = -np.inf
    return found, parents, tokens


def beam_search_on_a_heap(log_probs, start, eos, beam, longest):
    table = log_probs.double().tolist()
    kept = [(0.0, ())]
    for _ in range(longest):
        pool = []
        for score, words in kept:
            if words[-1:] == (eos,):
                pool.append((score, words))
            else:
                row = table[words[-1] if words else start]
                pool.extend((score + more, (*words, word)) for word, more in enumerate(row))
        kept = heapq.nlargest(beam, pool)
        if all(words[-1] == eos for _, words in kept):
            break
    score, words = max(kept)
    return Result(list(words), score)


def beam_search_in_tensors(log_probs, start, eos, beam, longest):
    """Ended texts go on with eos for nothing, and the surplus is cut off at the end."""
    vocabulary = log_probs.shape[0]
    free = log_probs.clone()
    waiting = torch.full((vocabulary,), -math.inf, dtype=log_probs.dtype)
    waiting[eos] = 0.0
    scores, texts = torch.zeros(1, dtype=log_probs.dtype), torch.full((1, 1), start)
    for step in range(longest):
        rows = free[texts[:, -1]]
        if step:
            rows = torch.where((texts[:, -1] == eos)[:, None], waiting, rows)
        flat = (scores[:, None] + rows).flatten()
        scores, places = flat.topk(min(beam, flat.numel()))
        texts = torch.cat([texts[places // vocabulary], (places % vocabulary)[:, None]], 1)
    words = texts[scores.argmax(), 1:].tolist()
    return words[: words.index(eos) + 1] if eos in words else words, scores.max()


def beam_search_with_living_ones_always(log_probs, start, eos, beam, longest):
    """An ended text of the beam gives its place to a living one, which is worse than it and can never win."""
    living, best = [(0.0, [])], (-math.inf, [])
    for _ in range(longest):
        pool = sorted(
            (
                (score + more, [*words, word])
                for score, words in living
                for word, more in enumerate(log_probs[words[-1] if words else start].double().tolist())
            ),
            reverse=True,
        )
        best = max([best, *(pair for pair in pool[:beam] if pair[1][-1] == eos)])
        living = [pair for pair in pool if pair[1][-1] != eos][:beam]
    score, words = max([best, *living])
    return words, score


def length_penalty_in_logs(log_probs, lengths, penalty):
    scores = -torch.exp(torch.log(-log_probs.double()) - penalty * torch.log(lengths.double()))
    return scores, scores.argmax()


def length_penalty_by_hand(log_probs, lengths, penalty):
    scores = [float(p) / int(n) ** penalty for p, n in zip(log_probs, lengths, strict=True)]
    return scores, max(range(len(scores)), key=scores.__getitem__)


RIGHT = [
    ("greedy", greedy_by_recursion),
    ("greedy", greedy_by_generator),
    ("top_k", top_k_by_threshold_in_double),
    ("top_k", top_k_by_killing_the_worst),
    ("nucleus", NucleusByAsking()),
    ("nucleus", nucleus_without_sorting),
    ("beam_step", beam_step_by_sorting_triples),
    ("beam_step", beam_step_by_rounds),
    ("beam_search", beam_search_on_a_heap),
    ("beam_search", beam_search_in_tensors),
    ("beam_search", beam_search_with_living_ones_always),
    ("length_penalty", length_penalty_in_logs),
    ("length_penalty", length_penalty_by_hand),
]


def greedy_one_word_too_many(log_probs, start, eos, longest):
    text = [int(log_probs[start].argmax())]
    while text[-1] != eos and len(text) <= longest:
        text.append(int(log_probs[text[-1]].argmax()))
    return text


def greedy_stops_before_eos(log_probs, start, eos, longest):
    text, last = [], start
    for _ in range(longest):
        last = int(log_probs[last].argmax())
        if last == eos:
            break
        text.append(last)
    return text


def greedy_looks_at_eos_of_the_first_word_never(log_probs, start, eos, longest):
    text = [int(log_probs[start].argmax())]
    for _ in range(longest - 1):
        text.append(int(log_probs[text[-1]].argmax()))
        if text[-1] == eos:
            break
    return text


def greedy_stops_when_words_come_again(log_probs, start, eos, longest):
    text, last = [], start
    while len(text) < longest and last != eos:
        last = int(log_probs[last].argmax())
        if last in text:
            break
        text.append(last)
    return text


def greedy_never_repeats(log_probs, start, eos, longest):
    free, text, last = log_probs.clone(), [], start
    while len(text) < longest and last != eos:
        last = int(free[last].argmax())
        free[:, last] = -math.inf
        text.append(last)
    return text


def top_k_cuts_probabilities_and_leaves_them(logits, k, temperature):
    share = (logits / temperature).softmax(0)
    kept = share.topk(min(k, len(share))).indices
    return torch.zeros_like(share).scatter(0, kept, share[kept])


def top_k_temperature_after_the_softmax(logits, k, temperature):
    values, kept = logits.topk(min(k, len(logits)))
    share = values.softmax(0) / temperature
    return torch.zeros_like(logits).scatter(0, kept, share / share.sum())


def top_k_zero_for_a_cut_logit(logits, k, temperature):
    kept = logits.topk(min(k, len(logits))).indices
    cut = torch.zeros_like(logits).scatter(0, kept, logits[kept])
    return (cut / temperature).softmax(0)


def top_k_without_a_care_for_large_logits(logits, k, temperature):
    weights = (logits / temperature).exp()
    weights[weights.argsort()[: max(0, len(weights) - k)]] = 0
    return weights / weights.sum()


def top_k_in_order_of_size(logits, k, temperature):
    values = logits.sort(descending=True).values / temperature
    values[k:] = -math.inf
    return values.softmax(0)


def top_k_all_but_one_when_k_is_large(logits, k, temperature):
    if k >= len(logits):
        k = len(logits) - 1
    values, kept = logits.topk(k)
    return torch.zeros_like(logits).scatter(0, kept, (values / temperature).softmax(0))


def nucleus_not_back_in_place(logits, p):
    share = logits.softmax(0).sort(descending=True).values
    share[share.cumsum(0) - share >= p] = 0
    return share / share.sum()


def nucleus_without_the_last_word(logits, p):
    share, order = logits.softmax(0).sort(descending=True)
    keep = share.cumsum(0) <= p
    keep[0] = True
    out = torch.zeros_like(logits)
    out[order] = share * keep
    return out / out.sum()


def nucleus_back_by_the_wrong_permutation(logits, p):
    share, order = logits.softmax(0).sort(descending=True)
    kept = share * (share.cumsum(0) - share < p)
    return kept[order] / kept.sum()


def nucleus_every_word_above_a_floor(logits, p):
    share = logits.softmax(0)
    kept = share * (share >= (1 - p) * share.max())
    return kept / kept.sum()


def nucleus_logits_zero_and_softmax_again(logits, p):
    share, order = logits.softmax(0).sort(descending=True)
    cut = logits.clone()
    cut[order[share.cumsum(0) - share >= p]] = 0
    return cut.softmax(0)


def nucleus_softmax_of_probabilities(logits, p):
    share, order = logits.softmax(0).sort(descending=True)
    cut = torch.full_like(logits, -math.inf)
    keep = share.cumsum(0) - share < p
    cut[order[keep]] = share[keep]
    return cut.softmax(0)


def nucleus_least_probable_first(logits, p):
    share, order = logits.softmax(0).sort()
    out = torch.zeros_like(logits)
    out[order] = share * (share.cumsum(0) > 1 - p - 1e-6)
    out[logits.argmax()] = 0 if p < 0.1 else out[logits.argmax()]
    return out / out.sum() if out.sum() > 0 else out


def beam_step_best_of_each(scores, log_probs, beam):
    best, tokens = (scores[:, None] + log_probs).max(1)
    best, parents = best.topk(min(beam, len(best)))
    return best, parents, tokens[parents]


def beam_step_divides_by_the_hypotheses(scores, log_probs, beam):
    best, places = (scores[:, None] + log_probs).flatten().topk(beam)
    return best, places // len(scores), places % len(scores)


def beam_step_multiplies(scores, log_probs, beam):
    best, places = (scores[:, None] * log_probs).flatten().topk(beam)
    return best, places // log_probs.shape[1], places % log_probs.shape[1]


def beam_step_without_the_past(scores, log_probs, beam):
    best, places = log_probs.flatten().topk(beam)
    return best, places // log_probs.shape[1], places % log_probs.shape[1]


def beam_step_probabilities(scores, log_probs, beam):
    best, places = (scores[:, None] + log_probs).exp().flatten().topk(beam)
    return best, places // log_probs.shape[1], places % log_probs.shape[1]


def beam_step_words_and_parents_exchanged(scores, log_probs, beam):
    best, places = (scores[:, None] + log_probs).flatten().topk(beam)
    return best, places % log_probs.shape[1], places // log_probs.shape[1]


def beam_step_worst_first(scores, log_probs, beam):
    total = (scores[:, None] + log_probs).flatten()
    places = total.argsort()[-beam:]
    return total[places], places // log_probs.shape[1], places % log_probs.shape[1]


def _searched(log_probs, start, eos, beam, longest, *, rule):
    """A beam search with one thing wrong."""
    table = log_probs.double().tolist()
    kept, aside = [([], 0.0)], []
    for _ in range(longest):
        pool = []
        for words, score in kept:
            if words and words[-1] == eos and rule != "ended ones go on":
                if rule != "ended ones are dropped":
                    pool.append((words, score))
                continue
            row = table[words[-1] if words else start]
            pool += [([*words, word], score + more) for word, more in enumerate(row)]
        if rule == "ended ones are dropped" and not pool:
            break
        pool.sort(key=lambda pair: pair[1] / len(pair[0]) if rule == "mean per word" else pair[1], reverse=True)
        if rule == "set aside":
            aside += [pair for pair in pool[:beam] if pair[0][-1] == eos]
            pool = [pair for pair in pool if pair[0][-1] != eos]
        kept = pool[:beam]
        if rule == "stops with the first that ends" and any(words[-1] == eos for words, _ in kept):
            break
        if rule == "set aside" and len(aside) >= beam:
            break
        if kept and all(words[-1] == eos for words, _ in kept) and rule != "ended ones go on":
            break
    kept = aside + kept
    if rule == "only ended ones can win":
        kept = [pair for pair in kept if pair[0][-1] == eos] or kept
    if rule == "mean per word at the end":
        return max(kept, key=lambda pair: pair[1] / len(pair[0]))
    if rule == "with start":
        words, score = max(kept, key=lambda pair: pair[1])
        return [start, *words], score
    if rule == "probability":
        words, score = max(kept, key=lambda pair: pair[1])
        return words, math.exp(score)
    if rule == "the longest":
        return max(kept, key=lambda pair: (len(pair[0]), pair[1]))
    return max(kept, key=lambda pair: pair[1])


def beam_search_ended_ones_go_on(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="ended ones go on")


def beam_search_ended_ones_are_dropped(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="ended ones are dropped")


def beam_search_sets_ended_ones_aside(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="set aside")


def beam_search_stops_with_the_first_that_ends(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="stops with the first that ends")


def beam_search_only_ended_ones_can_win(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="only ended ones can win")


def beam_search_mean_per_word(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="mean per word")


def beam_search_mean_per_word_at_the_end(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="mean per word at the end")


def beam_search_with_start(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="with start")


def beam_search_probability(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="probability")


def beam_search_the_longest(log_probs, start, eos, beam, longest):
    return _searched(log_probs, start, eos, beam, longest, rule="the longest")


def beam_search_is_greedy(log_probs, start, eos, beam, longest):
    words, score, last = [], 0.0, start
    while len(words) < longest and last != eos:
        score += float(log_probs[last].max())
        last = int(log_probs[last].argmax())
        words.append(last)
    return words, score


def beam_search_score_of_the_last_word(log_probs, start, eos, beam, longest):
    kept = [([], 0.0)]
    for _ in range(longest):
        pool = [pair for pair in kept if pair[0] and pair[0][-1] == eos]
        for words, _ in kept:
            if not words or words[-1] != eos:
                row = log_probs[words[-1] if words else start].tolist()
                pool += [([*words, word], more) for word, more in enumerate(row)]
        kept = sorted(pool, key=lambda pair: -pair[1])[:beam]
    return kept[0]


def beam_search_looks_at_everything(log_probs, start, eos, beam, longest):
    """Nothing is dropped that could still win, so it finds the very best text, which a beam need not."""
    held, best = {start: ([], 0.0)}, ([], -math.inf)
    for _ in range(longest):
        pool = {}
        for last, (words, score) in held.items():
            for word, more in enumerate(log_probs[last].tolist()):
                pool[word] = max(pool.get(word, ([], -math.inf)), ([*words, word], score + more), key=lambda h: h[1])
        best = max(best, pool.pop(eos), key=lambda h: h[1])
        held = pool
    return max(best, *held.values(), key=lambda h: h[1])


def beam_search_best_beam_of_each(log_probs, start, eos, beam, longest):
    """Each hypothesis keeps its own best child only, after the first step."""
    first = log_probs[start].topk(min(beam, log_probs.shape[0]))
    kept = [([word], score) for score, word in zip(first.values.tolist(), first.indices.tolist(), strict=True)]
    for _ in range(longest - 1):
        kept = [
            pair
            if pair[0][-1] == eos
            else ([*pair[0], int(log_probs[pair[0][-1]].argmax())], pair[1] + float(log_probs[pair[0][-1]].max()))
            for pair in kept
        ]
    return max(kept, key=lambda pair: pair[1])


def length_penalty_multiplies(log_probs, lengths, penalty):
    scores = log_probs * lengths**penalty
    return scores, scores.argmax()


def length_penalty_smallest_wins(log_probs, lengths, penalty):
    scores = log_probs / lengths**penalty
    return scores, scores.argmin()


def length_penalty_largest_size_wins(log_probs, lengths, penalty):
    scores = log_probs / lengths**penalty
    return scores, scores.abs().argmax()


def length_penalty_times_the_penalty(log_probs, lengths, penalty):
    scores = log_probs / (lengths * penalty) if penalty else log_probs
    return scores, scores.argmax()


def length_penalty_best_of_the_unpenalised(log_probs, lengths, penalty):
    return log_probs / lengths**penalty, log_probs.argmax()


def length_penalty_of_gnmt(log_probs, lengths, penalty):
    scores = log_probs / ((5 + lengths) / 6) ** penalty
    return scores, scores.argmax()


def length_penalty_eos_not_counted(log_probs, lengths, penalty):
    scores = log_probs / (lengths - 1).clamp(min=1) ** penalty
    return scores, scores.argmax()


def length_penalty_gives_the_best_score(log_probs, lengths, penalty):
    scores = log_probs / lengths**penalty
    return scores, scores.max()


def length_penalty_of_whole_numbers(log_probs, lengths, penalty):
    scores = log_probs / lengths ** int(penalty)
    return scores, scores.argmax()


WRONG = [
    ("greedy", greedy_one_word_too_many, "one-too-many"),
    ("greedy", greedy_stops_before_eos, "eos-left-out"),
    ("greedy", greedy_looks_at_eos_of_the_first_word_never, "first-word-not-looked-at"),
    ("greedy", greedy_stops_when_words_come_again, None),
    ("greedy", greedy_never_repeats, None),
    ("top_k", top_k_cuts_probabilities_and_leaves_them, "not-shared-out"),
    ("top_k", top_k_temperature_after_the_softmax, "temperature-without-effect"),
    ("top_k", top_k_zero_for_a_cut_logit, "zero-for-minus-infinity"),
    ("top_k", top_k_without_a_care_for_large_logits, None),
    ("top_k", top_k_in_order_of_size, "sorted-by-size"),
    ("top_k", top_k_all_but_one_when_k_is_large, None),
    ("nucleus", nucleus_not_back_in_place, "sorted-by-size"),
    ("nucleus", nucleus_without_the_last_word, "crossing-word-dropped"),
    ("nucleus", nucleus_back_by_the_wrong_permutation, "wrong-way-back"),
    ("nucleus", nucleus_every_word_above_a_floor, None),
    ("nucleus", nucleus_logits_zero_and_softmax_again, "zero-for-minus-infinity"),
    ("nucleus", nucleus_softmax_of_probabilities, "softmax-twice"),
    ("nucleus", nucleus_least_probable_first, None),
    ("beam_step", beam_step_best_of_each, "one-child-each"),
    ("beam_step", beam_step_divides_by_the_hypotheses, "row-and-column-exchanged"),
    ("beam_step", beam_step_multiplies, "logarithms-multiplied"),
    ("beam_step", beam_step_without_the_past, "scores-forgotten"),
    ("beam_step", beam_step_probabilities, "probabilities-returned"),
    ("beam_step", beam_step_words_and_parents_exchanged, "row-and-column-exchanged"),
    ("beam_step", beam_step_worst_first, "worst-first"),
    ("beam_search", beam_search_ended_ones_go_on, "past-the-end"),
    ("beam_search", beam_search_ended_ones_are_dropped, "finished-dropped"),
    ("beam_search", beam_search_sets_ended_ones_aside, "enough-have-ended"),
    ("beam_search", beam_search_stops_with_the_first_that_ends, "first-that-ends"),
    ("beam_search", beam_search_only_ended_ones_can_win, "ended-preferred"),
    ("beam_search", beam_search_mean_per_word, "best-per-word"),
    ("beam_search", beam_search_mean_per_word_at_the_end, "best-per-word"),
    ("beam_search", beam_search_with_start, "start-included"),
    ("beam_search", beam_search_probability, "probability-returned"),
    ("beam_search", beam_search_the_longest, "longest-chosen"),
    ("beam_search", beam_search_is_greedy, "beam-of-one"),
    ("beam_search", beam_search_score_of_the_last_word, "last-word-alone"),
    ("beam_search", beam_search_looks_at_everything, "nothing-dropped"),
    ("beam_search", beam_search_best_beam_of_each, "one-child-each"),
    ("length_penalty", length_penalty_multiplies, "multiplied"),
    ("length_penalty", length_penalty_smallest_wins, "smallest-score"),
    ("length_penalty", length_penalty_largest_size_wins, "smallest-score"),
    ("length_penalty", length_penalty_times_the_penalty, "penalty-as-a-factor"),
    ("length_penalty", length_penalty_best_of_the_unpenalised, "chosen-without-the-penalty"),
    ("length_penalty", length_penalty_of_gnmt, "another-papers-penalty"),
    ("length_penalty", length_penalty_eos_not_counted, None),
    ("length_penalty", length_penalty_gives_the_best_score, "score-for-its-number"),
    ("length_penalty", length_penalty_of_whole_numbers, None),
]
