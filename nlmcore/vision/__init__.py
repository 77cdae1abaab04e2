"""Images as sequences: patches for a Transformer, a convolutional network to compare with, and captions.

    VisionTransformer    images (batch, row, column) to vectors (batch, location, d_model), through patches
    ConvEncoder          the same, through convolutions and pooling
    ImageClassifier      either of them, and a class
    PatchPredictor       a VisionTransformer, pretrained to restore hidden patches
    Captioner            either of them, and an LSTM with attention over the locations: a language model of captions

Images are grey, brightness from 0 to 1. An encoder is called encoder(images, mask=None), and has `d_model` and
`class_token`: whether its first location is a class token.
"""

from nlmcore.vision.captioner import Captioner, ImageReader, doubly_stochastic
from nlmcore.vision.convolution import ConvEncoder, convolve, max_pool
from nlmcore.vision.transformer import (
    ImageClassifier,
    PatchPredictor,
    VisionTransformer,
    from_patches,
    hide_patches,
    patch_loss,
    to_patches,
)

__all__ = [
    "Captioner",
    "ConvEncoder",
    "ImageClassifier",
    "ImageReader",
    "PatchPredictor",
    "VisionTransformer",
    "convolve",
    "doubly_stochastic",
    "from_patches",
    "hide_patches",
    "max_pool",
    "patch_loss",
    "to_patches",
]
