"""What the functions of the lecture do."""

import pytest
import torch
from torch.nn import functional as F


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


def test_norms(ran: dict) -> None:
    x = torch.randn(3, 7, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(ran["layer_norm"](x), F.layer_norm(x, (7,)), atol=1e-5)
    assert torch.allclose(ran["rms_norm"](x), F.rms_norm(x, (7,), eps=1e-5), atol=1e-5)
    assert ran["moved"]["LayerNorm"] < 1e-3 < 0.1 < ran["moved"]["RMSNorm"]
    assert torch.allclose(ran["my_layer_norm"](x[0]), F.layer_norm(x[0], (7,)), atol=1e-5)


def test_sizes(ran: dict) -> None:
    gpt3, costs = ran["count"](12_288, 96, 50_257, 6 * 12_288)
    assert gpt3["attention"] + gpt3["feed-forward"] == 12 * 96 * 12_288**2
    assert costs["attention, scores"] == costs["attention, matrices"] + costs["feed-forward"], "at n = 6 d"


def test_twenty_lines_are_the_library(ran: dict) -> None:
    for model, vocab in ((ran["small"], 82), (ran["writer"], 49_152)):
        tokens = torch.randint(vocab, (2, 9), generator=torch.Generator().manual_seed(1))
        with torch.no_grad():
            assert torch.allclose(ran["rebuilt"](model)(tokens), model(tokens)[0], atol=1e-3)
    ours, theirs = (sum(p.numel() for p in model.parameters()) for model in (ran["newborn"], ran["small"]))
    assert ours == theirs


def test_depth(ran: dict) -> None:
    assert ran["smaller"] == pytest.approx(8**0.5, rel=0.15)


def test_a_student_can_train(ran: dict) -> None:
    """Steps from noise lower the loss; steps from the earlier run begin where that ended."""
    learner = ran["from_noise"]()
    losses = [learner.learn() for _ in range(12)]
    assert losses[0] == pytest.approx(4.41, abs=0.1)
    assert losses[-1] < losses[0] - 0.3
    assert len(learner.write(20)) == 21
    assert ran["from_the_checkpoint"]().learn() < 2.3
