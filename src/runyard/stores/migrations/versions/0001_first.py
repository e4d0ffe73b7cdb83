"""The first schema: threads, messages, lanes, runs, the log, approvals, workers, idempotency keys, documents."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_script(op.get_bind(), "0001_first")
