"""Every setting, in one frozen model: the environment (`RUNYARD_*`), then `runyard.toml` in the working folder, then
the defaults here. A command's own options win over all of them.

`Settings()` gives settings that are whole and checked, or raises StartupError with one sentence that names the variable
or key. A misspelt name is an error: a setting that silently does nothing is worse than none. No message and no repr
shows the value of `api_key` or `encryption_keys`, or of `database_url` or `bus_url`, which may hold a password.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from runyard.domain.api_key import parts_of
from runyard.errors import StartupError
from runyard.kubernetes import is_service_variable

if TYPE_CHECKING:
    from runyard.domain.redaction import Redactor
    from runyard.encryption.cipher import KeyRing

PREFIX = "RUNYARD_"
FILE = Path("runyard.toml")

# Variables that are not settings: read before any setting can be.
OTHER_VARIABLES = {"RUNYARD_DEBUG": "Set to 1, the command line shows tracebacks instead of one sentence."}


def _checked_database(url: str) -> str:
    scheme, _, rest = url.partition("://")
    try:
        right = scheme == "postgresql" and bool(urlsplit(url).netloc or urlsplit(url).query)
    except ValueError:
        right = False
    if scheme == "sqlite":
        right = rest.startswith("/") and len(rest) > 1 and not set(rest) & {"?", "#", "%"} and rest != "/:memory:"
    if not right:
        raise ValueError("must be sqlite:///path/to/file.db or postgresql://user:password@host/name")
    return url


def _checked_bus(url: str | None) -> str | None:
    try:
        right = url in {None, "memory"} or _is_bus(urlsplit(url or ""))
    except ValueError:
        right = False
    if not right:
        raise ValueError("must be memory, postgresql://..., redis://host:6379/0 or nats://host:4222")
    return url


def _is_bus(url: SplitResult) -> bool:
    match url.scheme:
        case "postgresql":
            return bool(url.netloc or url.query)
        case "redis" | "rediss":
            path = r"/?[0-9]{0,3}"
        case "nats":
            path = r"(/[A-Za-z0-9_-]+)*/?"
        case _:
            return False
    return bool(url.hostname) and url.port != 0 and re.fullmatch(path, url.path) is not None


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        right = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        right = False
    if not right:
        raise ValueError("must be an address like http://127.0.0.1:8000")
    return url.rstrip("/")


def _checked_endpoint(url: str | None) -> str | None:
    return None if url is None else _checked_url(url)


def _checked_key(key: SecretStr | None) -> SecretStr | None:
    if key is not None and parts_of(key.get_secret_value()) is None:
        raise ValueError("must be a key as `runyard keys create` prints it")
    return key


def _checked_ring(keys: str | None) -> str | None:
    if keys is not None:
        from runyard.encryption.cipher import parse

        parse(keys)
    return keys


def _checked_models(models: str | None) -> str | None:
    if "//" in (models or ""):
        raise ValueError("must be names of models with commas between, without addresses")
    return models


def _redactor(names: str | None, own: Mapping[str, str]) -> "Redactor":
    from runyard.domain.redaction import Redactor

    return Redactor([name.strip() for name in (names or "").split(",") if name.strip()], own)


def _checked_names(names: str | None) -> str | None:
    if names is not None:
        _redactor(names, {})
    return names


def _checked_patterns(own: dict[str, str]) -> dict[str, str]:
    if own:
        _redactor(None, own)
    return own


def _origins(given: str | None) -> list[str]:
    return [each.strip() for each in (given or "").split(",") if each.strip()]


def _checked_origins(given: str | None) -> str | None:
    if not all(re.fullmatch(r"https?://[^/@\s]+", each) for each in _origins(given)):
        raise ValueError("must be origins such as http://localhost:5173, with commas between")
    return given


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _own_address(data: dict[str, Any]) -> str:
    return address(data.get("host", "127.0.0.1"), data.get("port") or 8000)


def address(host: str, port: int) -> str:
    """Where a server that listens there is reached from this machine."""
    try:
        number = ip_address(host)
    except ValueError:
        return f"http://{host}:{port}"
    if number.is_unspecified:
        return f"http://127.0.0.1:{port}"
    return f"http://[{host}]:{port}" if number.version == 6 else f"http://{host}:{port}"


Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0)]
Word = BeforeValidator(_lower)


class Settings(BaseSettings):
    """The settings of a process (`docs/settings.md`).

    A value comes from an argument, else from the environment (`RUNYARD_...`), else from `runyard.toml`.

    Raises:
        StartupError: If a value is wrong, or a variable `RUNYARD_...` is unknown.

    Example:
        >>> runyard.Settings(port=9000, database_url="sqlite:///notes.db").port
        9000
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="The address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="The port to listen on; 0 takes any free one.")
    metrics_port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="A port of its own for `/metrics` and `/health`, without a key; a `worker` has no other.",
    )
    metrics_host: str = Field("127.0.0.1", description="The address of that port.")
    database_url: Annotated[str, AfterValidator(_checked_database)] = Field(
        "sqlite:///.runyard/runyard.db",
        repr=False,
        description="Where everything is kept: `sqlite:///path` (one process) or `postgresql://...` (any number).",
    )
    bus_url: Annotated[str | None, AfterValidator(_checked_bus)] = Field(
        None,
        repr=False,
        description="What wakes other processes: `postgresql://...`, `redis://...`, `rediss://...`, `nats://...` or"
        " `memory` (nobody); by default the database itself on Postgres, nobody on SQLite.",
    )
    app: Path | None = Field(
        None, description="The Python file or folder that declares the agents; without it, the demo."
    )
    default_agent: str | None = Field(
        None, description="The agent that answers when none is named; without it, the app's own default."
    )
    workspaces: Path = Field(
        Path(".runyard/workspaces"),
        description="Where the files of threads live that tools read and write; workers on several machines share it.",
    )
    database_answer_seconds: Seconds = Field(
        15, description="Seconds without an answer from Postgres before a connection is replaced."
    )
    database_wait_seconds: Seconds = Field(
        60, description="Seconds that a run waits for a database that is away before its worker gives it up."
    )
    slots: Count = Field(100, description="How many runs one process works on at a time.")
    lease_seconds: Seconds = Field(30, description="How long a worker that is not heard of keeps its runs.")
    reap_seconds: Seconds = Field(10, description="How often to look for runs whose worker died.")
    poll_seconds: Seconds = Field(0.2, description="How often to look for what other processes did.")
    outbox_poll_seconds: Seconds = Field(
        0.2, description="How often to look for events that a process committed and did not live to publish."
    )
    outbox_batch: Count = Field(
        10, description="How many events of one such run are published at a time, before the next run's turn."
    )
    drain_seconds: float = Field(
        20,
        ge=0,
        allow_inf_nan=False,
        description="How long runs may take to end by themselves when the process is stopped.",
    )
    stop_seconds: Seconds = Field(
        5, description="How long a canceled agent may take to stop before its run is ended without it."
    )
    max_blocked_seconds: float = Field(
        10,
        ge=0,
        allow_inf_nan=False,
        description="Seconds that an agent may block the event loop before it is interrupted and its run ends as"
        " `blocked_loop`; at most half of the lease; after twice that time the process ends itself; 0 only logs it.",
    )
    cancel_seconds: Seconds = Field(30, description="How long after a cancel the run is ended by force.")
    max_attempts: Count = Field(
        5, description="How often a run may lose its worker without progress before it is given up."
    )
    heartbeat_seconds: Seconds = Field(
        15, description="How often a silent stream carries a comment, so that nobody cuts it."
    )
    max_body_bytes: Count = Field(1_048_576, description="The largest request body that is read.")
    max_message_chars: Count = Field(262_144, description="The longest message that is taken.")
    max_event_bytes: Count = Field(
        1_048_576,
        description="The largest event of a run, except for answers; a run that writes a larger one ends as error.",
    )
    max_answer_bytes: Count = Field(
        16_777_216,
        description="The largest answer of a run and the largest message of a model; each is stored as one event.",
    )
    max_tool_output_bytes: Count = Field(
        262_144, description="The largest output of a tool; a larger one is an error that its caller is told of."
    )
    tell_tool_errors: bool = Field(
        True, description="Tell a model the text of an exception that a tool raised; otherwise only its class."
    )
    max_history_chars: Count = Field(
        1_000_000, description="How much of what was said before an agent is told, the newest first."
    )
    rate_per_key: Annotated[float | None, Field(gt=0, allow_inf_nan=False)] = Field(
        1000,
        description="Requests that one API key may send to one process in a second; after a silence twice as many.",
    )
    dev_origins: Annotated[str | None, AfterValidator(_checked_origins)] = Field(
        None,
        description="For `runyard dev` without keys: further origins whose pages may use it, with commas between, "
        "such as `http://localhost:5173`; its own origin always may.",
    )
    max_header_bytes: Count = Field(32_768, description="The largest request line and headers that are read, together.")
    header_seconds: Seconds = Field(
        10, description="Seconds that a client has to send the request line and the headers of a request."
    )
    body_seconds: Seconds = Field(60, description="Seconds that a client has to send the body of a request.")
    max_connections: Count = Field(
        25_000, description="Connections that one process keeps open; the limit on open files may allow fewer."
    )
    max_connections_per_address: Count = Field(
        10_000,
        description="Connections of one address (of an IPv6 network /64), at most three quarters of all; "
        "a reverse proxy counts as one address.",
    )
    max_streams: Count = Field(20_000, description="Streams that may be open at one process.")
    max_streams_per_key: Count = Field(5_000, description="Streams that one API key may have open at one process.")
    max_queued_per_lane: Count = Field(
        1_000, description="Runs that may wait in one lane, which is one thread; more are refused."
    )
    max_queued_per_owner: int | None = Field(
        100_000, gt=0, description="About how many runs of one owner may wait in all; more are refused."
    )
    agent_models: Annotated[str | None, AfterValidator(_checked_models)] = Field(
        None,
        description="The models that agents made over the API may use, with commas between; by default those that"
        " declared agents use.",
    )
    agent_max_usd: float = Field(
        1.0,
        gt=0,
        allow_inf_nan=False,
        description="The largest budget per run that an agent made over the API may have.",
    )
    retention_days: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Runs that ended so many days ago are dropped, threads when all of theirs did; without it, never.",
    )
    tail_bytes: int = Field(64 * 1024 * 1024, ge=0, description="How much memory may hold recent events for followers.")
    log_format: Annotated[Literal["console", "json"], Word] = Field(
        "json", description="How log lines look: `json` for machines, `console` for people (what `runyard dev` takes)."
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Word] = Field(
        "info", description="The least important log lines that are written."
    )
    access_log: bool = Field(True, description="Whether every request leaves a line in the log (`runyard dev`: none).")
    chats_on_disconnect: Annotated[Literal["cancel", "continue"], Word] = Field(
        "cancel",
        description="What becomes of a run of the chats API whose client closes the stream: `cancel` or `continue`.",
    )
    chats_grace_seconds: float = Field(
        10,
        ge=0,
        allow_inf_nan=False,
        description="How long such a run goes on in case somebody comes back, before it is canceled.",
    )
    chats_while_waiting: Annotated[Literal["queue", "reject"], Word] = Field(
        "queue",
        description="A new message in a chat that waits for an approval: `queue` behind it, or `reject` it and go on.",
    )
    approval_seconds: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="How long an approval may stay open before it counts as rejected; without it, for ever.",
    )
    group_pause_min_seconds: float = Field(
        1,
        ge=0,
        le=3600,
        allow_inf_nan=False,
        description="In a channel agents answer one after another; the least time between them.",
    )
    group_pause_max_seconds: float = Field(
        5, ge=0, le=3600, allow_inf_nan=False, description="And the most; each pause is a random time in between."
    )
    checkpoints: Annotated[Literal["database", "files"], Word] = Field(
        "database", description="Where the checkpoints of chats are kept: in the `database`, or as `files`."
    )
    checkpoint_folder: Path | None = Field(
        None,
        description="The folder of those files; by default beside the database.",
    )
    checkpoint_fallback: Path | None = Field(
        None,
        description="Where a checkpoint goes that cannot be saved within 5 seconds: a folder on a local disk, outside"
        " of the folder of checkpoints; by default one below `/var/tmp`.",
    )
    encryption_keys: Annotated[str | None, AfterValidator(_checked_ring)] = Field(
        None,
        repr=False,
        description="Keys that seal what is stored, `name:base64-of-32-bytes` with commas between: the first one seals,"
        " all open (`runyard keys make-encryption` makes one); without any, content is stored as it is.",
    )
    sentry_dsn: str | None = Field(
        None, repr=False, description="Where traces of runs go, without content: a DSN of Sentry."
    )
    otlp_endpoint: Annotated[str | None, AfterValidator(_checked_endpoint)] = Field(
        None,
        description="Another place where they go: a collector of OpenTelemetry that takes OTLP over HTTP, such as"
        " `http://127.0.0.1:4318`.",
    )
    redact: Annotated[str | None, AfterValidator(_checked_names)] = Field(
        None,
        description="What is taken out of everything before it is stored, with commas between: `email`, `phone`,"
        " `card`, `iban`, `us_ssn`, `api_key`.",
    )
    redact_patterns: Annotated[dict[str, str], AfterValidator(_checked_patterns)] = Field(
        {}, description="More of that: own regular expressions by name, a table in `runyard.toml` (or JSON)."
    )
    contract_terminal_event: Annotated[Literal["final", "complete", "done"], Word] = Field(
        "final", description="What the last event of a stream of the agent contract is called."
    )
    contract_timeout_seconds: Seconds = Field(
        600, description="How long a run of the agent contract may take whose request names no `budgets.timeout_ms`."
    )
    url: Annotated[str, AfterValidator(_checked_url)] = Field(
        default_factory=_own_address,
        description="The server that `chat`, `runs`, `approvals` and `keys` talk to; by default the one at `host`"
        " and `port`.",
    )
    api_key: Annotated[SecretStr | None, AfterValidator(_checked_key)] = Field(
        None,
        repr=False,
        description="The API key that `chat`, `runs`, `approvals` and `keys` send to that server.",
    )

    @property
    def plain_api_key(self) -> str | None:
        """The key itself, to be sent and for nothing else."""
        return None if self.api_key is None else self.api_key.get_secret_value()

    @property
    def ring(self) -> "KeyRing | None":
        """The keys that seal what is stored."""
        if self.encryption_keys is None:
            return None
        from runyard.encryption.cipher import parse

        return parse(self.encryption_keys)

    @property
    def origins(self) -> list[str]:
        """The origins that `dev_origins` names."""
        return _origins(self.dev_origins)

    @property
    def redactor(self) -> "Redactor | None":
        """What takes sensitive text out before it is stored."""
        return _redactor(self.redact, self.redact_patterns) if self.redact or self.redact_patterns else None

    @property
    def sqlite_path(self) -> Path | None:
        """The database file; None on Postgres."""
        scheme, _, path = self.database_url.partition(":///")
        return Path(path) if scheme == "sqlite" else None

    @property
    def checkpoint_path(self) -> Path:
        """Where checkpoints are kept that are files."""
        if self.checkpoint_folder is not None:
            return self.checkpoint_folder
        return self.sqlite_path.parent if self.sqlite_path is not None else Path(".runyard")

    @property
    def database_label(self) -> str:
        """The database for people to read: never the password."""
        if self.sqlite_path is not None:
            return f"{self.sqlite_path} (SQLite)"
        parts = urlsplit(self.database_url)
        return f"{parts.hostname or 'local socket'}{parts.path} (Postgres)"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        _refuse_unknown_variables(settings_cls.model_fields)
        if isinstance(env_settings, EnvSettingsSource):
            found = env_settings.env_vars.items()
            env_settings.env_vars = {name: value for name, value in found if not is_service_variable(name, value or "")}
        return init_settings, env_settings, _File(settings_cls)

    @model_validator(mode="wrap")
    @classmethod
    def _one_sentence(cls, values: Any, handler: ModelWrapValidatorHandler["Settings"]) -> "Settings":
        try:
            return handler(values)
        except ValidationError as error:
            problem = error.errors(include_input=False, include_url=False)[0]
        raise StartupError(_sentence(problem, cls.model_fields))


class _File(PydanticBaseSettingsSource):
    """`runyard.toml`: flat keys with the names of the fields."""

    def __call__(self) -> dict[str, Any]:
        values = _read_file()
        fields = self.settings_cls.model_fields
        for key in values:
            if key not in fields:
                raise StartupError(f"{key} in {FILE} is not a setting{_did_you_mean(key, fields)}")
        return values

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        raise NotImplementedError


def _read_file() -> dict[str, Any]:
    try:
        return tomllib.loads(FILE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise StartupError(f"{FILE} is not valid TOML: {error}.") from None
    except (OSError, UnicodeError) as error:
        raise StartupError(f"{FILE} cannot be read ({type(error).__name__}).") from None


def variable(field: str) -> str:
    """The environment variable of a field."""
    return PREFIX + field.upper()


def _refuse_unknown_variables(fields: Iterable[str]) -> None:
    known = {variable(name) for name in fields} | set(OTHER_VARIABLES)
    for name, value in os.environ.items():
        ours = name.upper().startswith(PREFIX) and not is_service_variable(name, value)
        if ours and name.upper() not in known:
            raise StartupError(f"{name} is not a setting{_did_you_mean(name.upper(), known)}")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    # the prefix that all have in common would make every name look close
    words = {word.removeprefix(PREFIX): word for word in known}
    close = get_close_matches(name.removeprefix(PREFIX), list(words), n=1)
    return f"; did you mean {words[close[0]]}?" if close else " of Runyard; docs/settings.md lists them all."


def _sentence(problem: ErrorDetails, fields: Mapping[str, FieldInfo]) -> str:
    where = str(problem["loc"][0]) if problem["loc"] else "A setting"
    in_environment = any(name.upper() == variable(where) and value for name, value in os.environ.items())
    name = variable(where) if in_environment else f"{where} in {FILE}" if where in _read_file() else where
    if problem["type"] == "extra_forbidden":
        return f"{name} is not a setting{_did_you_mean(where, fields)}"
    return f"{name} {_what_is_wrong(problem)}."


def _what_is_wrong(problem: ErrorDetails) -> str:
    if problem["type"].startswith("int_"):
        return "must be a whole number"
    if problem["type"].startswith("float_"):
        return "must be a number"
    said = problem["msg"].removeprefix("Value error, ")
    return said.replace("Input should be", "must be").replace("valid ", "").rstrip(".")
