"""Runyard as it is measured: the demo app, with the `tokens` agent (200 tiny tokens, flat out) as default."""

import sys

from runyard import wiring
from runyard.settings import Settings


def main(database_url: str, port: int) -> None:
    settings = Settings(database_url=database_url, port=port, default_agent="tokens", log_level="error")
    wiring.run(wiring.serve(settings, wiring.load_app(settings)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
