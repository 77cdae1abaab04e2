"""Figure: one task, four ways to use a pretrained model: probing, fine-tuning, LoRA and prompting.

    wherefore art thou sad                 question
    thou art sad                           statement

The task is Shakespeare's: is a sentence a question or a statement, once its marks and capitals are gone? Sentences have
4 to 12 words and come from the plays; those to learn from and those to be tested on come from different plays. The
labels are the marks that were removed.

    probing        MiniLM is frozen, a linear map of its mean state is trained
    fine-tuning    all of MiniLM and the linear map
    LoRA           rank 8 in every matrix of MiniLM, and the linear map
    prompting      SmolLM2 reads examples and the sentence, and scores the two words; no weight changes

Each seed has other examples; all ways get the same ones, a prompt the first of them. Baselines: naive Bayes, which
counts words, and a person's rule for the first word. SmolLM2 may have read the plays, with their marks, in its training;
we cannot check that.
"""

import copy
import random
from functools import partial
from statistics import mean
from typing import Any

import torch
from lectures.prompting import Template, few_shot_prompt, score_options
from nlmcore.attention.pooling import mean_pool
from nlmcore.corpora import load
from nlmcore.pretrained import minilm
from nlmcore.training import fit
from nlmcore.transfer import Classifier, LoRA, states_of
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from lectures.recipes import labelled
from lectures.recipes.restore_marks import MARKS, take_off
from lectures.recipes.experiment import said
from lectures.recipes.run import Run, load_smollm2, parameters, recipe
from lectures.recipes.texts import Capitals, speeches

CLASSES = ("statement", "question")
FEWEST, MOST = 4, 12
SEEDS, EXAMPLES, SHOTS, TESTS = 5, 64, 8, 120
STEPS, BATCH, RANK = 24, 16, 8
RATES = {"fine-tuning": 1e-4, "LoRA": 2e-3}
INSTRUCTION = "Is the sentence a question or a statement?"

Labelled = tuple[str, int]


def sentences(part: str, limit: int | None = None) -> list[Labelled]:
    """(words, label) of every short sentence of that part's plays."""
    found, end = [], (CLASSES.index("statement"), CLASSES.index("question"))
    for play in load("shakespeare").splits[part]:
        for speech in speeches(play.text[:limit], Capitals([])) if play.label != "poem" else ():
            words: list[str] = []
            for word, tag in zip(*take_off(speech), strict=True):
                words.append(word)
                mark = MARKS[tag % len(MARKS)]
                if mark in (".", "?", "!"):
                    if mark != "!" and FEWEST <= len(words) <= MOST:
                        found.append((" ".join(words), end[mark == "?"]))
                    words = []
    return found


def half_each(found: list[Labelled], count: int, seed: int) -> list[Labelled]:
    """So many sentences, statements and questions in turn."""
    draw = random.Random(f"four_ways/{seed}")
    halves = [draw.sample(sorted({one for one in found if one[1] == label}), count // 2) for label in (0, 1)]
    return [one for pair in zip(*halves, strict=True) for one in pair]


def as_batch(tokenizer: Any, found: list[Labelled]) -> tuple[Tensor, Tensor]:
    rows = [torch.tensor(tokenizer.encode(text)) for text, _ in found]
    return pad_sequence(rows, batch_first=True), torch.tensor([label for _, label in found])


def trained(way: str, examples: list[Labelled], tests: list[Labelled], seed: int, steps: int) -> dict[str, Any]:
    """Percentage right, and how many parameters were trained."""
    encoder, tokenizer = minilm()
    torch.manual_seed(seed)
    model = copy.deepcopy(encoder)
    adapter = LoRA(model, RANK) if way == "LoRA" else None
    classifier = Classifier(model, 2)
    count = sum(p.numel() for p in classifier.parameters() if p.requires_grad)
    assert adapter is None or count == parameters(adapter) + parameters(classifier.output)
    batches = partial(labelled.batches, *as_batch(tokenizer, examples), BATCH, seed)
    fit(classifier, batches, loss=labelled.loss, steps=steps, learning_rate=RATES[way], progress=False)
    return {"right": labelled.percent_right(classifier, *as_batch(tokenizer, tests)), "trained": count}


@torch.no_grad()
def features(found: list[Labelled]) -> tuple[Tensor, Tensor]:
    """(the mean states of MiniLM, labels)."""
    encoder, tokenizer = minilm()
    tokens, labels = as_batch(tokenizer, found)
    return mean_pool(states_of(encoder, tokens, tokens != 0), tokens != 0), labels


def probed(examples: list[Labelled], tests: list[Labelled]) -> dict[str, Any]:
    """A linear map of frozen states; 200 steps on all examples together."""
    (x, y), (test_x, test_y) = features(examples), features(tests)
    probe = nn.Linear(x.shape[1], 2)
    nn.init.zeros_(probe.weight)
    nn.init.zeros_(probe.bias)
    optimiser = torch.optim.AdamW(probe.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(200):
        optimiser.zero_grad()
        F.cross_entropy(probe((x - x.mean(0)) / x.std()), y).backward()
        optimiser.step()
    with torch.no_grad():
        right = probe((test_x - x.mean(0)) / x.std()).argmax(-1) == test_y
    return {"right": round(100 * float(right.float().mean()), 2), "trained": parameters(probe)}


def prompted(model: Any, tokenizer: Any, examples: list[Labelled], tests: list[Labelled]) -> dict[str, Any]:
    """Percentage right, and how often "question" is chosen; the examples are read once."""
    template, shown = Template(instruction=INSTRUCTION), [(text, CLASSES[label]) for text, label in examples]
    prompt, first = few_shot_prompt(shown, tests[0][0], template), tests[0][0]
    before = prompt[: prompt.rindex(first)]
    with torch.no_grad():
        _, state = model(torch.tensor([tokenizer.encode(before)]))
    chosen = []
    for text, _ in tests:
        scores = score_options(model, tokenizer, prompt[len(before) :].replace(first, text), CLASSES, state=state)
        chosen.append(max(range(2), key=lambda i: scores[i].score))
    right = [choice == label for choice, (_, label) in zip(chosen, tests, strict=True)]
    return {"right": round(100 * mean(right), 2), "questions": round(100 * mean(chosen), 2)}


def bayes(examples: list[Labelled], tests: list[Labelled]) -> dict[str, Any]:
    """Words counted, one added to each; a word that no example has is left out."""
    known = sorted({word for text, _ in examples for word in text.split()})
    counts = torch.ones(2, len(known))
    for text, label in examples:
        for word in text.split():
            counts[label, known.index(word)] += 1
    logs = (counts / counts.sum(1, keepdim=True)).log()
    column = {word: logs[:, i] for i, word in enumerate(known)}
    right = []
    for text, label in tests:
        score = sum((column[word] for word in text.split() if word in column), torch.zeros(2))
        right.append(int(score.argmax()) == label)
    return {"right": round(100 * mean(right), 2)}


ASKING = [
    "what",
    "who",
    "whom",
    "whose",
    "where",
    "when",
    "why",
    "how",
    "which",
    "wherefore",
    "whither",
    "whence",
    "is",
    "are",
    "art",
    "was",
    "were",
    "am",
    "do",
    "does",
    "dost",
    "doth",
    "did",
    "didst",
    "have",
    "has",
    "hast",
    "hath",
    "had",
    "can",
    "canst",
    "could",
    "shall",
    "shalt",
    "should",
    "will",
    "wilt",
    "would",
    "may",
    "must",
    "might",
    "be",
]


def ruled(tests: list[Labelled]) -> dict[str, Any]:
    """A person's rule: a question begins with a question word, or with a verb form that can open one."""
    return {"right": round(100 * mean((text.split()[0] in ASKING) == bool(label) for text, label in tests), 2)}


@recipe(6)
def cook(run: Run) -> None:
    learn, test = (sentences(part, run.size(None, 20_000)) for part in ("train", "test"))
    tests = half_each(test, run.size(TESTS, 4), 0)
    n, shots, steps = run.size(EXAMPLES, 8), run.size(SHOTS, 2), run.size(STEPS, 1)
    writer = load_smollm2()
    rows: dict[str, list[dict[str, Any]]] = {}
    for seed in range(run.size(SEEDS, 2)):
        examples = half_each(learn, n, seed)
        measures = {
            f"naive Bayes, {n} examples": partial(bayes, examples, tests),
            f"probing, {shots} examples": partial(probed, examples[:shots], tests),
            f"probing, {n} examples": partial(probed, examples, tests),
            f"LoRA, {n} examples": partial(trained, "LoRA", examples, tests, seed, steps),
            f"fine-tuning, {n} examples": partial(trained, "fine-tuning", examples, tests, seed, steps),
            f"prompting, {shots} examples": partial(prompted, *writer, examples[:shots], tests),
        }
        if seed == 0:
            measures["a rule, no examples"] = partial(ruled, tests)
            measures["prompting, no examples"] = partial(prompted, *writer, [], tests)
        for name, measure in measures.items():
            part = f"{name}-{seed}".replace(" ", "").replace(",", "")
            rows.setdefault(name, []).append(run.kept(part, measure))
    found = {
        name: {key: [one[key] for one in of] for key in of[0] if key != "trained"}
        | ({"trained": of[0]["trained"]} if "trained" in of[0] else {})
        for name, of in rows.items()
    }
    run.save_result(
        "four_ways",
        {
            "question": "Probing, fine-tuning, LoRA or prompting: which needs what, on one task?",
            "task": f"a sentence of {FEWEST} to {MOST} words of Shakespeare without its marks: a question or a statement?",
            "how": f"percentage right of {len(tests)} sentences of held-out plays, half of them questions; one value per"
            f" seed, which has other examples; fine-tuning and LoRA take {STEPS} steps of {BATCH};"
            f" prompt: “{INSTRUCTION}”; chance is 50 %",
            "tests": len(tests),
            "examples": n,
            "shots": shots,
            "rows": found,
            "what_it_shows": said(found, "{row} {right!m:.1f} %"),
        },
    )
