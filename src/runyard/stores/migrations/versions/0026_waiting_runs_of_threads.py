"""An index of the waiting runs of a thread."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    run_script(op.get_bind(), "0026_waiting_runs_of_threads")
