"""What the functions of the lecture `vanishing_gradients` must do, and what its stored results are of."""

import pytest
import torch


def test_the_race_is_over_five_seeds(ran: dict) -> None:
    race = ran["raced"]
    assert {len(runs) for runs in (*race["right"].values(), *race["gradient_log10"].values())} == {5}


def test_products_of_jacobians(ran: dict) -> None:
    assert (ran["ours"] - ran["theirs"]).abs().max() < 1e-5


def test_the_terms_of_the_gradient_add_up_to_it(ran: dict) -> None:
    tokens, targets, mask = ran["copying_batch"](10, 4, torch.Generator().manual_seed(0))
    model = ran["fresh"](48, "orthogonal")
    ran["teacher_forcing_loss"](model, tokens, targets, mask=mask).backward()
    whole = ran["gradient_by_step"](model, tokens, targets).sum(0)
    torch.testing.assert_close(whole, model.recurrent.cells[0].weight_hh.grad.T)


def test_the_gradient_of_the_cliff(ran: dict) -> None:
    for place, step in ((1, (1e-5, 0.0)), (2, (0.0, 1e-5))):
        up, down = (ran["loss_and_gradient"](5.0 + s * step[0], -2.75 + s * step[1])[0] for s in (1, -1))
        assert (up - down) / 2e-5 == pytest.approx(ran["loss_and_gradient"](5.0, -2.75)[place], rel=1e-4)


def test_clipping_by_the_norm(ran: dict) -> None:
    for rule in (ran["clip_by_norm"], ran["my_clip"]):
        clipped = rule([torch.tensor([3.0, 0.0]), torch.tensor([0.0, 4.0])], 1.0)
        torch.testing.assert_close(torch.cat(clipped), torch.tensor([0.6, 0.0, 0.0, 0.8]))
        torch.testing.assert_close(rule([torch.tensor([0.3])], 1.0)[0], torch.tensor([0.3]))


def test_eigenvalues_that_were_all_zero(ran: dict) -> None:
    assert not (ran["U2"] @ ran["U2"]).any()
