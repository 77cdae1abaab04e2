"""Using a pretrained model for another task: all of its weights, none of them, or a few.

    Classifier(model, n_classes)                               fine-tuning: every weight is trained
    Classifier(model, n_classes, layer=…, frozen=True)         probing: only a linear map of one layer's states
    LoRA(model, rank=8)                                        W + (α/r) B A: only A and B are trained

Any model of the package will do. `fit` trains all three, as in `fit(LoRA(model), batches, steps=…)`. For a classifier,
whose batches are (tokens, labels, mask), tell it the loss:

    fit(classifier, batches, loss=lambda model, b: F.cross_entropy(model(b[0], b[2]), b[1]), steps=…)

`nlmcore.transfer.tuning` turns a language model into an assistant: conversations, preferences, the last layers only.
`nlmcore.transfer.rewards` lets it learn from rewards for its own answers.
"""

from nlmcore.transfer.classifier import Classifier, states_of
from nlmcore.transfer.lora import LoRA

__all__ = ["Classifier", "LoRA", "states_of"]
