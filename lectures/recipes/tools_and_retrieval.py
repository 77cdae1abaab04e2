"""Figure: a calculator, a grammar and a library for SmolLM2: what each adds, against its rivals.

**Tool.** Sums of two numbers of three digits, worded in two ways. Asked for the sum, with the answer begun, "964 + 494 = "; asked for a call of the
calculator, by rules in the system message; asked after tuning (`python -m lectures.recipes.tuned_layers`). Calls
are written freely, or under the pattern of a call (`nlmcore.decoding.constrained`): then every one is well-formed, and
the question is whether it is the *right* one. The calculator's result goes back into the conversation.

**Retrieval.** Questions on this course's words, whose answers are terms of its glossary. In the prompt is nothing, the
three entries that BM25 finds, three random ones, or the right one. The untuned model answers; right is a reply that
contains the term. Random entries are the rival explanation: any text about neural networks might help. How well the
entries are found is measured also for questions in other words than the glossary's, against sentence vectors (MiniLM).

Everything is greedy, so there are no seeds but the random entries'. 95 % bootstrap intervals over questions.
"""

import random
import re
from functools import partial
from typing import Any

import torch
from nlmcore.decoding import Constrained
from nlmcore.pretrained import embed
from nlmcore.retrieval import BM25

from lectures.recipes.conversations import CALL, PATTERN, RULES, SYSTEM, Messages, result_of
from lectures.recipes.glossary_questions import FAR, passages, questions
from lectures.recipes.run import Run, load_smollm2, recipe
from lectures.recipes.tuned import replies, shares
from lectures.trained import tuned

WORDINGS = ("What is {} + {}?", "Give me the total of {} and {}.")
ASKED = "Answer with the number only."
TERM = "Answer the question about neural networks with the right term only."


def _replied(model: Any, tokenizer: Any, prompts: list[list[int]], longest: int) -> dict[str, Any]:
    return {"replies": replies(model, tokenizer, prompts, longest)}


@torch.no_grad()
@recipe(4)
def cook(run: Run) -> None:
    model, tokenizer = load_smollm2()
    chance = random.Random(run.seed)
    sums = [(chance.randrange(100, 1000), chance.randrange(100, 1000)) for _ in range(run.size(24, 2))]
    asks = [WORDINGS[i % 2].format(*pair) for i, pair in enumerate(sums)]

    def chats(system: str, said: list[Messages]) -> list[list[int]]:
        return [tokenizer.chat([{"role": "system", "content": system}, *messages]) for messages in said]

    plain = [[{"role": "user", "content": ask}] for ask in asks]
    tool = {}

    def called(name: str, of: Any, system: str) -> None:
        """Calls, written freely and under the pattern, and the answers that come of the free ones."""
        prompts = chats(system, plain)
        free = run.kept(f"{name}, free", lambda: {"replies": replies(of, tokenizer, prompts, run.size(24, 4))})[
            "replies"
        ]

        def under() -> dict[str, Any]:
            found: dict[tuple[int, ...], str] = {}
            for length in sorted({len(prompt) for prompt in prompts}):
                these = [prompt for prompt in prompts if len(prompt) == length]
                guarded = Constrained(of, tokenizer, PATTERN, after=length)
                found |= zip(map(tuple, these), replies(guarded, tokenizer, these, 24), strict=True)
            return {"replies": [found[tuple(prompt)] for prompt in prompts]}

        bound = run.kept(f"{name}, bound", under)["replies"]
        for how, each in (("freely", free), ("under the pattern", bound)):
            right = [int(CALL.format(*pair) in reply) for pair, reply in zip(sums, each, strict=True)]
            formed = [int(bool(re.search(PATTERN, reply))) for reply in each]
            tool[f"{name}, {how}"] = {
                "well-formed": shares([formed])["share"],
                "right call": shares([right])["share"],
                "shown": each[:4],
            }
        back = [
            [*said, {"role": "assistant", "content": CALL.format(*pair)}, result_of(CALL.format(*pair))[0]]
            for said, pair in zip(plain, sums, strict=True)
        ]
        after = run.kept(
            f"{name}, result", lambda: {"replies": replies(of, tokenizer, chats(system, back), run.size(16, 4))}
        )["replies"]
        uses = [int(str(sum(pair)) in re.findall(r"\d+", reply)) for pair, reply in zip(sums, after, strict=True)]
        ends = [int(CALL.format(*pair) in reply and use) for pair, reply, use in zip(sums, free, uses, strict=True)]
        tool[f"{name}, freely"] |= {"uses the result": shares([uses])["share"], "right answer": shares([ends])["share"]}

    begun = [ids + tokenizer.encode(f"{a} + {b} = ") for ids, (a, b) in zip(chats(ASKED, plain), sums, strict=True)]
    own = run.kept("no tool", lambda: {"replies": replies(model, tokenizer, begun, 6)})["replies"]
    right = [
        int(str(sum(pair)) in re.findall(r"\d+", reply.replace(",", ""))) for pair, reply in zip(sums, own, strict=True)
    ]
    tool["no tool"] = {"right answer": shares([right])["share"], "shown": own[:4]}
    called("untuned", model, RULES)
    called("tuned", tuned("house_style", model)[0], SYSTEM)

    # --- retrieval ---
    library, asked = passages(), questions()[: run.size(40, 3)]
    index, place = BM25(library), {entry.split(": ")[0]: i for i, entry in enumerate(library)}
    vectors = embed(library if not run.quick else library[:40])

    def by_words(ask: str) -> list[int]:
        return [i for _, i in index.search(ask, 10)]

    def by_vectors(ask: str) -> list[int]:
        return (vectors @ embed([ask])[0]).topk(10).indices.tolist()

    found_at = {}
    for name, rows in (("the glossary's words", asked), ("other words", questions(FAR)[: run.size(16, 3)])):
        found_at[name] = {
            how: {
                str(n): shares([[int(place[term] in search(ask)[:n]) for ask, term in rows]])["share"]
                for n in (1, 3, 10)
            }
            for how, search in (("BM25", by_words), ("sentence vectors", by_vectors))
        }

    def given(how: str, ask: str, term: str) -> str:
        rows = {
            "nothing": [],
            "three from BM25": by_words(ask)[:3],
            "three random": random.Random(ask).sample([i for i in range(len(library)) if i != place[term]], 3),
            "the right one": [place[term]],
        }[how]
        return "\n".join([*(library[i] for i in rows), ask])

    retrieval, shown = {}, []
    for how in ("nothing", "three random", "three from BM25", "the right one"):
        prompts = chats(TERM, [[{"role": "user", "content": given(how, ask, term)}] for ask, term in asked])
        each = run.kept(how, partial(_replied, model, tokenizer, prompts, run.size(28, 4)))["replies"]
        retrieval[how] = shares(
            [[int(term.lower() in reply.lower()) for (_, term), reply in zip(asked, each, strict=True)]]
        )["share"]
        shown.append(each)
    run.save_result(
        "tools_and_retrieval",
        {
            "question": "What do a calculator, a grammar and a library add to a small model?",
            "how": f"{len(sums)} sums of two numbers of three digits; {len(asked)} questions on {len(library)} entries of the"
            " glossary, and questions in other words; greedy decoding; 95 % bootstrap intervals over questions",
            "asks": asks[:4],
            "tool": tool,
            "found": found_at,
            "entries": len(library),
            "retrieval": retrieval,
            "replies": [
                {"ask": ask, "term": term} | {how: each[i] for how, each in zip(retrieval, shown, strict=True)}
                for i, (ask, term) in enumerate(asked[: run.size(12, 2)])
            ],
            "what_it_shows": ", ".join(f"with {how} {share[0]:.0%} right" for how, share in retrieval.items()),
        },
    )
