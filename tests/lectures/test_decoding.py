"""What the searches, filters and penalties of the lecture `decoding` must do."""

import math
from statistics import mean

import torch

from nlmcore.decoding import beam_search, greedy, reshape


def texts(ran: dict, found: list) -> dict[str, float]:
    return {" ".join(ran["words"][i] for i in h.tokens): round(math.exp(h.log_prob), 4) for h in found}


def test_greedy_beam_and_exhaustive_on_the_table(ran: dict) -> None:
    every = texts(ran, ran["every"])
    assert round(ran["written"].log_prob[0].exp().item(), 4) == every["without any money <eos>"] == 0.1134
    assert next(iter(every.items())) == ("penniless <eos>", 0.24)
    for b, best in {1: 0.1134, 2: 0.1323, 3: 0.24}.items():
        found = beam_search(ran["TableLM"](), ran["prompt"], 6, eos=0, beam_size=b, num_hypotheses=1)[0]
        assert round(math.exp(found[0].log_prob), 4) == best


def test_the_beam_by_hand(ran: dict) -> None:
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


def test_a_beam_of_three_goes_on_past_the_first_end(ran: dict) -> None:
    tree = ran["search"](3)
    kept = {step: max(math.exp(n.log_prob) for n in tree.at_step(step) if n.status == "kept") for step in (2, 3)}
    assert round(kept[2], 3) == 0.27
    assert round(kept[3], 3) == 0.189
    assert not tree.at_step(4)


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


def test_penalties(ran: dict) -> None:
    loops = {name: mean(shares) for name, shares in ran["loops"].items()}
    assert loops[1.0] > 0.5
    assert [loops[theta] for theta in ran["penalties"]] == sorted((loops[t] for t in ran["penalties"]), reverse=True)
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
