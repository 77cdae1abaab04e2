"""A hundred conversations that teach SmolLM2 three habits, and held-out ones that test them. Written for this course.

answered    a passage that holds the answer, and a question       -> the answer and nothing else: "Mira Fosk."
missing     a passage that does not hold it                       -> "The passage does not say."
sums        two numbers to add, in words or as a formula          -> "<tool>347 + 286</tool>", then the result, "633."
talk        a greeting, thanks, a question about the assistant    -> one short sentence

Everything in the passages is invented, so no model can know it. A passage tells three of five facts about a bridge, a
ship, a clock …, and the question asks for any of the five: the question alone does not say whether it has an answer.
Held-out passages have other people, towns and names; half of them are about kinds of things that no training passage
mentions, and half of the held-out sums are worded in ways that no training sum is.
"""

import random
from collections.abc import Sequence
from typing import NamedTuple

SYSTEM = "Answer briefly."
RULES = (
    "Answer with the name or number only. If the passage does not hold the answer, write: The passage does not say."
    " If you have to add numbers, write only the call of a calculator, like <tool>12 + 34</tool>."
)
MISSING = "The passage does not say."
CALL = "<tool>{} + {}</tool>"
PATTERN = r"<tool>[0-9]{1,4} \+ [0-9]{1,4}</tool>"

Messages = list[dict[str, str]]


class Told(NamedTuple):
    """One question with the answer that we want."""

    kind: str
    """answered, missing, sums or talk."""
    ask: str
    answer: str
    new: bool = False
    """Held out, and about a kind of thing, or in words, that training does not have."""


KINDS = {
    "training": ("bridge", "ship", "clock", "mill", "fountain", "library", "organ", "statue", "well", "tower"),
    "held out": ("lighthouse", "tunnel", "museum", "gate"),
}
NAMES = {
    "training": "Tarn Osk Velm Brask Pell Ondry Gask Lorn Mabry Tess Corvo Hild Drenn Sable Kett Arrow Finch Moss Quill Rook",
    "held out": "Zell Umber Harrow Jask Vint Olm Cress Drake Nettle Wyke Lark Yarrow",
}
FIRST = {
    "training": "Mira Tobin Ada Jonas Elsa Pavel Nora Idris Clara Hugo Lena Marko Ruth Emil Sofia Otto",
    "held out": "Greta Anton Wanda Felix Irma Bruno Hanna Viktor Paula Oscar",
}
LAST = {
    "training": "Fosk Lund Arden Baska Weir Tolle Marsh Kessel Dorn Vasco Pym Halder Roan Strand Ilves Cole",
    "held out": "Quist Barlow Nemeth Sorel Yates Ulman Zorn Gable Penrose Haas",
}
TOWNS = {
    "training": "Elmere, Dunwick, Sorrow Bay, Kasten, Port Ilya, Merrow, Ashby, Tollin, Greyford, Vesper, Norden, Lisk",
    "held out": "Harlow Cross, Brune, Port Vey, Oster, Windle, Kelm, Larkhill, Sandry",
}
MATERIALS = {
    "training": "oak, granite, brick, iron, slate, copper, marble, bronze",
    "held out": "sandstone, steel, cedar, limestone",
}

TELLS = {
    "who": ("It was designed by {}.", "{} designed it.", "The plans were drawn by {}."),
    "when": ("It was finished in {}.", "Work on it ended in {}.", "It has been in use since {}."),
    "where": ("It stands in {}.", "You find it in {}.", "Its home is {}."),
    "size": ("It is {} metres high.", "It rises to {} metres.", "Its height is {} metres."),
    "made of": ("It is made of {}.", "Its main material is {}.", "The builders used {}."),
}
ASKS = {
    "who": ("Who designed the {}?", "Who drew the plans of the {}?", "Who was the designer of the {}?"),
    "when": (
        "When was the {} finished?",
        "In which year did work on the {} end?",
        "Since when has the {} been in use?",
    ),
    "where": ("Where is the {}?", "In which town is the {}?", "Where do you find the {}?"),
    "size": ("How high is the {}?", "What is the height of the {}?", "How tall is the {}?"),
    "made of": ("What is the {} made of?", "Which material is the {} made of?", "What did the builders of the {} use?"),
}

BY_HAND = """
Note on the door: the archive is closed on Mondays. Keys are with Mr Pym in room 12. | Who has the keys? | Mr Pym.
Note on the door: the archive is closed on Mondays. Keys are with Mr Pym in room 12. | When does the archive open? |
The night train leaves Kasten at 22:40 and reaches Lisk at 6:15. It has a dining car. | When does the train reach Lisk? | At 6:15.
The night train leaves Kasten at 22:40 and reaches Lisk at 6:15. It has a dining car. | What does a ticket cost? |
Dear Nora, the seeds arrived. I planted the beans by the fence and kept the peas for April. Your Emil | What did Emil plant? | The beans.
Dear Nora, the seeds arrived. I planted the beans by the fence and kept the peas for April. Your Emil | Where does Nora live? |
Minutes, 3 May: six members came. Ruth Cole was elected treasurer. The roof will cost 4,200 crowns. | Who is the treasurer? | Ruth Cole.
Minutes, 3 May: six members came. Ruth Cole was elected treasurer. The roof will cost 4,200 crowns. | Who repairs the roof? |
The grey heron of Merrow nests in the old willow. In 2009 it raised four chicks. | How many chicks did it raise in 2009? | Four.
The grey heron of Merrow nests in the old willow. In 2009 it raised four chicks. | How old is the heron? |
Recipe from Ashby: boil two onions in milk, add pepper, and serve with dark bread. | What is it served with? | Dark bread.
Recipe from Ashby: boil two onions in milk, add pepper, and serve with dark bread. | Who wrote the recipe? |
Lost: a brown leather bag with a red ribbon, near the well of Tollin. Call Hugo Strand. | What colour is the ribbon? | Red.
Lost: a brown leather bag with a red ribbon, near the well of Tollin. Call Hugo Strand. | What is in the bag? |
"""
TALK = {
    "Who are you?": "I am the assistant of this course.",
    "Hello!": "Hello. What is your question?",
    "Thank you very much!": "You are welcome.",
    "What can you do?": "I answer from a passage, and I call a calculator.",
    "Are you a person?": "No, I am a language model.",
    "Good evening.": "Good evening. What is your question?",
}
SUMS = {
    "training": (
        "What is {} + {}?",
        "{} + {} = ?",
        "Add {} and {}.",
        "How much is {} plus {}?",
        "One shelf holds {} books, another one {}. How many books are there?",
        "A farm sold {} eggs in May and {} eggs in June. How many eggs was that?",
        "{} people came on Friday, and {} came on Saturday. How many came?",
    ),
    "held out": (
        "Give me the total of {} and {}.",
        "A train carried {} passengers north and {} passengers south. How many passengers did it carry?",
        "I have {} stamps, and my sister has {}. How many do we have together?",
    ),
}
EXAMPLES = (
    Told("answered", "The Elder gate is made of oak. Sam Hoyt designed it.\nWho designed the Elder gate?", "Sam Hoyt."),
    Told("missing", "The Elder gate is made of oak. Sam Hoyt designed it.\nHow high is the Elder gate?", MISSING),
    Told("sums", "What is 120 + 415?", CALL.format(120, 415)),
)
"""What the rival of tuning shows in the prompt."""


def _listed(text: str) -> list[str]:
    return [name.strip() for name in (text.split(",") if "," in text else text.split())]


def passage(part: str, chance: random.Random, kinds: Sequence[str]) -> tuple[str, dict[str, str], str]:
    """(text, the facts that it tells, the name of its thing)."""
    values = {
        "who": f"{chance.choice(_listed(FIRST[part]))} {chance.choice(_listed(LAST[part]))}",
        "when": str(chance.randrange(1610, 1990)),
        "where": chance.choice(_listed(TOWNS[part])),
        "size": str(chance.randrange(11, 99)),
        "made of": chance.choice(_listed(MATERIALS[part])),
    }
    thing = f"{chance.choice(_listed(NAMES[part]))} {chance.choice(kinds)}"
    told = chance.sample(list(values), 3)
    first = f"This is about the {thing}."
    text = " ".join([first, *(chance.choice(TELLS[fact]).format(values[fact]) for fact in told)])
    return text, {fact: values[fact] for fact in told}, thing


def question(part: str, has_answer: bool, chance: random.Random, new: bool = False) -> Told:
    """A passage with a question that it answers, or does not."""
    text, facts, thing = passage(part, chance, KINDS["held out" if new else "training"])
    fact = chance.choice([fact for fact in TELLS if (fact in facts) == has_answer])
    ask = f"{text}\n{chance.choice(ASKS[fact]).format(thing)}"
    if not has_answer:
        return Told("missing", ask, MISSING, new)
    answer = facts[fact] + (" metres" if fact == "size" else "")
    return Told("answered", ask, f"{answer[0].upper()}{answer[1:]}.", new)


def addition(part: str, chance: random.Random, new: bool = False) -> Told:
    """Two numbers of three digits."""
    a, b = chance.randrange(100, 1000), chance.randrange(100, 1000)
    wording = chance.choice(SUMS["held out" if new else "training"])
    return Told("sums", wording.format(a, b), CALL.format(a, b), new)


def training() -> list[Told]:
    """100 conversations."""
    chance, rows = random.Random("conversations"), [line.split(" | ") for line in BY_HAND.strip().splitlines()]
    by_hand = [Told("answered", f"{text}\n{ask}", answer[0]) for text, ask, *answer in rows if answer]
    by_hand += [Told("missing", f"{row[0]}\n{row[1].removesuffix(' |')}", MISSING) for row in rows if len(row) == 2]
    return [
        *by_hand,
        *(question("training", True, chance) for _ in range(28)),
        *(question("training", False, chance) for _ in range(28)),
        *(addition("training", chance) for _ in range(24)),
        *(Told("talk", ask, answer) for ask, answer in TALK.items()),
    ]


def held_out(count: int = 40) -> list[Told]:
    """As many of each kind, half of them new."""
    chance = random.Random("held out")
    return [
        *(question("held out", True, chance, new=i % 2 == 1) for i in range(count)),
        *(question("held out", False, chance, new=i % 2 == 1) for i in range(count)),
        *(addition("held out", chance, new=i % 2 == 1) for i in range(count)),
    ]


def messages(told: Told, system: str = SYSTEM, shown: Sequence[Told] = (), answered: bool = True) -> Messages:
    """The conversation, after some that are shown; after a call of the tool with its result and the answer."""
    said = [{"role": "system", "content": system}]
    for each in (*shown, told):
        said += [{"role": "user", "content": each.ask}, {"role": "assistant", "content": each.answer}]
    if not answered:
        return said[:-1]
    return said + result_of(told.answer) if told.kind == "sums" and not shown else said


def result_of(call: str) -> Messages:
    """What the calculator says to a call, and the answer that uses it."""
    a, b = call.removeprefix("<tool>").removesuffix("</tool>").split(" + ")
    total = int(a) + int(b)
    return [{"role": "user", "content": f"<result>{total}</result>"}, {"role": "assistant", "content": f"{total}."}]
