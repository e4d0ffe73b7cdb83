"""Settings that protect stored content: encryption and redaction."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from runyard.domain.redaction.no_redaction import NO_REDACTION
from runyard.settings.model import SettingsGroup, setting

if TYPE_CHECKING:
    from runyard.domain.redaction.redactor import Redactor
    from runyard.encryption.cipher import KeyRing


def _checked_ring(keys: str | None) -> str | None:
    if keys is not None:
        from runyard.encryption.cipher import parse

        parse(keys)
    return keys


def _redactor(names: str | None, patterns: Mapping[str, str]) -> "Redactor":
    from runyard.domain.redaction.redactor import Redactor

    return Redactor([name.strip() for name in (names or "").split(",") if name.strip()], patterns)


def _checked_names(names: str | None) -> str | None:
    if names is not None:
        _redactor(names, {})
    return names


def _checked_patterns(patterns: dict[str, str]) -> dict[str, str]:
    if patterns:
        _redactor(None, patterns)
    return patterns


class PrivacySettings(SettingsGroup):
    encryption_keys: Annotated[str | None, _checked_ring] = setting(
        default=None,
        repr=False,
        description="Keys that encrypt stored content, `name:base64-of-32-bytes` separated by commas: the first one"
        " encrypts, all decrypt (`runyard keys make-encryption` makes one); without keys, nothing is encrypted.",
    )
    redact: Annotated[str | None, _checked_names] = setting(
        default=None,
        description="Kinds of text that are removed from all content before it is stored, separated by commas: `email`,"
        " `phone`, `card`, `iban`, `us_ssn`, `api_key`.",
    )
    redact_patterns: Annotated[dict[str, str], _checked_patterns] = setting(
        default={},
        description="Additional regular expressions to redact, by name: a table in `runyard.toml`, or JSON.",
    )

    @property
    def encryption_key_ring(self) -> "KeyRing | None":
        """The keys that encrypt stored content."""
        if self.encryption_keys is None:
            return None
        from runyard.encryption.cipher import parse

        return parse(self.encryption_keys)

    @property
    def redactor(self) -> "Redactor":
        """The redactor that removes sensitive text before it is stored; `NO_REDACTION` if nothing is to be removed."""
        return _redactor(self.redact, self.redact_patterns) if self.redact or self.redact_patterns else NO_REDACTION
