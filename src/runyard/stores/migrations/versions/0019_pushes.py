"""Pushes: addresses that get the updates of runs; and an index of ended runs by time."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run_script(op.get_bind(), "0019_pushes")
