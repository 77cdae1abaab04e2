"""Which student a name in a download refers to: found by a number or an address, otherwise by the name itself, if
exactly one matches."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz, process

GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


@dataclass(frozen=True, kw_only=True)
class Person:
    """A student, as the gradebook has them."""

    id: str
    first: str = ""
    last: str = ""
    email: str = ""
    lms: str = ""  # nbgrader's `lms_user_id`
    number: str = ""  # another number that a list gave, taken for `lms` where there is none

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}".strip()

    @property
    def shown(self) -> str:
        return f"{self.id} ({self.name})" if self.name else self.id


@dataclass(frozen=True)
class Found:
    ids: tuple[str, ...]  # one: this is it; several: any of them could be meant; none: nobody of this name
    nearest: tuple[str, ...] = ()  # where it is not one: who might be meant
    sure: bool = False  # by an id, an address or a number, which two people do not share


class Names:
    """A class, for look-ups."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = {person.id: person for person in people}
        self.numbers: dict[str, set[str]] = {}
        self.exact: dict[str, set[str]] = {}
        self.folded: dict[str, set[str]] = {}
        self.parts = {person.id: [spellings(part) for part in person.name.split()] for person in self.people.values()}
        for person in self.people.values():
            for number in filter(None, (person.id, person.email, person.lms)):
                self.numbers.setdefault(number.casefold(), set()).add(person.id)
            for written in _orders(person):
                self.exact.setdefault(joined(written), set()).add(person.id)
                for folded in spellings(written):
                    self.folded.setdefault(folded, set()).add(person.id)

    def find(self, name: str = "", numbers: Sequence[str] = ()) -> Found:
        """`numbers`: ids and addresses that came with the name, the most certain first. They outweigh the name."""
        for number in (*numbers, name):
            ids = self.numbers.get(number.casefold()) if number else None
            if ids:  # whoever calls himself by another's id has not got it from a system
                return replace(self._found(ids), sure=len(ids) == 1 and number in numbers)
        if not joined(name):
            return Found(())
        ids = self.exact.get(joined(name)) or {i for folded in spellings(name) for i in self.folded.get(folded, ())}
        return self._found(ids or self._with_id(name), name)

    def _found(self, ids: Iterable[str], name: str = "") -> Found:
        found = tuple(sorted(ids))
        if len(found) == 1:
            return Found(found)
        return Found(found, found or self._nearest(name))

    def _with_id(self, name: str) -> set[str]:
        """The student whose id and name parts all occur among the parts of `name`: "Lovelace_Ada_al123_4711"."""
        parts = re.split(r"[\s_,]+", name.casefold())
        folded = {spelling for part in parts for spelling in spellings(part)}
        found = set()
        for person in self.people.values():
            own, id_ = person.name.casefold().split(), person.id.casefold()
            whole = own and all(folded.intersection(part) for part in self.parts[person.id])
            if whole and parts.count(id_) > own.count(id_):  # once more than in the name
                found.add(person.id)
        return found

    def _nearest(self, name: str) -> tuple[str, ...]:
        sought = {spelling for part in re.split(r"[\s_,]+", name) for spelling in spellings(part) if len(spelling) > 2}
        like = process.extract(next(iter(spellings(name)), ""), self.folded.keys(), scorer=fuzz.ratio, score_cutoff=75)
        close = {i for key, *_ in like[:3] for i in self.folded[key]}
        least = min(2, len(sought))
        close |= {i for i, parts in self.parts.items() if sum(bool(sought.intersection(p)) for p in parts) >= least > 0}
        return tuple(sorted(close))[:3]


def joined(text: str) -> str:
    """The letters and digits of a name: "O'Brien, Ada" is "obrienada", as Canvas writes it."""
    return "".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).casefold()))


def spellings(text: str) -> list[str]:
    """`joined` without accents, in both spellings: Müller is muller and mueller."""
    letters = unicodedata.normalize("NFC", text).casefold()
    bare = "".join(c for c in unicodedata.normalize("NFKD", letters) if not unicodedata.combining(c))
    return list(dict.fromkeys(filter(None, (joined(bare), joined(letters.translate(GERMAN))))))


def _orders(person: Person) -> Iterator[str]:
    yield person.id
    if "@" in person.email:
        yield person.email.partition("@")[0]
    if person.name:
        yield f"{person.first} {person.last}"
        yield f"{person.last} {person.first}"
        yield f"{person.id} {person.first} {person.last}"
