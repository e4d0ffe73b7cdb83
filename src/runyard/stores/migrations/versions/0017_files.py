"""Files, and messages with content parts."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    run_script(op.get_bind(), "0017_files")
