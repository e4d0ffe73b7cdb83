"""Messages for runs that are under way."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    run_script(op.get_bind(), "0016_steering")
