"""The subwords assignment by somebody who had read the notebook and nothing else: right in odd ways, and wrong."""

import functools
import itertools
from collections import Counter

import numpy as np
import torch


# Right: count_pairs.
def pairs_by_matrix_product(words, counts, size):
    one_hot, table = torch.eye(size, dtype=torch.float64), torch.zeros(size, size, dtype=torch.float64)
    for word, count in zip(words, counts, strict=True):
        letters = one_hot[torch.tensor(word, dtype=torch.long)]
        table += int(count) * letters[:-1].T @ letters[1:]
    return table


def pairs_as_lists(words, counts, size):
    seen = Counter()
    for word, count in zip(words, counts, strict=True):
        for pair in itertools.pairwise(word):
            seen[pair] += count
    return [[seen[a, b] for b in range(size)] for a in range(size)]


def pairs_of_a_text_written_out(words, counts, size):
    text = [word for word, count in zip(words, counts, strict=True) for _ in range(count)]
    table = np.zeros((size, size), dtype=np.int64)
    for word in text:
        np.add.at(table, (np.array(word[:-1], dtype=int), np.array(word[1:], dtype=int)), 1)
    return table


# Right: best_pair.
def best_by_a_key(table):
    rows = table.tolist()
    return list(min(((-c, a, b) for a, row in enumerate(rows) for b, c in enumerate(row)))[1:])


def best_by_where(table):
    return np.argwhere(table.numpy() == table.numpy().max())[0]


def best_row_then_its_best_column(table):
    row = table.max(dim=1).values.tolist()
    left = row.index(max(row))
    line = table[left].tolist()
    return torch.tensor([left, line.index(max(line))])


# Right: merge.
def merge_as_text(word, pair, new):
    text = "".join(map(chr, word)).replace(chr(pair[0]) + chr(pair[1]), chr(new))
    return [ord(letter) for letter in text]


def merge_by_recursion(word, pair, new):
    if len(word) < 2:
        return list(word)
    hit = list(word[:2]) == list(pair)
    return [new if hit else word[0], *merge_by_recursion(word[2 if hit else 1 :], pair, new)]


def merge_in_place_on_a_copy(word, pair, new):
    made, i = list(word), 0
    while (i := i + 1) < len(made):
        if made[i - 1 : i + 1] == list(pair):
            made[i - 1 : i + 1] = [new]
    return torch.tensor(made, dtype=torch.long)


def merge_on_a_stack(word, pair, new):
    def push(stack, symbol):
        return [*stack[:-1], new] if stack and [stack[-1], symbol] == list(pair) else [*stack, symbol]

    return functools.reduce(push, word, [])


# Right: learn_merges.
def learn_without_a_table(words, counts, symbols, merges):
    words, learned = [list(word) for word in words], []
    for new in range(symbols, symbols + merges):
        seen = Counter()
        for word, count in zip(words, counts, strict=True):
            seen.update({pair: 0 for pair in itertools.pairwise(word)})
            for pair in itertools.pairwise(word):
                seen[pair] += int(count)
        if not seen:
            break
        learned.append(min(seen, key=lambda pair: (-seen[pair], pair)))
        words = [merge_by_recursion(word, learned[-1], new) for word in words]
    return learned


def learn_as_a_tensor(words, counts, symbols, merges):
    words, learned = list(words), torch.empty(0, 2, dtype=torch.long)
    for k in range(merges):
        table = pairs_by_matrix_product(words, counts, symbols + k)
        if table.sum() == 0:
            return learned
        pair = best_by_a_key(table)
        learned = torch.cat([learned, torch.tensor([pair])])
        words = [merge_as_text(word, pair, symbols + k) for word in words]
    return learned


# Right: encode.
def encode_lowest_rank_first(word, merges, symbols):
    rank = {tuple(pair): i for i, pair in reversed(list(enumerate(merges)))}
    word = list(word)
    while candidates := [(rank[pair], i) for i, pair in enumerate(itertools.pairwise(word)) if pair in rank]:
        i = min(candidates)[1]
        word[i : i + 2] = [symbols + rank[word[i], word[i + 1]]]
    return word


def encode_as_text(word, merges, symbols):
    text = "".join(map(chr, word))
    for i, (a, b) in enumerate(merges):
        text = text.replace(chr(a) + chr(b), chr(symbols + i))
    return np.array([ord(letter) for letter in text], dtype=np.int64)


def encode_by_reduce(word, merges, symbols):
    return functools.reduce(
        lambda done, step: merge_on_a_stack(done, step[1], step[0]), enumerate(merges, start=symbols), word
    )


# Right: decode.
def decode_until_nothing_is_left(tokens, merges, symbols):
    tokens = list(tokens)
    while any(token >= symbols for token in tokens):
        tokens = [s for token in tokens for s in (merges[token - symbols] if token >= symbols else [token])]
    return tokens


def decode_backwards(tokens, merges, symbols):
    for new, pair in reversed(list(enumerate(merges, symbols))):
        tokens = [s for token in tokens for s in (pair if token == new else [token])]
    return torch.tensor([int(token) for token in tokens])


def decode_with_a_generator(tokens, merges, symbols):
    def spell(token):
        if token < symbols:
            yield token
        else:
            for half in merges[token - symbols]:
                yield from spell(half)

    return list(itertools.chain.from_iterable(map(spell, tokens)))


RIGHT = [
    ("count_pairs", pairs_by_matrix_product),
    ("count_pairs", pairs_as_lists),
    ("count_pairs", pairs_of_a_text_written_out),
    ("best_pair", best_by_a_key),
    ("best_pair", best_by_where),
    ("best_pair", best_row_then_its_best_column),
    ("merge", merge_as_text),
    ("merge", merge_by_recursion),
    ("merge", merge_in_place_on_a_copy),
    ("merge", merge_on_a_stack),
    ("learn_merges", learn_without_a_table),
    ("learn_merges", learn_as_a_tensor),
    ("encode", encode_lowest_rank_first),
    ("encode", encode_as_text),
    ("encode", encode_by_reduce),
    ("decode", decode_until_nothing_is_left),
    ("decode", decode_backwards),
    ("decode", decode_with_a_generator),
]


# Wrong: count_pairs.
def every_word_once(words, counts, size):
    return pairs_as_lists(words, [1] * len(words), size)


def every_pair_once_per_word(words, counts, size):
    table = torch.zeros(size, size)
    for word, count in zip(words, counts, strict=True):
        table[torch.tensor(word[:-1], dtype=torch.long), torch.tensor(word[1:], dtype=torch.long)] += count
    return table


def last_word_wins(words, counts, size):
    table = torch.zeros(size, size)
    for word, count in zip(words, counts, strict=True):
        for a, b in itertools.pairwise(word):
            table[a, b] = count
    return table


def words_run_together(words, counts, size):
    text = [symbol for word, count in zip(words, counts, strict=True) for symbol in word * count]
    return pairs_as_lists([text], [1], size)


def right_symbol_in_the_row(words, counts, size):
    return pairs_by_matrix_product(words, counts, size).T


def both_directions(words, counts, size):
    table = pairs_by_matrix_product(words, counts, size)
    return table + table.T


def last_pair_forgotten(words, counts, size):
    return pairs_as_lists([word[:-1] for word in words], counts, size)


def twice_the_same_not_counted(words, counts, size):
    table = pairs_by_matrix_product(words, counts, size)
    return table - table.diag().diag()


def pairs_without_overlap(words, counts, size):
    table = torch.zeros(size, size)
    for word, count in zip(words, counts, strict=True):
        for i in range(0, len(word) - 1, 2):
            table[word[i], word[i + 1]] += count
    return table


def last_symbol_before_the_first(words, counts, size):
    table = torch.zeros(size, size)
    for word, count in zip(words, counts, strict=True):
        for i in range(len(word)):
            table[word[i - 1], word[i]] += count
    return table


# Wrong: best_pair.
def last_of_equals(table):
    best = max((c, a, b) for a, row in enumerate(table.tolist()) for b, c in enumerate(row))
    return [best[1], best[2]]


def smaller_right_id_first(table):
    b, a = divmod(int(table.T.contiguous().argmax()), len(table))
    return [a, b]


def right_before_left(table):
    return list(divmod(int(table.argmax()), len(table)))[::-1]


def row_and_column_with_the_largest_sums(table):
    return [int(table.sum(1).argmax()), int(table.sum(0).argmax())]


def best_row_and_best_column_each_for_itself(table):
    return [int(table.max(1).values.argmax()), int(table.max(0).values.argmax())]


def smaller_sum_of_ids(table):
    cells = [(-c, a + b, a, b) for a, row in enumerate(table.tolist()) for b, c in enumerate(row)]
    return list(min(cells)[2:])


def larger_left_smaller_right(table):
    return list(min((-c, -a, b, a) for a, row in enumerate(table.tolist()) for b, c in enumerate(row))[:1:-1])


def number_in_the_table(table):
    return int(table.argmax())


def columns_counted_from_one(table):
    a, b = divmod(int(table.argmax()), len(table))
    return [a + 1, b + 1]


def never_the_same_symbol_twice(table):
    return best_by_a_key(table - table.diag().diag())


def only_above_the_diagonal(table):
    return best_by_a_key(table.triu())


# Wrong: merge.
def only_the_first_place(word, pair, new):
    for i in range(len(word) - 1):
        if list(word[i : i + 2]) == list(pair):
            return [*word[:i], new, *word[i + 2 :]]
    return list(word)


def from_right_to_left(word, pair, new):
    return merge_by_recursion(word[::-1], pair[::-1], new)[::-1]


def symbols_used_twice(word, pair, new):
    made = []
    for i, symbol in enumerate(word):
        if list(word[i : i + 2]) == list(pair):
            made.append(new)
        elif i == 0 or list(word[i - 1 : i + 1]) != list(pair):
            made.append(symbol)
    return made


def second_symbol_stays(word, pair, new):
    return [new if list(word[i : i + 2]) == list(pair) else symbol for i, symbol in enumerate(word)]


def last_symbol_lost(word, pair, new):
    made, i = [], 0
    while i < len(word) - 1:
        hit = list(word[i : i + 2]) == list(pair)
        made.append(new if hit else word[i])
        i += 2 if hit else 1
    return made


def looks_behind_the_end(word, pair, new):
    made, i = [], 0
    while i < len(word):
        hit = word[i] == pair[0] and word[i + 1] == pair[1]
        made.append(new if hit else word[i])
        i += 2 if hit else 1
    return made


def either_order(word, pair, new):
    made, i = [], 0
    while i < len(word):
        hit = sorted(word[i : i + 2]) == sorted(pair)
        made.append(new if hit else word[i])
        i += 2 if hit else 1
    return made


def any_of_the_two(word, pair, new):
    return [new if symbol in pair else symbol for symbol in word]


def always_two_steps(word, pair, new):
    made = []
    for i in range(0, len(word), 2):
        made.extend([new] if list(word[i : i + 2]) == list(pair) else word[i : i + 2])
    return made


def new_symbol_twice(word, pair, new):
    made = list(word)
    for i in range(len(made) - 1):
        if made[i : i + 2] == list(pair):
            made[i] = made[i + 1] = new
    return made


def loop_over_what_shrinks(word, pair, new):
    made = list(word)
    for i in range(len(made) - 1):
        if made[i] == pair[0] and made[i + 1] == pair[1]:
            made[i : i + 2] = [new]
    return made


# Wrong: learn_merges.
def _learn(words, counts, symbols, merges, *, first=0, enough=1, weigh=True, join=merge_by_recursion):
    words, learned = [list(word) for word in words], []
    for k in range(merges):
        table = pairs_by_matrix_product(words, counts if weigh else [1] * len(words), symbols + merges + 1)
        if table.max() < enough:
            break
        learned.append(best_by_a_key(table))
        words = [join(word, learned[-1], symbols + k + first) for word in words]
    return learned


def new_ids_from_one_behind(words, counts, symbols, merges):
    return _learn(words, counts, symbols, merges, first=1)


def pairs_must_stand_twice(words, counts, symbols, merges):
    return _learn(words, counts, symbols, merges, enough=2)


def never_stops(words, counts, symbols, merges):
    return _learn(words, counts, symbols, merges, enough=0)


def counts_forgotten(words, counts, symbols, merges):
    return _learn(words, counts, symbols, merges, weigh=False)


def one_too_few(words, counts, symbols, merges):
    return _learn(words, counts, symbols, merges - 1)


def one_too_many(words, counts, symbols, merges):
    return _learn(words, counts, symbols, merges + 1)


def counted_once_at_the_beginning(words, counts, symbols, merges):
    rows = pairs_as_lists(words, counts, symbols)
    ranked = sorted((-c, a, b) for a, row in enumerate(rows) for b, c in enumerate(row) if c)
    return [[a, b] for _, a, b in ranked[:merges]]


def only_the_first_place_in_each_word(words, counts, symbols, merges):
    return _learn(words, counts, symbols, merges, join=only_the_first_place)


def new_symbols_never_merged_again(words, counts, symbols, merges):
    words, learned = [list(word) for word in words], []
    for k in range(merges):
        table = pairs_by_matrix_product(words, counts, symbols + k)[:symbols, :symbols]
        if table.max() == 0:
            break
        learned.append(best_by_a_key(table))
        words = [merge_by_recursion(word, learned[-1], symbols + k) for word in words]
    return learned


def always_the_same_new_symbol(words, counts, symbols, merges):
    words, learned = [list(word) for word in words], []
    for _ in range(merges):
        table = pairs_by_matrix_product(words, counts, symbols + 1)
        if table.max() == 0:
            break
        learned.append(best_by_a_key(table))
        words = [merge_by_recursion(word, learned[-1], symbols) for word in words]
    return learned


def later_of_equals(words, counts, symbols, merges):
    words, learned = [list(word) for word in words], []
    for k in range(merges):
        table = pairs_by_matrix_product(words, counts, symbols + k)
        if table.max() == 0:
            break
        learned.append(last_of_equals(table))
        words = [merge_by_recursion(word, learned[-1], symbols + k) for word in words]
    return learned


def first_met_of_equals(words, counts, symbols, merges):
    words, learned = [list(word) for word in words], []
    for k in range(merges):
        seen = Counter()
        for word, count in zip(words, counts, strict=True):
            for pair in itertools.pairwise(word):
                seen[pair] += int(count)
        if not seen:
            break
        learned.append(seen.most_common(1)[0][0])
        words = [merge_by_recursion(word, learned[-1], symbols + k) for word in words]
    return learned


def last_merge_lost_where_it_ends_early(words, counts, symbols, merges):
    learned = _learn(words, counts, symbols, merges)
    return learned[:-1] if len(learned) < merges else learned


# Wrong: encode.
def longest_piece_first(word, merges, symbols):
    spelled = {(s,): s for s in range(symbols)}
    for i, pair in enumerate(merges):
        spelled[tuple(decode_backwards(pair, merges, symbols).tolist())] = symbols + i
    tokens, i = [], 0
    while i < len(word):
        end = next(j for j in range(len(word), i, -1) if tuple(word[i:j]) in spelled)
        tokens.append(spelled[tuple(word[i:end])])
        i = end
    return tokens


def leftmost_pair_first(word, merges, symbols):
    rank, word = {tuple(pair): i for i, pair in enumerate(merges)}, list(word)
    while hits := [i for i, pair in enumerate(itertools.pairwise(word)) if pair in rank]:
        word[hits[0] : hits[0] + 2] = [symbols + rank[tuple(word[hits[0] : hits[0] + 2])]]
    return word


def last_merge_first(word, merges, symbols):
    for i in reversed(range(len(merges))):
        word = merge_by_recursion(word, merges[i], symbols + i)
    return word


def each_merge_in_one_place(word, merges, symbols):
    for i, pair in enumerate(merges):
        word = only_the_first_place(word, pair, symbols + i)
    return word


def ids_counted_from_nought(word, merges, symbols):
    for i, pair in enumerate(merges):
        word = merge_by_recursion(word, pair, i)
    return word


def ids_counted_from_one(word, merges, symbols):
    for i, pair in enumerate(merges, start=1):
        word = merge_by_recursion(word, pair, symbols + i)
    return word


def stops_at_the_first_that_does_not_fit(word, merges, symbols):
    for i, pair in enumerate(merges):
        merged = merge_by_recursion(word, pair, symbols + i)
        if merged == list(word):
            break
        word = merged
    return word


def last_merge_left_out(word, merges, symbols):
    return encode_lowest_rank_first(word, merges[:-1], symbols)


def one_pass_over_the_letters(word, merges, symbols):
    tokens, i = [], 0
    while i < len(word):
        if list(word[i : i + 2]) in [list(pair) for pair in merges]:
            tokens.append(symbols + [list(pair) for pair in merges].index(list(word[i : i + 2])))
            i += 2
        else:
            tokens.append(word[i])
            i += 1
    return tokens


def overlapping_places_too(word, merges, symbols):
    for i, pair in enumerate(merges):
        word = symbols_used_twice(word, pair, symbols + i)
    return word


# Wrong: decode.
def only_one_level(tokens, merges, symbols):
    return [s for token in tokens for s in (merges[token - symbols] if token >= symbols else [token])]


def two_levels(tokens, merges, symbols):
    return only_one_level(only_one_level(tokens, merges, symbols), merges, symbols)


def first_to_last_in_one_pass(tokens, merges, symbols):
    for new, pair in enumerate(merges, symbols):
        tokens = [s for token in tokens for s in (pair if token == new else [token])]
    return tokens


def halves_exchanged(tokens, merges, symbols):
    return decode_until_nothing_is_left(tokens, [list(pair)[::-1] for pair in merges], symbols)


def off_by_one_in_the_test(tokens, merges, symbols):
    if not tokens:
        return []
    head, *rest = tokens
    mine = off_by_one_in_the_test(merges[head - symbols], merges, symbols) if head > symbols else [head]
    return [*mine, *off_by_one_in_the_test(rest, merges, symbols)]


def off_by_one_in_the_list(tokens, merges, symbols):
    def spell(token):
        return [token] if token < symbols else [s for half in merges[token - symbols - 1] for s in spell(half)]

    return [s for token in tokens for s in spell(token)][: 4 * len(tokens)]


def left_half_only_taken_apart(tokens, merges, symbols):
    def spell(token):
        if token < symbols:
            return [token]
        left, right = merges[token - symbols]
        return [*spell(left), right]

    return [s for token in tokens for s in spell(token)]


def equal_tokens_once(tokens, merges, symbols):
    return decode_until_nothing_is_left(list(dict.fromkeys(tokens)), merges, symbols)


def a_list_of_lists(tokens, merges, symbols):
    return [decode_until_nothing_is_left([token], merges, symbols) for token in tokens]


def backwards_as_a_stack_gives_it(tokens, merges, symbols):
    stack, made = list(tokens), []
    while stack:
        token = stack.pop()
        if token < symbols:
            made.append(token)
        else:
            stack.extend(merges[token - symbols])
    return made


WRONG = [
    ("count_pairs", every_word_once, "counts-of-words-ignored"),
    ("count_pairs", every_pair_once_per_word, "once-per-word"),
    ("count_pairs", last_word_wins, "assigned-not-added"),
    ("count_pairs", words_run_together, "across-words"),
    ("count_pairs", right_symbol_in_the_row, "left-and-right-exchanged"),
    ("count_pairs", both_directions, "order-ignored"),
    ("count_pairs", last_pair_forgotten, None),
    ("count_pairs", twice_the_same_not_counted, None),
    ("count_pairs", pairs_without_overlap, "every-second-pair"),
    ("count_pairs", last_symbol_before_the_first, None),
    ("best_pair", last_of_equals, "last-of-equals"),
    ("best_pair", smaller_right_id_first, "right-id-first"),
    ("best_pair", right_before_left, "exchanged"),
    ("best_pair", row_and_column_with_the_largest_sums, "symbols-for-pairs"),
    ("best_pair", best_row_and_best_column_each_for_itself, "row-and-column-apart"),
    ("best_pair", smaller_sum_of_ids, None),
    ("best_pair", larger_left_smaller_right, None),
    ("best_pair", number_in_the_table, None),
    ("best_pair", columns_counted_from_one, None),
    ("best_pair", never_the_same_symbol_twice, None),
    ("best_pair", only_above_the_diagonal, None),
    ("merge", only_the_first_place, "first-place-only"),
    ("merge", from_right_to_left, "from-the-right"),
    ("merge", symbols_used_twice, "overlapping"),
    ("merge", second_symbol_stays, "right-half-stays"),
    ("merge", last_symbol_lost, "last-symbol-lost"),
    ("merge", looks_behind_the_end, None),
    ("merge", either_order, "either-order"),
    ("merge", any_of_the_two, None),
    ("merge", always_two_steps, "steps-of-two"),
    ("merge", new_symbol_twice, "new-symbol-twice"),
    ("merge", loop_over_what_shrinks, None),
    ("learn_merges", new_ids_from_one_behind, "new-ids-one-too-large"),
    ("learn_merges", pairs_must_stand_twice, "stops-at-one"),
    ("learn_merges", never_stops, "never-stops"),
    ("learn_merges", counts_forgotten, "counts-of-words-ignored"),
    ("learn_merges", one_too_few, "one-too-few"),
    ("learn_merges", one_too_many, None),
    ("learn_merges", counted_once_at_the_beginning, "never-recounted"),
    ("learn_merges", only_the_first_place_in_each_word, None),
    ("learn_merges", new_symbols_never_merged_again, "new-symbols-never-merged"),
    ("learn_merges", always_the_same_new_symbol, None),
    ("learn_merges", later_of_equals, "larger-ids-first"),
    ("learn_merges", first_met_of_equals, "first-met"),
    ("learn_merges", last_merge_lost_where_it_ends_early, None),
    ("encode", longest_piece_first, "longest-first"),
    ("encode", leftmost_pair_first, "leftmost-first"),
    ("encode", last_merge_first, "last-learned-first"),
    ("encode", each_merge_in_one_place, "first-place-only"),
    ("encode", ids_counted_from_nought, "number-of-the-merge"),
    ("encode", ids_counted_from_one, "ids-one-too-large"),
    ("encode", stops_at_the_first_that_does_not_fit, None),
    ("encode", last_merge_left_out, None),
    ("encode", one_pass_over_the_letters, "one-pass"),
    ("encode", overlapping_places_too, None),
    ("decode", only_one_level, "one-level-only"),
    ("decode", two_levels, None),
    ("decode", first_to_last_in_one_pass, "one-level-only"),
    ("decode", halves_exchanged, "halves-exchanged"),
    ("decode", off_by_one_in_the_test, "first-new-symbol-kept"),
    ("decode", off_by_one_in_the_list, None),
    ("decode", left_half_only_taken_apart, None),
    ("decode", equal_tokens_once, None),
    ("decode", a_list_of_lists, "list-of-lists"),
    ("decode", backwards_as_a_stack_gives_it, "word-backwards"),
]
