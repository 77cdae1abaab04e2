"""Questions 4a, 4b, 4c and 5: a block, the model, writing with the cache, and weights from a file."""

from typing import Any

import torch
from torch import Tensor

from autograder.exercise.declare import frugal, holds, inputs_too, judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.transformer.checks.common import CLOSED, block_weights, matrix, sizes_of
from solutions.transformer.laws import whole_equals_chunks

# --- a block ----------------------------------------------------------------------------------------------


def _block(draw: Draw, label: str, past: int | None = None, empty: tuple[str, ...] = ()) -> Case:
    """`empty`: matrices that contain only zeros."""
    batch, time, half, d_ff = draw.sizes(4)
    d_model = draw.largest + 2
    weights = block_weights(draw, d_model, 2 * half, d_ff, 4, 2)
    weights |= {name: torch.zeros_like(weights[name]) for name in empty}
    cache = None if past is None else draw.normal(batch, 2, 2, past, 2 * half)
    return case(label, draw.normal(batch, time, d_model), weights, sizes_of(4, 2), cache)


def _nothing(draw: Draw) -> list[Case]:
    return [_block(draw, "two sublayers that add nothing", empty=("output", "down"))]


def _attention_only(draw: Draw) -> list[Case]:
    return [_block(draw, "a network that adds nothing", empty=("down",))]


def _network_only(draw: Draw) -> list[Case]:
    return [_block(draw, "attention that adds nothing", empty=("output",))]


def _both(draw: Draw) -> list[Case]:
    return [_block(draw, "attention and network")]


def _with_a_past(draw: Draw) -> list[Case]:
    width = 4 * draw.size()
    weights = block_weights(draw, width, width // 2, width, 2, 2)
    square = case("square matrices, a large ε", draw.normal(2, 2, width), weights, sizes_of(2, 2, eps=0.1), None)
    return [_block(draw, "a past", 3), square]


BLOCK = question(
    "transformer.block",
    minutes=15,
    difficulty="medium",
    returns=("x", "cache"),
    properties=[
        shapes(0.1, _both),
        values("a block that adds nothing", 0.15, _nothing, "x"),
        values("attention alone", 0.75, _attention_only, "x"),
        values("the network alone", 0.75, _network_only, "x"),
        values("both", 0.75, _both, "x"),
        values("a past, square matrices, and the cache", 0.5, _with_a_past),
    ],
    closed=CLOSED,
    mistakes="""
post-norm: You normalise the sum of pathway and sublayer: that is post-norm, as in the Transformer of 2017. In a
pre-norm block the sublayer *reads* through the norm, and the pathway itself is never normalised.
+ added, cache = attention(x, weights, sizes, past)
+ x = rms_norm(x + added, weights["attention_norm"], sizes["eps"])
+ return rms_norm(x + feed_forward(x, weights), weights["feed_forward_norm"], sizes["eps"]), cache

pathway-normalised: You normalise the pathway itself: x is replaced by its norm before you add to it. Only the sublayer
reads the normalised vector; the sum goes to the original x.
+ x = rms_norm(x, weights["attention_norm"], sizes["eps"])
+ added, cache = attention(x, weights, sizes, past)
+ x = rms_norm(x + added, weights["feed_forward_norm"], sizes["eps"])
+ return x + feed_forward(x, weights), cache

no-residual-at-attention: Attention's result replaces the pathway. Add it to x.
- x = x + added → x = added

no-residual-at-the-network: The network's result replaces the pathway. Add it to the x that it read.
- return x + feed_forward → return feed_forward

network-beside-attention: Your network reads the x from before attention, so the two are in parallel (as in GPT-J). Here
the network reads the sum of x and attention's result.
- x = x + added → y = x + added
- return x + feed_forward → return y + feed_forward

network-first: Your network comes before attention. Attention is first.
+ x = x + feed_forward(rms_norm(x, weights["feed_forward_norm"], sizes["eps"]), weights)
+ added, cache = attention(rms_norm(x, weights["attention_norm"], sizes["eps"]), weights, sizes, past)
+ return x + added, cache

norms-swapped: You swapped the two gains: `attention_norm` belongs to attention, `feed_forward_norm` to the network.
* "attention_norm" → "other"
- "feed_forward_norm" → "attention_norm"
* "other" → "feed_forward_norm"

one-norm-for-both: You use the gain of attention's norm twice. The network's norm has its own.
- "feed_forward_norm" → "attention_norm"

no-norm-at-attention: Attention reads the pathway without a norm.
- attention(rms_norm(x, weights["attention_norm"], sizes["eps"]), weights → attention(x, weights

no-norm-at-the-network: The network reads the pathway without a norm.
- feed_forward(rms_norm(x, weights["feed_forward_norm"], sizes["eps"]), weights) → feed_forward(x, weights)

past-not-passed-on: You do not pass `past` to attention, so each call begins a new text.
- sizes, past) → sizes)
""",
)


# --- the model --------------------------------------------------------------------------------------------


def _weights(draw: Draw, d_model: int, half: int, d_ff: int, vocab: int, blocks: int, sets: int = 2) -> dict[str, Any]:
    return {
        "embedding": 0.5 * draw.normal(vocab, d_model),
        "blocks": [block_weights(draw, d_model, 2 * half, d_ff, 2 * sets, sets) for _ in range(blocks)],
        "norm": draw.normal(d_model),
    }


def _text(draw: Draw, label: str, blocks: int, past: int | None = None) -> Case:
    batch, time, d_model, d_ff = draw.sizes(4)
    half, vocab = 1, draw.largest + 8
    weights = _weights(draw, d_model + 1, half, d_ff, vocab, blocks)
    state = None if past is None else draw.normal(batch, blocks, 2, 2, past, 2 * half)
    return case(label, draw.integers(0, vocab - 1, batch, time), weights, sizes_of(4, 2), state)


def _whole(draw: Draw) -> list[Case]:
    return [_text(draw, "three blocks", 3), _text(draw, "two blocks", 2)]


def _continued(draw: Draw) -> list[Case]:
    return [_text(draw, "three blocks, a state", 3, 3), _text(draw, "two blocks, a long state", 2, draw.largest + 3)]


def _edges(draw: Draw) -> list[Case]:
    size = draw.size() + 2
    square = _weights(draw, size, 1, size, size, 2)
    one = _weights(draw, 5, 1, 3, 12, 1, 1)
    return [
        case("a vocabulary as large as d_model", draw.integers(0, size - 1, 2, size), square, sizes_of(4, 2), None),
        case(
            "one token, one block, a large ε",
            draw.integers(0, 11, 1, 1),
            one,
            sizes_of(2, 1, eps=0.1),
            draw.normal(1, 1, 2, 1, 2, 2),
        ),
    ]


def _chunks(draw: Draw) -> list[Case]:
    """Whole; its end, with the right state; its end, with another state."""
    tokens, weights, sizes, _ = _text(draw, "", 2).calls[0]
    tokens = torch.cat([tokens, draw.integers(0, len(weights["embedding"]) - 1, *tokens.shape)], 1)
    cut = tokens.shape[1] // 2
    state = LANGUAGE_MODEL.reference(tokens[:, :cut], weights, sizes)[1]
    end = tokens[:, cut:].contiguous()
    other = draw.normal(*state.shape)
    calls = ((tokens, weights, sizes, None), (end, weights, sizes, state), (end, weights, sizes, other))
    return [Case(label="a text in two pieces", calls=calls)]


LANGUAGE_MODEL = question(
    "transformer.language_model",
    minutes=35,
    difficulty="hard",
    returns=("logits", "state"),
    properties=[
        shapes(0.25, _whole),
        values("the logits of a whole text", 1.5, _whole, "logits"),
        values("its state", 0.75, _whole, "state"),
        values("the logits with a state", 1, _continued, "logits"),
        values("the new state", 0.5, _continued, "state"),
        holds("whole equals chunks, and the state matters", 0.5, _chunks, whole_equals_chunks),
        values("one token, one block, vocabulary = d_model", 0.5, _edges),
    ],
    closed=CLOSED,
    mistakes="""
last-norm-forgotten: The norm after the last block is missing. The pathway grows with every block, and `norm` brings it
to a fixed size before the dot products.
- x = rms_norm(x, weights["norm"], sizes["eps"]) →

norm-after-each-block: You apply the last norm after every block. It comes once, after the last.
- x = rms_norm(x, weights["norm"], sizes["eps"]) →
- caches.append(cache)
+ caches.append(cache)
+     x = rms_norm(x, weights["norm"], sizes["eps"])

embedding-not-transposed: You multiply by `embedding` where its transpose is needed. Each *row* of it is a word, so the
logits are x @ Eᵀ. If vocabulary and d_model are equal, no shape reveals this.
- weights["embedding"].T → weights["embedding"]

embedding-scaled: You scale the embedding by √d_model, as Vaswani et al. and Gemma do. Here it enters as it is.
- weights["embedding"][tokens] → weights["embedding"][tokens] * x_scale
^ x_scale = weights["embedding"].shape[1] ** 0.5

probabilities: You return probabilities, or their logarithms. Logits are the scores before the softmax.
- return x @ weights["embedding"].T, → return torch.softmax(x @ weights["embedding"].T, -1),
or
- return x @ weights["embedding"].T, → return torch.log_softmax(x @ weights["embedding"].T, -1),

last-position-only: You return the logits of the last position only. In training, and in a comparison of whole and
chunks, every position counts.
- return x @ weights["embedding"].T, → return x[:, -1:] @ weights["embedding"].T,
or
- return x @ weights["embedding"].T, → return x[:, -1] @ weights["embedding"].T,

first-block-again: You use the weights of the first block for all blocks. Each has its own.
- block(x, part, → block(x, weights["blocks"][0],

blocks-backwards: Your blocks run from the last to the first.
- enumerate(weights["blocks"]) → reversed(list(enumerate(weights["blocks"])))
- caches.append(cache) → caches.insert(0, cache)

every-block-reads-the-embedding: Every block of yours reads the embedding, and only the last one counts. Each block
reads what the previous one returned.
- x, cache = block(x, part → h, cache = block(x, part
- x = rms_norm(x, → x = rms_norm(h,

state-ignored: You do not use the state: each call begins a new text.
- None if state is None else state[:, number] → None

first-past-for-all: All your blocks get the past of block 0. Each has its own slice of the state.
- state[:, number] → state[:, 0]

state-without-order: The state is not stacked along axis 1: its shape is (batch, block, 2, set, time, d_head).
- torch.stack(caches, dim=1) → torch.stack(caches)
""",
)


# --- writing ----------------------------------------------------------------------------------------------

NO_END = 99
"""An id outside the vocabulary."""


def _writer(draw: Draw) -> tuple[dict[str, Any], dict[str, Any], int]:
    """(weights, sizes, vocabulary) of a model that does not simply repeat its last token."""
    vocab = draw.largest + 12
    weights = _weights(draw, 8, 2, 6, vocab, 2, 1)
    weights["norm"] = 3 * weights["norm"]
    return weights, sizes_of(2, 1), vocab


def _prompt(draw: Draw, vocab: int, length: int) -> list[int]:
    return [draw.integer(0, vocab - 1) for _ in range(length)]


def _free(draw: Draw) -> list[Case]:
    """Texts that do not get stuck in one token."""
    cases: list[Case] = []
    while len(cases) < 2:
        weights, sizes, vocab = _writer(draw)
        n = 5 + len(cases)
        given = (_prompt(draw, vocab, 3 - len(cases)), weights, sizes, n, NO_END)
        if len(set(GENERATE.reference(*given)[0])) > 2:
            cases.append(case(f"{n} tokens", *given))
    return cases


def _long(draw: Draw) -> list[Case]:
    weights, sizes, vocab = _writer(draw)
    return [case("a long text", _prompt(draw, vocab, 3), weights, sizes, 9, NO_END)]


def _ended(draw: Draw) -> list[Case]:
    """The end is a token that the model writes on its way, for the first time; or one that the prompt ends with."""
    while True:
        weights, sizes, vocab = _writer(draw)
        prompt = _prompt(draw, vocab, 3)
        written = GENERATE.reference(prompt, weights, sizes, 7, NO_END)[0]
        for at in (2, 3, 1):
            if (
                written[at] not in (*prompt, *written[:at])
                and written[at + 1] != written[at]
                and prompt[-1] != written[0]
            ):
                at_once = GENERATE.reference(prompt, weights, sizes, 1, NO_END)[0][0]
                return [
                    case("an end on the way", prompt, weights, sizes, 7, written[at]),
                    case("an end that is written at once", prompt, weights, sizes, 7, at_once),
                    case("a prompt that ends with the end", prompt, weights, sizes, 2, prompt[-1]),
                ]


def _edges_of_writing(draw: Draw) -> list[Case]:
    weights, sizes, vocab = _writer(draw)
    state = draw.normal(1, 2, 2, 1, 4, 4)
    return [
        case("n = 1", _prompt(draw, vocab, 3), weights, sizes, 1, NO_END),
        case("a prompt of one token", _prompt(draw, vocab, 1), weights, sizes, 4, NO_END),
        case("a given state", _prompt(draw, vocab, 2), weights, sizes, 4, NO_END, state),
        case(
            EQUAL,
            _prompt(draw, 4, 4),
            _weights(draw, 4, 2, 4, 4, 4, 1),
            sizes,
            4,
            NO_END,
            draw.normal(1, 4, 2, 1, 4, 4),
        ),
    ]


GENERATE = question(
    "transformer.generate",
    minutes=25,
    difficulty="medium",
    returns=("written", "state"),
    properties=[
        judged("how many are written, and read", 0.25, _free, same_shapes(("written", "state"))),
        values("the tokens", 1, _free, "written"),
        values("the state", 0.75, _free, "state"),
        frugal("each token is read once", 0.5, _long),
        values("the end", 0.75, _ended),
        values("n = 1, one token, a given state", 0.75, _edges_of_writing),
    ],
    closed=CLOSED,
    counted=True,
    mistakes="""
no-cache: You read the whole text again for each new token. The result is the same, but the work is not: with a
state, you read only the newest token.
- logits, state = language_model(torch.tensor([new]), weights, sizes, state)
+ logits, read = language_model(torch.tensor([new]), weights, sizes, state)
- return written, state → return written, read
- new = written[-1:] → new = prompt + written

read-twice: You give the model the whole text *and* the state each time, so it reads everything again behind itself.
With a state, only the newest token is new.
- new = written[-1:] → new = prompt + written

state-dropped: You do not pass the state on, so from the second token on the model sees only one token.
- logits, state = language_model(torch.tensor([new]), weights, sizes, state)
+ logits, state = language_model(torch.tensor([new]), weights, sizes, state if new is prompt else None)

given-state-ignored: You do not use the state that the caller passes, so the model forgets what was read before the
prompt.
^ state = None

prompt-returned: You return the prompt as well. Return only the tokens that the model wrote.
- return written, state → return prompt + written, state

end-left-out: You leave out `end`. It belongs to the result, as the last token.
- return written, state → return [token for token in written if token != end], state

end-ignored: You do not stop at `end`.
- len(written) == n or written[-1] == end → len(written) == n

end-in-the-prompt: You also stop because of an `end` in the prompt. Only an `end` that the model writes ends its text:
the next turn of a chat begins with the last one.
- written[-1] == end → end in (*prompt, *written)

last-one-read: Your model reads the token that it wrote last, so the state is one token longer. It is read in the next
turn, in front of the new prompt.
- return written, state → return written, language_model(torch.tensor([written[-1:]]), weights, sizes, state)[1]

one-too-many: You write one token more than n.
- len(written) == n → len(written) == n + 1

first-position: You take the logits of the first position. The next token is scored at the *last* one.
- logits[0, -1] → logits[0, 0]

smallest-logit: You choose the smallest logit.
- argmax → argmin
""",
)


# --- weights from a file ----------------------------------------------------------------------------------

NAMES = ("attention_norm", "query", "key", "value", "output", "feed_forward_norm", "gate", "up", "down")
THEIRS = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")


def _file(draw: Draw, d_model: int, d_head: int, d_ff: int, heads: int, sets: int, blocks: int) -> dict[str, Tensor]:
    file = {"token_embd.weight": draw.normal(7, d_model), "output_norm.weight": draw.normal(d_model)}
    for number in range(blocks):
        shapes_ = {
            "attn_q": (heads * d_head, d_model),
            "attn_k": (sets * d_head, d_model),
            "attn_v": (sets * d_head, d_model),
            "attn_output": (d_model, heads * d_head),
            "ffn_gate": (d_ff, d_model),
            "ffn_up": (d_ff, d_model),
            "ffn_down": (d_model, d_ff),
        }
        for name in THEIRS:
            made = draw.normal(d_model) if name.endswith("norm") else matrix(draw, *shapes_[name])
            file[f"blk.{number}.{name}.weight"] = made
    return file


def _files(draw: Draw) -> list[Case]:
    d_model, d_ff = draw.sizes(2)
    half = 2 + draw.integer(1, 2)
    return [
        case("four heads, two sets", _file(draw, d_model + 7, 2 * half, d_ff + 1, 4, 2, 2), 1, 4, 2),
        case("a head with four columns, the first block", _file(draw, d_model + 5, 4, d_ff, 3, 1, 2), 0, 3, 1),
    ]


def _many_blocks(draw: Draw) -> list[Case]:
    return [*_square_files(draw), case("block 1 of eleven", _file(draw, 6, 4, 5, 2, 1, 11), 1, 2, 1)]


def _square_files(draw: Draw) -> list[Case]:
    width = 4 * draw.size()
    return [case("square matrices", _file(draw, 2 * width, width, 2 * width, 2, 2, 3), 2, 2, 2)]


LOAD_BLOCK = question(
    "transformer.load_block",
    minutes=25,
    difficulty="medium",
    returns=NAMES,
    properties=[
        shapes(0.25, _files, "nine entries with the right shapes"),
        values("the norms", 0.25, _files, "attention_norm", "feed_forward_norm"),
        values("values, output and the network", 1, _files, "value", "output", "gate", "up", "down"),
        values("queries and keys", 1.75, _files, "query", "key"),
        inputs_too(values("square matrices, many blocks; file is unchanged", 0.75, _many_blocks)),
    ],
    closed=CLOSED,
    mistakes="""
not-transposed: You return the matrices as the file has them, (out, in). Your functions multiply x @ W, so W is
(in, out).
- weight"].T for ours → weight"] for ours
- flatten(0, 2).T → flatten(0, 2)

only-where-needed: You transpose only where the shapes would not fit otherwise. A square matrix has to be transposed as
well, and no shape reveals it: SmolLM2's attn_q and attn_output are 576 × 576.
- return loaded
+ square = {name for name, w in loaded.items() if w.ndim == 2 and w.shape[0] == w.shape[1]}
+ return {name: w.T if name in square else w for name, w in loaded.items()}

rows-as-in-the-file: You keep the file's order of rows in queries and keys, where neighbours are a pair. Your `rotate`
pairs i with i + d_head/2, so the rows have to be reordered within each head.
- pairs.transpose(1, 2).flatten(0, 2) → pairs.flatten(0, 2)

shuffled-once-more: You reorder the rows in the wrong direction, as llama.cpp did when it wrote the file. The file's
rows 0, 2, 4, … of a head become the first half.
- unflatten(0, (n, -1, 2)) → unflatten(0, (n, 2, -1))

across-heads: You reorder the rows of all heads together. Each head has its own rows, so reorder within each head.
- unflatten(0, (n, -1, 2)) → unflatten(0, (1, -1, 2))

columns-reordered: You reorder the columns of the file's matrices, which are the inputs. The outputs, its rows, make the
heads.
- .weight"].unflatten(0, (n, -1, 2)) → .weight"]
- pairs.transpose(1, 2).flatten(0, 2).T
+ pairs.T if pairs.shape[1] % 2 else pairs.unflatten(1, (1, -1, 2)).transpose(2, 3).flatten(1, 3).T

keys-as-queries: You split the keys into as many heads as the queries. Keys have `n_kv_heads` heads.
- ("key", "attn_k", n_kv_heads) → ("key", "attn_k", n_heads)

keys-forgotten: You reorder the queries, and not the keys. Both are rotated.
- ("query", "attn_q", n_heads), ("key", "attn_k", n_kv_heads) → ("query", "attn_q", n_heads),
- return loaded
+ return loaded | {"key": file[f"blk.{number}.attn_k.weight"].T}

values-reordered: You reorder the values as well. They are never rotated, so the file has their rows in the usual order.
- ("key", "attn_k", n_kv_heads) → ("key", "attn_k", n_kv_heads), ("value", "attn_v", n_kv_heads)

gate-and-up-swapped: You swapped `gate` and `up`.
- "gate": "ffn_gate", "up": "ffn_up" → "gate": "ffn_up", "up": "ffn_gate"

norms-swapped: You swapped the gains of the two norms. `attn_norm` comes before attention, `ffn_norm` before the
network.
- loaded["attention_norm"] = file[f"blk.{number}.attn_norm.weight"]
- loaded["feed_forward_norm"] = file[f"blk.{number}.ffn_norm.weight"]
+ loaded["feed_forward_norm"] = file[f"blk.{number}.attn_norm.weight"]
+ loaded["attention_norm"] = file[f"blk.{number}.ffn_norm.weight"]

names-that-begin-alike: You take a block whose number only begins with `number`: “blk.10” begins with “blk.1”, too. Look
the whole name up, or compare up to the second dot.
^ alike = {name: w for name, w in file.items() if name.startswith(f"blk.{number}")}
^ file = {f"blk.{number}." + name.split(".", 2)[2]: w for name, w in alike.items()}

always-block-0: You always load block 0. The number of the block is part of each name.
^ number = 0
""",
)
