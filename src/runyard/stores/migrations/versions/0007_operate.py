"""Operate: limits on queues, and retention."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_script(op.get_bind(), "0007_operate")
