"""What gradients and gates do through time, measured by autograd on any recurrent model.

gradient_norms(step, inputs)                   ‖∂L_T/∂state_t‖ and ‖∂L_T/∂x_t‖ for every t, for one cell
language_model_gradient_norms(model, tokens)   the same for any language model, from one prediction's loss
jacobian_norms(step, inputs)                   ‖∂state_t/∂state_{t-1}‖ and the norm of their product
gate_activations(model, inputs), saturation    what the gates did
recurrent_matrices(model), spectrum, rescale   eigenvalues of the matrices that act at every step
"""

from nlmcore.diagnostics.cells import (
    GateTape,
    Spectrum,
    gate_activations,
    record_gates,
    recurrent_matrices,
    rescale,
    saturation,
    spectrum,
)
from nlmcore.diagnostics.gradients import (
    GradientNorms,
    JacobianNorms,
    gradient_norms,
    jacobian_norms,
    language_model_gradient_norms,
)

__all__ = [
    "GateTape",
    "GradientNorms",
    "JacobianNorms",
    "Spectrum",
    "gate_activations",
    "gradient_norms",
    "jacobian_norms",
    "language_model_gradient_norms",
    "record_gates",
    "recurrent_matrices",
    "rescale",
    "saturation",
    "spectrum",
]
