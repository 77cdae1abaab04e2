# %% [markdown]
# # Assignment: subwords
#
# Six small functions that make a tokenizer. It uses byte-pair encoding, with which nearly every large language model splits its text. Then you derive
# how to compare models with different tokenizers, find a bug in somebody else's shortcut, and measure how much text a tokenizer needs. At the end your
# functions learn sixty tokens from Shakespeare, and you watch the same line get shorter.
#
# [[questions]]
#
# [[how it works]]
#
# [[closed]]
# Everything else is open. If you need a function from an earlier question, call yours.
#
# You need the first half of the lecture *Tokens and word vectors*, and perplexity from the lecture *What is a language model?* Nothing is downloaded.

# %%
import math
import random
import re
from collections import Counter

import torch

from autograder.check import check, failing, passes, show_rows
from lectures import show

# %% [markdown]
# ## 1. Which two belong together?
#
# A word is a list of **symbols**, and a symbol is an id: an integer, counted from 0. At first there is one symbol per letter. Byte-pair encoding
# (Sennrich et al. 2016) finds the two symbols that are most often neighbours, merges them into one new symbol, and starts again.
#
# Each distinct word needs to be processed only once. So a text is given as its *different* words, with how often each of them occurs.
#
# ### 1a. Counting neighbours [[subwords.count_pairs, 15 minutes, easy, core]]
#
# Make a table: row $a$, column $b$ says how often $b$ comes right after $a$ inside a word. A word that occurs 5 times contributes each of its pairs 5
# times. No pair crosses from one word to the next.
#
# By hand, with l = 0, o = 1, w = 2, e = 3, for the words *low* (5 times), *wool* (once) and *we* (twice):

# %%
show.heatmap(
    [[0, 5, 0, 0], [1, 1, 5, 0], [0, 1, 0, 2], [0, 0, 0, 0]],
    list("lowe"),
    list("lowe"),
    row_title="left symbol",
    column_title="right symbol",
    alt="A table of pairs: l o 5 times, o w 5 times, w e twice, and once each o l, o o and w o.",
)


# %% [markdown]
# [[checked]]
#
# [[hints]]
# 1. In the example *low* contributes two pairs, each 5 times. How many pairs does a word of $n$ symbols have, and how many does a word of one
#    symbol have?
# 2. Use two loops: one over the words and their counts, and inside it one over the pairs of neighbours of a word.
# 3. `itertools.pairwise(word)`, or `zip(word, word[1:])`, iterates over all pairs of neighbours. Each adds the count of its word, not 1.


# %%
def count_pairs(words, counts, size):
    """How often each symbol comes right after each other symbol.

    words: a list of lists of ids, counts: how often each word occurs, size: ids are below it -> table (size, size)
    """
    ### BEGIN SOLUTION
    table = torch.zeros(size, size, dtype=torch.int64)
    for word, count in zip(words, counts, strict=True):
        for i in range(len(word) - 1):
            table[word[i], word[i + 1]] += count
    return table
    ### END SOLUTION


# %% [markdown]
# ### 1b. The winner [[subwords.best_pair, 10 minutes, easy, core]]
#
# Return the most frequent pair, as a list `[left, right]`. If several pairs are equally frequent, the one with the smaller left id wins; if those are
# equal too, the one with the smaller right id. Any rule would do, but everybody must use the same one, or the same text is split into different
# tokens.
#
# In the table above, *l o* = [0, 1] and *o w* = [1, 2] both occur 5 times, so the answer is [0, 1].
#
# [[checked]]
#
# [[hints]]
# 1. Read the table as you read a page. In which order do you meet pairs that are equally frequent?
# 2. The rule for ties asks for exactly that order, so you need the *first* of the largest entries. `argmax` numbers the entries in that order too.
# 3. `table.argmax()` returns one number: with $n$ columns, row × $n$ + column. `divmod` splits it into row and column. Does `argmax` return the
#    *first* of several equal entries? Look it up, or make sure yourself.


# %%
def best_pair(table):
    """The most frequent pair; among equals, the smaller left id, then the smaller right id.

    table (size, size) -> [left, right]
    """
    ### BEGIN SOLUTION
    first = torch.nonzero(table == table.max())[0]  # row by row
    return [int(first[0]), int(first[1])]
    ### END SOLUTION


# %% [markdown]
# ## 2. Learning
#
# ### 2a. One merge [[subwords.merge, 20 minutes, easy, core]]
#
# Replace every occurrence of the pair in a word with the new symbol, from left to right. A symbol can be used only once, so after a merge continue
# *after* both symbols.
#
# By hand, with the pair [7, 7] and the new symbol 9:
#
# | word | merged |
# |---|---|
# | 7 7 3 7 7 | 9 3 9 |
# | 7 7 7 | 9 7 |
# | 7 3 7 | 7 3 7 |
#
# [[checked]] Do not change the words that you are given.
#
# [[hints]]
# 1. Look at the second row of the table. Why is the third 7 not merged with the second?
# 2. Go through the word from left to right. The steps differ in length: one symbol if it is copied, two after a merge.
# 3. `while i < len(word)` fits better than `for`. `word[i : i + 2]` is the next pair, or a single symbol at the end of the word.


# %%
def merge(word, pair, new):
    """Replace every occurrence of the pair with one new symbol, from left to right.

    word: a list of ids, pair [left, right], new: an id -> a list of ids
    """
    ### BEGIN SOLUTION
    merged, i = [], 0
    while i < len(word):
        if word[i : i + 2] == pair:
            merged.append(new)
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged
    ### END SOLUTION


# %% [markdown]
# ### 2b. All merges [[subwords.learn_merges, 30 minutes, medium, core]]
#
# Now the loop: count, pick the winner, merge it in every word, count again. The first new symbol gets the id `symbols` (the letters are 0 to
# `symbols` − 1), the next one `symbols` + 1, and so on. Return the pairs in the order in which they were merged. Continue as long as there is a pair,
# even one that occurs only once. If none is left, stop early and return the pairs found so far.
#
# By hand, with l = 0, o = 1, w = 2, e = 3, the words *low* (5 times) and *we* (twice), and three merges:
#
# | | words | most frequent | new symbol |
# |---|---|---|---|
# | 1 | l o w · w e | l o (5; o w as often, but 0 < 1) | 4 = lo |
# | 2 | lo w · w e | lo w = [4, 2] (5) | 5 = low |
# | 3 | low · w e | w e = [2, 3] (2) | 6 = we |
#
# The answer is [[0, 1], [4, 2], [2, 3]]. A fourth merge would find no pair.
#
# [[checked]] Do not change the words that you are given.
#
# [[hints on the size of the table]]
# 1. Look at the column of new symbols in the example. Which ids occur in the words after the first merge?
# 2. Every merge adds an id, so the table needs one more row and one more column each time.
# 3. After $k$ merges there are `symbols + k` ids, and `count_pairs` needs that number.
#
# [[hints on the end]]
# 1. Look at the last row of the example. Which pairs are left after the third merge, and what does their table contain?
# 2. Look at the table of counts before you merge. If it counts no pair, leave the loop.
# 3. No pair is left when the largest entry of the table is 0.


# %%
def learn_merges(words, counts, symbols, merges):
    """The pairs that byte-pair encoding merges, in order.

    words: a list of lists of ids below `symbols`, counts: how often each word occurs, merges: how many to learn
    -> a list of [left, right]
    """
    ### BEGIN SOLUTION
    learned = []
    while len(learned) < merges:
        new = symbols + len(learned)
        table = count_pairs(words, counts, new)
        if table.max() == 0:
            break
        learned.append(best_pair(table))
        words = [merge(word, learned[-1], new) for word in words]
    return learned
    ### END SOLUTION


# %% [markdown]
# ## 3. Using the merges
#
# ### 3a. A word into tokens [[subwords.encode, 20 minutes, medium, core]]
#
# To tokenize a new word, even one that was never seen, *repeat the training*: apply the first merge everywhere in the word, then the second, and so
# on. Merge number $i$, counted from 0, makes the symbol `symbols` + $i$.
#
# By hand, with a = 0, b = 1, c = 2 and the merges [[1, 2], [0, 1]], that is, *bc* = 3 and *ab* = 4: the word *a b c a b* becomes *a bc ab* = [0, 3,
# 4]. It does not become *ab c ab*, because *bc* was learned first and so is applied first, although *ab* begins further to the left.
#
# [[checked]]
#
# [[hints]]
# 1. In the example *ab* begins further to the left, but *bc* is merged first. What decides the order: the word or the list of merges?
# 2. Go through the merges, not through the word. For each of them a function that you have already written does the work.
# 3. A loop over `enumerate(merges)`, and your `merge`.


# %%
def encode(word, merges, symbols):
    """A word as tokens: apply the merges in the order in which they were learned.

    word: a list of ids below `symbols`, merges: a list of [left, right] -> a list of ids
    """
    ### BEGIN SOLUTION
    for number, pair in enumerate(merges):
        word = merge(word, pair, symbols + number)
    return word
    ### END SOLUTION


# %% [markdown]
# ### 3b. And back [[subwords.decode, 15 minutes, medium, core]]
#
# Expand every token until only symbols below `symbols` are left, so that `decode(encode(word)) == word` for every word.
#
# By hand, with the merges of 2b: token 5 is [4, 2], and 4 is [0, 1], so 5 is 0 1 2, *low*.
#
# [[checked]]
#
# [[hints]]
# 1. In the example one token becomes two, and one of these becomes two again. Which ids are not expanded any further?
# 2. Either write a function that calls itself for both halves of a token; or, without recursion, find out for every id, from the smallest to the
#    largest, which symbols it represents.
# 3. Without recursion, go through the merges once from first to last and keep a list of lists. Entry number `id` holds the symbols of that id, and
#    each merge appends one entry, made of two earlier ones.


# %%
def decode(tokens, merges, symbols):
    """Tokens back into symbols.

    tokens: a list of ids, merges: a list of [left, right] -> a list of ids below `symbols`
    """
    ### BEGIN SOLUTION
    stands_for = [[symbol] for symbol in range(symbols)]
    for left, right in merges:
        stands_for.append(stands_for[left] + stands_for[right])
    return [symbol for token in tokens for symbol in stands_for[token]]
    ### END SOLUTION


# %% [markdown]
# ## 4. Two tokenizers, one text [[subwords.comparable, 10 minutes, easy, more]]
#
# Perplexities per token cannot be compared if the tokens differ: if a text is cut into smaller tokens, each of them is easier to predict. But what a whole
# text costs, the sum of $-\log_2 P$ over its tokens, does not depend on how many parts it is divided into. So two models with different tokenizers
# can be compared by what the same text costs them.
#
# A model has perplexity $\mathrm{PP}$ per token, and its tokens have $n$ letters on average. On paper, derive how many **bits per letter** a text costs
# it. Another model has tokens of $m$ letters. Which perplexity per token must it have, so that the same text costs both the same? Return both, each as a
# formula with nothing but the symbols.
#
# By hand: with $\mathrm{PP} = 16$ a token costs $\log_2 16 = 4$ bits. If a token has $n = 2$ letters, a letter costs 2 bits. A token of $m = 3$ letters then
# costs 6 bits, and the other model has perplexity $2^6 = 64$. It is just as good, although its perplexity is four times as large.
#
# [[checked]]
#
# [[hints]]
# 1. Perplexity is the exponential of a mean over tokens. In the example, which of the numbers belong to a token, and which to a letter?
# 2. A text of $N$ letters has $N/n$ tokens, each of which costs $\log_2 \mathrm{PP}$ bits on average. The other model cuts it into $N/m$ tokens. Set both
#    costs equal and solve for its perplexity; $N$ vanishes.
# 3. $\frac{1}{m} \log_2 \mathrm{PP}' = \frac{1}{n} \log_2 \mathrm{PP}$. Multiply by $m$, and raise 2 to the power of both sides.


# %%
def comparable(perplexity, n, m):
    """What a letter costs, and the perplexity at which tokens of another length cost as much.

    perplexity per token of n letters; m: letters per token of the other model -> (bits, other), two numbers
    """
    ### BEGIN SOLUTION
    return math.log2(perplexity) / n, perplexity ** (m / n)
    ### END SOLUTION


# %% [markdown]
# ## 5. A friend's shortcut
#
# A friend wants to know how long a text is, in tokens, before the first merge and after each of them. Splitting all of it again after every merge takes
# her too long, so she subtracts from each length what the next merge saves. Her code runs, and for many texts its numbers are right. One line is
# wrong.
#
# ### 5a. Which line? [[subwords.wrong_line, 10 minutes, medium, more]]
#
# [[listing subwords.text_lengths]]
#
# Say for each line what it should contain, and find a word for which it contains something else. Return the number of the wrong line, as in this
# listing.
#
# [[checked]] You can copy the function into a cell of your own to try it; the check of 5b shows you an input.
#
# [[hints]]
# 1. For words such as *low* and *we* every number is right. What kind of word did you have to be careful with in 2a?
# 2. Take one word that occurs once, and one merge. Compare what is subtracted with how much shorter the word has become.
# 3. Try the word *o o o* with the merge of *o o*. How often does the table of 1a count the pair, and how often does 2a merge it?


# %%
def wrong_line():
    """The number of the one line of the listing that is wrong."""
    ### BEGIN SOLUTION
    return 11
    ### END SOLUTION


# %% [markdown]
# ### 5b. Mend it [[subwords.text_lengths, 5 minutes, easy, more]]
#
# This is your friend's function. Change the line, and nothing else. It should still compute what the merge saves.
#
# [[checked]]
#
# [[hints]]
# 1. How many symbols does a word lose each time the pair is replaced?
# 2. After the merge you can see in the words how often it was done. Each word counts as often as it occurs.
# 3. Each new symbol stands for one that was saved: `short.count(new)` says how many there are in the merged word `short`.


# %%
def text_lengths(words, counts, merges, symbols):
    """How many tokens the text has before the first merge, and after each.

    words: a list of lists of ids below `symbols`, counts: how often each word occurs, merges: a list of [left, right]
    -> lengths, one more than there are merges
    """
    ### BEGIN SOLUTION
    lengths = [sum(count * len(word) for word, count in zip(words, counts, strict=True))]
    for number, pair in enumerate(merges):
        new = symbols + number
        merged = [merge(word, pair, new) for word in words]
        saved = sum(count * short.count(new) for short, count in zip(merged, counts, strict=True))
        lengths.append(lengths[-1] - saved)
        words = merged
    return lengths
    ### END SOLUTION


# %% [markdown]
# ## 6. An experiment: how much text does a tokenizer need? [[subwords.how_much_text, 30 minutes, medium, core]]
#
# Learn 30 merges from 25 words, and 30 from 150 words of the same play. Which of the two tokenizers makes longer tokens, that is, has more letters per
# token? And does it matter on which words you measure: on those that the merges were learned from, or on words that were held out? `text` has 250
# words, each with a symbol for its beginning (which counts as a letter here). `split` shuffles them by a **seed** and holds out 100. Four answers
# are possible:
#
# 1. The merges from 25 words make longer tokens, both on the words that they were learned from and on words held out.
# 2. The merges from 150 words make longer tokens, both on the words that they were learned from and on words held out.
# 3. On the words that they were learned from, the merges from 25 words make longer tokens; on words held out, those from 150 words do.
# 4. On the words that they were learned from, the merges from 25 words make longer tokens; on words held out these samples cannot tell.
#
# Proceed in this order.
#
# - **Predict.** Set `prediction` to 1, 2, 3 or 4 before you run anything. It is kept as you wrote it, and it need not come true.
# - **Run.** For each seed, `split` the text; learn 30 merges from the first 25 words, and then from all 150. Measure each, on the words that it was
#   learned from and on the words held out: all their letters, divided by all their tokens. `rates` gets one row per seed, with four numbers: (25
#   words, its own), (25, held out), (150, its own), (150, held out). Set `conclusion = 0` for now and run the check: it says whether your numbers are
#   right. Then run the cell below the check, and look at all five rows.
# - **Conclude.** Set `conclusion` to the answer that *your* five rows support. A difference counts if it has the same sign for every seed, or if it
#   is larger than chance explains: the 95 % interval of the mean difference (Student's t: 2.78 standard errors to each side) does not contain 0.
#
# [[checked]]
#
# [[hints on the run]]
# 1. How many times do you learn merges for one seed, and how many measurements does each list of merges need?
# 2. Use two loops, over seeds and over numbers of words. `distinct` turns words into what `learn_merges` expects, and `encode` splits one word.
# 3. `learn_merges(*distinct(heard[:n]), symbols, 30)` gives the merges. For the words `measured`, divide `sum(map(len, measured))` by the sum of the lengths
#    of their `encode(…)`.
#
# [[hints on the conclusion]]
# 1. Compare the first column with the second. What did the 25 words lend their tokenizer that no other words have?
# 2. Compare columns 1 and 3, then 2 and 4. Does each difference have the same sign in every row?
# 3. Five differences $x$ have the interval $\bar x \pm 2.78\, s / \sqrt 5$, where $s$ is their standard deviation. `torch.std` computes it.


# %%
def split(text, seed):
    """(150 words to learn from, 100 to measure), shuffled by the seed."""
    shuffled = random.Random(seed).sample(text, len(text))
    return shuffled[:150], shuffled[150:]


def distinct(words):
    """The different words, and how often each occurs."""
    seen = Counter(map(tuple, words))
    return [list(word) for word in seen], list(seen.values())


# %%
def how_much_text(text, symbols, seeds):
    """Letters per token after learning from 25 and from 150 words, on their own words and on others, for several seeds.

    text: 250 lists of ids below `symbols`, seeds: a list -> (prediction, rates (seeds, 4), conclusion)
    """
    ### BEGIN SOLUTION
    prediction = 2
    rates = []
    for seed in seeds:
        heard, unheard = split(text, seed)
        row = []
        for n in (25, 150):
            merges = learn_merges(*distinct(heard[:n]), symbols, 30)
            for measured in (heard[:n], unheard):
                tokens = sum(len(encode(word, merges, symbols)) for word in measured)
                row.append(sum(map(len, measured)) / tokens)
        rates.append(row)
    conclusion = 3
    return prediction, rates, conclusion
    ### END SOLUTION


# %%
show_rows("subwords.how_much_text", how_much_text, "25, its own", "25, held out", "150, its own", "150, held out")

# %% [markdown]
# ## Your functions at work
#
# The data are the six hundred most frequent words of eight plays, each with its count. `_` marks the start of a word, so that *the* and the end of
# *bathe* can become different tokens. There is nothing to write here. Run it when the checks above pass.

# %%
everything = [
    ("subwords.count_pairs", count_pairs),
    ("subwords.best_pair", best_pair),
    ("subwords.merge", merge),
    ("subwords.learn_merges", learn_merges),
    ("subwords.encode", encode),
    ("subwords.decode", decode),
]
ready = all(passes(name, function) for name, function in everything)
if ready:
    from nlmcore.corpora import load

    text = " ".join(load("shakespeare").texts("train")[:8]).lower()
    common = Counter(re.findall("[a-z]+", text)).most_common(600)
    letters = "_abcdefghijklmnopqrstuvwxyz"
    words = [[letters.index(letter) for letter in "_" + word] for word, _ in common]
    learned = learn_merges(words, [count for _, count in common], len(letters), 60)

    spelled = list(letters)
    for left, right in learned:
        spelled.append(spelled[left] + spelled[right])
    print("The first sixty tokens, in the order in which they were learned:")
    print(*spelled[len(letters) :])


# %%
def cut(line, merges):
    """A line as tokens, a space between them; `_` where a word begins."""
    words = [[letters.index(letter) for letter in "_" + word] for word in re.findall("[a-z]+", line.lower())]
    return [spelled[token] for word in words for token in encode(word, merges, len(letters))]


if ready:
    line = "Shall I compare thee to a summer's day? Thou art more lovely and more temperate."
    lengths = []
    for merges in (0, 10, 30, 60):
        tokens = cut(line, learned[:merges])
        print(f"{merges:2} merges, {len(tokens):2} tokens:  {' '.join(tokens)}")
    lengths = [len(cut(line, learned[:merges])) for merges in range(61)]
    picture = show.curves(
        range(61),
        {"": lengths},
        x_title="merges",
        y_title="tokens in the line",
        alt=f"The number of tokens of one line against the number of merges: it falls from {lengths[0]} without merges to"
        f" {lengths[-1]} with sixty, steeply at first.",
    )
else:
    picture = "Come back here when all checks pass."
picture

# %% [markdown]
# Try a line of your own, from another century or in another language. Which kind of line shrinks more slowly, and why? This will help you with
# question 7.

# %% [markdown]
# ## 7. In your own words [[written, 25 minutes, 6 points, core]]
#
# In about twelve sentences, for somebody who has not heard the lecture:
#
# 1. Why split words into subwords at all? Say what is wrong with a vocabulary of whole words, and what is wrong with one of single letters.
# 2. Why must `encode` repeat the merges in the order of the training, and what could go wrong if it did not?
# 3. A tokenizer was trained on English. What happens to a sentence in another language? Who bears the cost, and which cost?
# 4. Report your experiment of question 6, as you would to somebody who decides on it: what did your five seeds show, and with which numbers? What
#    does that not yet say? Which run would you do next, and what do you expect of it?
#
# ### BEGIN MARK SCHEME
# One point for each of the first four, two for the report; half points are fine.
#
# 1. **Words** (1): every word that was not seen is `<unk>`, and the vocabulary (and with it the softmax and the embedding) is huge; related words
#    (*walk, walked*) share nothing. Half a point for one of these.
# 2. **Letters** (1): texts become several times longer, so the model has more steps and must look further back for the same distance.
# 3. **Order** (1): the model was trained on the tokens that the training order gives; another order gives other tokens (*ab c* for *a bc*), which the
#    model has rarely or never seen. Half a point for only "the result would be different".
# 4. **Another language** (1): pairs that are frequent there were rare in training, so words break into many short subwords: more tokens for the same
#    content. It costs time and money per token, room in the context, often quality. Half a point without any cost.
# 5. **Report, what it shows** (1): a claim that the student's own numbers support (that on the words that they were learned from the merges from 25
#    words make longer tokens, and on words held out those from 150 words), with numbers or with how many seeds agree. Half a point for the claim
#    without them, none for a claim that goes beyond the table.
# 6. **Report, what it leaves open** (1): one limit of this experiment (½), for example: one play, 30 merges, words without their frequencies; letters
#    per token is not yet the quality of a model; learned on 25 words the first number is measured on what was learned by heart. A next run that could
#    turn out otherwise, with what it would tell (½). Not: "more seeds" alone, where the seeds agree.
# ### END MARK SCHEME

# %% [markdown]
# With a vocabulary of whole words, every word that was not in the training text becomes the same `<unk>`. The vocabulary has to be huge, and so do
# the table of vectors and the softmax; *walk* and *walked* share nothing. With single letters nothing is ever unknown, but a text has five times as
# many steps, and a word ten words back is fifty symbols back.
#
# The model has learned from tokens made in one order of merges. If a word is split in a different order, say *ab c* where the training gave *a bc*, the
# letters are the same but the ids are not, and the model meets tokens in contexts where it has hardly ever seen them.
#
# The frequent pairs of another language were rare in the training text, so few of them became tokens. Words break into many short subwords, at worst
# into letters or bytes. The same content then takes more tokens, so its readers pay more and wait longer, and less of their text fits into the
# window.
#
# In all five rows the merges from 25 words did better on their own words and worse on words held out. So they had learned those words by heart, as a
# model does that is trained on too little. This is one play and 30 merges. With only 5 merges, even 25 words should show the most frequent pairs, so I
# would vary the number of merges: I expect the gap on words held out to grow with it.

# %% [markdown]
# ---
# **Before you hand in:** *Kernel → Restart Kernel and Run All Cells*. Every check should say what you expect, and
# question 7 should be answered in your own words. Save the notebook under its own name: the grader looks for `subwords.ipynb`.
