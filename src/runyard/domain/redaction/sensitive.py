"""Named patterns of sensitive text: e-mail addresses, phone numbers, cards, accounts, keys.

Patterns look at most one character past their match, so that streamed text can be redacted (`redactor.py`), and none
matches more than a few thousand characters. Most text has none of the characters that they need and is passed through
quickly. A check validates a match: digits are a card number only if the check digit is right.
"""

import re
from collections.abc import Callable

Check = Callable[[str], int]  # returns how many characters of the match are valid; 0: no match

_KEYS = (
    r"sk-[A-Za-z0-9_-]{20,200}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,200}",
    r"gh[pousr]_[A-Za-z0-9]{36,255}",
    r"github_pat_[A-Za-z0-9_]{22,255}",
    r"glpat-[A-Za-z0-9_-]{20,200}",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,200}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"(?:hf|npm)_[A-Za-z0-9]{30,100}",
    r"eyJ[A-Za-z0-9_-]{8,1200}\.eyJ[A-Za-z0-9_-]{8,1200}\.[A-Za-z0-9_-]{8,1200}",
    r"[Bb]earer [A-Za-z0-9._~+/=-]{19,2000}[A-Za-z0-9_~+/=-]",
)
_PEM = (
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{0,3900}"
    r"(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?"
)
_PASSWORD = r"(?<=://)[^\s/:@]{1,200}:[^\s/@]{1,200}@"

PATTERNS: dict[str, str] = {
    "api_key": rf"(?<![A-Za-z0-9_])(?:{'|'.join(_KEYS)})(?![A-Za-z0-9_])|{_PEM}|{_PASSWORD}",
    "email": r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[\w-]{1,63}\.){1,8}\p{L}{2,24}(?!\w)",
    "iban": r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}",
    "card": r"(?<![\w])(?:[2-6]\d{3}(?:[ -]\d{4}){3}|3\d{3}[ -]\d{6}[ -]\d{5}|[2-6]\d{12,18})(?!\d)",
    "us_ssn": r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])",
    "phone": r"(?<![\w+])(?:(?:\+|00)[1-9](?:[ .\-/()]{0,2}\d){7,14}|(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4})(?!\d)",
}

# Per pattern: characters that every match contains, and the longest distance from the start of the match to them. A
# partial match that contains a space contains them too. The search for them is quick, and most text has none.
LIVELY: dict[str, tuple[str, int]] = {
    "api_key": (
        r"sk-|[srp]k_(?:live|test)_|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza|hf_|npm_|eyJ|earer|-----BEGIN|@",
        402,
    ),
    "email": (r"@", 64),
    "iban": (r"\d", 2),
    "card": (r"\d", 0),
    "us_ssn": (r"\d", 0),
    "phone": (r"[\d(+]", 0),
}

_IBAN_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18"
    " FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20"
    " LU20 LV21 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19"
    " SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
)
_LENGTHS = {country[:2]: int(country[2:]) for country in _IBAN_LENGTHS.split()}
_SEPARATORS = re.compile(r"[ -]")


def card(found: str) -> int:
    """Return the length of a card number if its check digit is right (Luhn), else 0."""
    digits = [int(digit) for digit in _SEPARATORS.sub("", found)]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return len(found) if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 else 0


def iban(found: str) -> int:
    """Return the length of an account number of its country if the check digits are right, else 0."""
    length, end = _LENGTHS.get(found[:2], 0), 0
    kept = ""
    while length and end < len(found) and len(kept) < length:
        kept += found[end].strip(" -")
        end += 1
    if len(kept) < length or not length or found[end : end + 1].isalnum():
        return 0
    number = int("".join(str(int(character, 36)) for character in kept[4:] + kept[:4]))
    return end if number % 97 == 1 else 0


CHECKS: dict[str, Check] = {"card": card, "iban": iban}
