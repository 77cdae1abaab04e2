"""What has no row and yet a place: a model of pictures, in the place that `nlmcore.variants` names for it."""

import re
from dataclasses import replace

import torch
from torch import Tensor, nn

import nlmcore.variants
from nlmcore.positions import LearnedPositions
from nlmcore.transformer import Backbone, TransformerConfig
from nlmcore.variants.variant import share_positions, vanilla
from tests.laws import assert_every_parameter_gets_a_gradient
from tests.nlmcore.variants.test_catalogue import SIZES, VOCAB, stirred

CONFIG = vanilla(VOCAB, **SIZES)


class VisionTransformer(Backbone):
    """Patches (batch, patch, pixels) instead of tokens: the embedding is a matrix. Dosovitskiy et al. (2021)."""

    def forward(self, patches: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.final_norm(self.layers(self.embed(patches)))


def seeing() -> VisionTransformer:
    torch.manual_seed(0)
    config = replace(CONFIG, embedding=nn.Linear, positions=LearnedPositions, share=share_positions)
    return stirred(VisionTransformer(config, causal=False))


def test_a_trunk_reads_patches_as_well_as_tokens() -> None:
    model = seeing()
    patches = torch.randn(2, 9, VOCAB, generator=torch.Generator().manual_seed(1))
    assert model(patches).shape == (2, 9, CONFIG.d_model)
    assert_every_parameter_gets_a_gradient(model, model(patches))


def test_the_table_of_places_names_fields_that_exist() -> None:
    table = (nlmcore.variants.__doc__ or "").split("Where what has no row belongs")[1]
    rows = re.findall(r"^    (\S.{43}) ([a-z_]+) ?[=,;: ]", table, flags=re.M)
    assert len(rows) == len(re.findall(r"^    \S", table, flags=re.M)) > 0
    assert {place for _, place in rows} <= set(TransformerConfig.__dataclass_fields__)
