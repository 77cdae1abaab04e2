"""Recipes that measure what attention costs and sees: the measures measure what they say."""

import math
import time
from functools import partial

import pytest
import torch
from torch import nn

from lectures.recipes import attention_cost, few_shot, looking_back, source_and_target
from lectures.recipes.costs import multiply_adds, peak_bytes, power_law, seconds
from lectures.trained import checkpoint
from nlmcore.attention import MultiHeadAttention, scaled_dot_product_attention
from nlmcore.recurrent import Recurrent, RecurrentLM
from nlmcore.tokens import BPETokenizer, WordTokenizer
from nlmcore.transformer import TransformerConfig, TransformerLM

# --- costs ---


def test_a_power_law_is_found_with_its_interval():
    lengths = [16, 32, 64, 128, 256]
    exact = power_law(lengths, [3 * n**1.7 for n in lengths])
    assert exact.exponent == pytest.approx(1.7)
    assert exact.low == pytest.approx(exact.high)
    assert power_law(lengths, [n if n < 50 else n * n for n in lengths], start=64).exponent == pytest.approx(2)
    assert power_law(lengths, [1.0] * 5, start=50)[-2:] == (64, 256)
    with pytest.raises(ValueError, match="three lengths"):
        power_law(lengths, [1.0] * 5, start=100)


def test_the_interval_holds_the_exponent_19_times_of_20():
    generator = torch.Generator().manual_seed(0)
    lengths = [2**i for i in range(4, 11)]
    held = 0
    for _ in range(600):
        noise = (0.2 * torch.randn(7, generator=generator)).exp().tolist()
        law = power_law(lengths, [n**1.5 * e for n, e in zip(lengths, noise, strict=True)])
        held += law.low <= 1.5 <= law.high
    assert 0.925 < held / 600 < 0.975


def test_peak_bytes_are_what_is_held_at_once():
    def work(held):
        kept = [torch.ones(1000) for _ in range(held)]
        passing = torch.ones(5000)
        del passing
        return kept

    assert peak_bytes(partial(work, 3)) == 4 * (3 * 1000 + 5000)
    assert peak_bytes(partial(work, 7)) == 4 * (7 * 1000 + 5000)
    ones = torch.ones(50, 70)
    assert peak_bytes(lambda: ones @ ones.T) == 4 * 50 * 50


def test_attention_as_written_holds_all_weights_and_the_kernel_none():
    q, k, v = torch.randn(3, 1, 2, 256, 8).unbind()
    weights = 4 * 2 * 256 * 256
    assert peak_bytes(lambda: scaled_dot_product_attention(q, k, v)) > 2 * weights
    assert peak_bytes(lambda: nn.functional.scaled_dot_product_attention(q, k, v)) < weights


def test_multiply_adds_are_those_of_the_formula():
    torch.manual_seed(0)
    attention, n, d = MultiHeadAttention(6, 2, bias=False), 5, 6
    x = torch.randn(1, n, d)
    assert multiply_adds(lambda: attention(x)) == attention_cost.multiply_adds_of("layer", n, d)
    lstm = Recurrent("lstm", d, d, fused=False)
    assert multiply_adds(lambda: lstm(x)) == attention_cost.multiply_adds_of("lstm", n, d)
    heads = torch.randn(3, 1, 2, n, 3).unbind()
    written = multiply_adds(lambda: scaled_dot_product_attention(*heads))
    kernel = multiply_adds(lambda: nn.functional.scaled_dot_product_attention(*heads))
    assert written == kernel == attention_cost.multiply_adds_of("explicit", n, d)


def test_seconds_are_of_the_work_alone():
    calls = []
    taken = seconds({"busy": lambda: [math.sqrt(i) for i in range(60_000)], "asleep": lambda: time.sleep(0.02)}, 3)
    assert taken["busy"] > taken["asleep"]  # the process clock stands still in its sleep
    seconds({name: partial(calls.append, name) for name in "ab"}, 2)
    assert "".join(calls) == "ababab"


def test_lines_cross_where_they_cross():
    lengths = [10, 100, 1000]
    slow = {n: 5.0 * n for n in lengths}
    steep = {n: n * n / 10 for n in lengths}
    assert attention_cost.crossing(lengths, steep, slow) == 50
    assert attention_cost.crossing(lengths, slow, steep) is None
    assert attention_cost.crossing(lengths, {n: 0.5 for n in lengths}, slow) is None


# --- without and with attention ---


def test_a_polynomial_is_found_or_refused():
    grid = [(n, m) for n in (1, 2, 5, 9) for m in (3, 4, 11)]
    found = source_and_target.polynomial({(n, m): 7 + 3 * n + 5 * n * m + 2 * m * m for n, m in grid})
    assert found == {"1": 7, "n": 3, "m²": 2, "nm": 5}
    assert source_and_target.written(found) == "7 + 3 n + 2 m² + 5 nm"
    with pytest.raises(ValueError, match="no polynomial"):
        source_and_target.polynomial({(n, m): n**3 for n, m in grid})


def test_only_attention_multiplies_two_lengths():
    built = source_and_target.models(8, 11, 2, 40)
    grid = [(n, m) for n in (3, 8, 21) for m in (2, 13, 27)]
    found = {
        name: source_and_target.polynomial(
            {(n, m): multiply_adds(source_and_target.translation(model, n, m)) for n, m in grid}
        )
        for name, model in built.items()
    }
    gru, d = 6 * 8 * 8, 8  # 3 gates, each of them a product with the input and one with the state
    assert found["initial"] == {"n": gru, "m": gru + 11 * d}
    assert found["attention"] == {"n": gru, "m": gru + d * 3 * d + 2 * d * d + 11 * d, "nm": 2 * d}
    layer = 12 * d * d  # 4 projections and a feed-forward network of 4 d
    assert found["transformer"] == {
        "n": layer + 2 * d * d,  # the decoder's keys and values of the source
        "m": layer + 2 * d * d + 11 * d,
        "n²": 2 * d,
        "m²": 2 * d,
        "nm": 2 * d,
    }


# --- looking back ---

TEXT = "she tried to print her tickets , she printed her letters on the printer"


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(0)
    tokenizer = WordTokenizer.fit([TEXT])
    config = TransformerConfig(vocab_size=tokenizer.vocab_size, d_model=12, n_heads=3, n_layers=2, max_length=40)
    model = TransformerLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
    return model, tokenizer


def test_places_are_those_of_the_word(small):
    _, words = small
    pairs = BPETokenizer.train([TEXT] * 3, 290)
    for tokenizer in (words, pairs):
        ids = tokenizer.encode("she tried to print her letters , she printed")
        places = looking_back.places_of(tokenizer, "she tried to print her {} , she printed", "letters")
        assert tokenizer.decode([ids[i] for i in places]).strip() == "letters"


def test_attention_back_is_the_last_rows(small):
    model, tokenizer = small
    ids = tokenizer.encode(TEXT)
    back = looking_back.attention_back(model, ids, [3, 5])
    assert back.shape == (2, 3)
    assert torch.allclose(looking_back.attention_back(model, ids, range(len(ids))), torch.ones(2, 3), atol=1e-5)
    alone = [looking_back.attention_back(model, ids, [i]) for i in (3, 5)]
    assert torch.allclose(back, alone[0] + alone[1])
    assert torch.equal(
        looking_back.attention_back(model, ids[:6], [5]), looking_back.attention_back(model, ids[:6], [-1])
    )


@torch.no_grad()
def test_ablated_heads_say_nothing_at_the_last_token_alone(small):
    model, tokenizer = small
    ids = torch.tensor([tokenizer.encode(TEXT)])
    before = model(ids)[0]
    with looking_back.ablated(model, [(1, 0), (1, 2)]):
        after = model(ids)[0]
        everything = [(layer, head) for layer in range(2) for head in range(3)]
        with looking_back.ablated(model, everything):
            nothing = model(ids)[0][0, -1]
    assert torch.equal(model(ids)[0], before)
    assert torch.allclose(after[:, :-1], before[:, :-1], atol=1e-5)
    assert not torch.allclose(after[:, -1], before[:, -1], atol=1e-2)
    # With every head ablated the last token sees nothing but itself and its place.
    other = ids.clone()
    other[:, :-1] = other[:, :-1].roll(1, 1)
    with looking_back.ablated(model, everything):
        assert torch.allclose(model(other)[0][0, -1], nothing, atol=1e-5)
    attention, seen = model.layers[0].attention, []
    assert attention.d_head == 4
    with looking_back.ablated(model, [(0, 1)]):
        handle = attention.output.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        model(ids)
        handle.remove()
    zeros = seen[0][0] == 0
    assert zeros[-1].tolist() == [False] * 4 + [True] * 4 + [False] * 4
    assert not zeros[:-1].any()


@pytest.mark.parametrize("kind", ["transformer", "lstm"])
def test_gradients_are_those_of_the_embeddings(small, kind):
    """Against differences: a small step along the gradient changes the loss by its norm."""
    tokenizer = small[1]
    torch.manual_seed(1)
    model = small[0] if kind == "transformer" else RecurrentLM(tokenizer.vocab_size, "lstm", 5, 7)
    model = type(model)(model.config).eval() if kind == "transformer" else model.eval()
    model = model.double()
    ids, target = tokenizer.encode(TEXT)[:6], 9
    found = looking_back.input_gradients(model, ids, target)
    assert found.shape == (6,)
    shift = torch.zeros(1, 6, model.embedding.weight.shape[1], dtype=torch.float64)
    handle = model.embedding.register_forward_hook(lambda module, inputs, output: output + shift)

    def loss():
        with torch.no_grad():
            return -float(looking_back.next_token(model, ids)[target].log())

    for t in range(6):
        slopes = []
        for feature in range(shift.shape[2]):
            shift[0, t, feature] = 1e-5
            high = loss()
            shift[0, t, feature] = -1e-5
            slopes.append((high - loss()) / 2e-5)
            shift.zero_()
        assert math.hypot(*slopes) == pytest.approx(float(found[t]), rel=1e-4)
    handle.remove()


def test_answers_are_the_next_tokens_probabilities(small):
    model, tokenizer = small
    sentence, words = "she tried to print her {} , she printed her", ("tickets", "letters")
    found = looking_back.answers(model, tokenizer, sentence, words)
    for row, there in zip(found, words, strict=True):
        read = looking_back.next_token(model, tokenizer.encode(sentence.format(there)))
        for value, word in zip(row, words, strict=True):
            assert value == pytest.approx(float(read[tokenizer.encode(word)[0]]), rel=1e-2)


def test_the_known_sentence_is_known_to_the_lstm():
    tokenizer = checkpoint("word_lstm").tokenizer
    for word in looking_back.KNOWN_WORDS:
        assert tokenizer.unk not in tokenizer.encode(looking_back.KNOWN_SENTENCE.format(word))
    assert tokenizer.unk in tokenizer.encode("tickets")


# --- few shots ---


def test_the_tasks_are_what_they_say():
    made = {task.name: task for task in few_shot.tasks()}
    assert set(made) == {"capitals", "opposites", "plurals", "languages", "sums"}
    assert all(len(task.examples) >= 40 for task in made.values())
    assert all(task.chance == 0.25 for task in made.values())
    assert dict(made["capitals"].examples)["Peru"] == "Lima"
    for question, answer in made["sums"].examples:
        a, b = question.split(" + ")
        assert int(a) + int(b) == int(answer)
        assert len(a) == len(b) == 2
    assert sorted({answer for _, answer in made["languages"].examples}) == ["French", "German", "Italian", "Spanish"]
    assert not [one for one in made["plurals"].examples if one.output == one.input + "s"]
    assert few_shot.tasks() == few_shot.tasks()
