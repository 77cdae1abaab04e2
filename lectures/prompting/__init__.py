"""In-context learning: the prompt tells a model its task, and no weight changes.

    few_shot_prompt(examples, query)                       examples of the task, then the question
    score_options(model, tokenizer, prompt, options)       ln P of every option after the prompt, normalised or not
    choose(model, tokenizer, prompt, options)              the option with the highest score
    complete(model, tokenizer, prompt, stop=("\\n",))       what the model writes, up to a stop string
    stream_text(model, tokenizer, prompt)                  the same, piece by piece while it is written
    accuracy(model, tokenizer, task, shots)                how often that is right, with a confidence interval

Everything works for any language model (`nlmcore.language_model`) and any tokenizer with `encode` and `decode`.
Brown et al. (2020), "Language models are few-shot learners", sections 2 and 2.4.
"""

from lectures.prompting.completing import Completion, complete, stream_text
from lectures.prompting.measuring import Accuracy, Task, accuracy, by_choosing, by_writing, wilson_interval
from lectures.prompting.options import NORMALISATIONS, ScoredOption, choose, score_options
from lectures.prompting.templates import Example, Template, few_shot_prompt

__all__ = [
    "NORMALISATIONS",
    "Accuracy",
    "Completion",
    "Example",
    "ScoredOption",
    "Task",
    "Template",
    "accuracy",
    "by_choosing",
    "by_writing",
    "choose",
    "complete",
    "few_shot_prompt",
    "score_options",
    "stream_text",
    "wilson_interval",
]
