"""Settings of workers: how many runs, for how long, and when a worker counts as dead."""

from runyard.settings.model import SettingsGroup, setting
from runyard.settings.values import Count, Seconds


class WorkerSettings(SettingsGroup):
    slots: Count = setting(default=100, description="Runs that one process executes at a time.")
    lease_seconds: Seconds = setting(
        default=30, description="Seconds without a heartbeat before a worker's runs are reassigned."
    )
    reap_seconds: Seconds = setting(default=10, description="Seconds between two searches for runs whose worker died.")
    drain_seconds: float = setting(
        default=20,
        ge=0,
        description="Seconds that runs have to end by themselves when the process is stopped.",
    )
    stop_seconds: Seconds = setting(
        default=5, description="Seconds that a canceled agent has to stop before its run is ended without it."
    )
    max_blocked_seconds: float = setting(
        default=10,
        ge=0,
        description="Seconds that an agent may block the event loop before it is interrupted and its run ends with"
        " `blocked_loop`; at most half of the lease; after twice that time the process ends itself; 0 only logs it.",
    )
    cancel_seconds: Seconds = setting(
        default=30, description="Seconds after a cancel request before the run is ended by force."
    )
    max_attempts: Count = setting(
        default=5, description="How often a run may lose its worker without progress before it ends with an error."
    )
