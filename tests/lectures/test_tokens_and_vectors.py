"""The numbers that the lecture\'s prose quotes are those that its own cells compute, or that its recipe stored."""

import math
from collections import Counter

import pytest
import torch

from lectures.recipes.word_vectors import QUESTIONS
from lectures.trained import checkpoint
from nlmcore.word2vec import analogy, nearest


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def test_what_each_way_of_cutting_costs(ran: dict, prose: str) -> None:
    vocabulary, per_word, unknown = ran["cut"]["characters"]
    assert f"a vocabulary of {vocabulary}, and nothing is unknown" in prose
    assert f"but a text takes {per_word:.2f} tokens per word" in prose
    assert unknown == 0
    vocabulary, _, unknown = ran["cut"]["all words"]
    assert f"each of {vocabulary:,} words, and still {percent(unknown, 1)} of the tokens" in prose
    assert ran["cut"]["pieces (byte pairs)"][2] == 0
    assert f"and has {ran['cut']['pieces (byte pairs)'][0]:,}" in prose
    assert f"has {ran['pieces'].vocab_size:,} pieces" in prose


def test_merges_of_the_sea_shells(ran: dict, prose: str) -> None:
    text = "she sells sea shells on the sea shore, the shells she sells are sea shells for sure"
    steps = list(ran["trace_training"](text, 40))
    assert steps[0].pair == (b" ", b"s")
    assert f"it occurs {steps[0].frequency} times" in prose
    assert steps[1].pair == (b"h", b"e")
    made = [left + right for (left, right), *_ in steps]
    assert (
        f'"␣she" is one token after {made.index(b" she") + 1} merges, "␣shells" after {made.index(b" shells") + 1}'
        in prose
    )
    assert len(list(ran["trace_training"]("banana bandana banana anagram banana", 40))) < 40
    aaa = list(ran["trace_training"]("aaa", 5))
    assert aaa[0].frequency == 2, "the pair occurs twice"
    assert aaa[0].words == {b"aaa": [b"aa", b"a"]}, "and is merged once"


def test_most_words_are_one_token(ran: dict, prose: str) -> None:
    (running, different), (ours_running, ours_different) = ran["one_piece"]["MiniLM"], ran["one_piece"]["ours"]
    assert f"For MiniLM {percent(running)} of the running words are one token" in prose
    assert (
        f"only {percent(different)} of the *distinct* words; with 1,024 pieces it is {percent(ours_running)} and"
        in prose
    )
    assert f"and {percent(ours_different)}." in prose


def test_the_table_is_most_of_a_small_model(ran: dict, prose: str) -> None:
    assert f"The table holds {percent(ran['table'] / ran['size'])} of the parameters" in prose
    assert torch.allclose(ran["scores"], ran["logits"][0, -1], atol=1e-4)


def test_windows_and_losses(ran: dict, prose: str) -> None:
    pairs = ran["window_pairs"](["my", "kingdom", "for", "a", "horse", "said", "the", "king"], 2)
    assert f"{len(pairs)}, not 32" in prose
    loss = ran["negative_sampling_loss"]
    assert f"$3 \\cdot \\ln 2 = {loss(0, [0, 0]):.3f}$" in prose
    assert f"from 4 to 6 changes the loss by only {loss(4, []) - loss(6, []):.3f}" in prose
    for real, noise in ((0.0, [0.0]), (2.0, [1.0, -3.0])):
        assert ran["my_loss"](real, noise) == pytest.approx(loss(real, noise))
    assert f"5 · ln 2 = {loss(0, [0] * 4):.2f}" in prose


def test_the_power_of_the_noise(ran: dict, prose: str) -> None:
    often = [n for _, n in Counter(word for text in ran["texts"] for word in text).most_common() if n >= 10]
    for place, form in ((1, "{1:.1f} % of the noise instead of {0:.1f}"), (100, "{1:.0f} instead of {0:.0f}")):
        shares = [100 * sum(n**p for n in often[:place]) / sum(n**p for n in often) for p in (1, 0.75)]
        assert form.format(*shares) in prose.replace("> ", "")


def test_the_counts_are_those_of_a_loop(ran: dict) -> None:
    texts = [["the", "king", "and", "the", "queen"], ["king", "queen"], ["zounds", "the", "king"]]
    counts, ids = ran["company"](texts, 2), ran["ids"]
    expected = torch.zeros(len(ids), len(ids), dtype=torch.long)
    for text in texts:
        for i, a in enumerate(text):
            for j, b in enumerate(text):
                if 0 < abs(i - j) <= 2 and a in ids and b in ids:
                    expected[ids[a], ids[b]] += 1
    assert (torch.tensor(counts) == expected).all()


def test_neighbours(ran: dict, prose: str) -> None:
    for name, mark in (
        ("counts", "for “king”: "),
        ("PPMI", "PPMI for “king”: "),
        ("learned (skip-gram)", "learned for “king”: "),
    ):
        first = [word for word, _ in ran["near"][name]("king")[:4]]
        assert mark + ", ".join(first) in prose, (name, first)
    assert {word for word, _ in ran["near"]["learned (skip-gram)"]("love")[:2]} == {"hate", "duty"}
    assert min(cosine for _, cosine in ran["near"]["counts"]("king")) > 0.8


def test_it_learns(ran: dict) -> None:
    assert ran["losses"] == sorted(ran["losses"], reverse=True)
    assert {"queen", "prince", "duke"} <= {word for word, _ in ran["small"].nearest("king", 6)}


def test_the_training_of_the_checkpoint(prose: str) -> None:
    card = checkpoint("word_vectors").card
    assert f"{card['data']['words']:,} words" in prose
    assert f"Each of the {card['config']['vocab_size'] - 7:,} words that occur ten times or more has" in prose
    assert card["training"]["epochs"] == 20
    assert card["training"]["window"] == 2
    assert card["config"]["d_model"] == 64


def test_the_map_keeps_what_it_says(ran: dict, prose: str) -> None:
    kept = [ran["project"]([w for group in groups for w in group])[1] for groups in ran["groups"].values()]
    assert f"The plane keeps {100 * min(kept):.0f} to {100 * max(kept):.0f} %" in prose


def test_the_map_flatters(ran: dict, prose: str) -> None:
    plane, all_of_them, exchanged = zip(*ran["agree"].values(), strict=True)

    def listed(values: tuple) -> str:
        return f"{values[0]:.2f}, {values[1]:.2f} and {values[2]:.2f}"

    assert f"are {listed(plane)}; in all 64 dimensions they are {listed(all_of_them)}" in prose
    assert f"woman …) {listed(exchanged)} are left" in prose
    assert min(plane) > max(all_of_them)
    square = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    assert ran["parallel"](torch.tensor([0, 1]), torch.tensor([2, 3]), square) == pytest.approx(1)


def test_the_count_of_analogies(ran: dict, prose: str) -> None:
    tables = ran["measured"]["tables"]
    for name, words in (("skip-gram, m = 2", "Our vectors answer"), ("MiniLM, input vectors", "MiniLM's")):
        assert f"{words} {tables[name]['right']} of {tables[name]['asked']}" in prose, name
    ours = tables["skip-gram, m = 2"]
    assert f"Just taking the nearest neighbour of $a^*$ gets {ours['nearest_to_c_right']} of them" in prose
    assert f"Without the rule {ours['without_the_rule_right']} are left" in prose
    assert f"in {ours['without_the_rule_c']} of {ours['asked']} the answer is $a^*$" in prose
    large = tables["MiniLM, input vectors"]
    assert f"just taking the nearest neighbour gets {large['nearest_to_c_right']}, and without the rule" in prose
    assert f"it answers $a^*$ {large['without_the_rule_c']} times" in prose
    asked = sum(map(len, QUESTIONS.values()))
    assert f"So we count, with {asked} questions and five tables" in prose
    assert len(tables) == 5


def test_the_analogy_that_fails_in_the_large_model_is_explained(ran: dict, prose: str) -> None:
    """What the widget shows first, and what the text says about it, agree; a hit in one table is not a proof."""
    small, large = (ran["tables"][name]("i", "my", "thou", True)[0][0] for name in ("Shakespeare", "MiniLM"))
    assert (small, large) == ("thy", "thee")
    assert 'fail in the large one, which says "thee"' in prose

    def cosine(table: torch.Tensor, place: dict[str, int], first: str, second: str) -> str:
        return f"{torch.cosine_similarity(table[place[first]], table[place[second]], dim=0).item():.2f}"

    modern, rows, _ = ran["large"]
    thee, thy, my = (cosine(modern, rows, *pair) for pair in (("thou", "thee"), ("thou", "thy"), ("i", "my")))
    assert f'(cosine {thee}; "thy" has {thy})' in prose
    assert f'from "i" to "my" is a short step ({my})' in prose
    old = {word: i for i, word in enumerate(ran["dense_words"])}
    thee, thy = (cosine(ran["E"][7:], old, "thou", word) for word in ("thee", "thy"))
    assert f'"thee" ({thee}) and "thy" ({thy}) are about equally near' in prose
    trained = ("skip-gram, m = 2", "skip-gram, m = 5", "CBOW, m = 2")
    tables = [ran["measured"]["tables"][name] for name in trained]
    said = [table["answers"]["man woman king queen"][0] for table in tables]
    assert said[0] == "queen"
    assert f'say "{said[1]}" and "{said[2]}"' in prose
    right = [table["right"] for table in tables]
    assert f"{right[0]}, {right[1]} and {right[2]} of {tables[0]['asked']} do not rank" in prose


def test_the_widget_answers_as_the_package_does(ran: dict) -> None:
    model, tokenizer, _ = checkpoint("word_vectors")
    ids = [tokenizer.encode(word)[0] for word in ("man", "woman", "king")]
    first = analogy(model.vectors, *ids, 3)
    given = ran["tables"]["Shakespeare"]("man", "woman", "king", True)[:3]
    assert [word for word, _ in given] == [tokenizer.vocabulary[i] for i, _ in first]
    assert [cosine for _, cosine in given] == pytest.approx([cosine for _, cosine in first], abs=1e-5)
    assert ran["tables"]["Shakespeare"]("man", "woman", "king", False)[0][0] in ("king", "woman")
    near = nearest(model.vectors, ids[2], 8)
    assert [w for w, _ in ran["near"]["learned (skip-gram)"]("king")] == [tokenizer.vocabulary[i] for i, _ in near]


def test_the_measure_of_ethayarajh(ran: dict, prose: str) -> None:
    cs_pmi, counts, ids = ran["cs_pmi"], ran["counts"], ran["ids"]
    assert cs_pmi("i", "my") == pytest.approx(cs_pmi("thou", "thy"), abs=1)
    met = counts[ids["good"], ids["better"]], counts[ids["bad"], ids["worse"]]
    assert f"on {met[0]} and {met[1]} meetings" in prose
    together = ran["joint"][ids["i"], ids["my"]]
    by_hand = 2 * math.log(together) - math.log(ran["single"][ids["i"]]) - math.log(ran["single"][ids["my"]])
    assert cs_pmi("i", "my") == pytest.approx(by_hand, abs=1e-4)
