"""Settings of the command line: the server that it talks to."""

from collections.abc import Mapping
from typing import Annotated, Any

from runyard.settings.addresses import address, checked_url
from runyard.settings.model import SettingsGroup, setting


def _own_address(others: Mapping[str, Any]) -> str:
    return address(others["host"], others["port"] or 8000)


def _checked_key(key: str | None) -> str | None:
    if key is not None:
        from runyard.domain.api_key import parts_of

        if parts_of(key) is None:
            raise ValueError("must be a key as `runyard keys create` prints it")
    return key


class CommandLineSettings(SettingsGroup):
    url: Annotated[str, checked_url] = setting(
        default_factory=_own_address,
        description="The server that `chat`, `runs`, `approvals`, `keys` and the other verbs use; by default the one at"
        " `host` and `port`.",
    )
    api_key: Annotated[str | None, _checked_key] = setting(
        default=None,
        repr=False,
        description="The API key that `chat`, `runs`, `approvals`, `keys` and the other verbs send to that server.",
    )
