"""Figure: does clipping lower the loss of a recurrent network, or does a smaller learning rate do as well?

The network of the lecture on vanishing gradients, trained ten times as long as there: tanh, recurrent weights that start
orthogonal with a gain of 1.2, plain gradient descent on Shakespeare's characters, 50 at a time from a state of zeros. A
seed changes the first weights. The first seed chooses each row's rate on dev plays, between two worse ones. Where a
training's loss is no longer finite, its value is None. The bigram model is the floor.
"""

from functools import partial
from typing import Any

import torch
from nlmcore.ngram import NGramLM
from nlmcore.recurrent import RecurrentLM
from nlmcore.tokens import CharTokenizer
from nlmcore.training import teacher_forcing_loss

from lectures.recipes.experiment import best_rate, columns, gap, said
from lectures.recipes.run import Run, recipe
from lectures.recipes.texts import Stream, as_document, plays, spread

HIDDEN, GAIN, STEPS, BATCH, TIME, SEEDS = 64, 1.2, 600, 16, 50, 5
ROWS: dict[str, tuple[float | None, tuple[float, ...]]] = {
    "no clipping": (None, (0.25, 0.5, 1.0)),
    "clipped at 1": (1.0, (0.5, 1.0, 2.0)),
    "clipped at 0.3": (0.3, (2.0, 4.0, 8.0)),
}
"""Row -> the largest norm, and the rates from which the best is looked for."""


def started(vocab_size: int, hidden: int) -> RecurrentLM:
    model = RecurrentLM(vocab_size, "rnn", d_embedding=32, d_hidden=hidden)
    cell: Any = model.recurrent.cells[0]
    torch.nn.init.orthogonal_(cell.weight_hh, gain=GAIN)
    return model


@recipe(3)
def cook(run: Run) -> None:
    shakespeare = plays(limit=run.size(None, 3000))
    tokenizer = CharTokenizer.fit(shakespeare.train)
    train, dev, test = (
        [as_document(tokenizer.encode(text)) for text in texts]
        for texts in (shakespeare.train, shakespeare.dev, shakespeare.test)
    )
    held = {
        part: spread(torch.tensor([token for document in of for token in document]), TIME + 1, run.size(400, 10))
        for part, of in (("dev", dev), ("test", test))
    }
    batches = Stream(train, run.size(BATCH, 2), run.size(TIME, 10))

    def one(row: str, seed: int, rate: float) -> dict[str, Any]:
        model: Any = run.build(f"weights {seed}", partial(started, tokenizer.vocab_size, run.size(HIDDEN, 8)))
        try:
            run.fit(
                f"{row}-{seed}-{rate:g}".replace(" ", "_"),
                model,
                batches,
                steps=run.size(STEPS, 4),
                optimizer=torch.optim.SGD(model.parameters(), lr=rate),
                clip_norm=ROWS[row][0],
            )
        except FloatingPointError:
            return dict.fromkeys(held)
        with torch.no_grad():
            return {part: round(float(teacher_forcing_loss(model, tokens)), 4) for part, tokens in held.items()}

    found: dict[str, dict[str, Any]] = {}
    for row, (_, rates) in ROWS.items():
        rate, tried = best_rate(run.size(rates, rates[:1]), partial(one, row, 0))
        runs = [one(row, seed, rate) for seed in range(run.size(SEEDS, 2))]
        found[row] = {"rate": rate, "tried": {f"{each:g}": of["dev"] for each, of in sorted(tried.items())}}
        found[row] |= columns(runs)
    bigram = NGramLM(2, tokenizer.vocab_size).fit(train)
    floor = -bigram.log_probabilities(held["test"])[:, 1:].double().mean().item()
    first = found["no clipping"]["test"]
    saved = {
        row: [round(x, 4) for x in gap(first, of["test"])]
        for row, of in found.items()
        if row != "no clipping" and None not in (*first, *of["test"])
    }
    run.save_result(
        "clipping",
        {
            "question": "Does clipping lower the loss of a recurrent network, or does a smaller learning rate do as well?",
            "how": f"nats per character in {len(held['test'])} windows of Shakespeare's test plays; {STEPS} steps of {BATCH} × {TIME}"
            " characters, gradient descent at a constant rate; five seeds; rates bracketed on dev plays with the first seed",
            "steps": run.size(STEPS, 4),
            "floor": round(floor, 4),
            "rows": found,
            "saved": saved,
            "saved_is": "no clipping minus this row, seed by seed: the mean and half its 95 % interval",
            "what_it_shows": said(found, "{row}: {test!i} nats at a rate of {rate}") + f"; bigram {floor:.3f}",
        },
    )
