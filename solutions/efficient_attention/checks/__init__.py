"""Assignment "efficient_attention": sparse masks, softmax in chunks, Linformer, linear attention, a cache that forgets.

`nlmcore.variants` has Longformer, BigBird and Linformer as modules with blocks of gathered keys; here each idea is one
function of tensors.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
