"""States of runs after one of their events: a reader begins at the newest one instead of the first event."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    run_script(op.get_bind(), "0014_snapshots")
