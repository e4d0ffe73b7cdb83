"""Approvals become waits: runs also wait for values, client tools, child runs, timers and events."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    run_script(op.get_bind(), "0015_waits")
