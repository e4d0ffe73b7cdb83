"""Restore the logging configuration after each test, because the services of these tests change it."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _the_log_as_it_was() -> Iterator[None]:
    root, config = logging.getLogger(), structlog.get_config()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.configure(**config)
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)
