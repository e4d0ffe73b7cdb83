"""Removals: which threads and runs were deleted, so that every process removes the files that belong to them."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run_script(op.get_bind(), "0009_removals")
