"""The n-grams assignment by somebody who had read the notebook and nothing else: right in odd ways, and wrong."""

import itertools
import math
import statistics
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import torch


def _pairs(sentences, bos, eos):
    for sentence in sentences:
        yield from itertools.pairwise([bos, *sentence, eos])


# Right: count_bigrams.
def counts_by_bincount(sentences, vocab_size, bos, eos):
    flat = torch.tensor([a * vocab_size + b for a, b in _pairs(sentences, bos, eos)], dtype=torch.long)
    return torch.bincount(flat, minlength=vocab_size**2).view(vocab_size, vocab_size)


def counts_in_numpy(sentences, vocab_size, bos, eos):
    table = np.zeros((vocab_size, vocab_size), dtype=np.int32)
    for sentence in sentences:
        line = np.array([bos, *sentence, eos])
        np.add.at(table, (line[:-1], line[1:]), 1)
    return table


class CountsAsLists:
    def __call__(self, sentences, vocab_size, bos, eos):
        seen = Counter(_pairs(sentences, bos, eos))
        return [[seen[a, b] for b in range(vocab_size)] for a in range(vocab_size)]


def counts_recursive(sentences, vocab_size, bos, eos):
    if not sentences:
        return torch.zeros(vocab_size, vocab_size, dtype=torch.float64)
    table, last = counts_recursive(sentences[1:], vocab_size, bos, eos), bos
    for word in sentences[0]:
        table[last, (last := word)] += 1
    table[last, eos] += 1
    return table


# Right: conditional_probabilities.
def shares_as_fractions(counts):
    rows, size = counts.tolist(), len(counts)
    return [[float(Fraction(c) / Fraction(sum(row))) for c in row] if sum(row) else [1 / size] * size for row in rows]


def shares_one_added_where_nothing_was(counts):
    counts = counts.double() + (counts.sum(1, keepdim=True) == 0)
    return counts / counts.sum(1, keepdim=True)


def shares_nan_filled(counts):
    return (counts / counts.sum(dim=1)[:, None]).nan_to_num(nan=1 / counts.shape[0])


def shares_row_by_row(counts):
    made = counts.clone().float()
    for row in made:
        row.div_(row.sum()) if row.any() else row.fill_(1 / len(row))
    return made


# Right: additive.
def additive_then_normalised(counts, k):
    return torch.nn.functional.normalize(counts + k, p=1, dim=1)


def additive_as_mixture_with_uniform(counts, k):
    counts, size = counts.double(), counts.size(0)
    total = counts.sum(-1, keepdim=True)
    trust = total / (total + k * size)
    return trust * counts / total.clamp(min=1e-9) + (1 - trust) / size


def additive_by_softmax(counts, k):
    return (counts.double() + k).log().softmax(dim=-1)


# Right: interpolated.
def mixture_normalised_at_the_end(words, context, weights, vocab_size):
    words, mixed = [int(w) for w in words], np.zeros(vocab_size)
    for n, weight in zip((0, 1, 2), weights, strict=True):
        wanted = [int(c) for c in context][2 - n :]
        followers = [words[i] for i in range(n, len(words)) if words[i - n : i] == wanted]
        if followers:
            mixed += float(weight) * np.bincount(followers, minlength=vocab_size) / len(followers)
    return mixed / mixed.sum()


def mixture_with_trigram_dictionary(words, context, weights, vocab_size):
    words, tables = list(map(int, words)), defaultdict(Counter)
    for n in range(3):
        for *before, word in zip(*(words[i:] for i in range(n + 1)), strict=False):
            tables[tuple(before)][word] += 1
    a, b = (int(c) for c in context)
    known = [(float(w), tables[key]) for w, key in zip(weights, [(), (b,), (a, b)], strict=True) if key in tables]
    share = sum(weight for weight, _ in known)
    return [sum(w * t[v] / t.total() for w, t in known) / share for v in range(vocab_size)]


def mixture_by_masks(words, context, weights, vocab_size):
    a, b = (int(c) for c in context)
    one_hot = torch.eye(vocab_size, dtype=torch.float64)[words]
    before, two_before = words.roll(1), words.roll(2)
    place = torch.arange(len(words))
    masks = [place >= 0, (place > 0) & (before == b), (place > 1) & (before == b) & (two_before == a)]
    heard = [bool(mask.any()) for mask in masks]
    rows = [one_hot[mask].mean(0) for mask, any_ in zip(masks, heard, strict=True) if any_]
    shares = torch.tensor([float(w) for w, any_ in zip(weights, heard, strict=True) if any_], dtype=torch.float64)
    return (shares / shares.sum()) @ torch.stack(rows)


# Right: kneser_ney.
def kneser_ney_with_sets(counts, discount):
    rows, size = counts.tolist(), len(counts)
    before = {w: {a for a in range(size) if rows[a][w]} for w in range(size)}
    types = sum(map(len, before.values()))
    continuation = [len(before[w]) / types for w in range(size)]
    table = []
    for row in rows:
        total, different = sum(row), len(row) - row.count(0)
        table.append(
            [max(c - discount, 0) / total + discount * different / total * p for c, p in zip(row, continuation)]  # noqa: B905
            if total
            else continuation
        )
    return continuation, table


def kneser_ney_by_what_is_left(counts, discount):
    counts = counts.numpy().astype(float)
    kept = np.where(counts > 0, counts - discount, 0)
    totals = counts.sum(axis=1, keepdims=True)
    kept = np.divide(kept, totals, out=np.zeros_like(kept), where=totals > 0)
    seen = np.count_nonzero(counts, axis=0)
    continuation = seen / seen.sum()
    return continuation, kept + (1 - kept.sum(axis=1, keepdims=True)) * continuation


# Right: perplexity.
def surprise_in_one_go(probabilities, sentences, bos, eos):
    before, after = torch.tensor(list(_pairs(sentences, bos, eos))).T
    loss = torch.nn.functional.nll_loss(probabilities.double().log()[before], after, reduction="sum")
    return loss, (loss / len(after)).exp()


def surprise_in_bits_and_back(probabilities, sentences, bos, eos):
    bits = [-math.log2(float(probabilities[a][b])) for a, b in _pairs(sentences, bos, eos)]
    return math.fsum(bits) * math.log(2), 2 ** (math.fsum(bits) / len(bits))


def surprise_as_geometric_mean(probabilities, sentences, bos, eos):
    odds = [1 / probabilities[a, b].item() for a, b in _pairs(sentences, bos, eos)]
    return np.float64(sum(map(math.log, odds))), np.array(statistics.geometric_mean(odds))


RIGHT = [
    ("count_bigrams", counts_by_bincount),
    ("count_bigrams", counts_in_numpy),
    ("count_bigrams", CountsAsLists()),
    ("count_bigrams", counts_recursive),
    ("conditional_probabilities", shares_as_fractions),
    ("conditional_probabilities", shares_one_added_where_nothing_was),
    ("conditional_probabilities", shares_nan_filled),
    ("conditional_probabilities", shares_row_by_row),
    ("additive", additive_then_normalised),
    ("additive", additive_as_mixture_with_uniform),
    ("additive", additive_by_softmax),
    ("interpolated", mixture_normalised_at_the_end),
    ("interpolated", mixture_with_trigram_dictionary),
    ("interpolated", mixture_by_masks),
    ("kneser_ney", kneser_ney_with_sets),
    ("kneser_ney", kneser_ney_by_what_is_left),
    ("perplexity", surprise_in_one_go),
    ("perplexity", surprise_in_bits_and_back),
    ("perplexity", surprise_as_geometric_mean),
]


# Wrong: count_bigrams.
def equal_pairs_of_a_sentence_once(sentences, vocab_size, bos, eos):
    table = torch.zeros(vocab_size, vocab_size)
    for sentence in sentences:
        line = torch.tensor([bos, *sentence, eos])
        table[line[:-1], line[1:]] += 1  # an index that comes twice is added once
    return table


def seen_or_not(sentences, vocab_size, bos, eos):
    table = torch.zeros(vocab_size, vocab_size)
    for a, b in _pairs(sentences, bos, eos):
        table[a, b] = 1
    return table


def equal_sentences_once(sentences, vocab_size, bos, eos):
    return counts_in_numpy({tuple(sentence) for sentence in sentences}, vocab_size, bos, eos)


def markers_at_the_end_of_the_vocabulary(sentences, vocab_size, bos, eos):
    return counts_in_numpy(sentences, vocab_size, vocab_size - 2, vocab_size - 1)


def markers_around_the_whole_text(sentences, vocab_size, bos, eos):
    return counts_in_numpy([[word for sentence in sentences for word in sentence]], vocab_size, bos, eos)


def last_pair_forgotten(sentences, vocab_size, bos, eos):
    table = torch.zeros(vocab_size, vocab_size)
    for sentence in sentences:
        line = [bos, *sentence, eos]
        for i in range(len(line) - 2):
            table[line[i], line[i + 1]] += 1
    return table


def empty_sentences_skipped(sentences, vocab_size, bos, eos):
    return counts_in_numpy([sentence for sentence in sentences if sentence], vocab_size, bos, eos)


def counted_into_a_byte_of_yes_and_no(sentences, vocab_size, bos, eos):
    return counts_in_numpy(sentences, vocab_size, bos, eos) > 0


def markers_put_into_the_argument(sentences, vocab_size, bos, eos):
    for sentence in sentences:
        sentence.insert(0, bos)
        sentence.append(eos)
    table = torch.zeros(vocab_size, vocab_size)
    for sentence in sentences:
        for a, b in itertools.pairwise(sentence):
            table[a, b] += 1
    return table


# Wrong: conditional_probabilities.
def zeros_replaced_everywhere(counts):
    p = counts / counts.sum(1, keepdim=True).clamp(min=1)
    p[p == 0] = 1 / counts.shape[1]
    return p


def a_grain_in_the_denominator(counts):
    return counts / (counts.sum(1, keepdim=True) + 1e-8)


def joint_probabilities(counts):
    return counts / counts.sum()


def softmax_of_counts(counts):
    return torch.softmax(counts.float(), dim=1)


def unseen_contexts_get_the_unigram(counts):
    total = counts.sum(1, keepdim=True)
    return torch.where(total > 0, counts / total.clamp(min=1), counts.sum(0) / counts.sum())


def unseen_contexts_get_one_each(counts):
    return (counts / counts.sum(1, keepdim=True)).nan_to_num(1.0)


def unseen_contexts_get_what_was_seen_elsewhere(counts):
    total = counts.sum(1, keepdim=True)
    heard = (counts.sum(0) > 0).float()
    return torch.where(total > 0, counts / total.clamp(min=1), heard / heard.sum())


def half_added_to_everything(counts):
    return (counts + 0.5) / (counts + 0.5).sum(1, keepdim=True)


# Wrong: additive.
def k_once_in_the_denominator(counts, k):
    return (counts + k) / (counts.sum(1, keepdim=True) + k)


def only_zeros_get_k(counts, k):
    made = torch.where(counts == 0, torch.as_tensor(float(k)), counts.float())
    return made / made.sum(1, keepdim=True)


def k_cut_to_a_whole_number(counts, k):
    k = max(int(k), 1)
    return (counts + k) / (counts.sum(1, keepdim=True) + k * counts.shape[1])


def four_words_as_in_the_example(counts, k):
    return (counts + k) / (counts.sum(1, keepdim=True) + k * 4)


def k_times_the_counts(counts, k):
    return k * counts / (k * counts).sum(1, keepdim=True)


def sum_without_keepdim(counts, k):
    return (counts + k) / (counts + k).sum(1)


def all_contexts_in_one_sum(counts, k):
    return (counts + k) / (counts.sum() + k * counts.shape[1])


def unseen_context_left_at_zero(counts, k):
    total = counts.sum(1, keepdim=True)
    return torch.where(total > 0, (counts + k) / (total + k * counts.shape[1]), torch.zeros(()))


# Wrong: interpolated.
def _followers(words, context):
    words, context = [int(w) for w in words], [int(c) for c in context]
    n = len(context)
    return [words[i] for i in range(n, len(words)) if words[i - n : i] == context]


def _shares(ids, vocab_size):
    return torch.bincount(torch.tensor(ids, dtype=torch.long), minlength=vocab_size) / max(len(ids), 1)


def _mixed(distributions, weights):
    return sum(float(weight) * distribution for weight, distribution in zip(weights, distributions, strict=True))


def unseen_order_becomes_uniform(words, context, weights, vocab_size):
    heard = [_followers(words, context[2 - n :]) for n in range(3)]
    uniform = torch.full((vocab_size,), 1 / vocab_size)
    return _mixed([_shares(ids, vocab_size) if ids else uniform for ids in heard], weights)


def bigram_looks_at_the_first_word(words, context, weights, vocab_size):
    heard = [_followers(words, part) for part in ([], context[:1], context)]
    share = sum(float(w) for w, ids in zip(weights, heard, strict=True) if ids)
    return _mixed([_shares(ids, vocab_size) for ids in heard], weights) / share


def weights_from_long_to_short(words, context, weights, vocab_size):
    return mixture_normalised_at_the_end(words, context, list(weights)[::-1], vocab_size)


def missing_weight_goes_one_order_down(words, context, weights, vocab_size):
    heard, weights = [_followers(words, context[2 - n :]) for n in range(3)], [float(w) for w in weights]
    for n in (2, 1):
        if not heard[n]:
            weights[n - 1], weights[n] = weights[n - 1] + weights[n], 0.0
    return _mixed([_shares(ids, vocab_size) for ids in heard], weights)


def contexts_counted_by_their_own_number(words, context, weights, vocab_size):
    text, mixed, share = words.tolist(), torch.zeros(vocab_size), 0.0
    context = [int(c) for c in context]
    for n, weight in enumerate(weights):
        wanted = context[2 - n :]
        stands = sum(text[i : i + n] == wanted for i in range(len(text)))  # the last one is followed by nothing
        if stands:
            share += float(weight)
            for word in _followers(words, wanted):
                mixed[word] += float(weight) / stands
    return mixed / share


def text_bent_to_a_ring(words, context, weights, vocab_size):
    ring = torch.cat([words[-2:], words])
    return mixture_normalised_at_the_end(ring, context, weights, vocab_size)


def nothing_divided_by_the_weights_left(words, context, weights, vocab_size):
    return _mixed([_shares(_followers(words, context[2 - n :]), vocab_size) for n in range(3)], weights)


def only_the_longest_known_order(words, context, weights, vocab_size):
    for n in (2, 1, 0):
        if ids := _followers(words, context[2 - n :]):
            return _shares(ids, vocab_size)
    return None


def counts_mixed_before_dividing(words, context, weights, vocab_size):
    heard = [_followers(words, context[2 - n :]) for n in range(3)]
    mixed = _mixed([_shares(ids, vocab_size) * len(ids) for ids in heard], weights)
    return mixed / mixed.sum()


def context_the_other_way_round(words, context, weights, vocab_size):
    return mixture_normalised_at_the_end(words, context[::-1], weights, vocab_size)


def unigram_from_the_third_word_on(words, context, weights, vocab_size):
    text, heard = words.tolist(), [[], [], []]
    a, b = (int(c) for c in context)
    for i in range(2, len(text)):
        heard[0].append(text[i])
        if text[i - 1] == b:
            heard[1].append(text[i])
            if text[i - 2] == a:
                heard[2].append(text[i])
    share = sum(float(w) for w, ids in zip(weights, heard, strict=True) if ids)
    return _mixed([_shares(ids, vocab_size) for ids in heard], weights) / share


# Wrong: kneser_ney.
def _kneser_ney(counts, discount, continuation=None, kept=None, freed=None, unseen=None):
    """The right one, but for what is handed in."""
    counts = counts.double()
    total, types = counts.sum(1, keepdim=True), (counts > 0).sum(1, keepdim=True)
    usual = (counts > 0).sum(0) / (counts > 0).sum()
    continuation = usual if continuation is None else continuation
    kept = (counts - discount).clamp(min=0) if kept is None else kept
    freed = discount * types / total.clamp(min=1) if freed is None else freed
    table = kept / total.clamp(min=1) + freed * continuation
    return continuation, torch.where(total > 0, table, continuation if unseen is None else unseen)


def continuation_over_the_vocabulary(counts, discount):
    return _kneser_ney(counts, discount, continuation=(counts > 0).sum(0) / counts.shape[0])


def continuation_from_frequencies(counts, discount):
    return _kneser_ney(counts, discount, continuation=counts.sum(0) / counts.sum())


def continuation_by_rows(counts, discount):
    return _kneser_ney(counts, discount, continuation=(counts > 0).sum(1) / (counts > 0).sum())


def lowered_below_zero(counts, discount):
    return _kneser_ney(counts, discount, kept=counts - discount)


def discount_handed_out_once(counts, discount):
    return _kneser_ney(counts, discount, freed=discount / counts.sum(1, keepdim=True).clamp(min=1))


def whole_discount_as_weight(counts, discount):
    return _kneser_ney(counts, discount, freed=discount)


def counts_shrunk_by_a_share(counts, discount):
    return _kneser_ney(counts, discount, kept=counts * (1 - discount), freed=discount)


def unseen_context_uniform(counts, discount):
    return _kneser_ney(counts, discount, unseen=torch.full((len(counts),), 1 / len(counts), dtype=torch.double))


def unseen_context_zero(counts, discount):
    return _kneser_ney(counts, discount, unseen=torch.zeros(1, dtype=torch.double))


def unseen_context_not_a_number(counts, discount):
    total, types = counts.sum(1, keepdim=True), (counts > 0).sum(1, keepdim=True)
    continuation = (counts > 0).sum(0) / (counts > 0).sum()
    return continuation, ((counts - discount).clamp(min=0) + discount * types * continuation) / total


def discount_always_as_in_the_example(counts, discount):
    return _kneser_ney(counts, 0.5)


def types_counted_in_the_column(counts, discount):
    total = counts.sum(1, keepdim=True)
    return _kneser_ney(counts, discount, freed=discount * (counts > 0).sum(0)[:, None] / total.clamp(min=1))


def shared_out_only_to_what_was_unseen(counts, discount):
    total, types = counts.sum(1, keepdim=True), (counts > 0).sum(1, keepdim=True)
    return _kneser_ney(counts, discount, freed=(discount * types / total.clamp(min=1)) * (counts == 0))


def freed_along_the_wrong_axis(counts, discount):
    total, types = counts.sum(1), (counts > 0).sum(1)
    continuation = (counts > 0).sum(0) / (counts > 0).sum()
    table = (counts - discount).clamp(min=0) / total.clamp(min=1)[:, None]
    table = table + (discount * types / total.clamp(min=1)) * continuation[:, None]
    return continuation, torch.where(total[:, None] > 0, table, continuation)


# Wrong: perplexity.
def _surprise(probabilities, sentences, bos, eos):
    return [-math.log(float(probabilities[a, b])) for a, b in _pairs(sentences, bos, eos)]


def log_loss_in_bits(probabilities, sentences, bos, eos):
    bits = [each / math.log(2) for each in _surprise(probabilities, sentences, bos, eos)]
    return sum(bits), 2 ** (sum(bits) / len(bits))


def bits_under_the_wrong_power(probabilities, sentences, bos, eos):
    bits = [each / math.log(2) for each in _surprise(probabilities, sentences, bos, eos)]
    return sum(bits), math.exp(sum(bits) / len(bits))


def mean_instead_of_sum(probabilities, sentences, bos, eos):
    each = _surprise(probabilities, sentences, bos, eos)
    return sum(each) / len(each), math.exp(sum(each) / len(each))


def mean_of_the_odds(probabilities, sentences, bos, eos):
    each = _surprise(probabilities, sentences, bos, eos)
    return sum(each), sum(math.exp(x) for x in each) / len(each)


def divided_by_words_without_eos(probabilities, sentences, bos, eos):
    loss = sum(_surprise(probabilities, sentences, bos, eos))
    return loss, math.exp(loss / max(sum(map(len, sentences)), 1))


def bos_counted_too(probabilities, sentences, bos, eos):
    loss = sum(_surprise(probabilities, sentences, bos, eos))
    return loss, math.exp(loss / sum(len(sentence) + 2 for sentence in sentences))


def divided_by_sentences(probabilities, sentences, bos, eos):
    loss = sum(_surprise(probabilities, sentences, bos, eos))
    return loss, math.exp(loss / len(sentences))


def minus_forgotten(probabilities, sentences, bos, eos):
    each = _surprise(probabilities, sentences, bos, eos)
    return -sum(each), math.exp(-sum(each) / len(each))


def product_that_runs_out(probabilities, sentences, bos, eos):
    each = [float(probabilities[a, b]) for a, b in _pairs(sentences, bos, eos)]
    product = torch.tensor(each, dtype=torch.float32).prod()
    return -product.log(), product ** (-1 / len(each))


def table_read_by_columns(probabilities, sentences, bos, eos):
    each = _surprise(probabilities.T, sentences, bos, eos)
    return sum(each), math.exp(sum(each) / len(each))


def sentences_joined_with_markers(probabilities, sentences, bos, eos):
    line = [mark for sentence in sentences for mark in (bos, *sentence, eos)]
    each = [-math.log(float(probabilities[a, b])) for a, b in itertools.pairwise(line)]
    return sum(each), math.exp(sum(each) / len(each))


def mean_of_the_sentences_losses(probabilities, sentences, bos, eos):
    losses = [_surprise(probabilities, [sentence], bos, eos) for sentence in sentences]
    return sum(map(sum, losses)), math.exp(statistics.mean(map(statistics.mean, losses)))


def a_hundredth_added_against_zero(probabilities, sentences, bos, eos):
    each = [-math.log(float(probabilities[a, b]) + 0.01) for a, b in _pairs(sentences, bos, eos)]
    return sum(each), math.exp(sum(each) / len(each))


def begins_with_the_first_word(probabilities, sentences, bos, eos):
    lines = [[*sentence, eos] for sentence in sentences]
    each = [-math.log(float(probabilities[a, b])) for line in lines for a, b in itertools.pairwise(line)]
    return sum(each), math.exp(sum(each) / max(len(each), 1))


WRONG = [
    ("count_bigrams", equal_pairs_of_a_sentence_once, "once-per-sentence"),
    ("count_bigrams", seen_or_not, "seen-or-not"),
    ("count_bigrams", equal_sentences_once, "equal-sentences-once"),
    ("count_bigrams", markers_at_the_end_of_the_vocabulary, None),
    ("count_bigrams", markers_around_the_whole_text, "one-sentence-of-all"),
    ("count_bigrams", last_pair_forgotten, "eos-forgotten"),
    ("count_bigrams", empty_sentences_skipped, "empty-sentence-skipped"),
    ("count_bigrams", counted_into_a_byte_of_yes_and_no, "seen-or-not"),
    ("count_bigrams", markers_put_into_the_argument, "markers-put-into-the-lists"),
    ("conditional_probabilities", zeros_replaced_everywhere, "zeros-filled-up"),
    ("conditional_probabilities", a_grain_in_the_denominator, "unseen-is-zero"),
    ("conditional_probabilities", joint_probabilities, "joint-probability"),
    ("conditional_probabilities", softmax_of_counts, "softmax-of-counts"),
    ("conditional_probabilities", unseen_contexts_get_the_unigram, None),
    ("conditional_probabilities", unseen_contexts_get_one_each, None),
    ("conditional_probabilities", unseen_contexts_get_what_was_seen_elsewhere, None),
    ("conditional_probabilities", half_added_to_everything, None),
    ("additive", k_once_in_the_denominator, "k-once-below"),
    ("additive", only_zeros_get_k, "only-the-zeros"),
    ("additive", k_cut_to_a_whole_number, None),
    ("additive", four_words_as_in_the_example, None),
    ("additive", k_times_the_counts, None),
    ("additive", sum_without_keepdim, "sum-without-keepdim"),
    ("additive", all_contexts_in_one_sum, None),
    ("additive", unseen_context_left_at_zero, None),
    ("interpolated", unseen_order_becomes_uniform, "unseen-as-uniform"),
    ("interpolated", bigram_looks_at_the_first_word, "bigram-of-the-first-word"),
    ("interpolated", weights_from_long_to_short, "weights-reversed"),
    ("interpolated", missing_weight_goes_one_order_down, "share-to-the-next-order"),
    ("interpolated", contexts_counted_by_their_own_number, "last-word-as-context"),
    ("interpolated", text_bent_to_a_ring, None),
    ("interpolated", nothing_divided_by_the_weights_left, "share-lost"),
    ("interpolated", only_the_longest_known_order, "backoff"),
    ("interpolated", counts_mixed_before_dividing, "counts-mixed"),
    ("interpolated", context_the_other_way_round, "context-reversed"),
    ("interpolated", unigram_from_the_third_word_on, "first-words-uncounted"),
    ("kneser_ney", continuation_over_the_vocabulary, "divided-by-the-vocabulary"),
    ("kneser_ney", continuation_from_frequencies, "counts-for-contexts"),
    ("kneser_ney", continuation_by_rows, "followers-for-predecessors"),
    ("kneser_ney", lowered_below_zero, "below-zero"),
    ("kneser_ney", discount_handed_out_once, "one-discount-per-context"),
    ("kneser_ney", whole_discount_as_weight, "share-is-d"),
    ("kneser_ney", counts_shrunk_by_a_share, None),
    ("kneser_ney", unseen_context_uniform, "unseen-is-uniform"),
    ("kneser_ney", unseen_context_zero, "unseen-is-zero"),
    ("kneser_ney", unseen_context_not_a_number, "unseen-is-nan"),
    ("kneser_ney", discount_always_as_in_the_example, None),
    ("kneser_ney", types_counted_in_the_column, None),
    ("kneser_ney", shared_out_only_to_what_was_unseen, None),
    ("kneser_ney", freed_along_the_wrong_axis, "axes-exchanged"),
    ("perplexity", log_loss_in_bits, "bits"),
    ("perplexity", bits_under_the_wrong_power, "log-and-exp-of-two-bases"),
    ("perplexity", mean_instead_of_sum, "mean-for-sum"),
    ("perplexity", mean_of_the_odds, "arithmetic-mean"),
    ("perplexity", divided_by_words_without_eos, "eos-above-not-below"),
    ("perplexity", bos_counted_too, "bos-counted-below"),
    ("perplexity", divided_by_sentences, None),
    ("perplexity", minus_forgotten, "minus-forgotten"),
    ("perplexity", product_that_runs_out, "product-first"),
    ("perplexity", table_read_by_columns, "row-and-column-exchanged"),
    ("perplexity", sentences_joined_with_markers, "sentences-joined"),
    ("perplexity", mean_of_the_sentences_losses, "mean-of-means"),
    ("perplexity", a_hundredth_added_against_zero, None),
    ("perplexity", begins_with_the_first_word, "first-words-left-out"),
]
