"""Training: losses, schedules and one loop, for every model that is `logits, state = model(tokens, state)`.

teacher_forcing_loss, scheduled_sampling_loss     what is minimised, in nats per token
truncated_backpropagation, clip_gradients         long texts, steep losses
distillation_loss                                 a small model learns a large one's probabilities
Muon, orthogonalised                              a step of equal size in all directions of a matrix
decay_groups                                      which weights decay: not norms, biases, embeddings
noam_schedule, cosine_schedule                    learning rates, functions of the step
fit                                               the loop, with checkpoints and an exact resume
"""

from nlmcore.training.checkpoint import History, Record, load_checkpoint, save_checkpoint
from nlmcore.training.loop import fit
from nlmcore.training.losses import (
    Piece,
    detach,
    distillation_loss,
    evaluate,
    next_token_loss,
    teacher_forcing_loss,
    truncated_backpropagation,
)
from nlmcore.training.optimisation import (
    Muon,
    clip_gradients,
    cosine_schedule,
    decay_groups,
    noam_schedule,
    orthogonalised,
)
from nlmcore.training.scheduled_sampling import (
    exponential_decay,
    inverse_sigmoid_decay,
    linear_decay,
    scheduled_sampling_loss,
)

__all__ = [
    "History",
    "Muon",
    "Piece",
    "Record",
    "clip_gradients",
    "cosine_schedule",
    "decay_groups",
    "detach",
    "distillation_loss",
    "evaluate",
    "exponential_decay",
    "fit",
    "inverse_sigmoid_decay",
    "linear_decay",
    "load_checkpoint",
    "next_token_loss",
    "noam_schedule",
    "orthogonalised",
    "save_checkpoint",
    "scheduled_sampling_loss",
    "teacher_forcing_loss",
    "truncated_backpropagation",
]
