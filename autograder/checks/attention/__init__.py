"""Assignment "attention": three scores, the weighted sum, a mask, and heads.

The functions differ in form from `nlmcore.attention`, which is the reference: one query at a time, a softmax
from its parts, one mask for two purposes, and heads as a function of five arguments.
"""

from autograder.checks.attention.additive import ADDITIVE_SCORE
from autograder.checks.attention.heads import MULTI_HEAD_ATTENTION
from autograder.checks.attention.masks import DECODER_MASK
from autograder.checks.attention.scaled import SCALED_DOT_PRODUCT_ATTENTION
from autograder.checks.attention.scores import BILINEAR_SCORE, DOT_SCORE
from autograder.checks.attention.weighted_sum import ATTEND

EXERCISES = {
    exercise.name: exercise
    for exercise in (
        DOT_SCORE,
        BILINEAR_SCORE,
        ADDITIVE_SCORE,
        ATTEND,
        SCALED_DOT_PRODUCT_ATTENTION,
        DECODER_MASK,
        MULTI_HEAD_ATTENTION,
    )
}

__all__ = ["EXERCISES"]
