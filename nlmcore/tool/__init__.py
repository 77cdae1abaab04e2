"""From a file to a model that talks: what a script or a command line wants, made of the other rooms.

save_model("mine", model, tokenizer)                   a folder
model, tokenizer = load_model("mine")
complete(model, tokenizer, "Once upon a time")         strings in, strings out
chat(model, tokenizer, "Who was Hamlet?")

python -m nlmcore train, write, chat                   the same without a program
"""

from nlmcore.tool.saved import load_model, save_model
from nlmcore.tool.text import chat, complete, write_text

__all__ = ["chat", "complete", "load_model", "save_model", "write_text"]
