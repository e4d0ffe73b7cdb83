"""Drop the view `approvals` of servers from before 0015."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    run_script(op.get_bind(), "0027_drop_old_approvals")
