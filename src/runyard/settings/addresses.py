"""Checks of addresses in settings, and the address of this machine's own server."""

import re
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit


def address(host: str, port: int) -> str:
    """Return the URL at which this machine reaches a server that listens on `host` and `port`."""
    try:
        number = ip_address(host)
    except ValueError:
        return f"http://{host}:{port}"
    if number.is_unspecified:
        return f"http://127.0.0.1:{port}"
    return f"http://[{host}]:{port}" if number.version == 6 else f"http://{host}:{port}"


def checked_database(url: str) -> str:
    scheme, _, rest = url.partition("://")
    try:
        is_valid = scheme == "postgresql" and bool(urlsplit(url).netloc or urlsplit(url).query)
    except ValueError:
        is_valid = False
    if scheme == "sqlite":
        is_valid = rest.startswith("/") and len(rest) > 1 and not set(rest) & {"?", "#", "%"} and rest != "/:memory:"
    if not is_valid:
        raise ValueError("must be sqlite:///path/to/file.db or postgresql://user:password@host/name")
    return url


def checked_bus(url: str | None) -> str | None:
    try:
        is_valid = url in {None, "memory"} or _is_bus(urlsplit(url or ""))
    except ValueError:
        is_valid = False
    if not is_valid:
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


def checked_executor(url: str | None) -> str | None:
    if url is not None:
        broker_url(url)
    return url


def broker_url(executor: str) -> str:
    """Return the address of the broker in an executor's address. Raises ValueError."""
    scheme, _, rest = executor.partition("://")
    broker = {"celery": "redis"}.get(scheme, scheme.removeprefix("celery+"))
    if not scheme.startswith("celery") or broker not in {"redis", "rediss", "amqp", "amqps"} or not rest:
        raise ValueError("must be celery://host:6379/0 (a Redis broker), celery+rediss://... or celery+amqp://...")
    return f"{broker}://{rest}"


def networks(given: str | None) -> tuple[str, ...]:
    """Return the networks in a list such as `10.0.0.0/8,127.0.0.1`."""
    return tuple(each.strip() for each in (given or "").split(",") if each.strip())


def checked_networks(given: str | None) -> str | None:
    try:
        for each in networks(given):
            ip_network(each)
    except ValueError:
        raise ValueError("must be networks, such as 10.0.0.0/8,127.0.0.1") from None
    return given


def queues(given: str | None) -> dict[str, str]:
    """Return the queue of each agent in a list such as `painter=gpu,writer=cpu`."""
    return dict(pair.strip().split("=", 1) for pair in (given or "").split(",") if pair.strip())


def checked_queues(given: str | None) -> str | None:
    if not re.fullmatch(r"\s*|[^=,]+=[A-Za-z0-9_.-]+(,[^=,]+=[A-Za-z0-9_.-]+)*", given or ""):
        raise ValueError("must be agents with their queues, such as painter=gpu,writer=cpu")
    return given


def checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError("must be an address like http://127.0.0.1:8000")
    return url.rstrip("/")


def checked_endpoint(url: str | None) -> str | None:
    return None if url is None else checked_url(url)


def origins(given: str | None) -> list[str]:
    """Split a list of origins at its commas."""
    return [each.strip() for each in (given or "").split(",") if each.strip()]


def checked_origins(given: str | None) -> str | None:
    if not all(re.fullmatch(r"https?://[^/@\s]+", each) for each in origins(given)):
        raise ValueError("must be origins such as http://localhost:5173, separated by commas")
    return given
