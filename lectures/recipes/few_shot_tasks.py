"""Small tasks for learning from a context. The first three were written by hand for this course and are stated whole.

capitals    a country and its capital, one word each
opposites   an English adjective or adverb and its opposite
plurals     English nouns whose plural is more than an added s
languages   a number from 21 to 99 in words, and the language it is in; the words are num2words'
sums        two numbers of two digits, and their sum
"""

import random

from nlmcore.corpora.packages import imported
from nlmcore.prompting import Example, Task

CAPITALS = """
France Paris, Italy Rome, Germany Berlin, Spain Madrid, Portugal Lisbon, Austria Vienna, Greece Athens,
Poland Warsaw, Hungary Budapest, Ireland Dublin, Norway Oslo, Sweden Stockholm, Finland Helsinki,
Denmark Copenhagen, Russia Moscow, Ukraine Kyiv, Turkey Ankara, Egypt Cairo, Kenya Nairobi, Morocco Rabat,
Nigeria Abuja, Ghana Accra, Senegal Dakar, Japan Tokyo, China Beijing, Thailand Bangkok, Vietnam Hanoi,
Nepal Kathmandu, Iran Tehran, Iraq Baghdad, Syria Damascus, Lebanon Beirut, Canada Ottawa, Cuba Havana,
Peru Lima, Chile Santiago, Ecuador Quito, Colombia Bogotá, Venezuela Caracas, Australia Canberra,
Romania Bucharest, Bulgaria Sofia, Serbia Belgrade, Croatia Zagreb, Belgium Brussels
"""
OPPOSITES = """
hot cold, big small, tall short, fast slow, old young, rich poor, strong weak, light dark, happy sad,
early late, open closed, full empty, hard soft, high low, loud quiet, wet dry, clean dirty, deep shallow,
wide narrow, thick thin, sharp dull, brave cowardly, cheap expensive, safe dangerous, simple complicated,
near far, right wrong, true false, alive dead, asleep awake, always never, inside outside, up down, first last,
good bad, smooth rough, heavy light, polite rude, male female, public private
"""
PLURALS = """
man men, woman women, child children, foot feet, tooth teeth, goose geese, mouse mice, ox oxen, knife knives,
wife wives, life lives, leaf leaves, wolf wolves, half halves, shelf shelves, loaf loaves, thief thieves,
calf calves, scarf scarves, hero heroes, potato potatoes, tomato tomatoes, echo echoes, city cities,
baby babies, lady ladies, story stories, bus buses, box boxes, church churches, dish dishes, crisis crises,
analysis analyses, thesis theses, cactus cacti, fungus fungi, nucleus nuclei, criterion criteria,
phenomenon phenomena, bacterium bacteria
"""
LANGUAGES = {"German": "de", "French": "fr", "Spanish": "es", "Italian": "it"}


def pairs(text: str) -> list[Example]:
    """ "a b, c d" as examples."""
    return [Example(*pair.split()) for pair in text.split(",")]


def languages(count: int) -> list[Example]:
    """As many numbers of each language, none twice."""
    words = imported("num2words", "num2words").num2words
    numbers = random.Random("languages").sample(range(21, 100), count)
    names = list(LANGUAGES)
    return [
        Example(words(n, lang=LANGUAGES[names[i % len(names)]]), names[i % len(names)]) for i, n in enumerate(numbers)
    ]


def sums(count: int) -> list[Example]:
    """Different sums of two numbers of two digits."""
    draw = random.Random("sums")
    drawn = draw.sample([(a, b) for a in range(10, 100) for b in range(10, 100)], count)
    return [Example(f"{a} + {b}", str(a + b)) for a, b in drawn]


def tasks() -> list[Task]:
    """All of them. A question offers four answers, of which one is right."""
    return [
        Task("capitals", pairs(CAPITALS), n_options=4),
        Task("opposites", pairs(OPPOSITES), n_options=4),
        Task("plurals", pairs(PLURALS), n_options=4),
        Task("languages", languages(48), options=list(LANGUAGES)),
        Task("sums", sums(60), n_options=4),
    ]
