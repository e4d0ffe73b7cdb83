"""A ferry company of six agents, for docs/channels.md. They think with a scripted model: no key, no network.

runyard dev examples/office
python examples/office/move_in.py      # opens the channels, says something, and shows who answers

With another MODEL, any that litellm knows, the same six think for themselves.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import runyard

MODEL = "scripted"

Turn = Mapping[str, Any]
Rule = Callable[[str, str, list[str]], Turn]  # the prompt, what was said, and what came of the calls so far

NOTHING: Turn = {"calls": [{"tool": "do_nothing"}]}
DONE: Turn = {"text": "That is all."}  # raw text: recorded, not sent


def say(text: str, **more: Any) -> Turn:
    return {"calls": [{"tool": "send_message", "input": {"text": text, **more}}]}


def _member(name: str, persona: str, rule: Rule) -> runyard.Agent:
    def turns(conversation: Sequence[Mapping[str, Any]]) -> Turn:
        prompt, said = (str(message["content"]) for message in conversation[:2])
        return rule(prompt, said.lower(), [str(m["content"]) for m in conversation if m["role"] == "tool"])

    answers = turns if MODEL == "scripted" else ()
    return runyard.Agent(name, model=MODEL, turns=answers, instructions=persona, chat=False)


def _mara(prompt: str, said: str, results: list[str]) -> Turn:
    if "fog" in said and not results:
        return {"calls": [{"tool": "update_memory", "input": {"label": "weather", "content": "Fog in the strait."}}]}
    if "fog" in said and len(results) == 1:
        return say("Fog is noted. The Gannet leaves an hour later.")
    return DONE if results else NOTHING


def _teo(prompt: str, said: str, results: list[str]) -> Turn:
    boro = re.search(r"^boro: (\S+)$", prompt, re.MULTILINE)
    if "engine" in said and boro is not None and not results:
        return say("Is the engine of the Gannet fit for the strait?", conversationId=boro[1])
    if "engine" in said and len(results) == 1:
        return say("I have asked Boro about the engine.")
    return DONE if results else NOTHING


def _boro(prompt: str, said: str, results: list[str]) -> Turn:
    if "engine" in said and not results:
        return {"calls": [{"tool": "store_memory", "input": {"content": f"Asked: {said}", "tags": ["engine"]}}]}
    if "engine" in said and len(results) == 1:
        return say("She is fit. I changed the oil on Monday.")
    return DONE if results else NOTHING


def _ilse(prompt: str, said: str, results: list[str]) -> Turn:
    if "ticket" in said and not results:
        return say("A ticket is 12 crowns, a bicycle rides for free.")
    return DONE if results else NOTHING


def _nadia(prompt: str, said: str, results: list[str]) -> Turn:
    if "sold" in said and not results:
        return {"calls": [{"tool": "search_memory", "input": {"query": "tickets sold"}}]}
    if "sold" in said and len(results) == 1:
        return say("The books say 48 tickets, and they balance.")
    return DONE if results else NOTHING


def _pip(prompt: str, said: str, results: list[str]) -> Turn:
    ids = re.findall(r"^\[(\S+)\]", prompt, re.MULTILINE)
    if "thank" in said and ids and not results:
        return {"calls": [{"tool": "react_to_message", "input": {"messageId": ids[-1], "emoji": "⚓"}}]}
    return DONE if results else NOTHING


mara = _member("mara", "You are Mara, harbour master of a small ferry company. You decide when boats leave.", _mara)
teo = _member("teo", "You are Teo, captain of the Gannet. You trust your engineer more than your eyes.", _teo)
boro = _member("boro", "You are Boro, engineer. You say little and write everything down.", _boro)
ilse = _member("ilse", "You are Ilse. You sell the tickets and know every price.", _ilse)
nadia = _member("nadia", "You are Nadia. You keep the books, and you keep them to yourself.", _nadia)
pip = _member("pip", "You are Pip, the apprentice. You mostly listen.", _pip)
