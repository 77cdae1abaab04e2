"""Questions 5a, 5b and 5c: the logit lens, heads that are switched off, and a map of patches."""

from typing import Any

from autograder.exercise.declare import inputs_too, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.scale_and_insight.checks.common import CLOSED, model, text

# --- the logit lens ---------------------------------------------------------------------------------------


def _lens(draw: Draw) -> list[Case]:
    weights, sizes = model(draw, draw.integer(2, 3))
    return [case("a text", text(draw, 3 + draw.size()), draw.integer(0, 10), weights, sizes)]


def _ranked(draw: Draw) -> list[Case]:
    """Words whose ranks are neither first nor last everywhere."""
    found: list[Case] = []
    while len(found) < 3:
        weights, sizes = model(draw, 3, vocab=30)
        word = draw.integer(0, 29)
        words = text(draw, 4, 30)
        _, ranks = LENS.reference(words, word, weights, sizes)
        if 3 < int(ranks[-1]) < 28 and len(set(ranks.tolist())) > 3:
            found.append(case(f"a word in the middle, {len(found) + 1}", words, word, weights, sizes))
    return found


def _short(draw: Draw) -> list[Case]:
    weights, sizes = model(draw, 2)
    none, _ = model(draw, 0)
    equal, three = model(draw, 3, vocab=6, d_model=6, heads=3, sets=3)
    return [
        case("a text of one word", text(draw, 1), 3, weights, sizes),
        case("a model without layers", text(draw, 3), 5, none, sizes),
        case(EQUAL, text(draw, 6, 6), 2, equal, three),
    ]


LENS = question(
    "scale_and_insight.logit_lens",
    minutes=20,
    difficulty="medium",
    returns=("pathway", "ranks"),
    properties=[
        values("the pathway", 1.25, _lens, "pathway"),
        values("the ranks", 1.25, _ranked, "ranks"),
        inputs_too(values("one word, no layers; the inputs are unchanged", 1, _short)),
    ],
    closed=CLOSED,
    mistakes="""
embedding-left-out: Your pathway begins after layer 0. Its first row is the embedded text, before any layer.
- kept = [x[0]] → kept = []
- torch.stack(kept) → torch.stack(kept if kept else [x[0]])

every-layer-reads-the-embedding: Every one of your layers reads the embedded text. A layer reads what the layer below
left on the pathway.
- x = finish(x, heads_of(x, layer, sizes), layer, sizes) → x = finish(y, heads_of(y, layer, sizes), layer, sizes)
- kept = [x[0]] → kept, y = [x[0]], x

first-position-read: You read the first position. The next word is predicted from the *last* one.
- pathway[:, -1] → pathway[:, 0]

norm-forgotten: Your lens leaves out the final norm, whose gain favours some words. Unembed with it.
- unembed(pathway[:, -1], weights, sizes) → pathway[:, -1] @ weights["embedding"].T

counted-from-0: Your pathway is right, but your ranks begin at 0. The largest logit has rank 1.
- .sum(dim=1) + 1 → .sum(dim=1)

ranks-from-below: Your pathway is right, but your ranks count the words *below*. Rank 1 is the largest logit.
- scores > scores → scores < scores

position-in-the-order: You return the word that has a rank, or the position after a single sort. To get the rank of
`word`, count the logits that are larger than its own.
- (scores > scores[:, [word]]).sum(dim=1) + 1 → scores.argsort(dim=1, descending=True)[:, word] + 1

last-layer-only: Your ranks are those of the model's last layer at every depth. Unembed each row of the pathway.
- scores = unembed(pathway[:, -1], weights, sizes)
+ scores = unembed(pathway[-1:, -1], weights, sizes).expand(len(pathway), -1)

one-layer-too-few: Your pathway stops before the last layer.
- weights["layers"]: → weights["layers"][:-1]:
""",
)

# --- heads that are switched off --------------------------------------------------------------------------


def _switched(draw: Draw, label: str, number: int, layers: int = 3, **how: int) -> Case:
    weights, sizes = model(draw, layers, **how)
    length = 3 + draw.size()
    others = draw.integers(0, 10, 2 + draw.size(), length + 1)
    return case(label, text(draw, length), [draw.integer(0, 4), draw.integer(5, 10)], others, number, weights, sizes)


def _middle(draw: Draw) -> list[Case]:
    return [_switched(draw, "a layer in the middle", 1)]


def _ends(draw: Draw) -> list[Case]:
    return [_switched(draw, "the first layer", 0), _switched(draw, "the last layer", 2)]


def _single(draw: Draw) -> list[Case]:
    words, answers, _, _, weights, sizes = _switched(draw, "", 0, 1, heads=2).calls[0]
    three, two, _, number, *square = _switched(draw, "", 1, heads=3, sets=3).calls[0]
    return [
        case(EQUAL, three[:3], two, draw.integers(0, 10, 3, 3), number, *square),
        _switched(draw, "one head", 0, 2, heads=1),
        case(
            "a model of one layer, one other text of one word", words, answers, text(draw, 1)[None], 0, weights, sizes
        ),
    ]


HEADS = question(
    "scale_and_insight.head_effects",
    minutes=30,
    difficulty="hard",
    returns=("means", "falls"),
    properties=[
        values("the means", 1, _middle, "means"),
        values("the falls", 1.5, _middle, "falls"),
        values("the first and the last layer", 1, _ends),
        inputs_too(values("one head, one layer; the inputs are unchanged", 1, _single)),
    ],
    closed=CLOSED,
    mistakes="""
zero-for-the-mean: Your means are right, but you replace the head's output by 0. Zero is an output that the head may
never have; take its mean.
- heads[each, -1, each] = means → heads[each, -1, each] = 0.0

everywhere-replaced: Your means are right, but you replace the head's output at every position. Only the last position
is asked for.
- heads[each, -1, each] = means → heads[each, :, each] = means[:, None]

first-position-replaced: Your means are right, but you replace the head's output at the first position. It should be
the last.
- heads[each, -1, each] → heads[each, 0, each]

all-heads-at-once: Your means are right, but you switch off all heads of the layer at once, or one more with each
copy. Each run is without *one* head.
- heads[each, -1, each] = means → heads[:n, -1] = means
or
- heads[each, -1, each] = means
+ for h in range(n):
+     heads[h:n, -1, h] = means[h]

mean-of-this-text: Your mean is that of the text itself. It should be that of `others`.
- weights["embedding"][others] → weights["embedding"][text][None]

mean-at-the-last-position: Your mean is taken at the last position of the other texts. Take it over all positions.
- heads_of(y, here, sizes).mean((0, 1)) → heads_of(y, here, sizes)[:, -1].mean(0)

others-not-run: You give the embedded other texts to this layer directly. They have to pass the layers below first.
- y = finish(y, heads_of(y, layer, sizes), layer, sizes) → pass

rise-for-fall: Your means are right, but your falls have the wrong sign: take the log-odds of the whole run minus
those without the head, and the first word minus the second.
- odds[n] - odds[:n] → odds[:n] - odds[n]

layers-above-forgotten: Your means are right, but you unembed the result of this layer. The layers above have to read
it first.
- weights["layers"][number + 1 :] → weights["layers"][number + 1 : number + 1]

layer-twice: Your means are right, but the layers above begin with this one, so it runs twice.
- weights["layers"][number + 1 :] → weights["layers"][number:]

one-layer-higher: You work on layer `number` + 1, or one too low. Layers are counted from 0.
- weights["layers"][:number], weights["layers"][number]
+ weights["layers"][: max(0, number - 1)], weights["layers"][max(0, number - 1)]
- weights["layers"][number + 1 :] → weights["layers"][max(0, number - 1) + 1 :]

log-odds-of-probabilities: Your means are right, but you compare probabilities. The log-odds are the difference of two
logits.
- scores = unembed(z[:, -1], weights, sizes)[:, answers]
+ scores = torch.softmax(unembed(z[:, -1], weights, sizes), dim=-1)[:, answers]
""",
)

# --- a map of patches -------------------------------------------------------------------------------------


def _pair(draw: Draw, label: str, layers: list[int], positions: list[int], depth: int = 3, **how: Any) -> Case:
    """Texts that differ in their second word, and answers whose log-odds differ by 1 or more."""
    while True:
        weights, sizes = model(draw, depth, **how)
        clean = text(draw, 6)
        corrupted = clean.clone()
        corrupted[1] = (corrupted[1] + draw.integer(1, 10)) % 11
        answers = [draw.integer(0, 4), draw.integer(5, 10)]
        odds, _ = PATCHES.reference(clean, corrupted, answers, [0], [1], weights, sizes)
        if abs(float(odds[0] - odds[1])) > 1:
            return case(label, clean, corrupted, answers, layers, positions, weights, sizes)


def _map(draw: Draw) -> list[Case]:
    return [_pair(draw, "all layers, several positions", [0, 1, 2], [0, 1, 3, 5])]


def _after_the_last(draw: Draw) -> list[Case]:
    return [_pair(draw, "after the last layer", [2], [1, 4, 5])]


def _few(draw: Draw) -> list[Case]:
    return [
        _pair(draw, "one layer and one position", [1], [1]),
        _pair(draw, "layers and positions in any order", [2, 0], [5, 1, 2]),
        _pair(draw, EQUAL, [0, 1, 2], [1, 3, 5], heads=3, sets=3),
    ]


PATCHES = question(
    "scale_and_insight.patch_map",
    minutes=35,
    difficulty="hard",
    returns=("odds", "shares"),
    properties=[
        values("the log-odds of both runs", 0.75, _map, "odds"),
        values("the map after the last layer", 0.75, _after_the_last, "shares"),
        values("the whole map", 2, _map, "shares"),
        inputs_too(values("one cell, any order; the inputs are unchanged", 1, _few)),
    ],
    closed=CLOSED,
    mistakes="""
texts-swapped: Your log-odds are right, but you put vectors of the corrupted run into the clean one. Run the corrupted
text, with one vector of the clean run.
- x = bad[number + 1].repeat → x = good[number + 1].repeat
- = good[number + 1][positions] → = bad[number + 1][positions]

one-layer-too-early: Your log-odds are right, but you patch the pathway *before* layer l. It should be patched after
it.
- x = bad[number + 1].repeat → x = bad[number].repeat
- good[number + 1][positions] → good[number][positions]
- weights["layers"][number + 1 :] → weights["layers"][number:]

row-of-the-layer: Your log-odds are right, but you took row l of the pathway. That is what goes *into* layer l, because
row 0 is the embedding; what comes out is row l + 1.
- good[number + 1][positions] → good[number][positions]
or
- x = bad[number + 1].repeat → x = bad[number].repeat
- good[number + 1][positions] → good[number][positions]

layer-runs-again: Your log-odds are right. Your patched vector is the one after layer l, but then layer l runs once
more.
- weights["layers"][number + 1 :] → weights["layers"][number:]

never-continued: Your log-odds are right, but after the patch no layer runs, so only the last position can matter. Run
the layers above.
- weights["layers"][number + 1 :] → weights["layers"][:0]

patches-pile-up: Your log-odds are right, but each run keeps the patches of the earlier positions. In each cell of the
map a single vector is replaced.
- x[every, positions] = good[number + 1][positions]
+ for i, p in enumerate(positions):
+         x[i:, p] = good[number + 1][p]

all-positions-patched: Your log-odds are right, but you put in the clean vectors of all positions at once. Then
everything comes back everywhere.
- x[every, positions] = good[number + 1][positions] → x[:] = good[number + 1]

not-divided: Your log-odds are right, but the shares are differences of log-odds. Divide by the difference between the
clean and the corrupted run.
-  / (whole[0] - whole[1]) →

measured-from-the-clean: Your log-odds are right, but your shares are 0 where everything comes back and 1 where
nothing does. Measure from the corrupted run.
- (odds(x[:, -1]) - whole[1]) → (whole[0] - odds(x[:, -1]))

divided-by-the-clean: Your log-odds are right, but you divide by the log-odds of the clean run. If everything comes
back, the gain is the difference of both runs.
-  / (whole[0] - whole[1]) →  / whole[0]

not-from-the-corrupted: Your log-odds are right, but you do not subtract the corrupted run's log-odds above the
fraction bar, so the share is not 0 where nothing comes back.
- (odds(x[:, -1]) - whole[1]) → odds(x[:, -1])

answers-swapped: Your log-odds have the wrong sign: first the logit of the first word, minus that of the second.
- scores[..., 0] - scores[..., 1] → scores[..., 1] - scores[..., 0]

corrupted-first: Return the log-odds of the clean run first.
- return whole, → return whole.flip(0),

axes-swapped: Your log-odds are right, and the map has its axes swapped: a row per layer, a column per position.
- torch.stack(rows) → torch.stack(rows, dim=1)

row-of-the-map-by-index: Your log-odds are right, but you took the index in `layers` or `positions` for the layer or
the position.
- for number in layers: → for number in range(len(layers)):
or
- x[every, positions] = good[number + 1][positions] → x[every, every] = good[number + 1][every]

added-not-replaced: Your log-odds are right, but you add the clean vector. It should replace the corrupted one.
- x[every, positions] = good → x[every, positions] += good

changes-the-pathway: Your log-odds are right, but you write patches into the corrupted pathway itself, so later runs
begin with them. Patch a copy.
- x[every, positions] = good[number + 1][positions]
+ bad[number + 1][positions] = good[number + 1][positions]
+     x[:] = bad[number + 1]
looks like: all-positions-patched
""",
)
