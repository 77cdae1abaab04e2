"""The word-vectors assignment by somebody who had read the notebook and nothing else: right in odd ways, and wrong."""

import heapq
import itertools
import math

import numpy as np
import torch


def _places(n, m):
    return [(i, j) for i in range(n) for j in range(n) if 0 < abs(i - j) <= m]


# Right: window_pairs.
def pairs_by_distance(words, m):
    pairs = []
    for step in range(1, m + 1):
        for left, right in zip(words, words[step:], strict=False):
            pairs += [(left, right), (right, left)]
    return pairs


def pairs_as_a_tensor(words, m):
    return torch.tensor([[words[j], words[i]] for i, j in _places(len(words), m)], dtype=torch.long).reshape(-1, 2)


def pairs_by_recursion(words, m):
    if len(words) < 2:
        return []
    head, *rest = words
    return [pair for other in rest[:m] for pair in ([head, other], [other, head])] + pairs_by_recursion(rest, m)


def pairs_in_numpy(words, m):
    place = np.arange(len(words))
    apart = np.abs(place[:, None] - place)
    i, j = np.nonzero((apart > 0) & (apart <= m))
    words = np.array(words, dtype=np.int32)
    return np.stack([words[i], words[j]], axis=1)


# Right: noise.
def noise_by_softmax(counts, power):
    return (power * counts.double().log()).softmax(0)


def noise_in_a_list(counts, power):
    powers = [float(c) ** power for c in counts]
    return [p / math.fsum(powers) for p in powers]


def noise_by_shares(counts, power):
    shares = counts.numpy() / counts.numpy().sum()
    return shares**power / (shares**power).sum()


# Right: keep_probability.
def keep_in_a_list(counts, threshold):
    total = float(sum(counts))
    return [min(1.0, math.sqrt(threshold * total / float(c))) for c in counts]


def keep_by_where(counts, threshold):
    f = counts.double() / counts.double().sum()
    return torch.where(f <= threshold, torch.ones_like(f), (threshold / f) ** 0.5)


def keep_by_logarithms(counts, threshold):
    c = counts.numpy().astype(float)
    return np.exp(np.minimum(0.0, 0.5 * (np.log(threshold) + np.log(c.sum()) - np.log(c))))


# Right: pair_loss.
def loss_by_softplus(centre, context, noise):
    scores = torch.cat([-(context @ centre)[None], noise @ centre])
    return torch.nn.functional.softplus(scores.double()).sum()


def loss_by_logaddexp(centre, context, noise):
    scores = np.append(-np.dot(context.numpy(), centre.numpy()), noise.numpy() @ centre.numpy())
    return np.logaddexp(0, scores.astype(float)).sum()


def loss_in_plain_python(centre, context, noise):
    def minus_log_sigmoid(x):
        return math.log1p(math.exp(-abs(x))) + max(-x, 0.0)

    def dot(a, b):
        return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))

    return minus_log_sigmoid(dot(context, centre)) + sum(minus_log_sigmoid(-dot(n, centre)) for n in noise)


def loss_as_binary_cross_entropy(centre, context, noise):
    scores = torch.vstack([context, noise]) @ centre
    labels = torch.zeros_like(scores)
    labels[0] = 1
    return torch.nn.functional.binary_cross_entropy_with_logits(scores, labels, reduction="sum")


# Right: pair_gradients.
def gradients_by_differences(centre, context, noise):
    """Without the formula: a little to the right and to the left in every coordinate."""
    flat, d, made = torch.cat([centre, context, noise.reshape(-1)]).double(), len(centre), []
    for i in range(len(flat)):
        step = torch.zeros_like(flat)
        step[i] = 1e-5
        up, down = (
            loss_in_plain_python(at[:d], at[d : 2 * d], at[2 * d :].reshape(-1, d)) for at in (flat + step, flat - step)
        )
        made.append((up - down) / 2e-5)
    made = torch.tensor(made)
    return made[:d], made[d : 2 * d], made[2 * d :].reshape(-1, d)


def gradients_of_one_matrix(centre, context, noise):
    others = np.vstack([context.numpy()[None], noise.numpy()]).astype(float)
    error = 1 / (1 + np.exp(-others @ centre.numpy().astype(float)))
    error[0] -= 1
    outer = np.outer(error, centre.numpy())
    return [error @ others, outer[0], outer[1:]]


def gradients_in_lists(centre, context, noise):
    def sigmoid(x):
        return 1 / (1 + math.exp(-x))

    v, u, rows = centre.tolist(), context.tolist(), noise.tolist()
    e = -sigmoid(-sum(a * b for a, b in zip(u, v, strict=True)))
    errors = [sigmoid(sum(a * b for a, b in zip(n, v, strict=True))) for n in rows]
    d_v = [e * u[j] + sum(e_i * n[j] for e_i, n in zip(errors, rows, strict=True)) for j in range(len(v))]
    return d_v, [e * x for x in v], [[e_i * x for x in v] for e_i in errors]


# Right: nearest.
def nearest_by_a_sorted_list(vectors, word, k):
    def cosine(w):
        a, b = vectors[word].double(), vectors[w].double()
        return float(a @ b / (a.norm() * b.norm()))

    return heapq.nlargest(k, (w for w in range(len(vectors)) if w != word), key=cosine)


def nearest_by_distance_of_directions(vectors, word, k):
    unit = vectors.double() / vectors.double().norm(dim=1, keepdim=True)
    distance = (unit - unit[word]).norm(dim=1)
    distance[word] = math.inf
    return distance.topk(k, largest=False).indices


def nearest_in_numpy(vectors, word, k):
    v = vectors.numpy().astype(float)
    angle = np.arccos(np.clip(v @ v[word] / np.linalg.norm(v, axis=1) / np.linalg.norm(v[word]), -1, 1))
    order = np.argsort(angle, kind="stable")
    return order[order != word][:k]


def nearest_own_length_not_divided(vectors, word, k):
    cosines = vectors / vectors.norm(dim=1, keepdim=True) @ vectors[word]
    ranked = cosines.argsort(descending=True).tolist()
    ranked.remove(word)
    return ranked[:k]


# Right: analogy.
def analogy_in_a_loop(vectors, a, a_star, b):
    v = vectors.double()
    target = v[a_star] - v[a] + v[b]
    return max(set(range(len(v))) - {a, a_star, b}, key=lambda w: float(v[w] @ target / v[w].norm()))


def analogy_by_the_first_four(vectors, a, a_star, b):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    best = (unit @ (vectors[b] + vectors[a_star] - vectors[a])).topk(4).indices.tolist()
    return next(w for w in best if w not in (a, a_star, b))


def analogy_in_numpy(vectors, a, a_star, b):
    v = vectors.numpy()
    cosine = v @ (v[a_star] - v[a] + v[b]) / np.sqrt((v**2).sum(-1))
    cosine[[a, a_star, b]] = np.nan
    return np.nanargmax(cosine)


RIGHT = [
    ("window_pairs", pairs_by_distance),
    ("window_pairs", pairs_as_a_tensor),
    ("window_pairs", pairs_by_recursion),
    ("window_pairs", pairs_in_numpy),
    ("noise", noise_by_softmax),
    ("noise", noise_in_a_list),
    ("noise", noise_by_shares),
    ("keep_probability", keep_in_a_list),
    ("keep_probability", keep_by_where),
    ("keep_probability", keep_by_logarithms),
    ("pair_loss", loss_by_softplus),
    ("pair_loss", loss_by_logaddexp),
    ("pair_loss", loss_in_plain_python),
    ("pair_loss", loss_as_binary_cross_entropy),
    ("pair_gradients", gradients_by_differences),
    ("pair_gradients", gradients_of_one_matrix),
    ("pair_gradients", gradients_in_lists),
    ("nearest", nearest_by_a_sorted_list),
    ("nearest", nearest_by_distance_of_directions),
    ("nearest", nearest_in_numpy),
    ("nearest", nearest_own_length_not_divided),
    ("analogy", analogy_in_a_loop),
    ("analogy", analogy_by_the_first_four),
    ("analogy", analogy_in_numpy),
]


# Wrong: window_pairs.
def slices_that_begin_below_nought(words, m):
    return [[w, other] for i, w in enumerate(words) for other in words[i - m : i] + words[i + 1 : i + m + 1]]


def places_below_nought(words, m):
    pairs = []
    for i in range(len(words)):
        for j in range(i - m, i + m + 1):
            if j != i and j < len(words):
                pairs.append([words[i], words[j]])
    return pairs


def own_place_too(words, m):
    return [[w, other] for i, w in enumerate(words) for other in words[max(0, i - m) : i + m + 1]]


def same_word_never(words, m):
    return [[words[i], words[j]] for i, j in _places(len(words), m) if words[i] != words[j]]


def only_to_the_right(words, m):
    return [[words[i], words[j]] for i, j in _places(len(words), m) if i < j]


def one_short_on_the_right(words, m):
    return [[w, words[j]] for i, w in enumerate(words) for j in range(max(0, i - m), min(len(words), i + m)) if i != j]


def one_short_on_both_sides(words, m):
    return pairs_by_distance(words, m - 1)


def each_pair_once(words, m):
    return sorted({(words[i], words[j]) for i, j in _places(len(words), m)})


def only_whole_windows(words, m):
    return [[words[i], words[j]] for i, j in _places(len(words), m) if m <= i < len(words) - m]


def exactly_m_away(words, m):
    return [[words[i], words[j]] for i, j in _places(len(words), m) if abs(i - j) == m]


def places_instead_of_words(words, m):
    return [[i, j] for i, j in _places(len(words), m)]


def window_of_m_in_all(words, m):
    return pairs_by_distance(words, m // 2)


def everybody_with_everybody(words, m):
    return [list(pair) for pair in itertools.permutations(words, 2)]


def first_place_of_the_word(words, m):
    return [[w, o] for w in words for o in words[max(0, words.index(w) - m) : words.index(w) + m + 1] if o != w]


# Wrong: noise.
def sum_before_power(counts, power):
    return (counts / counts.sum()) ** power


def power_always_three_quarters(counts, power):
    return noise_by_shares(counts, 0.75)


def power_of_the_sum(counts, power):
    return counts**power / counts.sum() ** power


def times_power(counts, power):
    return counts * power / (counts * power).sum()


def unseen_counted_once(counts, power):
    return noise_by_shares(counts.clamp(min=1), power)


def one_more_for_all(counts, power):
    return noise_by_shares(counts + 1, power)


def softmax_of_powers(counts, power):
    return torch.softmax(counts**power, 0)


def powers_without_sum(counts, power):
    return counts**power


def the_rare_more_often(counts, power):
    return noise_by_shares(counts, 1 - power)


def root_instead_of_power(counts, power):
    return noise_by_shares(counts, 1 / power)


# Wrong: keep_probability.
def without_the_root(counts, threshold):
    return (threshold * counts.sum() / counts).clamp(max=1)


def without_the_minimum(counts, threshold):
    return (threshold * counts.sum() / counts).sqrt()


def as_in_the_program(counts, threshold):
    ratio = threshold * counts.sum() / counts
    return (ratio.sqrt() + ratio).clamp(max=1)


def probability_of_leaving_out(counts, threshold):
    return 1 - (threshold * counts.sum() / counts).sqrt().clamp(max=1)


def counts_instead_of_shares(counts, threshold):
    return (threshold / counts).sqrt().clamp(max=1)


def share_of_the_most_frequent(counts, threshold):
    return (threshold * counts.max() / counts).sqrt().clamp(max=1)


def upside_down(counts, threshold):
    return (counts / counts.sum() / threshold).sqrt().clamp(max=1)


def minimum_the_wrong_way(counts, threshold):
    return (threshold * counts.sum() / counts).sqrt().clamp(min=1)


def root_of_the_share_only(counts, threshold):
    return (threshold / (counts / counts.sum()).sqrt()).clamp(max=1)


def the_frequent_never(counts, threshold):
    return (counts / counts.sum() <= threshold).float()


# Wrong: pair_loss.
def logarithm_of_sigmoid(centre, context, noise):
    return -torch.sigmoid(context @ centre).log() - torch.sigmoid(-noise @ centre).log().sum()


def logarithm_of_sigmoid_and_a_grain(centre, context, noise):
    return -(torch.sigmoid(context @ centre) + 1e-7).log() - (torch.sigmoid(-noise @ centre) + 1e-7).log().sum()


def one_minus_sigmoid(centre, context, noise):
    return -torch.nn.functional.logsigmoid(context @ centre) - (1 - torch.sigmoid(noise @ centre)).log().sum()


def mean_of_the_noise(centre, context, noise):
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) - log_sigmoid(-(noise @ centre)).mean()


def minus_of_the_noise_forgotten(centre, context, noise):
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) - log_sigmoid(noise @ centre).sum()


def noise_subtracted(centre, context, noise):
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) + log_sigmoid(-(noise @ centre)).sum()


def log_likelihood(centre, context, noise):
    return -loss_in_plain_python(centre, context, noise)


def loss_in_bits(centre, context, noise):
    return loss_in_plain_python(centre, context, noise) / math.log(2)


def mean_of_all(centre, context, noise):
    return loss_in_plain_python(centre, context, noise) / (1 + len(noise))


def sigmoid_of_the_summed_noise(centre, context, noise):
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) - log_sigmoid(-(noise @ centre).sum())


def softmax_over_context_and_noise(centre, context, noise):
    return -torch.log_softmax(torch.vstack([context, noise]) @ centre, 0)[0]


def only_the_first_noise(centre, context, noise):
    return loss_in_plain_python(centre, context, noise[:1])


def noise_against_the_context(centre, context, noise):
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) - log_sigmoid(-(noise @ context)).sum()


def scores_cut_at_ten(centre, context, noise):
    scores = torch.cat([-(context @ centre)[None], noise @ centre]).clamp(-10, 10)
    return torch.nn.functional.softplus(scores).sum()


# Wrong: pair_gradients.
def _gradients(centre, context, noise, e=None, e_noise=None):
    e = torch.sigmoid(context @ centre) - 1 if e is None else e
    e_noise = torch.sigmoid(noise @ centre) if e_noise is None else e_noise
    return e * context + e_noise @ noise, e * centre, e_noise[:, None] * centre


def one_not_subtracted(centre, context, noise):
    return _gradients(centre, context, noise, e=torch.sigmoid(context @ centre))


def one_subtracted_everywhere(centre, context, noise):
    return _gradients(centre, context, noise, e_noise=torch.sigmoid(noise @ centre) - 1)


def noise_with_the_loss_sign(centre, context, noise):
    return _gradients(centre, context, noise, e_noise=torch.sigmoid(-(noise @ centre)))


def all_signs_turned(centre, context, noise):
    return tuple(-made for made in _gradients(centre, context, noise))


def noise_signs_turned(centre, context, noise):
    return _gradients(centre, context, noise, e_noise=-torch.sigmoid(noise @ centre))


def centre_without_noise(centre, context, noise):
    _, d_context, d_noise = _gradients(centre, context, noise)
    return (torch.sigmoid(context @ centre) - 1) * context, d_context, d_noise


def centre_with_the_mean_of_noise(centre, context, noise):
    e, e_noise = torch.sigmoid(context @ centre) - 1, torch.sigmoid(noise @ centre)
    return e * context + (e_noise[:, None] * noise).mean(0), e * centre, e_noise[:, None] * centre


def context_before_centre(centre, context, noise):
    d_centre, d_context, d_noise = _gradients(centre, context, noise)
    return d_context, d_centre, d_noise


def context_times_itself(centre, context, noise):
    d_centre, _, d_noise = _gradients(centre, context, noise)
    return d_centre, (torch.sigmoid(context @ centre) - 1) * context, d_noise


def noise_times_itself(centre, context, noise):
    d_centre, d_context, _ = _gradients(centre, context, noise)
    return d_centre, d_context, torch.sigmoid(noise @ centre)[:, None] * noise


def slope_of_the_sigmoid_too(centre, context, noise):
    s, s_noise = torch.sigmoid(context @ centre), torch.sigmoid(noise @ centre)
    return _gradients(centre, context, noise, e=(s - 1) * s * (1 - s), e_noise=s_noise * s_noise * (1 - s_noise))


def all_noise_in_one_sum(centre, context, noise):
    return _gradients(centre, context, noise, e_noise=torch.sigmoid(noise @ centre).sum().expand(len(noise)))


def noise_divided_by_k(centre, context, noise):
    return _gradients(centre, context, noise, e_noise=torch.sigmoid(noise @ centre) / len(noise))


def noise_gradient_summed(centre, context, noise):
    d_centre, d_context, d_noise = _gradients(centre, context, noise)
    return d_centre, d_context, d_noise.sum(0)


# Wrong: nearest.
def _ranked(scores, word, k):
    return [w for w in scores.argsort(descending=True).tolist() if w != word][:k]


def by_dot_product(vectors, word, k):
    return _ranked(vectors @ vectors[word], word, k)


def by_distance(vectors, word, k):
    return _ranked(-(vectors - vectors[word]).norm(dim=1), word, k)


def itself_too(vectors, word, k):
    return (vectors / vectors.norm(dim=1, keepdim=True) @ vectors[word]).topk(k).indices


def farthest_first(vectors, word, k):
    return _ranked(vectors / vectors.norm(dim=1, keepdim=True) @ vectors[word], word, k)[::-1]


def the_least_alike(vectors, word, k):
    return _ranked(-(vectors / vectors.norm(dim=1, keepdim=True) @ vectors[word]), word, k)


def by_size_of_the_cosine(vectors, word, k):
    return _ranked((vectors / vectors.norm(dim=1, keepdim=True) @ vectors[word]).abs(), word, k)


def itself_as_nought(vectors, word, k):
    cosines = vectors / vectors.norm(dim=1, keepdim=True) @ vectors[word]
    cosines[word] = 0
    return cosines.topk(k).indices


def ids_after_its_row_is_gone(vectors, word, k):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    others = torch.cat([unit[:word], unit[word + 1 :]])
    return (others @ unit[word]).topk(k).indices


def only_its_own_length_divided(vectors, word, k):
    return _ranked(vectors @ (vectors[word] / vectors[word].norm()), word, k)


def lengths_of_the_columns(vectors, word, k):
    unit = vectors / vectors.norm(dim=0, keepdim=True)
    return _ranked(unit @ unit[word], word, k)


def cosines_instead_of_ids(vectors, word, k):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    return (unit @ unit[word]).sort(descending=True).values[1 : k + 1]


def divided_by_squared_lengths(vectors, word, k):
    return _ranked(vectors @ vectors[word] / (vectors**2).sum(1), word, k)


def one_too_many(vectors, word, k):
    return nearest_by_a_sorted_list(vectors, word, k + 1)


# Wrong: analogy.
def _best(vectors, target, out):
    cosine = vectors / vectors.norm(dim=1, keepdim=True) @ target
    cosine[list(out)] = -math.inf
    return int(cosine.argmax())


def question_not_left_out(vectors, a, a_star, b):
    return _best(vectors, vectors[a_star] - vectors[a] + vectors[b], ())


def only_b_left_out(vectors, a, a_star, b):
    return _best(vectors, vectors[a_star] - vectors[a] + vectors[b], (b,))


def only_a_and_b_left_out(vectors, a, a_star, b):
    return _best(vectors, vectors[a_star] - vectors[a] + vectors[b], (a, b))


def step_backwards(vectors, a, a_star, b):
    return _best(vectors, vectors[a] - vectors[a_star] + vectors[b], (a, a_star, b))


def a_and_b_exchanged(vectors, a, a_star, b):
    return _best(vectors, vectors[a_star] + vectors[a] - vectors[b], (a, a_star, b))


def by_dot_product_with_the_sum(vectors, a, a_star, b):
    scores = vectors @ (vectors[a_star] - vectors[a] + vectors[b])
    scores[[a, a_star, b]] = -math.inf
    return scores.argmax()


def by_distance_from_the_sum(vectors, a, a_star, b):
    distance = (vectors - (vectors[a_star] - vectors[a] + vectors[b])).norm(dim=1)
    distance[[a, a_star, b]] = math.inf
    return distance.argmin()


def neighbour_of_b(vectors, a, a_star, b):
    return _best(vectors, vectors[b], (a, a_star, b))


def directions_before_the_sum(vectors, a, a_star, b):
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    return _best(vectors, unit[a_star] - unit[a] + unit[b], (a, a_star, b))


def direction_of_the_step(vectors, a, a_star, b):
    steps = vectors - vectors[b]
    cosine = steps @ (vectors[a_star] - vectors[a]) / steps.norm(dim=1).clamp(min=1e-9)
    cosine[[a, a_star, b]] = -math.inf
    return cosine.argmax()


def ids_after_three_rows_are_gone(vectors, a, a_star, b):
    rest = [w for w in range(len(vectors)) if w not in (a, a_star, b)]
    return _best(vectors[rest], vectors[a_star] - vectors[a] + vectors[b], ())


def everything_added(vectors, a, a_star, b):
    return _best(vectors, vectors[a_star] + vectors[a] + vectors[b], (a, a_star, b))


def out_as_nought(vectors, a, a_star, b):
    cosine = vectors / vectors.norm(dim=1, keepdim=True) @ (vectors[a_star] - vectors[a] + vectors[b])
    cosine[[a, a_star, b]] = 0
    return cosine.argmax()


WRONG = [
    ("window_pairs", slices_that_begin_below_nought, "slice-below-nought"),
    ("window_pairs", places_below_nought, "around-the-end"),
    ("window_pairs", own_place_too, "with-itself"),
    ("window_pairs", same_word_never, "equal-words-left-out"),
    ("window_pairs", only_to_the_right, "only-to-the-right"),
    ("window_pairs", one_short_on_the_right, "window-too-small"),
    ("window_pairs", one_short_on_both_sides, "one-less-on-both-sides"),
    ("window_pairs", each_pair_once, "equal-pairs-once"),
    ("window_pairs", only_whole_windows, "whole-windows-only"),
    ("window_pairs", exactly_m_away, None),
    ("window_pairs", places_instead_of_words, None),
    ("window_pairs", window_of_m_in_all, "m-words-in-all"),
    ("window_pairs", everybody_with_everybody, None),
    ("window_pairs", first_place_of_the_word, "first-place-of-the-word"),
    ("noise", sum_before_power, "not-normalised-again"),
    ("noise", power_always_three_quarters, "always-three-quarters"),
    ("noise", power_of_the_sum, "not-normalised-again"),
    ("noise", times_power, "power-forgotten"),
    ("noise", unseen_counted_once, "one-for-the-unseen"),
    ("noise", one_more_for_all, None),
    ("noise", softmax_of_powers, None),
    ("noise", powers_without_sum, "never-normalised"),
    ("noise", the_rare_more_often, None),
    ("noise", root_instead_of_power, None),
    ("keep_probability", without_the_root, "root-forgotten"),
    ("keep_probability", without_the_minimum, "above-one"),
    ("keep_probability", as_in_the_program, "as-the-program-has-it"),
    ("keep_probability", probability_of_leaving_out, "left-out-for-kept"),
    ("keep_probability", counts_instead_of_shares, "counts-for-frequencies"),
    ("keep_probability", share_of_the_most_frequent, None),
    ("keep_probability", upside_down, "upside-down"),
    ("keep_probability", minimum_the_wrong_way, "maximum-for-minimum"),
    ("keep_probability", root_of_the_share_only, None),
    ("keep_probability", the_frequent_never, None),
    ("pair_loss", logarithm_of_sigmoid, "sigmoid-then-log"),
    ("pair_loss", logarithm_of_sigmoid_and_a_grain, "grain-in-the-logarithm"),
    ("pair_loss", one_minus_sigmoid, "sigmoid-then-log"),
    ("pair_loss", mean_of_the_noise, "mean-over-noise"),
    ("pair_loss", minus_of_the_noise_forgotten, "noise-not-negated"),
    ("pair_loss", noise_subtracted, None),
    ("pair_loss", log_likelihood, "likelihood-for-loss"),
    ("pair_loss", loss_in_bits, None),
    ("pair_loss", mean_of_all, "mean-of-all"),
    ("pair_loss", sigmoid_of_the_summed_noise, None),
    ("pair_loss", softmax_over_context_and_noise, "softmax"),
    ("pair_loss", only_the_first_noise, None),
    ("pair_loss", noise_against_the_context, None),
    ("pair_loss", scores_cut_at_ten, None),
    ("pair_gradients", one_not_subtracted, "belief-for-error"),
    ("pair_gradients", one_subtracted_everywhere, "noise-as-neighbour"),
    ("pair_gradients", noise_with_the_loss_sign, None),
    ("pair_gradients", all_signs_turned, "sign"),
    ("pair_gradients", noise_signs_turned, None),
    ("pair_gradients", centre_without_noise, "centre-without-noise"),
    ("pair_gradients", centre_with_the_mean_of_noise, None),
    ("pair_gradients", context_before_centre, "in-another-order"),
    ("pair_gradients", context_times_itself, "own-vector"),
    ("pair_gradients", noise_times_itself, "own-vector"),
    ("pair_gradients", slope_of_the_sigmoid_too, None),
    ("pair_gradients", all_noise_in_one_sum, None),
    ("pair_gradients", noise_divided_by_k, "mean-over-noise"),
    ("pair_gradients", noise_gradient_summed, None),
    ("nearest", by_dot_product, "dot-product"),
    ("nearest", by_distance, "distance"),
    ("nearest", itself_too, "itself"),
    ("nearest", farthest_first, "order-reversed"),
    ("nearest", the_least_alike, "farthest"),
    ("nearest", by_size_of_the_cosine, None),
    ("nearest", itself_as_nought, "itself-as-nought"),
    ("nearest", ids_after_its_row_is_gone, "ids-shifted"),
    ("nearest", only_its_own_length_divided, "dot-product"),
    ("nearest", lengths_of_the_columns, "lengths-of-columns"),
    ("nearest", cosines_instead_of_ids, "cosines-for-ids"),
    ("nearest", divided_by_squared_lengths, None),
    ("nearest", one_too_many, None),
    ("analogy", question_not_left_out, "questions-not-excluded"),
    ("analogy", only_b_left_out, "questions-not-excluded"),
    ("analogy", only_a_and_b_left_out, "questions-not-excluded"),
    ("analogy", step_backwards, "step-backwards"),
    ("analogy", a_and_b_exchanged, "b-taken-away"),
    ("analogy", by_dot_product_with_the_sum, "dot-product"),
    ("analogy", by_distance_from_the_sum, "distance"),
    ("analogy", neighbour_of_b, None),
    ("analogy", directions_before_the_sum, "unit-vectors-first"),
    ("analogy", direction_of_the_step, None),
    ("analogy", ids_after_three_rows_are_gone, "ids-shifted"),
    ("analogy", everything_added, "sum-of-all"),
    ("analogy", out_as_nought, "excluded-as-nought"),
]
