import pytest
import torch

from autograder.question.draw import Draw


def everything(seed):
    draw = Draw(seed, largest=6)
    numbers = draw.sizes(3), draw.integer(0, 9)
    return [*numbers, draw.normal(2, 3), draw.mask(4, 5), draw.strided(2, 3), draw.integers(0, 5, 4)]


def test_the_same_seed_draws_the_same_and_another_seed_does_not():
    for one, other in zip(everything("a"), everything("a"), strict=True):
        assert torch.equal(torch.as_tensor(one), torch.as_tensor(other))
    assert not torch.equal(everything("a")[2], everything("b")[2])


def test_the_public_inputs_are_the_same_on_every_machine():
    draw = Draw("attention", largest=4)
    assert draw.sizes(3) == [4, 3, 2]
    assert [draw.integer(0, 99) for _ in range(3)] == [77, 94, 75]


def test_sizes_differ_and_masks_allow_one_and_forbid_one_in_every_row():
    for seed in range(50):
        draw = Draw(seed, largest=3)
        sizes = draw.sizes(3)
        assert len(set(sizes)) == 3
        assert min(sizes) >= 2
        mask = draw.mask(2, 3, 2)
        assert mask.any(-1).all()
        assert (~mask).any(-1).all()


def test_a_slice_of_something_larger_cannot_be_viewed_flat():
    slice_ = Draw(0, 4).strided(3, 4)
    assert not slice_.is_contiguous()
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        slice_.view(-1)
