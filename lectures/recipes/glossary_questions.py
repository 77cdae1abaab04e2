"""Questions that the course's own glossary answers, and its entries as passages to retrieve. Written for this course."""

import re

from lectures import FOLDER

QUESTIONS = """
What is it called when you set the output of a head to zero to see what depends on it? | ablating a head
Which penalty on scores grows with the distance, by the slope of the head? | ALiBi
Which optimiser divides an average of gradients by the root of an average of their squares? | Adam
What do you call the token, mostly the first one, on which heads park weight they have no use for? | attention sink
Which head takes over when a different one was ablated? | backup head
What is the name of the observation that wider beams find worse texts? | beam search curse
How is the algorithm called that merges the most frequent pair of adjacent tokens again and again? | byte-pair encoding
Which word describes a model whose output uses nothing that comes later? | causal
What is the memory of the LSTM called, which only its gates change? | cell state
In a picture model, what is the learned vector in front of the patches called? | class token
Which law of words says that similar contexts mean similar meanings? | distributional hypothesis
In speculative decoding, what is the small model called that proposes tokens? | draft model
Which term means that a generator reads true words in training but its own words at inference? | exposure bias
What do you call a published result that is not found again when the experiment is repeated? | failed replication
Which training lets the model read its own output while the loss asks for the true words? | free-running
What is the token called that sees all positions and is seen by all? | global token
Which attention samples just one position? | hard attention
What are the assumptions called that an architecture makes before any data? | inductive bias
How do you call the similarity that divides shared words by the words in either set? | Jaccard similarity
Which unit keeps a fixed fraction of its value in every step? | leaky unit
What is an adapter called that adds a product of two thin matrices to a frozen one? | LoRA
Which assumption says that only the last few tokens matter? | Markov assumption
What is it called when an output is replaced by its average over many texts? | mean ablation
Which trick learns to tell real neighbours from random words instead of computing a softmax? | negative sampling
What do you call the set of tokens that top-p keeps? | nucleus
How is it called when training loss falls but held-out loss rises? | overfitting
Which language model reads a prefix in both directions and writes the rest from left to right? | prefix LM
What is a linear map of frozen states called, trained on a task? | probing
What is a retrieved sentence called that an editor rewrites? | prototype
Which gate of the GRU decides how much of the old state the candidate sees? | reset gate
Which norm divides by the root mean square and subtracts no mean? | RMSNorm
What do you call a gate that is so near 0 or 1 that it works as a switch? | saturated gate
Which sign takes the position of a span that is missing? | sentinel
What is a pattern called in which a query sees just its neighbours? | sliding window
How do you call it when a direction is added to the pathway at run time? | steering
What is the number called that divides the scores before softmax? | temperature
Which vector carries the whole source to the decoder? | thought vector
What is the matrix called that turns the last vector into scores for all tokens? | unembedding
Which model of machine translation counts pairs of sentences and ignores the order of words? | IBM Model 1
What is the method called that multiplies all weights by a factor slightly below 1? | weight decay
"""
FAR = """
How do I notice that a network has memorised its examples? | overfitting
A paper's finding did not come out in our own run. What is that called? | failed replication
Why do translations get worse when you look at more candidates? | beam search curse
What do you call practising on easy conditions that never occur in reality? | exposure bias
Who proposes guesses that a bigger colleague checks? | draft model
What is the trick of nudging activity inside to change behaviour? | steering
Which components jump in as a replacement? | backup head
What is the place where surplus attention goes? | attention sink
How do you silence a component in an experiment? | ablating a head
What beliefs come built in, ahead of learning? | inductive bias
Which knob makes sampling more adventurous? | temperature
How is a valve called that is stuck open or shut? | saturated gate
What is a cheap add-on for a huge network that leaves it untouched? | LoRA
You know a word by the company it keeps. Which principle is that? | distributional hypothesis
Which summary squeezes an entire sentence through a needle's eye? | thought vector
How do we shrink parameters a bit in each update? | weight decay
""".strip()
"""Asked in other words than the glossary's: the retriever must know what they mean."""


def questions(text: str = QUESTIONS) -> list[tuple[str, str]]:
    """(question, the term that answers it)."""
    rows = [line.split(" | ") for line in text.strip().splitlines()]
    return [(ask, term) for ask, term in rows]


def passages() -> list[str]:
    """The glossary's entries, "term: meaning"."""
    page = (FOLDER / "GLOSSARY.md").read_text(encoding="utf-8")
    return [
        f"{term}: {meaning}" for term, meaning in re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \| \[", page, re.MULTILINE)
    ]
