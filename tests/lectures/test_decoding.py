"""The numbers that the lecture\'s prose quotes are those that its own cells and results hold."""

import math
from statistics import mean

import torch

from nlmcore.corpora import load
from nlmcore.decoding import beam_search, greedy, reshape


def test_how_many_texts(prose: str) -> None:
    assert 49_152**10 < 1e50 < 49_152**11
    assert "11 tokens suffice." in prose
    assert f"{49_152**5 / 1e9 / 3.15e7:.0e}" == "9e+06"
    assert "nine million years" in prose


def texts(ran: dict, found: list) -> dict[str, float]:
    return {" ".join(ran["words"][i] for i in h.tokens): round(math.exp(h.log_prob), 4) for h in found}


def test_greedy_beam_and_exhaustive_on_the_table(ran: dict, prose: str) -> None:
    every = texts(ran, ran["every"])
    assert len(ran["words"]) == 16
    assert len(every) == 13, "'the thirteen probabilities'"
    assert math.isclose(sum(every.values()), 1.0, abs_tol=1e-3)
    assert "0.45 \\cdot 0.6 \\cdot 0.6 \\cdot 0.7 = 0.1134" in prose
    assert round(ran["written"].log_prob[0].exp().item(), 4) == every["without any money <eos>"] == 0.1134
    assert next(iter(every.items())) == ("penniless <eos>", 0.24)
    for b, best in {1: 0.1134, 2: 0.1323, 3: 0.24}.items():
        found = beam_search(ran["TableLM"](), ran["prompt"], 6, eos=0, beam_size=b, num_hypotheses=1)[0]
        assert round(math.exp(found[0].log_prob), 4) == best
    assert all(number in prose for number in ("0.1323", "0.1134", "0.24"))


def test_the_beam_by_hand(ran: dict, prose: str) -> None:
    tree = ran["search"](2)
    by_step = {
        step: {
            " ".join(ran["words"][i] for i in tree.path(n)): (round(math.exp(n.log_prob), 4), n.status)
            for n in tree.at_step(step)
            if n.log_prob > -math.inf
        }
        for step in (1, 2, 3, 4)
    }
    assert by_step[1]["penniless"] == (0.25, "pruned")
    assert by_step[2]["without a"] == (0.18, "pruned")
    assert by_step[3]["with no money"] == (0.189, "kept")
    assert by_step[3]["without any money"] == (0.162, "kept")
    assert by_step[4]["with no money <eos>"] == (0.1323, "finished")
    assert max(p for p, status in by_step[4].values() if status == "kept") == 0.0567
    for told in ("0.21 · 0.9 = 0.189", "0.27 · 0.6 = 0.162", "without any means 0.108", "at most 0.0567: stop"):
        assert told in prose


def test_a_beam_of_three_goes_on_past_the_first_end(ran: dict, prose: str) -> None:
    tree = ran["search"](3)
    kept = {step: max(math.exp(n.log_prob) for n in tree.at_step(step) if n.status == "kept") for step in (2, 3)}
    assert round(kept[2], 3) == 0.27
    assert round(kept[3], 3) == 0.189
    assert not tree.at_step(4)
    assert "In step 3 the best open text has 0.189" in prose


def test_the_length_penalty(ran: dict, prose: str) -> None:
    def best(alpha: float) -> int:
        pairs = zip(ran["log_probs"], ran["lengths"], strict=True)
        return max((ran["score"](p, n, alpha), n) for p, n in pairs)[1]

    assert (
        f"At $\\alpha = 0$ a sentence of {best(0)} tokens leads; from $\\alpha = 1$ upwards it is one of"
        f" {best(1.0)} tokens" in prose
    )
    assert best(0.9) == best(0) < best(1.0) == best(2.0)
    assert best(-1) <= best(0)


def test_wide_beams(ran: dict, prose: str) -> None:
    german = ran["measured"]["wide_beams"]["numbers"]["beams"]
    sounds = ran["measured"]["wide_beams"]["phonemes"]["beams"]
    for beams in (german, sounds):
        found = [row["log_prob"] for row in beams.values()]
        assert found == sorted(found), "ln P rises with the beam"
        assert beams["64"]["log_prob"] == beams["256"]["log_prob"]
        assert not any(row["empty"] for row in beams.values())
    assert f"climbs from {german['1']['quality']:.1f} with greedy search" in prose
    assert f"to {german['4']['quality']:.1f} with a beam of 4 and {german['64']['quality']:.1f} with 64" in prose
    best = min(sounds, key=lambda beam: sounds[beam]["quality"])
    assert best == "2"
    assert f"a beam of 2 has {sounds['2']['quality']:.1f} % errors" in prose
    assert round(sounds["256"]["quality"] - sounds["2"]["quality"], 1) == 0.2


def test_dull_text(ran: dict, prose: str) -> None:
    big, small = ran["measured"]["rows"]["SmolLM2"], ran["measured"]["rows"]["bpe_gpt"]
    beam, human = big["beam 4"], big["Shakespeare"]
    assert f"a mean probability of {beam['probability']:.2f}, Shakespeare's of {human['probability']:.2f}" in prose
    assert f"{beam['repeated']:.0%}".replace("%", " %") + " of its groups of four tokens, Shakespeare" in prose
    assert f"Shakespeare {human['repeated']:.0%}".replace("%", " %") in prose
    assert f"from {beam['along'][0]:.2f} over the first twelve tokens to {beam['along'][-1]:.2f}" in prose
    assert round(big["sampled"]["probability"], 2) == round(human["probability"], 2) == 0.03
    away = {way: abs(math.log(row["probability"] / human["probability"])) for way, row in big.items()}
    assert min((way for way in away if way != "Shakespeare"), key=lambda way: away[way]) == "sampled"
    assert ran["measured"]["passages"]["SmolLM2"] == 16, "'sixteen passages'"
    assert len(load("shakespeare").texts("test")) == 3, "'three plays'"
    assert f"{small['Shakespeare']['probability']:.3f} and {small['sampled']['probability']:.3f}" == "0.024 and 0.024"
    assert "0.024 and 0.024" in prose
    assert 0.3 < big["sampled"]["improbable"] < 0.36, "'a third of its tokens'"
    assert "Aye, aye, aye" in ran["measured"]["example"]["beam 4"]["text"]


def test_what_the_filters_keep(ran: dict, prose: str) -> None:
    paris, once = (ran["next_word"][text] for text in ran["prompts"][:2])

    def kept(log_probs: torch.Tensor, **filters: float) -> int:
        return int((reshape(log_probs, **filters) > -math.inf).sum())

    assert kept(paris, top_p=0.9) == 10
    assert f"{kept(once, top_p=0.9)} after" in prose
    ten = [f"{p.exp().topk(10).values.sum():.2f}" for p in (paris, once)]
    assert f"Ten words hold {ten[0]} of the first distribution and {ten[1]} of the second" in prose
    assert kept(paris, min_p=0.05) == 2
    assert f"Two words after the first prompt, {kept(once, min_p=0.05)} after" in prose
    assert f'"Paris" has {paris.exp().max():.2f}' in prose
    assert reshape(once, typical_p=0.5)[once.argmax()] == -math.inf
    entropy = torch.special.entr(once.exp()).sum()
    assert f"{once.exp().max():.3f} = {-once.max():.1f}$, is far below the mean of {entropy:.1f}" in prose
    for log_probs in ran["next_word"].values():
        assert torch.special.entr(reshape(log_probs, temperature=2.0).exp()).sum() > 8


def test_yours_agrees_with_the_reference(ran: dict) -> None:
    for log_probs in ran["next_word"].values():
        for filters in ({}, {"temperature": 0.7}, {"top_p": 0.7}, {"temperature": 1.5, "top_p": 0.9}):
            yours, reference = ran["my_reshape"](log_probs, **filters).exp(), reshape(log_probs, **filters).exp()
            torch.testing.assert_close(yours, reference, rtol=1e-4, atol=1e-6)  # 49,152 words are summed in float32


def test_the_answers_at_the_end() -> None:
    p = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    counts = [int((reshape(p, **f) > -math.inf).sum()) for f in ({"top_k": 2}, {"top_p": 0.8}, {"top_p": 0.81})]
    assert counts == [2, 2, 3]
    assert int((reshape(p, min_p=0.2) > -math.inf).sum()) == 3


def test_penalties(ran: dict, prose: str) -> None:
    loops = {name: mean(shares) for name, shares in ran["loops"].items()}
    assert loops[1.0] > 0.5
    assert [loops[theta] for theta in ran["penalties"]] == sorted((loops[t] for t in ran["penalties"]), reverse=True)
    fresh = {name: mean(shares) for name, shares in ran["different"].items()}
    assert fresh[2.0] > 0.95, "'nearly every token is new'"
    assert fresh["Shakespeare"] < 0.9
    scores, text = torch.tensor([[2.0, -4.0, 1.0]]), torch.tensor([[0, 1, 0]])
    assert torch.allclose(ran["penalise"](scores, text, 1.25), torch.tensor([[1.6, -5.0, 1.0]]))
    assert torch.equal(ran["penalise"](scores, text, 1.0), scores)
    assert ran["continued"](ran["passages"][:1, :24], 1.0, 9) == [
        greedy(ran["gpt"], ran["passages"][:1, :24], 9).tokens[0].tolist()
    ]


def test_drafts_keep_the_distribution(ran: dict) -> None:
    assert torch.allclose(ran["by_both_ways"], ran["p_next"], atol=1e-6)
    rates = ran["per_call"]
    assert all(len(runs) == 5 for runs in rates.values())
    assert [mean(runs) for runs in rates.values()] == sorted(mean(runs) for runs in rates.values())
    assert 2 < mean(rates[4]) < 3.5
    assert all(rate <= ahead + 1 for ahead, runs in rates.items() for rate in runs)
    gained = [mean(rates[ahead]) / (ahead + 1) for ahead in rates]
    assert gained == sorted(gained, reverse=True), "'gains less and less'"
