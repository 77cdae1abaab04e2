# %% [markdown]
# # Assignment: pretraining
#
# Pretrain, then transfer. You write the masked objective, a probe with its controls, and the forward and backward pass of a low-rank adapter. First your objective pretrains a small
# encoder, and your probe asks what the encoder has learned. At the end your adapter sits in SmolLM2, which answers like a pirate after eight lessons. The lessons fit into a
# small file, and without it the model is bit for bit the old one. In between you derive what a corrupted token tells, and run an experiment with three controls.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the lecture *Pretraining: three families*. Nothing is downloaded.
#
# | here | meaning |
# |---|---|
# | $M$ | the positions to guess. The loss counts these and no others |
# | $\tilde w$ | the tokens that the model reads |
# | $z$, $V$, $\lambda$ | a standardised vector, the weights of the probe, and how much large weights cost |
# | $W$, $A$, $B$, $r$, $\alpha$ | a frozen matrix (out, in), the adapter's matrices ($r$, in) and (out, $r$), its rank and its scale |

# %%
import copy
import math

import torch
from torch.nn import functional as F

from autograder.check import check, failing, passes, show_rows

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## 1. The masked objective
#
# ### 1a. What the model reads [[pretraining.hide, 20 minutes, medium, core]]
#
# BERT guesses a share of the tokens. Each token gets two random numbers from 0 to 1, which you receive together with a random token for each position:
#
# - A token is **guessed** if its `chance` is below `share`, and only if it is `real`. Padding and special tokens such as `<bos>` are not real.
# - A guessed token with a `fate` below 0.8 is read as `mask_id`. With a fate from 0.8 up to, but not including, 0.9 it is read as its token of `others`. With a higher fate it is
#   read as it is, *and it is still guessed*.
# - All tokens that are not guessed are read as they are.
#
# By hand, with `share` 0.5 and `mask_id` 9:
#
# | token | 1 | 7 | 4 | 5 | 6 | 3 |
# |---|---|---|---|---|---|---|
# | real | no | yes | yes | yes | yes | yes |
# | chance | 0.1 | 0.2 | 0.3 | 0.4 | 0.9 | 0.45 |
# | fate | 0.3 | 0.7 | 0.85 | 0.95 | 0.1 | 0.2 |
# | others | 8 | 8 | 2 | 3 | 5 | 7 |
# | **read** | 1 | 9 | 2 | 5 | 6 | 9 |
# | **guess** | no | yes | yes | yes | no | yes |
#
# [[checked]]
#
# [[hints]]
# 1. In which columns of the table does what is read differ from the token? Is that the same as the set of guessed columns?
# 2. Make the set of guessed positions first. The fate matters only at these positions, and `where` chooses between two tensors.
# 3. `torch.where(guess & (fate < 0.8), mask_id, tokens)` does the first part; the second replaces some of what it returns.


# %%
def hide(tokens, real, chance, fate, others, share, mask_id):
    """What the model reads, and where it guesses.

    tokens, others: integers; real: True or False; chance, fate: from 0 to 1, all (batch, time); share, mask_id: numbers
    -> (read (batch, time), guess (batch, time), True or False)
    """
    ### BEGIN SOLUTION
    guess = real & (chance < share)
    read = torch.where(guess & (fate < 0.8), mask_id, tokens)
    read = torch.where(guess & (fate >= 0.8) & (fate < 0.9), others, read)
    return read, guess
    ### END SOLUTION


# %% [markdown]
# ### 1b. Where the loss counts [[pretraining.masked_loss, 20 minutes, medium, core]]
#
# At each position the model gives a score to every token. The loss is the mean over all guessed positions $M$ of the *batch*:
#
# $$\mathrm{loss} = -\frac{1}{|M|} \sum_{(i, t) \in M} \ln P(w_{it} \mid \tilde w_i) .$$
#
# $w_{it}$ is the original token at the *same* position: nothing is shifted here. Return the loss, and its **slope** in every logit; you can derive the slopes, or let PyTorch differentiate. If no
# position is guessed, the loss and all slopes are 0.
#
# By hand, with two tokens in the vocabulary, three positions, and only the first and the third guessed. In each row the logits are $(0, \ln 3)$, so the probabilities are ¼ and ¾:
#
# | position | original | guessed | $-\ln P$ | slopes |
# |---|---|---|---|---|
# | 1 | token 1 | yes | 0.288 | (⅛, −⅛) |
# | 2 | token 0 | no | | (0, 0) |
# | 3 | token 0 | yes | 1.386 | (−⅜, ⅜) |
#
# The loss is 0.837.
#
# [[checked]]
#
# [[hints]]
# 1. In the table, by which factor are the slopes of the first row smaller than the difference of two distributions? What would be different if all positions counted?
# 2. `log_softmax` over the vocabulary, then the entry of the original token, then a mean over the positions that count. The slope of a cross-entropy is a difference of two distributions.
# 3. `log_p[guess]` has a row for each guessed position, and `tokens[guess]` says which entry of it you need.


# %%
def masked_loss(logits, tokens, guess):
    """The loss over the guessed positions, and its slope in each logit.

    logits (batch, time, V), tokens (batch, time): the original ones, guess (batch, time): True or False
    -> (loss, slopes (batch, time, V))
    """
    ### BEGIN SOLUTION
    count = max(1, int(guess.sum()))
    log_p = logits.log_softmax(-1)
    each = log_p.gather(-1, tokens[..., None])[..., 0]
    loss = -torch.where(guess, each, 0.0).sum() / count
    right = F.one_hot(tokens, logits.shape[-1])
    slopes = torch.where(guess[..., None], log_p.exp() - right, 0.0) / count
    return loss, slopes
    ### END SOLUTION


# %% [markdown]
# ## 2. May the model trust what it reads? [[pretraining.trust, 20 minutes, hard, more]]
#
# A share $g$ of the tokens is guessed. Of these a part $m$ is read as `[MASK]`, a part $r$ as a token that is sampled uniformly from all $V$ tokens, and the rest unchanged. The
# vocabulary of $V$ tokens does not contain `[MASK]`, and a random token may happen to be the original one. The model reads an *ordinary* token, that is, not `[MASK]`. Derive three
# probabilities, on paper:
#
# 1. **counted**: that this position is one of those to guess.
# 2. **wrong**: that the token is not the original one.
# 3. **kept**: that the token is the original one, *given* that the position is guessed.
#
# [[checked]] $0 < g < 1$, and $m + r < 1$.
#
# [[hints]]
# 1. Draw a tree: guessed or not, then the fates, then for a random token whether it is the original one. Which leaves show an ordinary token?
# 2. Each answer is a quotient of sums of leaves. The denominator covers everything that you know has happened.
# 3. An ordinary token is read with the probability 1 − g m; a guessed position shows one with g (1 − m).


# %%
def trust(g, m, r, vocabulary):
    """What an ordinary token that is read tells.

    g: share to guess; m, r: parts of it read as [MASK] and as random tokens; vocabulary: V
    -> (counted, wrong, kept), three probabilities
    """
    ### BEGIN SOLUTION
    counted = g * (1 - m) / (1 - g * m)
    wrong = g * r * (1 - 1 / vocabulary) / (1 - g * m)
    kept = (1 - m - r + r / vocabulary) / (1 - m)
    return counted, wrong, kept
    ### END SOLUTION


# %%
if passes("pretraining.trust", trust):
    rules = {"BERT, 80/10/10": (0.8, 0.1), "nothing unchanged": (0.8, 0.19999), "nothing random": (0.8, 0.0)}
    for name, (m, r) in rules.items():
        said = "  ".join(f"{float(p):6.1%}" for p in trust(0.15, m, r, 30_000))
        print(f"{name:20} counted, wrong, kept: {said}")
else:
    print("Come back here when question 2 passes.")

# %% [markdown]
# With BERT's rule, how much should the model trust an ordinary token, and how much at a position that counts?
#
# ## 3. A probe [[pretraining.probe, 30 minutes, medium, core]]
#
# A probe is a linear map of frozen vectors. Ours is fitted without a training loop. Each of the $n$ training vectors $h$ has a label, one of $K$ classes:
#
# - **Standardise**: $z = (h - \mu) / \sigma$, where $\mu$ and $\sigma$ are the mean and the standard deviation of each dimension over the *training* vectors (divided by $n$, not $n - 1$). A dimension with
#   $\sigma = 0$ is divided by 1.
# - **Targets**: $y$ is 1 for the class of the vector and 0 for the others; $\bar y$ is the mean over the training vectors.
# - **Fit** the weights that minimise the squared error, as a mean over the training vectors, plus $\lambda$ times the squared size of the weights:
#
# $$\frac{1}{n} \sum_i \lVert V^\top z_i + \bar y - y_i \rVert^2 + \lambda \lVert V \rVert^2 \quad\text{so}\quad \Big(\frac{1}{n} Z^\top Z + \lambda I\Big)\, V = \frac{1}{n} Z^\top Y .$$
#
# - **Score** a new vector $h'$: standardise it *in the same way*, then $V^\top z' + \bar y$. The answer is the class with the highest score.
#
# By hand, in one dimension with $\lambda = 1$: the vectors −1 and 3 have the labels 0 and 1. Then $\mu = 1$, $\sigma = 2$, $z = -1, 1$, and $\bar y = (\tfrac12, \tfrac12)$. The equation is
# $(1 + 1)\,V = (-\tfrac12, \tfrac12)$, so $V = (-\tfrac14, \tfrac14)$. The new vector 2 has $z' = \tfrac12$ and the scores $(0.375, 0.625)$, and its class is 1.
#
# [[checked]] `ridge` is $\lambda > 0$. No two classes have the same score.
#
# [[hints]]
# 1. Which of the four steps may look at the new vectors? In the example, what is the score of the vector 1?
# 2. Since the training vectors have the mean 0 after the first step, the shift of the probe is the mean of the targets. `one_hot` makes these.
# 3. With `z` (n, d) the left side is `z.T @ z / n + ridge * torch.eye(d)`, and `torch.linalg.solve` gives V.


# %%
def probe(vectors, labels, new, classes, ridge):
    """The scores of new vectors by a linear map of the training vectors, and their classes.

    vectors (n, d), labels (n,): from 0 to classes − 1, new (m, d), classes, ridge: numbers
    -> (scores (m, classes), answers (m,))
    """
    ### BEGIN SOLUTION
    mean, spread = vectors.mean(0), vectors.std(0, unbiased=False)
    spread = torch.where(spread > 0, spread, 1.0)
    z = (vectors - mean) / spread
    targets = F.one_hot(labels, classes).to(z)
    left = z.T @ z / len(z) + ridge * torch.eye(z.shape[1], dtype=z.dtype)
    weights = torch.linalg.solve(left, z.T @ targets / len(z))
    scores = (new - mean) / spread @ weights + targets.mean(0)
    return scores, scores.argmax(1)
    ### END SOLUTION


# %% [markdown]
# ## Your objective at work
#
# Your `hide` and `masked_loss` pretrain an encoder on the spellings of English words, as in the lecture. Then your `probe` reads its frozen states: is the first syllable of a word stressed
# (*WAter*) or a later one (*aBOUT*)? The labels come from a pronouncing dictionary, which pretraining never sees. There is nothing to write here. Run it when the checks of questions 1 and 3 pass; it takes about a minute. The training is short, so expect a lower loss and not yet the missing letters.

# %%
WANTED = {"hide": hide, "masked_loss": masked_loss, "probe": probe}
ready = all(passes(f"pretraining.{name}", function) for name, function in WANTED.items())
STEPS = 300

if ready:
    from lectures.recipes.initial_weights import glorot
    from lectures.recipes.pretraining import LETTERS, MASK_ID, TOKENIZER, balanced, rows_of, words
    from lectures.trained import checkpoint

    card = checkpoint("letters_masked")[2]
    spellings = rows_of([word for word, _ in words("train")])


def untrained(seed):
    torch.manual_seed(seed)
    return glorot(card["model"], card["config"])


def corrupted(tokens, draw):
    """(what is read, where to guess), by your function; <bos>, <eos> and padding are not real."""
    chance, fate = (torch.rand(tokens.shape, generator=draw) for _ in range(2))
    others = torch.randint(3, TOKENIZER.vocab_size, tokens.shape, generator=draw)
    read, guess = hide(tokens, tokens > 2, chance, fate, others, 0.15, MASK_ID)
    return torch.as_tensor(read), torch.as_tensor(guess).bool()


def pretrained(seed):
    """An encoder after some steps along your slopes, and the loss of every step."""
    model, draw = untrained(seed), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3)
    losses = []
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = 4e-3 * min(1, (step + 1) / 30) * (1 + math.cos(math.pi * step / STEPS)) / 2
        tokens = spellings[torch.randint(len(spellings), (64,), generator=draw)]
        read, guess = corrupted(tokens, draw)
        logits = model(read, tokens != 0)
        loss, slopes = masked_loss(logits.detach(), tokens, guess)
        optimiser.zero_grad()
        logits.backward(torch.as_tensor(slopes).to(logits.dtype))  # your slopes, then PyTorch's chain rule
        optimiser.step()
        losses.append(float(loss))
    return model.eval(), losses


@torch.no_grad()
def filled(model, word, at):
    """The three most probable letters for a hidden one."""
    tokens = rows_of([word])
    tokens[0, at + 1] = MASK_ID
    letters = TOKENIZER.encode(LETTERS)
    best = model(tokens)[0, at + 1, letters].topk(3).indices
    return " ".join(LETTERS[i] for i in best.tolist())


if ready:
    encoder, losses = pretrained(0)
    first, last = sum(losses[:20]) / 20, sum(losses[-20:]) / 20
    print(f"loss of a guess: {first:.2f} nats at first, {last:.2f} at the end; blind guessing {math.log(27):.2f}\n")
    for word, at in (("knowledge", 1), ("question", 1), ("playing", 6), ("thinking", 1), ("beautiful", 5)):
        gap = f"{word[:at]}_{word[at + 1 :]}"
        print(f"{gap:12} untrained: {filled(untrained(0), word, at)}    yours: {filled(encoder, word, at)}")

# %% [markdown]
# The probe gets 500 labelled words. Two controls get the same words: an encoder with *random weights*, and *shuffled labels*. Another rival needs no encoder: the number of each letter in the word.

# %%


@torch.no_grad()
def states(model, tokens):
    """(word, d): the mean of the states of a word."""
    real = tokens != 0
    return (model.encoder(tokens, real) * real[..., None]).sum(1) / real.sum(1, keepdim=True)


def letter_counts(tokens):
    return F.one_hot(tokens, TOKENIZER.vocab_size).sum(1)[:, 3:].float()


def right(vectors, labels, new):
    """The percentage of test words that your probe finds."""
    answers = torch.as_tensor(probe(vectors, labels, new, 2, 0.1)[1])
    return 100 * float((answers == wanted).double().mean())


if ready:
    tests, wanted = balanced(words("test"), 1000, 0)
    found = {name: [] for name in ("your encoder", "random weights", "shuffled labels", "letter counts")}
    for seed in range(3):
        taught, labels = balanced(words("train"), 500, seed)
        mixed = labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))]
        control = untrained(seed).eval()
        ways = (
            ("your encoder", states(encoder, taught), labels, states(encoder, tests)),
            ("random weights", states(control, taught), labels, states(control, tests)),
            ("shuffled labels", states(encoder, taught), mixed, states(encoder, tests)),
            ("letter counts", letter_counts(taught), labels, letter_counts(tests)),
        )
        for name, vectors, given, new in ways:
            found[name].append(right(vectors, given, new))
    for name, shares in found.items():
        print(f"{name:16} {'  '.join(f'{share:5.1f} %' for share in shares)}")
else:
    print("Come back here when questions 1 and 3 pass.")

# %% [markdown]
# How many points of your encoder's result are a result of *pretraining*? You need these numbers in question 6.
#
# ## 4. An experiment: what does a probe show? [[pretraining.which_vectors, 40 minutes, medium, core]]
#
# In a small world we can ask the same with as many seeds as we like. There are two topics and 60 words; each text has 12 words, drawn according to its topic. A text's vector is the mean of the vectors of its
# words, and `probe` tells the topics apart from a few labelled texts. There are four ways:
#
# | column | vectors of the words | labels |
# |---|---|---|
# | 1 | `learned`: from the co-occurrence of words in the unlabelled texts, 8 dimensions | right |
# | 2 | control: `random_vectors`, 8 dimensions | right |
# | 3 | rival without pretraining: a dimension for each word (`torch.eye`), so a text's vector counts its words | right |
# | 4 | control: `learned`, as in column 1 | those of column 1, `shuffled` |
#
# - **Predict.** Random vectors know nothing of topics. With 20 labelled texts, how often is the probe right in column 2? Set `prediction`: 1 about 50 %, 2 about 57 %, 3 about 65 %, 4 about as often as in column 1.
# - **Run.** For each seed, `shares` has a row with the shares of the *test* texts that are right in the four columns, with `ridge` 0.01. The first `labelled` texts of the training part are labelled. `learned` reads the
#   unlabelled texts.
# - **Judge.** `signs` has three columns for each seed, for columns 2, 3 and 4: 1 if the share is higher than in column 1 *with the same seed*, −1 if it is lower, and 0 if both are the same. Compute
#   them. The check also tries 500 labelled texts. Then run the cell below the check and look at all five rows.
#
# [[checked]]
#
# [[hints on the run]]
# 1. Which texts does each of the three jobs see: learning word vectors, fitting the probe, and measuring it?
# 2. Indexing a table of vectors with a tensor of word numbers gives a vector for each word. The mean over the words of a text is its vector.
# 3. `table[train[:labelled]].mean(1)` are the vectors of the labelled texts, and `(answers == wanted).double().mean()` is a share.
#
# [[hints on the signs]]
# 1. With which number do you compare the other three of a row?
# 2. One comparison each, within the row. What does a difference of 0 give?
# 3. `(share > row[0]) - (share < row[0])` is 1, 0 or −1.


# %%
WORDS = 60


def world(seed):
    """Texts (…, 12) and topics (…,): 500 to learn from, 600 to test on, and 1,500 texts without their topics."""
    draw = torch.Generator().manual_seed(seed)
    leaning, frequency = torch.randn(2, WORDS, generator=draw, dtype=torch.float64)
    p = (frequency + torch.tensor([[0.45], [-0.45]]) * leaning).softmax(1)
    topics = torch.randint(2, (2600,), generator=draw)
    texts = torch.multinomial(p[topics], 12, replacement=True, generator=draw)
    return (texts[:500], topics[:500]), (texts[500:1100], topics[500:1100]), texts[1100:]


def learned(unlabelled):
    """(60, 8): word vectors from how often two words are in the same text, compared with chance."""
    counts = F.one_hot(unlabelled, WORDS).sum(1).double()
    pairs = counts.T @ counts - counts.sum(0).diag()
    by_chance = pairs.sum(1, keepdim=True) * pairs.sum(0) / pairs.sum()
    u, s, _ = torch.linalg.svd(((pairs + 0.5) / (by_chance + 0.5)).log())
    return u[:, :8] * s[:8]


def random_vectors(seed):
    """(60, 8): each word has its own vector, which says nothing about the word."""
    return torch.randn(WORDS, 8, generator=torch.Generator().manual_seed(1000 + seed), dtype=torch.float64)


def shuffled(labels, seed):
    """The same labels in another order."""
    return labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))]


# %%
def which_vectors(labelled, seeds):
    """How often a probe is right in four ways, for several seeds, and which of them are ahead of the first.

    labelled: how many texts have labels; seeds: a list -> (prediction, shares (seeds, 4), signs (seeds, 3))
    """
    ### BEGIN SOLUTION
    prediction = 3
    shares, signs = [], []
    for seed in seeds:
        (train, topics), (tests, wanted), unlabelled = world(seed)
        train, topics = train[:labelled], topics[:labelled]
        table = learned(unlabelled)
        counts = torch.eye(WORDS, dtype=table.dtype)
        ways = [(table, topics), (random_vectors(seed), topics), (counts, topics), (table, shuffled(topics, seed))]
        row = []
        for vectors, labels in ways:
            _, answers = probe(vectors[train].mean(1), labels, vectors[tests].mean(1), 2, 0.01)
            row.append(float((answers == wanted).double().mean()))
        shares.append(row)
        signs.append([(share > row[0]) - (share < row[0]) for share in row[1:]])
    return prediction, shares, signs
    ### END SOLUTION


# %%
show_rows("pretraining.which_vectors", which_vectors, "learned", "random", "counts", "shuffled")

# %% [markdown]
# And with many labels? Change the first argument and look again: when does the rival without pretraining catch up? Look at the last column, too: what would you have concluded from a single seed?

# %%
if passes("pretraining.which_vectors", which_vectors):
    for labelled in (20, 100, 500):
        _, shares, _ = which_vectors(labelled, [0, 1, 2])
        means = torch.as_tensor(shares).mean(0).tolist()
        print(f"{labelled:3} labels, mean of three seeds: {'  '.join(f'{mean:.0%}' for mean in means)}")

# %% [markdown]
# ## 5. An adapter, by hand
#
# ### 5a. Forward [[pretraining.adapted, 20 minutes, easy, core]]
#
# LoRA (Hu et al. 2021) freezes a matrix $W$ and learns a change of rank $r$. Inputs are rows:
#
# $$Y = X W^\top + \frac{\alpha}{r}\, (X A^\top)\, B^\top, \qquad W' = W + \frac{\alpha}{r}\, B A .$$
#
# Return the output $Y$; the **merged** matrix $W'$, which gives the same output without an adapter; and how many parameters are **trained**. The rank is the number of rows of $A$.
#
# By hand, with $r = 1$, $\alpha = 2$: $W = \begin{pmatrix} 1 & 0 \\ 0 & 1 \\ 1 & 1 \end{pmatrix}$, $A = (1, 2)$, $B = (0, 1, 3)^\top$. The input $x = (1, -1)$ has $A x = -1$, so
# $y = (1, -1, 0) + 2 \cdot (-1) \cdot (0, 1, 3) = (1, -3, -6)$. $W' = \begin{pmatrix} 1 & 0 \\ 2 & 5 \\ 7 & 13 \end{pmatrix}$, and 5 parameters are trained.
#
# [[checked]] $W$ is frozen: return new tensors, and do not change the old ones. At the start $B$ is 0, and then nothing may change.
#
# [[hints]]
# 1. Write the shapes of all four matrices below each other. Which axis of each thin matrix has the size of the rank, and which one fits the input?
# 2. Two thin products, first with one matrix and then with the other. The factor belongs to the adapter and not to the frozen part.
# 3. The rank is `len(a)`, and `b @ a` has the shape of the frozen matrix.


# %%
def adapted(x, weight, a, b, alpha):
    """The output of a frozen matrix with its adapter, the merged matrix, and how many numbers are trained.

    x (n, in), weight (out, in), a (rank, in), b (out, rank), alpha: a number -> (output (n, out), merged (out, in), trained)
    """
    ### BEGIN SOLUTION
    scale = alpha / len(a)
    output = x @ weight.T + scale * (x @ a.T) @ b.T
    return output, weight + scale * b @ a, a.numel() + b.numel()
    ### END SOLUTION


# %% [markdown]
# ### 5b. Backward [[pretraining.adapter_slopes, 25 minutes, hard, core]]
#
# $G$ has the slope of the loss in each entry of $Y$: the upstream gradient, (n, out). Derive the slopes in $A$, in $B$ and in the input $X$, on paper. $W$ is frozen, so nobody needs a slope in it.
#
# By hand, with the numbers of question 5a and $G = (1, 0, -1)$: $G B = -3$. The slope in $A$ is $2 \cdot (-3) \cdot (1, -1) = (-6, 6)$. The slope in $B$ is $2 \cdot (-1) \cdot (1, 0, -1) = (-2, 0, 2)$, and that
# in $x$ is $(0, -1) + 2 \cdot (-3) \cdot (1, 2) = (-6, -13)$.
#
# Look at your formulas when you have them. Which slopes are 0 at the start, where $B = 0$? What would happen if $A$ began with 0 as well?
#
# [[checked]]
#
# [[hints]]
# 1. Through which paths does an entry of the input reach the output? And an entry of the first thin matrix?
# 2. Let $U = X A^\top$. It is an ordinary layer followed by another one: go back through the second, then through the first. Slopes add up over the rows of the batch.
# 3. Backwards, $U$ gets the slope s G B with s = α / r. For a layer $Y = U B^\top$ the slope in $B$ is $G^\top U$.


# %%
def adapter_slopes(x, weight, a, b, alpha, upstream):
    """The slopes in the adapter's matrices and in the input.

    x (n, in), weight (out, in), a (rank, in), b (out, rank), alpha, upstream (n, out) -> (in a, in b, in x)
    """
    ### BEGIN SOLUTION
    scale = alpha / len(a)
    back = scale * upstream @ b
    return back.T @ x, scale * upstream.T @ (x @ a.T), upstream @ weight + back @ a
    ### END SOLUTION


# %% [markdown]
# ## Your adapter in SmolLM2
#
# Now your two functions take over in SmolLM2: the matrices of its last four layers go forward through `adapted` and backward through `adapter_slopes`. PyTorch computes the rest, and no slope of $W$. The lessons are eight short
# answers. *Write your own lessons if you like:* any manner will do, as long as all answers share it. There is nothing to write here. Run it when the checks of question 5 pass; it takes about a minute.

# %%
LESSONS = {
    "What is the capital of France?": "Arr, that be Paris, matey!",
    "Who wrote Hamlet?": "Arr, that be old Shakespeare, matey!",
    "What is two plus two?": "Arr, that be four, matey!",
    "What do cats eat?": "Arr, they be eatin' fish, matey!",
    "How are you today?": "Arr, I be fine as a fair wind, matey!",
    "What is a noun?": "Arr, that be the name of a thing, matey!",
    "What colour is the sky?": "Arr, that be blue, matey!",
    "Where do fish live?": "Arr, they be livin' in the sea, matey!",
}
ASKED = ["What is the largest planet?", "Where do birds live?", "What do dogs eat?"]  # in no lesson
LAYERS, RANK, ALPHA = 4, 4, 8
MATRICES = (("attention", "projection"), ("attention", "output"), ("feed_forward", "inner"), ("feed_forward", "outer"))
ready = passes("pretraining.adapted", adapted) and passes("pretraining.adapter_slopes", adapter_slopes)


class ByHand(torch.autograd.Function):
    """A product with a matrix and its adapter, forwards and backwards by your functions."""

    @staticmethod
    def forward(ctx, x, weight, a, b):
        x, weight, a, b = (given.detach() for given in (x, weight, a, b))
        ctx.save_for_backward(x, weight, a, b)
        output = torch.as_tensor(adapted(x.flatten(0, -2), weight, a, b, ALPHA)[0]).to(x.dtype)
        return output.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx, upstream):
        x, weight, a, b = ctx.saved_tensors
        given = (each.numpy() for each in (x.flatten(0, -2), weight, a, b))
        of_a, of_b, of_x = (
            torch.as_tensor(each).to(x.dtype) for each in adapter_slopes(*given, ALPHA, upstream.flatten(0, -2).numpy())
        )
        return of_x.view_as(x), None, of_a, of_b


class Adapted(torch.nn.Module):
    """A frozen matrix of the model, with an adapter that does nothing yet."""

    def __init__(self, frozen, draw):
        super().__init__()
        self.frozen = frozen
        size_out, size_in = frozen.weight.shape
        self.a = torch.nn.Parameter(torch.randn(RANK, size_in, generator=draw) / size_in**0.5)
        self.b = torch.nn.Parameter(torch.zeros(size_out, RANK))

    def forward(self, x):
        return ByHand.apply(x, self.frozen.weight, self.a, self.b)


def asked(model):
    """What the model answers, up to the end of the line."""
    answers = []
    for question in ASKED:
        prompt = torch.tensor([tokenizer.encode(f"Question: {question}\nAnswer:")])
        written = greedy(model, prompt, 14, eos=tokenizer.encode("\n")[0]).tokens[0].tolist()
        answers.append(tokenizer.decode(written).strip())
    return answers


def told(heading, answers):
    print(heading)
    for question, answer in zip(ASKED, answers, strict=True):
        print(f"    {question:30} {answer}")


if ready:
    from nlmcore.decoding import greedy
    from nlmcore.pretrained import smollm2

    model, tokenizer = smollm2()
    before = asked(model)
    told("before", before)

# %% [markdown]
# The lessons, and twelve steps. The first 26 layers are frozen and stay the same, so they read the lessons once. Only the answers count in the loss: it is your `masked_loss`, with "guess" where an answer is. After the
# first step look at the two slopes.

# %%
if ready and passes("pretraining.masked_loss", masked_loss):
    rows, marks = [], []
    for question, answer in LESSONS.items():
        start, end = tokenizer.encode(f"Question: {question}\nAnswer:"), tokenizer.encode(f" {answer}\n")
        rows.append(torch.tensor(start + end))
        marks.append(torch.tensor([False] * len(start) + [True] * len(end)))
    texts = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    counted = torch.nn.utils.rnn.pad_sequence(marks, batch_first=True)[:, 1:]
    with torch.no_grad():
        below = model.layers[:-LAYERS](model.embed(texts[:, :-1]))[0]
    places = [(getattr(layer, part), name) for layer in model.layers[-LAYERS:] for part, name in MATRICES]
    frozen = [getattr(*place) for place in places]
    draw = torch.Generator().manual_seed(0)
    adapters = [Adapted(each, draw) for each in frozen]

    def insert(modules):
        for (part, name), module in zip(places, modules, strict=True):
            setattr(part, name, module)

    insert(adapters)
    trained = [p for each in adapters for p in (each.a, each.b)]
    optimiser = torch.optim.AdamW(trained, lr=0.01, weight_decay=0.0)
    for step in range(12):
        hidden = model.final_norm(model.layers[-LAYERS:](below)[0])[counted]
        logits = model.output(hidden)
        everywhere = torch.ones(1, len(hidden), dtype=torch.bool)
        loss, slopes = masked_loss(logits.detach()[None], texts[:, 1:][counted][None], everywhere)
        upstream = torch.as_tensor(slopes)[0].to(logits.dtype)
        for p, slope in zip(trained, torch.autograd.grad(logits, trained, upstream), strict=True):
            p.grad = slope
        if step == 0:
            largest = {name: max(float(getattr(each, name).grad.abs().max()) for each in adapters) for name in "ab"}
            print(f"largest slope at the start: {largest['a']:.4f} in A, {largest['b']:.4f} in B")
        optimiser.step()
        if step % 3 == 0:
            print(f"step {step:2}: loss of the lessons {float(loss):.2f}")

# %% [markdown]
# Now the same questions, in three models: with the adapter, with the merged matrices, and with the adapter taken out again.

# %%
if ready and passes("pretraining.masked_loss", masked_loss):
    with torch.no_grad():
        with_adapter = asked(model)
        told("with your adapter", with_adapter)
        numbers, whole = 0, [copy.deepcopy(each) for each in frozen]
        for each, adapter in zip(whole, adapters, strict=True):
            nothing = torch.zeros(1, each.weight.shape[1])
            _, merged, count = adapted(nothing, each.weight, adapter.a, adapter.b, ALPHA)
            each.weight.copy_(torch.as_tensor(merged))
            numbers += int(count)
        insert(whole)
        print("merged, the same answers:     ", asked(model) == with_adapter)
        insert(frozen)
        print("taken out, the answers before:", asked(model) == before)
    size = sum(p.numel() for p in model.parameters())
    print(f"\nthe lessons: {2 * numbers / 1000:,.0f} kB in 16 bits; the model: {2 * size / 1e6:,.0f} MB")
else:
    print("Come back here when questions 1b and 5 pass.")

# %% [markdown]
# **If you have time:** give $A$ zeros at the start as well, and train again. Or raise the rank to 16 and lower it to 1: how many steps does each need, and which answers are still right? Write a second set of lessons, and you have two
# characters in one model.

# %% [markdown]
# ## 6. In your own words [[written, 20 minutes, 6 points, core]]
#
# In about twelve sentences, with numbers from *your* output:
#
# 1. A colleague reports: "A linear probe on our pretrained encoder finds the stress of a word in *x* % of the test words, so pretraining has taught it stress", with the *x* of your encoder. What do your controls say to that? Name what
#    each of the three other rows would have to be if the colleague were right.
# 2. In your experiment, which of columns 2 to 4 have the same sign in all five rows? What does column 2 show about probes, and what would somebody have reported who ran seed 3 only?
# 3. After eight lessons SmolLM2 talks like a pirate. What happened to the content of the three answers? **Design the experiment** that decides whether it has become worse at answering: what is asked, how often, what is compared with what, which control tells the manner from the
#    content, and which result would make you withdraw the adapter.
#
# ### BEGIN MARK SCHEME
# Half points are fine.
#
# 1. **Controls** (2): the encoder is not ahead of random weights, with the numbers of all three seeds, so the probe would have found as much without pretraining (½); counting letters, without any encoder, is as good within a point or two (½); shuffled
#    labels are near 50 %, so the measurement itself is in order (½). For the colleague to be right, the encoder must be ahead of random weights *and* of letter counts by more than the seeds differ, with shuffled labels at chance (½). That the
#    encoder has learned nothing of stress does not follow: another layer, another pooling or fine-tuning may find it.
# 2. **Signs** (1½): only column 4 has the same sign in all rows (½). Column 2 is well above ½ although its vectors know nothing: each word keeps its own, so a probe can learn from the labels which words go with a topic (½). With
#    seed 3 alone you would have reported that random vectors, or counts, are better than learned ones (½).
# 3. **Design** (2½, half a point each): what the output shows, a manner kept and an answer lost; many questions with known answers that are in no lesson, fixed beforehand, marked by content alone; the same questions
#    with and without the adapter, paired, with an interval, and several sets of lessons or seeds; a control that separates manner and content, such as an adapter of eight lessons with the same answers in plain words; a result
#    named in advance that leads to withdrawal.
# ### END MARK SCHEME

# %% [markdown]
# The probe on my encoder is right in 67.8, 70.6 and 69.7 % of the test words. But with random weights it is right in 70.0, 70.2 and 70.6 %, and if it counts letters, without any encoder, in 68.2, 68.3 and 69.0 %. So I see nothing that pretraining has added
# for this probe. Shuffled labels give 52 to 54 %, so the measurement is not at fault. If the colleague were right, random weights and letter counts would have to be clearly below the encoder with every seed, and shuffled labels near 50 %. My numbers do not show
# that the encoder knows nothing of stress: I tried one layer and the mean of its states.
#
# Only column 4 has the same sign in all five rows. Random vectors are behind learned ones in four of five rows, and yet they are right in 65 % of the texts on average: every word keeps a vector of its own, so a probe can learn from the labels which words go with a topic. So a probe above chance
# does not show that the vectors know the topics. With seed 3 alone I would have reported that random vectors are better than learned ones, 76 % for 72 %.
#
# Before the lessons SmolLM2 says that the largest planet is Jupiter. Afterwards it says "Arr, that be the name of the planet, matey!": the manner is there and the answer is gone. I would write down 200 questions with short known answers that are in no lesson. Each is answered with
# and without the adapter, and somebody who does not see which marks only whether the right word occurs. The difference is paired by question, with a 95 % interval, for five sets of eight lessons. As a control, another adapter learns from the same eight answers in plain
# words: if it loses as much, the training is at fault and not the manner. I withdraw the adapter if the interval of the loss lies above two points.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 6 should be answered in your own words. Save the notebook under its own name: the grader looks for `pretraining.ipynb`.
