"""Settings of the HTTP server and its limits."""

from typing import Annotated, Literal

from runyard.settings.addresses import checked_endpoint, checked_networks, checked_origins, origins
from runyard.settings.model import SettingsGroup, setting
from runyard.settings.values import Count, Seconds


class HttpSettings(SettingsGroup):
    host: str = setting(default="127.0.0.1", description="The address to listen on.")
    port: int = setting(default=8000, ge=0, le=65535, description="The port to listen on; 0 takes any free one.")
    metrics_port: int | None = setting(
        default=None,
        ge=0,
        le=65535,
        description="A separate port for `/metrics` and `/health` that needs no API key; a `worker` serves no other.",
    )
    metrics_host: str = setting(default="127.0.0.1", description="The address of the metrics port.")
    public_url: Annotated[str | None, checked_endpoint] = setting(
        default=None,
        description="The address under which clients reach this server, for agent cards and files of A2A, such as"
        " `https://agents.example.com`; by default the address of each request.",
    )
    push_allow: Annotated[str | None, checked_networks] = setting(
        default=None,
        description="Private networks that push notifications may call, separated by commas, such as"
        " `10.0.0.0/8,127.0.0.1`; public addresses are always allowed.",
    )
    push_attempts: Count = setting(
        default=15,
        description="Attempts to deliver a push notification, with growing pauses up to an hour.",
    )
    push_timeout_seconds: Seconds = setting(
        default=10, description="Seconds that the receiver of a push notification has to answer."
    )
    heartbeat_seconds: Seconds = setting(
        default=15, description="Seconds between the comments that keep a silent stream from being closed by proxies."
    )
    max_body_bytes: Count = setting(default=1_048_576, description="The largest request body that is accepted.")
    max_header_bytes: Count = setting(
        default=32_768, description="The largest request line and headers that are accepted, together."
    )
    header_seconds: Seconds = setting(
        default=10, description="Seconds that a client has to send the request line and the headers of a request."
    )
    body_seconds: Seconds = setting(default=60, description="Seconds that a client has to send the body of a request.")
    max_connections: Count = setting(
        default=25_000, description="Connections that one process keeps open; the limit on open files may allow fewer."
    )
    max_connections_per_address: Count = setting(
        default=10_000,
        description="Connections of one address (of an IPv6 network /64), at most three quarters of all; "
        "a reverse proxy counts as one address.",
    )
    max_streams: Count = setting(default=20_000, description="Streams that one process keeps open.")
    max_streams_per_key: Count = setting(
        default=5_000, description="Streams that one API key may have open at one process."
    )
    rate_per_key: float | None = setting(
        default=1000,
        gt=0,
        description="Requests per second that one API key may send to one process; after a pause, twice as many.",
    )
    share_links: bool | None = setting(
        default=None,
        description="Whether owners may share a conversation by a link that needs no key; by default only where no keys"
        " are needed, as in `runyard dev`.",
    )
    dev_origins: Annotated[str | None, checked_origins] = setting(
        default=None,
        description="For `runyard dev` without keys: further origins whose pages may use it, separated by commas, "
        "such as `http://localhost:5173`; its own origin is always allowed.",
    )
    chats_on_disconnect: Literal["cancel", "continue"] = setting(
        default="cancel",
        description="What happens to a run of the chats API when its client closes the stream: `cancel` or `continue`.",
    )
    chats_grace_seconds: float = setting(
        default=10,
        ge=0,
        description="Seconds that a client has to reconnect before such a run is canceled.",
    )
    chats_while_waiting: Literal["queue", "reject"] = setting(
        default="queue",
        description="A new message in a chat that waits for an approval: `queue` it behind the approval, or `reject`"
        " the approval and continue.",
    )
    contract_terminal_event: Literal["final", "complete", "done"] = setting(
        default="final", description="The name of the last event of a stream of the agent contract."
    )
    contract_timeout_seconds: Seconds = setting(
        default=600,
        description="Seconds that a run of the agent contract may take if its request has no `budgets.timeout_ms`.",
    )

    @property
    def origins(self) -> list[str]:
        """The origins of `dev_origins`."""
        return origins(self.dev_origins)
