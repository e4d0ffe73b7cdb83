"""The time to the first token of a run."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    run_script(op.get_bind(), "0022_first_token")
