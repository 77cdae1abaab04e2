"""The Vision Transformer by PyTorch's own encoder and strided convolution, and pretraining on hidden patches."""

import pytest
import torch
from torch import nn

from nlmcore.transformer.from_torch import copy_stack
from nlmcore.vision import ImageClassifier, PatchPredictor, VisionTransformer, hide_patches, patch_loss, to_patches
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient

H, W, P, D, HEADS, LAYERS = 6, 8, 2, 10, 5, 2
N = H * W // P**2


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def build(**options) -> VisionTransformer:
    model = VisionTransformer(H, W, P, **{"d_model": D, "n_heads": HEADS, "n_layers": LAYERS} | options)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.eval()


@pytest.mark.parametrize("class_token", [True, False])
def test_it_is_pytorchs_encoder_of_a_strided_convolution(unchecked, class_token):
    ours = build(class_token=class_token)
    layer = nn.TransformerEncoderLayer(D, HEADS, 4 * D, 0.0, "gelu", batch_first=True, norm_first=True)
    theirs = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(D), enable_nested_tensor=False).eval()
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    words = nn.Embedding(P * P, D)
    embedding = ours.embedding
    ours.embedding = nn.Embedding(P * P, D)
    copy_stack(ours, theirs, words)
    ours.embedding = embedding
    cut = nn.Conv2d(1, D, P, stride=P)
    with torch.no_grad():
        cut.weight.copy_(embedding.weight.reshape(D, 1, P, P))
        cut.bias.copy_(embedding.bias)
        ours.positions.weight.normal_()
        images = torch.rand(3, H, W)
        x = cut(images.unsqueeze(1)).flatten(2).mT
        if class_token:
            x = torch.cat([ours.class_vector.expand(3, 1, D), x], 1)
        assert_close(ours(images), theirs(x + ours.positions.weight), "hidden vectors", 1e-4)


def test_a_location_that_may_not_be_attended_to_changes_nothing():
    model, images = build(), torch.rand(2, H, W)
    mask = torch.ones(2, N + 1, dtype=torch.bool)
    mask[:, -1] = False
    changed = images.clone()
    changed[:, -P:, -P:] += 1
    assert_close(model(changed, mask)[:, :-1], model(images, mask)[:, :-1], "other locations")
    assert not torch.allclose(model(changed)[:, :-1], model(images)[:, :-1])


@pytest.mark.parametrize("class_token", [True, False])
def test_a_classifier(class_token):
    model = ImageClassifier(build(class_token=class_token), 3)
    images = torch.rand(5, H, W)
    hidden = model.encoder(images)
    pooled = hidden[:, 0] if class_token else hidden.sum(1) / N
    assert_close(model(images), pooled @ model.output.weight.T + model.output.bias, "logits")
    assert_every_parameter_gets_a_gradient(model, model(images))


def test_as_many_patches_are_hidden_as_were_asked_for():
    hidden = hide_patches(7, N, 0.25, torch.Generator().manual_seed(0))
    assert hidden.sum(1).tolist() == [3] * 7
    assert len({tuple(row) for row in hidden.tolist()}) > 1
    assert torch.equal(hidden, hide_patches(7, N, 0.25, torch.Generator().manual_seed(0)))
    assert hide_patches(2, N, 0.0).sum(1).tolist() == [1, 1]


@pytest.mark.parametrize("class_token", [True, False])
def test_a_hidden_patch_is_not_seen(class_token):
    model = PatchPredictor(build(class_token=class_token)).eval()
    images, hidden = torch.rand(3, H, W), hide_patches(3, N, 0.5)
    nn.init.normal_(model.stand_in)
    predicted = model(images, hidden)
    assert predicted.shape == (3, N, P * P)
    squares = hidden.reshape(3, H // P, W // P).repeat_interleave(P, 1).repeat_interleave(P, 2)
    assert_close(model(images.where(~squares, 9.0), hidden), predicted, "predictions of other pixels there")
    assert not torch.allclose(model(images.where(squares, 9.0), hidden), predicted)
    assert_every_parameter_gets_a_gradient(model, model(images, hidden))


def test_the_loss_is_of_the_hidden_ones():
    images, hidden = torch.rand(3, H, W), hide_patches(3, N, 0.5)
    patches = to_patches(images, P)
    predicted = torch.randn_like(patches)
    wrong = [(predicted[b, k] - patches[b, k]).square().sum() for b in range(3) for k in range(N) if hidden[b, k]]
    assert_close(patch_loss(predicted, patches, hidden), sum(wrong) / (len(wrong) * P * P), "loss")
    with pytest.raises(ValueError, match="hidden must be True for at least one patch, got none"):
        patch_loss(predicted, patches, torch.zeros_like(hidden))


def test_what_is_refused():
    with pytest.raises(ValueError, match="patch_size must divide height and width, got 4 for 6 × 8"):
        VisionTransformer(6, 8, 4, d_model=4, n_heads=2, n_layers=1)
    with pytest.raises(ValueError, match=r"images must be \(batch, 6, 8\), got \(1, 8, 6\)"):
        build()(torch.zeros(1, 8, 6))
    with pytest.raises(ValueError, match=r"share must lie in \[0, 1\], got 2"):
        hide_patches(1, 4, 2)
