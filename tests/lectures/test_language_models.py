"""The numbers that the lecture\'s prose quotes are those that its own cells compute, or that its recipes stored."""

import math

import pytest
import torch

from lectures.recipes.guessing import entropy_bounds


def test_suggestions(ran: dict, prose: str) -> None:
    suggest = {name: ran["suggester"](model) for name, model in ran["word_models"].items()}
    word, p = suggest["3-gram"]("I will ")[0]
    assert word == "not"
    assert f'the 3-gram, which looks at the previous two words, gives "not" a probability of {p:.2f}' in prose
    assert suggest["1-gram"]("I will ") == suggest["1-gram"]("My lord, the ")
    before, after = dict(suggest["3-gram"]("I love the "))["king"], dict(suggest["3-gram"]("I love the k"))["king"]
    assert f'gives "king" {before:.2f}; after "I love the k", {after:.2f}' in prose
    assert ran["checkpoint"]("word_lstm").tokenizer.vocabulary == ran["tokenizer"].vocabulary, "one vocabulary for all"


def test_the_sentence_by_hand(ran: dict, prose: str) -> None:
    assert ran["unigram"] == pytest.approx(4 / 19 * 3 / 19 * 3 / 19)
    assert ran["bigram"] == pytest.approx(3 / 4 * 2 / 4 * 2 / 3)
    factor = ran["bigram"] / ran["unigram"]
    assert f"{ran['unigram']:.4f} against {ran['bigram']:.4f} is a factor of {factor:.0f}" in prose
    assert ran["shuffled"] == 0
    assert ran["after"]["sat"] == {"<eos>": 2, "on": 1}, "'on' follows 'sat' with 1/1 or, ends counted, 1/3"


def test_lengths_share_one_distribution(ran: dict, prose: str) -> None:
    probability = ran["sentence_probability"]
    for p, told in ((0.5, 0.984375 + 0.0078125), (0.05, 1 - 0.95**7)):
        together = sum(2**n * probability(["ha"] * n, p) for n in range(7))
        assert together == pytest.approx(told)
    assert f"at $p = 0.05$ sentences of up to six words have {1 - 0.95**7:.3f}" in prose
    assert [2**n * probability(["ho"] * n, 0.0) for n in range(4)] == [1, 1, 1, 1]
    assert "0.500, 0.250, 0.125 …" in prose


def test_unseen_ngrams(ran: dict, prose: str) -> None:
    unseen, levels = ran["unseen"], ran["levels"]
    assert f"{unseen[5]:.0%} of the test".replace("%", " %") in prose
    assert f"{unseen[3]:.0%} of its trigrams".replace("%", " %") in prose
    assert f"still {unseen[2]:.1%} of its bigrams".replace("%", " %") in prose
    assert unseen[1] == 0
    once = (levels[-1].counts == 1).mean()
    assert f"{once:.0%} of the different 5-grams were seen only once".replace("%", " %") in prose
    assert f"{len(levels[-1]):,} different 5-grams" in prose
    test = ran["test"]
    unknown = sum(play.count(ran["UNKNOWN"]) for play in test) / sum(len(play) - 1 for play in test)
    assert f"({unknown:.1%} of the test)".replace("%", " %") in prose


def test_smoothing(ran: dict, prose: str) -> None:
    given = ran["additive"](ran["after"]["cat"], ran["vocabulary"], 1)
    assert len(ran["vocabulary"]) == 8
    assert "<bos>" not in ran["vocabulary"]
    assert f"$(2 + 1) / (3 + 8) = {given['sat']:.3f}$" in prose
    rest = sum(p for word, p in given.items() if word not in ("sat", "ran"))
    assert f"$6/11 = {rest:.3f}$" in prose
    assert f"leaves {10 / 5010:.1%} for the counts themselves".replace("%", " %") in prose
    wrong = [(count + 1) / (3 + 2) for count in (2, 1, 0, 0, 0, 0, 0, 0)]
    assert f"sum to {sum(wrong):.1f}" in prose
    weights = dict(zip(ran["names"], ran["mixture"].weights, strict=True))
    assert max(weights, key=weights.get) == "bigram"
    bigram, trigram = (f"{weights[name]:.2f}" for name in ("bigram", "trigram"))
    assert f"The bigram gets the largest weight, {bigram}; the trigram gets {trigram}" in prose


def test_no_passage_of_the_game_is_told_before_it(ran: dict, cells: list) -> None:
    opening = cells[0].source.partition("*")[2].partition("*")[0].strip()[:20]
    assert opening
    assert not any(opening in passage.text for passage in ran["passages"].values())


def test_kneser_neys_two_words(ran: dict, prose: str) -> None:
    syracuse, strange = ran["before_word"]["SYRACUSE"], ran["before_word"]["strange"]
    assert f"SYRACUSE is as frequent, {syracuse.total()} times" in prose
    assert syracuse.total() > strange.total()
    assert f"words*: {len(syracuse)} against {len(strange)}" in prose


def test_perplexity(ran: dict, prose: str) -> None:
    reached = ran["perplexity_of"](ran["four"])
    assert f"$1 + 2 + 3 + 3 = 9$ bits, 2.25 per word, so the perplexity is $2^{{2.25}} = {reached:.2f}$" in prose
    assert sum(1 / p for p in ran["four"]) / 4 == 5.5
    nats = ran["losses"].mean().item()
    bits = nats / math.log(2)
    assert f"{nats:.1f} nats (natural logarithm) and {bits:.1f} bits" in prose
    assert (round(2**4.1), round(math.exp(5.9)), round(math.exp(4.1)), round(2**5.9)) == (17, 365, 60, 60)
    assert math.exp((math.log(10) + math.log(1000)) / 2) == pytest.approx(100)
    assert round(math.exp(nats), 1) == ran["measured"]["ngram"]["kneser_ney"]["3"] == 60.2


def test_the_table_of_perplexities(ran: dict, prose: str) -> None:
    ngram, neural = ran["measured"]["ngram"], ran["measured"]["neural"]
    assert f"context, up to {ngram['additive']['5']:.1f} at order 5" in prose
    assert ngram["additive"]["2"] < ngram["additive"]["3"] < ngram["additive"]["4"] < ngram["additive"]["5"]
    tuned = ngram["additive, tuned"]
    better = f"with $k = {tuned['2: k']}$ the bigram goes from {ngram['additive']['2']:.1f} to {tuned['2']:.1f}"
    assert better in prose
    assert f"({tuned['5']:.1f} at order 5)" in prose
    assert all(tuned[n] <= ngram["additive"][n] for n in "12345"), "tuned on other plays, and better on the test plays"
    discounting = ngram["absolute_discounting"]
    assert min("12345", key=discounting.get) == "3"
    assert min("12345", key=ngram["kneser_ney"].get) == "5"
    assert f"Kneser–Ney improves down to {ngram['kneser_ney']['5']:.1f} at order 5" in prose
    assert (
        f"instead of none, perplexity falls from {ngram['kneser_ney']['1']:.1f} to {ngram['kneser_ney']['2']:.1f}"
        in prose
    )
    assert f"reaches {neural['feed-forward (4)']['perplexity']:.1f} here" in prose
    assert f"the LSTM of section 1 reaches {neural['LSTM, 3 passes']['perplexity']:.1f}" in prose
    for a_line in ran["lines"].values():
        assert a_line[1] < a_line[0], "every smoothing gains by one word of context"


def test_a_five_gram_copies(ran: dict, prose: str) -> None:
    texts = [ran["write"](5, "mle", seed) for seed in range(10)]
    share = sum(one.seen >= 6 for text in texts for one in text) / sum(map(len, texts))
    assert f"{share:.0%} of its words end a run of six".replace("%", " %") in prose
    additive = [one for seed in range(3) for one in ran["write"](3, "additive", seed)[5:]]
    assert sum(one.seen >= 3 for one in additive) / len(additive) < 0.05, "'turns to gibberish immediately'"


def test_the_guessing_game(ran: dict, prose: str) -> None:
    players = ran["guessing"]["players"]
    assert f"$\\log_2 28 = {math.log2(28):.2f}$ bits" in prose
    assert f"how frequent each key is, it costs {players['1-gram']['bits_per_key']:.2f}" in prose
    six = players["6-gram"]
    told = f"context it costs {six['bits_per_key']:.2f}, and {six['first_guess_right']:.0%} are found"
    assert told.replace("%", " %") in prose
    assert players["7-gram"]["bits_per_key"] == pytest.approx(six["bits_per_key"], abs=0.005)
    lstm, gpt = (players[name]["bits_per_key"] for name in ("LSTM", "GPT"))
    assert f"has {six['bits_per_key']:.2f} bits, our small LSTM {lstm:.2f}, our small GPT {gpt:.2f}" in prose
    assert "a single training run of each network, so it does not rank them" in prose
    large = ran["guessing"]["SmolLM2"]["bits_per_character"]
    assert f"SmolLM2 needs {large:.2f} bits per character" in prose
    assert f"where the 6-gram needs {six['bits_per_character']:.2f}" in prose
    for name, player in players.items():
        low, high = player["bounds"]
        assert low < player["bits_per_key"] < high + (0.01 if name == "1-gram" else 0), name
        ranks = [i for i, count in enumerate(player["guesses"], 1) for _ in range(count)]
        assert entropy_bounds(ranks) == pytest.approx((low, high), abs=6e-4), (
            "the stored bounds are those of the guesses"
        )
    assert (ran["human"]["lower"], ran["human"]["upper"]) == (0.6, 1.3)


def test_the_passages_are_of_the_test_plays_and_begin_where_they_say(ran: dict) -> None:
    for name, passage in ran["passages"].items():
        assert any(passage.text in play.text for play in ran["shakespeare"].test), name
        assert 30 < passage.given < 100 < len(passage.text)
    assert ran["passages"]["Sir Toby"].text[50:].startswith("To be\nup after midnight")


def test_which_sentence_somebody_would_say(ran: dict, prose: str) -> None:
    def score(sentence: str) -> float:
        tokens = torch.tensor([ran["tokenizer"].encode("\n" + sentence)])
        return ran["trigram"].log_probabilities(tokens)[0, 1:].sum().item()

    odds = [math.exp(score(first) - score(second)) for first, second in ran["pairs"]]
    assert min(odds) == odds[-1] > 1, "it prefers the first of each pair"
    assert f'"hear" to "here" only by about {odds[-1]:.0f} to 1' in prose


def test_check_yourself(prose: str) -> None:
    assert f"4.5 / 520 = {4.5 / 520:.4f}" in prose
    assert f"log₂ 100 = {math.log2(100):.2f}" in prose
    assert math.sqrt(50 * 200) == 100
    assert entropy_bounds([2] * 9).upper == 0
