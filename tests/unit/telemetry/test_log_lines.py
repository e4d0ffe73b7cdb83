"""No text of a library reaches the log, whatever filters other libraries install on its logger."""

import logging

import pytest

from runyard.telemetry.logs import configure

MARKER = "patient-zero"


class ArgumentsIntoMessage(logging.Filter):
    """Formats a record before it is handled, as litellm's filter for secrets does."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage(), ()
        return True


@pytest.mark.parametrize("name", ["uvicorn", "uvicorn.error", "some.library"])
def test_a_filter_that_formats_messages_puts_no_content_into_the_log(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    configure("json", "debug")
    logger, rewrite = logging.getLogger(name), ArgumentsIntoMessage()
    logger.addFilter(rewrite)
    try:
        logger.error("answered %s", MARKER)
    finally:
        logger.removeFilter(rewrite)
    written = capfd.readouterr().err
    assert "library.logged" in written
    assert MARKER not in written
