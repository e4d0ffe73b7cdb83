"""An index of ready lanes that a run in an idle lane does not change."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    run_script(op.get_bind(), "0024_ready_lanes")
