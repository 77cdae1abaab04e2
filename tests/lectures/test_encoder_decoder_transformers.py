"""What the functions of the lecture do, and what its cells compute."""

import torch

from lectures.recipes.pairs import BOS, EOS, as_source, english, german
from lectures.trained import checkpoint
from nlmcore.attention import causal_mask
from nlmcore.decoding import greedy

ATTENTION, ONE = "recurrent, attention", "recurrent, one vector"


def test_paths(ran: dict) -> None:
    assert (ran["n"], ran["m"]) == (11, 11)
    assert ran["steps_between"] == {ONE: (22, 10), ATTENTION: (1, 10), "Transformer": (1, 1)}
    for name, network in ran["networks"].items():
        across, within = ran["steps_between"][name]
        assert (network.across(11, 11), network.within(11, 11)) == (across, within)


def test_shapes_and_masks(ran: dict) -> None:
    assert ran["shape"] == (4, 5)
    assert sum(key > query for query in range(6) for key in range(6)) == 15
    assert german(365).split() == ["drei", "hundert", "fünf", "und", "sechzig"]


def test_our_translator_is_the_library(ran: dict) -> None:
    assert ran["same"]
    for name in ("numbers_transformer", "pronunciation_transformer"):
        model = checkpoint(name).model
        draw = torch.Generator().manual_seed(1)
        source, tokens = (torch.randint(3, 25, (2, time), generator=draw) for time in (7, 5))
        real = torch.ones(2, 1, 1, 7, dtype=torch.bool)
        ours = ran["rebuilt"](model)
        with torch.no_grad():
            logits = ours(tokens, ours.encode(source, real), real, causal_mask(5))
            assert torch.allclose(logits, model(tokens, model.encode(source))[0], atol=1e-4)


def test_one_pass_trains_all_positions(ran: dict) -> None:
    assert len(ran["passes"]) == 1
    assert len(ran["one_step"][0].predicts) == 6


def test_leaks(ran: dict) -> None:
    assert ran["at_the_end"]["not shifted"] < ran["at_the_end"]["not masked"] < ran["at_the_end"]["shifted and masked"]
    assert ran["writes"]["shifted and masked"] == [german(365), german(148)]


def test_decoding(ran: dict) -> None:
    translator, words = ran["translator"], ran["words"]
    source = torch.tensor([as_source(words.source.encode(english(365)))])
    theirs = greedy(translator, torch.tensor([[BOS]]), 40, eos=EOS, state=translator.encode(source)).tokens[0].tolist()
    assert ran["written"] == ran["slowly"] == theirs
    assert words.target.decode(theirs[:-1]) == german(365)
    for number in (365, 4_723, 21_648):
        _, steps = ran["decoding_of"](number)
        assert [step.likely[0][0] for step in steps] == [*german(number).split(), "<eos>"]


def test_what_two_lengths_cost(ran: dict) -> None:
    cost, d = ran["cost"], 128
    assert cost["multiply_adds"]["transformer"]["n"] == 14 * d**2
    assert cost["multiply_adds"]["transformer"]["m"] == 14 * d**2 + 64 * d  # and the unembedding
    assert cost["multiply_adds"]["transformer"]["nm"] == 2 * d
    for kind, name in (("initial", ONE), ("attention", ATTENTION), ("transformer", "Transformer")):
        terms = {"n": 32, "m": 8, "nm": 256, "n²": 1024, "m²": 64}
        wanted = sum(count * terms[term] for term, count in cost["multiply_adds"][kind].items())
        assert ran["networks"][name].products(32, 8) == wanted
