"""Thirty invented CVs, the keywords of a question, and the reasons why a CV matches. Word lists only, no model."""

import re
from pathlib import Path

import msgspec
from msgspec import Struct

from runyard.store import Document

_WORD = re.compile(r"\w[\w+#./-]*(?<![./-])")

# Words of a question that describe no candidate.
_EMPTY = frozenset(
    _WORD.findall(
        """a about all an and any anyone are as at be best both but by can candidate candidates cv cvs do does
        experience experienced find fits for from get give has have hello help her hi his how i in is it know knows list
        looking me most my need of on one or our people person please search show some someone strong tell than
        that the their them there these they to us want we well what which who whom whose with work worked working works
        would year years you your"""
    )
)


class Cv(Struct, frozen=True):
    id: str
    name: str
    title: str
    city: str
    years: int
    skills: list[str]
    languages: list[str]
    text: str

    def document(self) -> Document:
        facts = f"{self.title}. {self.city}. {', '.join(self.skills)}. {', '.join(self.languages)}."
        return Document(self.id, f"{self.name}, {self.title}", f"{facts} {self.text}")


CVS: dict[str, Cv] = {
    cv.id: cv for cv in msgspec.json.decode(Path(__file__).with_name("cvs.json").read_bytes(), type=list[Cv])
}


def keywords(question: str) -> list[str]:
    """Return the words of a question that may describe a candidate, each once, in order."""
    words = (word for word in _WORD.findall(question) if word.lower() not in _EMPTY)
    return list({word.lower(): word for word in words}.values())


def reasons(cv: Cv, wanted: list[str]) -> str:
    """Return why a CV matches: its matching skills, else language, title or city, else a sentence of its text."""
    if skills := [skill for skill in cv.skills if _matches(skill, wanted)]:
        return f"knows {_listed(skills)}"
    if languages := [language for language in cv.languages if _matches(language, wanted)]:
        return f"speaks {_listed(languages)}"
    if _matches(cv.title, wanted):
        return f"works as {cv.title}, with {_listed(cv.skills[:3])}"
    if _matches(cv.city, wanted):
        return f"lives in {cv.city}, knows {_listed(cv.skills[:3])}"
    for sentence in re.split(r"(?<=[.!?])\s+", cv.text):
        if _matches(sentence, wanted):
            return f"writes: \u201c{sentence.rstrip('.')}\u201d"
    return f"knows {_listed(cv.skills[:3])}"


def _matches(text: str, wanted: list[str]) -> bool:
    words = {word.lower() for word in _WORD.findall(text)}
    return any(word.lower() in words for word in wanted)


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
