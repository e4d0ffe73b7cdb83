"""Settings of the command line: the server that it talks to."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, SecretStr

from runyard.domain.api_key import parts_of
from runyard.settings.addresses import address, checked_url


def _own_address(data: dict[str, Any]) -> str:
    return address(data.get("host", "127.0.0.1"), data.get("port") or 8000)


def _checked_key(key: SecretStr | None) -> SecretStr | None:
    if key is not None and parts_of(key.get_secret_value()) is None:
        raise ValueError("must be a key as `runyard keys create` prints it")
    return key


class CommandLineSettings(BaseModel):
    url: Annotated[str, AfterValidator(checked_url)] = Field(
        default_factory=_own_address,
        description="The server that `chat`, `runs`, `approvals` and `keys` use; by default the one at `host`"
        " and `port`.",
    )
    api_key: Annotated[SecretStr | None, AfterValidator(_checked_key)] = Field(
        None,
        repr=False,
        description="The API key that `chat`, `runs`, `approvals` and `keys` send to that server.",
    )

    @property
    def plain_api_key(self) -> str | None:
        """The key as text, for sending only."""
        return None if self.api_key is None else self.api_key.get_secret_value()
