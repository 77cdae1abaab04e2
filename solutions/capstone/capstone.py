# %% [markdown]
# # Assignment: capstone
#
# Everything that you have built comes together in one language model: your tokenizer, your model, your optimiser, your loop and your decoder. Your entry
# trains on Shakespeare for one minute of a processor's time, or for ten. Then it is measured on plays that it has never seen, and compared with the
# class's entries and the course's. The notebook runs from the beginning with our parts, and its model is not good. Replace the parts one at a time, and
# see what each of them gains. The course's best entry, after one of its runs of ten minutes, continued *HAMLET. To be* like this:
#
# > the mortal of the bosom of the world,\
# > Are not so strong as I was fled for thee,\
# > That thou art given to thee.
#
# [[questions]]
#
# The race, question 3, adds 24 points and 12 to 20 hours, spread over the course.
#
# [[how it works]]
#
# In question 1 nothing is off limits.
#
# **How to begin.** Answer question 1, then run section 2 from top to bottom: within minutes you have a first entry and a first result. An entry is four functions:
# `train` makes a model, which is stored in a file, and `encode`, `log_probabilities` and `write` know only what is in that file. The exact
# rules, and what earns points, are just before question 3. Read them before you spend an evening on an idea.

# %%
import math
import time

import torch

from autograder.check import check, failing, passes
from autograder.mine import bring, mine, smollm2
from autograder.race.home import curve, race

torch.set_num_threads(1)  # as in the sandbox

# %% [markdown]
# ## 1. Bits per byte [[capstone.bits_per_byte, 15 minutes, easy, core]]
#
# Two models with different tokens cannot be compared by their perplexities: the one with longer tokens has fewer and harder choices. They can be
# compared by how many bits they need for each byte of the text, in UTF-8. `log_p` is what `log_probabilities` returns for a text with these `ids`, in nats,
# and `pieces[i]` is the text of token `i`.
#
# Return the bits per byte of the text, and the perplexity per token, as two numbers.
#
# By hand: the text "to be" has two tokens, "to" and " be". If the model gives both of them a probability of ¼, then they cost 4 bits together. That
# makes 0.8 bits per byte, and a perplexity of 4.
#
# [[before ngrams.perplexity]]
#
# [[checked]]
#
# [[hints]]
# 1. In the example, which two numbers are divided to get 0.8? Which of them depends on the tokens?
# 2. Pick one number of each row and add them up. Divide the sum by two different counts, and change its base for one of them.
# 3. `gather` picks the entry of each row. A nat is `1 / math.log(2)` bits, and `len(piece.encode())` counts the bytes of a piece.


# %%
def bits_per_byte(log_p, ids, pieces):
    """log_p (time, vocab) in nats, ids (time,), pieces: a list of texts -> (bits per byte, perplexity per token)"""
    ### BEGIN SOLUTION
    nats = -log_p.gather(1, ids[:, None]).sum().item()
    size = sum(len(pieces[i].encode()) for i in ids.tolist())
    return nats / math.log(2) / size, math.exp(nats / len(ids))
    ### END SOLUTION


# %% [markdown]
# ## 2. The baseline
#
# ### Tokenizer
#
# Change the size of the vocabulary, or use your own from `subwords`. More tokens mean shorter texts, and a more expensive last layer.

# %%
from nlmcore.tokens import BPETokenizer


def learn_tokenizer(texts):
    """Training texts -> what `encode` needs later; "pieces" are the bytes of all tokens."""
    tokenizer = BPETokenizer.train(texts, 1024)
    return {"tokenizer": tokenizer.to_json(), "pieces": list(tokenizer.vocabulary)}


def encode(model, text):
    """A text -> its ids."""
    return BPETokenizer.from_json(model["tokenizer"]).encode(text)


# %% [markdown]
# ### Model
#
# A small GPT. It reads `<bos>` (id 1) and up to 127 tokens at a time; `log_probabilities` moves this window through a text so that every token but the first
# ones is predicted from 64 tokens or more. The window is as long as in training, because the vector of a position that was never trained is random.

# %%
from nlmcore.transformer import TransformerConfig, TransformerLM

BOS, LENGTH = 1, 128  # tokens of a training window
WINDOW = LENGTH  # what it reads at a time


def make_network(vocab_size):
    config = TransformerConfig(vocab_size=vocab_size, d_model=192, n_heads=3, n_layers=3, max_length=LENGTH + 1)
    return TransformerLM(config)


def log_probabilities(model, ids):
    """(time,) ids -> (time, vocab): row i is the distribution of token i, given ids[:i]."""
    network = make_network(len(model["pieces"]))
    network.load_state_dict(model["weights"])
    network.eval()
    rows, done = [], 0
    while done < len(ids):
        first = max(0, done - WINDOW // 2)
        read = torch.cat((torch.tensor([BOS]), ids[first : first + WINDOW - 1]))
        logits = network(read[None])[0][0][: len(ids) - first]
        rows.append(logits[done - first :].log_softmax(-1))
        done += len(rows[-1])
    return torch.cat(rows)


# %% [markdown]
# ### Optimiser


# %%
def make_optimiser(network):
    return torch.optim.AdamW(network.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.01, fused=True)


# %% [markdown]
# ### Loop
#
# A minibatch has 8 windows of 128 tokens that start anywhere. The learning rate rises in the first 2 % of the budget and falls linearly to 0 at its end, whatever the
# machine's speed.

# %%
from nlmcore.training import fit


def train(texts, seconds, seed):
    """Train for so many seconds of processor time -> a dictionary that can be stored."""
    began = time.process_time()

    def used():
        return (time.process_time() - began) / (0.99 * seconds)

    def stop(record):
        if used() >= 1:
            raise KeyboardInterrupt  # `fit` takes it for Ctrl-C and stops cleanly

    def batches(epoch):
        for _ in range(1000):
            first = torch.randint(len(ids) - LENGTH, (8, 1))
            yield torch.cat((torch.full((8, 1), BOS), ids[first + torch.arange(LENGTH)]), 1)

    torch.manual_seed(seed)
    model = learn_tokenizer(texts)
    ids = torch.tensor([i for text in texts for i in encode(model, text)])
    network = make_network(len(model["pieces"]))
    rate = {"schedule": lambda step: max(0.0, min(used() / 0.02, (1 - used()) / 0.98))}
    fit(network, batches, epochs=10**6, optimizer=make_optimiser(network), on_step=stop, progress=False, **rate)
    return model | {"weights": network.state_dict()}


# %% [markdown]
# ### Decoder

# %%
from nlmcore.decoding import sample


def write(model, prompt, length, seed):
    """Continue a prompt with `length` bytes or a few more -> the continuation."""
    network = make_network(len(model["pieces"]))
    network.load_state_dict(model["weights"])
    draw, found = torch.Generator().manual_seed(seed), b""
    ids = [BOS, *encode(model, prompt)]
    while len(found) < length:
        new = (
            sample(network, torch.tensor([ids[-WINDOW // 2 :]]), 32, temperature=0.8, generator=draw).tokens[0].tolist()
        )
        ids += new
        found += b"".join(model["pieces"][i] for i in new)
    return found.decode("utf-8", "replace")


# %% [markdown]
# ### Try it
#
# `race` does at home what the grader does, with the corpus's own test plays. It trains once for each seed, checks the rules, measures, and says what is wrong
# if something is. It returns what the last model writes, which is the other way to see that an entry gets better. You can stop it (■) at any time: finished
# seeds are kept in `race.json`, next to this notebook, under the name that you give the entry, and the next call goes on from there. So give an entry a new
# name whenever you change it. `race` then also prints, seed by seed, how many more or fewer bits it needs than the best of your other entries. Try ideas with
# a tenth of the sprint first: what is worse after 6 seconds is often, but not always, worse after 60. The tokenizer takes a good part of the baseline's 6 seconds, so do not expect words yet.

# %%
entry = {"train": train, "encode": encode, "log_probabilities": log_probabilities, "write": write}
print(race("baseline", entry, seconds=6, seeds=[0]))

# %%
# print(race("baseline", entry, seconds=60, seeds=[0, 1, 2], kind="Transformer"))

# %% [markdown]
# The curve shows your results, in black, and the course's own entries, which were measured in the same way. An entry below all of the course's marks beats
# the course: tell the class how.

# %%
curve()

# %% [markdown]
# **Counting wins the sprint. Why?** Kneser–Ney reads the whole text once, in a few seconds, and then knows every group of four tokens in it. The notebook's GPT reads less than half of the
# text in a minute. Ten minutes reverse the order: this GPT then needs 2.11 bits and the course's LSTM 2.05 in its one run, less than the 2.16 of Kneser–Ney, which gains nothing from more time.
#
# But the two know different things, so do not choose: **mix them**. $P = \lambda\, P_\text{network} + (1 - \lambda)\, P_\text{counts}$ is what `interpolated` of `ngrams` does with counts
# of several orders. Here you have log-probabilities: add $\ln \lambda$ to one and $\ln(1 - \lambda)$ to the other, and combine them with `torch.logaddexp`. `NGramLM` of
# `nlmcore.ngram` counts the tokens within seconds, but if you use it, the part *model* is ours. In the sprint the LSTM alone needs 2.26 bits, Kneser–Ney alone 2.16, and a larger LSTM mixed with it 2.04. Choose λ on a passage of the training text that
# neither of them was trained on.

# %% [markdown]
# ### The rules
#
# - Your entry is four functions: `train`, `encode`, `log_probabilities` and `write`. Nothing else of the notebook is used. Each is called in a new process
#   that knows only the file of your model.
# - `train(texts, seconds, seed)` gets the training texts and a budget in **seconds of processor time**. It returns a dictionary of tensors, numbers, text,
#   bytes, lists and dictionaries, which is stored in a file. Its entry `"pieces"` is the list of the bytes of each token, one or more, for at most 65,536
#   tokens. The grader reads it from the file. Everything counts towards the budget, including learning the tokenizer. An entry that exceeds its budget by more
#   than a tenth has no result.
# - `encode(model, text)` returns the ids of a text. The pieces of the ids, joined, must be exactly the text, in UTF-8.
# - `log_probabilities(model, ids)` returns a tensor with a row for each id and a column for each piece. Row `i` is the logarithm of the distribution of
#   token `i`, given `ids[:i]` and nothing else: neither the later ids, nor their number, nor another passage. The ids of a passage may be followed by
#   others.
# - Every row must sum to 1. At secret places another process gets only the tokens so far, and must give the next token no less probability than was
#   claimed. It is asked about some places twice, so a model may not learn or remember anything while it is measured.
# - Encoding all passages, and measuring them, may each take 30 seconds of processor time in the sprint, and 75 in the long distance. The slowest of our
#   entries needed 18 and 19 on a busy machine.
# - `write(model, prompt, length, seed)` continues a prompt with `length` bytes or a few more, and returns the continuation. The class's table shows what
#   the best entry writes.
# - Train on `texts`. The sandbox has no other text, no weights, no network and no files, and one thread. Of Python's packages it has only PyTorch, NumPy,
#   `regex`, `tokenizers`, `safetensors`, `tqdm`, Matplotlib, SciPy and `einops` if they are installed, and what these need. The weights of an earlier
#   training may not be carried along; a notebook may have 50,000 bytes of code.
# - The grader holds out other plays than those that you measure with. They are drawn secretly, and your entry trains on the rest. Some plays are harder than
#   others, so the bits are scaled by what Kneser–Ney needs on both.
#
# **Marks.** There are two distances, and the better one counts. The *sprint* has 60 seconds of processor time and three seeds. In the *long distance* your entry has
# 600 seconds, as much as two cores do in five minutes. Between two rows, points lie on a straight line.
#
# | 60 s: bits per byte | 2.60 | 2.22 | 2.16 | 2.02 | 1.94 |
# |---|---|---|---|---|---|
# | points | 0 | 5.5 | 9.5 | 15 | 19 |
#
# | 600 s: bits per byte | 2.40 | 2.16 | 2.05 | 1.95 | 1.85 |
# |---|---|---|---|---|---|
# | points | 0 | 5.5 | 11 | 15 | 19 |
#
# **Your kind.** If you build a Transformer, you should not lose the sprint to a model that only counts. So an entry that names its kind gets the points of this table if they are more.
# The scale of a kind begins near the course's simple entry of that kind (of Transformers: this notebook's), and a better one that we measured earns all 19 points. For counts and for
# recurrent networks, this better entry has a cache of the passage (Grave et al. 2017).
#
# | `Kind:` | 0 points at | 19 points at |
# |---|---|---|
# | counts | 2.22 | 2.05 |
# | recurrent | 2.27 | 2.18 |
# | Transformer | 2.88 | 2.34 |
#
# An entry is of a kind if its predictions come from that kind alone, with or without a cache of the passage. A mixture of kinds has the scale of the sprint. The person who
# marks your report confirms the kind.
#
# **Your own parts.** Each of the five parts earns 1 point if it is yours and the entry has a result. A part is ours if the functions above use one of these:
#
# | part | ours |
# |---|---|
# | tokenizer | `nlmcore.tokens`, the package `tokenizers` |
# | model | the models and layers of `nlmcore` (`ngram`, `transformer`, `recurrent`, `attention` and so on), PyTorch's `LSTM`, `GRU`, `RNN`, their cells and functions, `Transformer…` and `MultiheadAttention` |
# | optimiser | `torch.optim` |
# | loop | `nlmcore.training` |
# | decoder | `nlmcore.decoding` |
#
# What you do not use is missing from the sandbox, or refuses to work. So name a part openly where you use it: `from torch import optim`, not `getattr`.
# Functions from your earlier assignments are yours: `mine()` lists those that passed their checks, and
# `bring("training.adamw_step")` turns the cell into one of them. `Linear`, `Embedding` and PyTorch's other functions are open to
# everybody.

# %% [markdown] nbgrader={"grade": false, "grade_id": "race_question", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## 3. The race
#
# *24 points: 19 for the bits, 1 for each of your own parts · filled in by the grader*
#
# Write a line `Name:` with a name for your entry, in at most five words, a line `Kind:` if your entry is of one of the three kinds, and a line that says which of the five
# parts are yours. The name appears in the class's table if your instructor shows names, the kind in any case.
#
# ### BEGIN MARK SCHEME
# `python3 -m autograder race capstone` writes these points, with the reasons as a comment.
# ### END MARK SCHEME

# %% [markdown] nbgrader={"grade": true, "grade_id": "race", "locked": false, "points": 24, "schema_version": 3, "solution": true, "task": false}
# Name: the baseline.
# Kind: Transformer.
# My parts: none; this is the notebook as it was handed out.

# %% [markdown]
# ## 4. The report [[written, 90 minutes, 14 points, core]]
#
# At most one page, about 500 words, with one table or figure. Answer these questions:
#
# 1. What did you change, in which order, and what did each change gain? Give the bits per byte before and after, for three seeds or more.
# 2. Take one of your changes that helped. Which other explanation of the gain did you rule out, and by which run?
# 3. What did not help, although you expected it to? Why?
# 4. Where does the processor's time go, and what would you do with ten times as much?
#
# ### BEGIN MARK SCHEME
# Half points are fine. The bits earn nothing here: an entry that lost can have a report with full marks.
#
# 1. **Changes and gains** (4): at least three changes (1), each with its own bits before and after (1), over three seeds or more with their spread (1), and in an
#    order that lets each gain be read off, one change at a time (1).
# 2. **A rival explanation** (4): a real rival, such as more parameters, more steps in the same time, a luckier seed, a better learning rate for one side only, or the dev plays
#    chosen by (2); a run at equal processor time that decides (1); the conclusion that the numbers allow, also "undecided" (1).
# 3. **What failed** (3): an expectation with a reason from the course (1), the measurement (1), an explanation that fits the measurement (1).
# 4. **Time** (3): where it goes, measured and not guessed (1½); a plan for ten times as much that follows from it, such as a larger network, because the data are seen
#    less than twice (1½).
#
# Take off up to 3 points for claims without numbers, for one seed where three are asked, and for a text much longer than a page.
# ### END MARK SCHEME

# %% [markdown]
# A model answer in short; a good report says the same on a page, with the bits of each seed.
#
# 1. The baseline needs 2.91 bits per byte in the sprint. An LSTM instead of the Transformer: 2.26. A larger LSTM mixed with Kneser–Ney, with shares that
#    depend on how sure both are: 2.04. With a cache of the passage as a third part: 1.90 on average, from 1.897 to 1.909. (Three to five seeds each.)
# 2. The LSTM may have won only because its learning rate suits it and the Transformer's does not. Two more rates for the Transformer, at equal processor time and with the
#    same seeds, decide: if the better one still needs more bits for every seed, the rate is not the reason.
# 3. Ten times the time and a wider LSTM gained only 0.095 bits. The cache, which is not trained at all, gained 0.13. We expected the opposite order. Our explanation: a passage
#    repeats its own names and phrases, and training on other plays does not teach those. A cache that may only propose names would test it.
# 4. A profile of the sprint: the LSTM takes three fifths of the time, the output layer over 1,024 tokens with its softmax most of the rest. The sprint has about 800 steps, so
#    it reads less than half of the text. With ten times as much time a wider network comes first, and dropout only when the text is read several times.

# %% [markdown]
# ## Everything that you wrote
#
# The functions that passed their checks are your library: a folder `mine` next to that of this notebook, which you can copy to another computer. If
# it has what the assignment `transformer` asked for, it runs a published model: the cell loads the weights of SmolLM2 with *your* `load_block`, compares
# the logits of *your* `language_model` with the course's, and *your* `generate` answers.

# %%
mine()
names = ["load_block", "language_model", "generate"]
yours = {name: mine(f"transformer.{name}") for name in names}
if all(yours.values()):
    sizes = {"n_heads": 9, "n_kv_heads": 3, "base": 100_000.0, "eps": 1e-5}
    weights, tokenizer, _ = smollm2(yours["load_block"], yours["language_model"], sizes, "The capital of France is")
    asked = tokenizer.chat([{"role": "user", "content": "Who wrote Hamlet?"}])
    with torch.no_grad():
        answer, _ = yours["generate"](asked, weights, sizes, 40, tokenizer.eos, None)
    print(f"Your library: {tokenizer.decode(answer, skip_special=True)}")
else:
    print("SmolLM2 answers here once these functions of the assignment transformer are in your library:", *names)
