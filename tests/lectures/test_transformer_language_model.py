"""The values that the lecture's prose quotes are those that its own cells compute, or that are stored."""

from statistics import mean

import pytest
import torch
from torch.nn import functional as F

from lectures import stored
from nlmcore.transformer import TransformerLM


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 8
    assert 60 <= sum(minutes) <= 75


def test_paris_comes_last(ran: dict, prose: str) -> None:
    assert ran["first_right"] == 30
    assert "becomes the likeliest word only after layer 30" in prose
    early, word = ran["early"], ran["ids"][0, 5]
    ranks = [int((scores > scores[word]).sum()) + 1 for scores in early]
    assert ranks[25] <= 100 < ranks[24]
    sizes = [x[0, 4].square().mean().sqrt().item() for x in ran["depths"]]
    assert f"from a root mean square of {sizes[0]:.2f} at the embeddings to {sizes[-1]:.0f}" in prose


def test_the_shares_sum_to_the_score(ran: dict) -> None:
    """Exactly: for LayerNorm and for RMSNorm."""
    for model, ids in ((ran["writer"], ran["ids"]), (ran["ours"], torch.tensor([[5, 9, 200, 3]]))):
        embedding, attention, network = ran["added"](model, ids)
        with torch.no_grad():
            logits = model(ids)[0][0, :-1]
        wanted = logits.gather(1, ids[0, 1:, None])[:, 0] - logits.mean(-1)
        bias = getattr(model.final_norm, "bias", None)
        if bias is not None:  # a constant that no sublayer adds
            weight = model.output.weight
            wanted = wanted - ((weight - weight.mean(0)) @ bias)[ids[0, 1:]].detach()
        assert torch.allclose(embedding + attention.sum(0) + network.sum(0), wanted, atol=2e-2, rtol=1e-2)


def test_what_is_added_to_paris(ran: dict, prose: str) -> None:
    _, attention, network = (part[..., 4] for part in ran["added"](ran["writer"], ran["ids"]))
    assert f"attention adds {attention.sum():.1f} and the networks add {network.sum():.1f}" in prose
    assert int(attention.argmax()) == 23
    assert f"layers: the attention of layer 23 alone {attention[23]:.1f}" in prose
    assert (attention + network)[20:].sum() > 0.6 * (attention + network).sum()


def test_norms(ran: dict) -> None:
    x = torch.randn(3, 7, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(ran["layer_norm"](x), F.layer_norm(x, (7,)), atol=1e-5)
    assert torch.allclose(ran["rms_norm"](x), F.rms_norm(x, (7,), eps=1e-5), atol=1e-5)
    assert ran["moved"]["LayerNorm"] < 1e-3 < 0.1 < ran["moved"]["RMSNorm"]
    assert torch.allclose(ran["my_layer_norm"](x[0]), F.layer_norm(x[0], (7,)), atol=1e-5)


def test_sizes(ran: dict, prose: str) -> None:
    shares = [share / sum(ran["shares"].values()) for share in ran["shares"].values()]
    assert (
        f"networks hold {shares[2]:.0%} of SmolLM2's parameters, attention {shares[1]:.0%}, the table {shares[0]:.0%}"
    ).replace("%", " %") in prose
    gpt3, costs = ran["count"](12_288, 96, 50_257, 2048)
    assert (gpt3["attention"] + gpt3["feed-forward"]) / 1e9 == pytest.approx(174, abs=0.5)
    longest = 6 * 12_288
    _, costs = ran["count"](12_288, 96, 50_257, longest)
    assert costs["attention, scores"] == costs["attention, matrices"] + costs["feed-forward"]
    assert f"a text of {longest:,} tokens" in prose


def test_twenty_lines_are_the_library(ran: dict, prose: str) -> None:
    for model, vocab in ((ran["small"], 82), (ran["writer"], 49_152)):
        tokens = torch.randint(vocab, (2, 9), generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            assert torch.allclose(ran["rebuilt"](model)(tokens), model(tokens)[0], atol=1e-3)
    ours, theirs = (sum(p.numel() for p in model.parameters()) for model in (ran["newborn"], ran["small"]))
    assert ours == theirs
    assert f"From our {ours:,} parameters" in prose


def test_depth(ran: dict, prose: str) -> None:
    top = {key: values.mean().item() for key, values in ran["at_top"].items()}
    assert f"falls from {top['pre', 4]:.2f} to {top['pre', 32]:.2f}" in prose
    assert f"({top['post', 4]:.2f} and {top['post', 32]:.2f})" in prose
    assert ran["smaller"] == pytest.approx(8**0.5, rel=0.15)
    runs = stored("warmup")["runs"]
    without, with_it, pre, pre_with = (runs[key]["0.001"]["dev"] for key in runs)
    assert f"post-norm {without:.2f} without a warm-up" in prose
    assert f"and {with_it:.2f} with one, pre-norm {pre:.2f} and {pre_with:.2f}" in prose


def test_the_stored_training(ran: dict, prose: str) -> None:
    losses = stored("small_gpt")["losses"]
    assert len(losses) == 2000
    assert f"falls from 4.41 to about {mean(losses[95:105]):.1f} in the first 100 steps" in prose
    assert f"to {mean(losses[-50:]):.2f} at the end" in prose
    test = ran["checkpoint"]("small_gpt").card["figures"]["test"]["nats_per_character"]
    assert f"On plays that it was not trained on it is {test:.2f}" in prose
    assert len(ran["plays"]) > 2000 * 8 * 96


def test_a_student_can_train(ran: dict) -> None:
    """Steps from noise lower the loss; steps from the earlier run begin where that ended."""
    learner = ran["from_noise"]()
    losses = [learner.learn() for _ in range(12)]
    assert losses[0] == pytest.approx(4.41, abs=0.1)
    assert losses[-1] < losses[0] - 0.3
    assert len(learner.write(20)) == 21
    assert ran["from_the_checkpoint"]().learn() < 2.3


def test_the_cache(ran: dict, prose: str) -> None:
    costs = stored("cache_cost")
    assert int(costs["cache_bytes"]["256"]) == 256 * 46_080
    assert f"{costs['cache_bytes']['256'] / 1e6:.1f} MB after 256 tokens" in prose
    assert f"{ran['times_products']:.0f} times as many products" in prose
    assert f"{ran['times_seconds']:.0f} times as much time" in prose
    assert isinstance(ran["near"], TransformerLM)


def test_answers_that_do_not_hold(prose: str, said: str) -> None:
    rows = stored("pronunciation_transformer")["rows"]
    ours, theirs = (rows[name]["word_error_rate"] for name in ("Transformer", "recurrent, attention"))
    assert f"{ours} % of the words wrong with a Transformer, {theirs} % with" in prose
    gpt, lstm = list(stored("char_gpt")["rows"].values())[:2]
    assert f"read {lstm['tokens'] / gpt['tokens']:.1f} times as many characters" in prose
    assert "four different words" in said


def test_a_transformer_against_lstms(prose: str) -> None:
    why = stored("why_transformer")
    dev = {kind: {size: row["dev"] for size, row in by.items()} for kind, by in why["sizes"].items()}
    assert all(len(runs) == 5 for by in dev.values() for runs in by.values())
    for kind, by in dev.items():
        said = ", ".join(f"{mean(runs):.2f}" for runs in by.values())
        assert f"{kind} {said}" in prose


def test_what_removing_costs(ran: dict, prose: str) -> None:
    loss = {name: row["dev"] for name, row in stored("changes_of_2017")["rows"].items()}
    assert all(len(runs) == 5 for runs in loss.values())
    for name, words in (
        ("all of 2017's changes", "The whole model reaches"),
        ("without residual connections", "Without residual connections it is"),
        ("an LSTM instead of attention", "An LSTM instead of attention reaches"),
    ):
        assert f"{words} {mean(loss[name]):.2f}" in prose
    assert max(ran["asked"], key=ran["rise"].get) == max(ran["asked"], key=lambda name: mean(loss[name]))
