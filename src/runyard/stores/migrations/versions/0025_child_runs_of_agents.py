"""Deleting the row of an agent also deletes the child runs of its runs, and the messages that steered them."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    run_script(op.get_bind(), "0025_child_runs_of_agents")
