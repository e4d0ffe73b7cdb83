"""Settings: their sources, and the errors of wrong ones."""

import os
from pathlib import Path

import pytest

from runyard.errors import StartupError
from runyard.settings import Settings, address

TOML = Path("runyard.toml")


@pytest.fixture(autouse=True)
def clean_slate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.upper().startswith("RUNYARD_")]:
        monkeypatch.delenv(name)


def unavailable_reason(**options: object) -> str:
    with pytest.raises(StartupError) as caught:
        Settings(**options)  # type: ignore[arg-type]
    assert "\n" not in caught.value.message
    return caught.value.message


def test_without_anything_it_is_sqlite_on_loopback() -> None:
    settings = Settings()
    assert (settings.host, settings.port, settings.url) == ("127.0.0.1", 8000, "http://127.0.0.1:8000")
    assert settings.sqlite_path == Path(".runyard/runyard.db")
    assert settings.app is None


def test_an_option_wins_over_the_environment_and_that_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    TOML.write_text('host = "10.0.0.1"\nport = 1\nslots = 7\n')
    monkeypatch.setenv("RUNYARD_HOST", "10.0.0.2")
    monkeypatch.setenv("RUNYARD_PORT", "2")
    settings = Settings(port=3)
    assert (settings.slots, settings.host, settings.port) == (7, "10.0.0.2", 3)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Settings().port = 1  # type: ignore[misc]


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_PORT", "")
    assert Settings().port == 8000


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("RUNYARD_DATABSE_URL", "RUNYARD_DATABSE_URL is not a setting; did you mean RUNYARD_DATABASE_URL?"),
        ("RUNYARD_PROT", "RUNYARD_PROT is not a setting; did you mean RUNYARD_PORT?"),
        ("RUNYARD_XYZZY", "RUNYARD_XYZZY is not a setting of Runyard; docs/settings.md lists them all."),
    ],
)
def test_a_misspelt_variable_is_an_error_that_knows_better(
    name: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1")
    assert unavailable_reason() == says


# What a container sees of the services `runyard` and `runyard-metrics` in its namespace.
OF_KUBERNETES = {
    "RUNYARD_SERVICE_HOST": "10.96.12.7",
    "RUNYARD_SERVICE_PORT": "8000",
    "RUNYARD_SERVICE_PORT_HTTP": "8000",
    "RUNYARD_PORT": "tcp://10.96.12.7:8000",
    "RUNYARD_PORT_8000_TCP": "tcp://10.96.12.7:8000",
    "RUNYARD_PORT_8000_TCP_PROTO": "tcp",
    "RUNYARD_PORT_8000_TCP_PORT": "8000",
    "RUNYARD_PORT_8000_TCP_ADDR": "10.96.12.7",
    "RUNYARD_METRICS_SERVICE_HOST": "fd00::7",
    "RUNYARD_METRICS_PORT": "udp://[fd00::7]:9000",
    "RUNYARD_METRICS_PORT_9000_UDP_ADDR": "fd00::7",
}


def test_variables_of_a_kubernetes_service_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OF_KUBERNETES.items():
        monkeypatch.setenv(name, value)
    assert Settings().port == 8000
    TOML.write_text("port = 9000\n")
    assert Settings().port == 9000
    monkeypatch.setenv("RUNYARD_PORT", "7000")
    assert Settings().port == 7000


@pytest.mark.parametrize(
    ("name", "value"),
    [("RUNYARD_PORT", "http://10.96.12.7"), ("RUNYARD_SERVICE_PORT", "tcp"), ("RUNYARD_PROT", "tcp://10.96.12.7:8000")],
)
def test_a_variable_that_kubernetes_does_not_set_is_still_checked(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert unavailable_reason().startswith(name)


def test_a_misspelt_key_is_an_error_that_knows_better() -> None:
    TOML.write_text("lease_second = 1\n")
    assert unavailable_reason() == "lease_second in runyard.toml is not a setting; did you mean lease_seconds?"


def test_a_broken_file_is_one_sentence() -> None:
    TOML.write_text("port = \n")
    assert unavailable_reason().startswith("runyard.toml is not valid TOML: ")


def test_the_debug_switch_is_not_taken_for_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_DEBUG", "1")
    Settings()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("RUNYARD_PORT", "eighty", "RUNYARD_PORT must be a whole number."),
        ("RUNYARD_PORT", "65536", "RUNYARD_PORT must be less than or equal to 65535."),
        ("RUNYARD_SLOTS", "0", "RUNYARD_SLOTS must be greater than 0."),
        ("RUNYARD_LEASE_SECONDS", "long", "RUNYARD_LEASE_SECONDS must be a number."),
        ("RUNYARD_LEASE_SECONDS", "nan", "RUNYARD_LEASE_SECONDS must be a finite number."),
        ("RUNYARD_LOG_FORMAT", "xml", "RUNYARD_LOG_FORMAT must be 'console' or 'json'."),
        ("RUNYARD_URL", "localhost", "RUNYARD_URL must be an address like http://127.0.0.1:8000."),
        ("RUNYARD_PORT", "8.5", "RUNYARD_PORT must be a whole number."),
        ("RUNYARD_PORT", "-1", "RUNYARD_PORT must be greater than or equal to 0."),
        ("RUNYARD_RETENTION_DAYS", "0", "RUNYARD_RETENTION_DAYS must be greater than 0."),
        ("RUNYARD_RETENTION_DAYS", "inf", "RUNYARD_RETENTION_DAYS must be a finite number."),
        ("RUNYARD_ACCESS_LOG", "maybe", "RUNYARD_ACCESS_LOG must be true or false."),
        ("RUNYARD_LOG_LEVEL", "all", "RUNYARD_LOG_LEVEL must be 'debug', 'info', 'warning' or 'error'."),
        ("RUNYARD_REDACT_PATTERNS", "hunter2", "RUNYARD_REDACT_PATTERNS must be a JSON object."),
        ("RUNYARD_REDACT_PATTERNS", '{"a": 1}', "RUNYARD_REDACT_PATTERNS must be a table of texts."),
    ],
)
def test_a_bad_value_is_one_sentence_that_names_the_variable(
    name: str, value: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert unavailable_reason() == says


@pytest.mark.parametrize(
    ("field", "given", "value"),
    [
        ("access_log", "Off", False),
        ("access_log", "1", True),
        ("access_log", False, False),
        ("log_format", "Console", "console"),
        ("slots", " 7 ", 7),
        ("slots", 7.0, 7),
        ("lease_seconds", "1.5", 1.5),
        ("lease_seconds", 2, 2.0),
        ("app", "agents.py", Path("agents.py")),
        ("workspaces", Path("w"), Path("w")),
        ("retention_days", None, None),
        ("redact_patterns", {"id": "[0-9]+"}, {"id": "[0-9]+"}),
    ],
)
def test_a_value_is_converted_to_the_type_of_its_setting(field: str, given: object, value: object) -> None:
    found = getattr(Settings(**{field: given}), field)  # type: ignore[arg-type]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("field", "given", "says"),
    [
        ("host", 7, "host must be a text."),
        ("host", None, "host must have a value."),
        ("app", 7, "app must be a path."),
        ("slots", True, "slots must be a whole number."),
        ("slots", float("inf"), "slots must be a whole number."),
        ("lease_seconds", True, "lease_seconds must be a number."),
        ("prot", 7, "prot is not a setting; did you mean port?"),
    ],
)
def test_a_value_of_another_type_is_refused(field: str, given: object, says: str) -> None:
    assert unavailable_reason(**{field: given}) == says


def test_other_defaults_hold_where_no_value_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_ACCESS_LOG", "true")
    TOML.write_text("slots = 7\n")
    settings = Settings(port=9).with_defaults(access_log=False, log_format="console", slots=1, port=1)
    assert (settings.access_log, settings.log_format, settings.slots, settings.port) == (True, "console", 7, 9)
    assert settings.url == "http://127.0.0.1:9"


def test_a_bad_value_in_the_file_names_the_key() -> None:
    TOML.write_text('port = "eighty"\n')
    assert unavailable_reason() == "port in runyard.toml must be a whole number."


@pytest.mark.parametrize(
    "url", ["sqlite:///a/b.db", "sqlite:////a/b.db", "postgresql://u:p@h:5432/d", "postgresql:///d?host=/run"]
)
def test_both_databases_are_accepted(url: str) -> None:
    assert Settings(database_url=url).database_url == url


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:hunter2@h/d",
        "postgres+asyncpg://u:hunter2@h/d",
        "postgresql://",
        "postgresql://u:hunter2@[h/d",
        "sqlite://hunter2",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///a?hunter2",
        "hunter2",
        "",
    ],
)
def test_any_other_database_is_refused_without_showing_the_password(url: str) -> None:
    said = unavailable_reason(database_url=url)
    assert said == "database_url must be sqlite:///path/to/file.db or postgresql://user:password@host/name."


@pytest.mark.parametrize(
    "url",
    [
        "memory",
        "postgresql://u:p@h:5432/d",
        "postgresql://h1:1,h2:2/d",
        "postgresql:///d?host=/run",
        "redis://h",
        "redis://u:p@h:6379/15",
        "rediss://h:6379/0?ssl_cert_reqs=none",
        "nats://h",
        "nats://u:p@h:4222/staging/eu-1",
        None,
    ],
)
def test_every_bus_is_accepted(url: str | None) -> None:
    assert Settings(bus_url=url).bus_url == url


@pytest.mark.parametrize(
    "url",
    [
        "kafka://u:hunter2@h",
        "redis://",
        "redis://u:hunter2@h:port",
        "redis://u:hunter2@h:0",
        "redis://u:hunter2@h:99999",
        "redis://h/hunter2",
        "nats://u:hunter2@",
        "nats://h/a.b>*",
        "nats://h/hunter 2",
        "postgresql://",
        "memory://",
        "hunter2",
        "",
    ],
)
def test_any_other_bus_is_refused_without_showing_the_password(url: str) -> None:
    said = unavailable_reason(bus_url=url)
    assert said == "bus_url must be memory, postgresql://..., redis://host:6379/0 or nats://host:4222."


def test_nothing_that_is_shown_has_the_password() -> None:
    settings = Settings(
        database_url="postgresql://me:hunter2@db.example/runyard?password=hunter2", bus_url="nats://me:hunter2@h"
    )
    assert "hunter2" not in repr(settings) + str(settings) + settings.database_label
    assert settings.database_label == "db.example/runyard (Postgres)"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:9"),
        ("0.0.0.0", "http://127.0.0.1:9"),
        ("::", "http://127.0.0.1:9"),
        ("::1", "http://[::1]:9"),
        ("box.local", "http://box.local:9"),
    ],
)
def test_the_command_line_looks_where_the_server_listens(host: str, url: str) -> None:
    assert address(host, 9) == url
    assert Settings(host=host, port=9).url == url
    assert Settings(host=host, port=9, url="https://elsewhere/").url == "https://elsewhere"


def test_an_api_key_is_for_sending_and_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    key = f"ry_{'a' * 12}_{'hunter2' * 6}x"
    monkeypatch.setenv("RUNYARD_API_KEY", key)
    settings = Settings()
    assert settings.api_key == key
    assert "hunter2" not in repr(settings) + str(settings)
    for wrong in ("hunter2", key + "x", f" {key}", key.replace("ry_", "sk_")):
        monkeypatch.setenv("RUNYARD_API_KEY", wrong)
        with pytest.raises(StartupError, match=r"^RUNYARD_API_KEY must be a key as `runyard keys create` prints it\.$"):
            Settings()
