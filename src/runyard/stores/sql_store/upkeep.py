"""Maintenance, retention, API keys and rate limits."""

from runyard.stores.operations import Transactions, query, statement, transaction
from runyard.stores.transactions.upkeep import api_keys, maintenance, rate_limits, retention


class UpkeepOperations(Transactions):
    maintain = transaction("other", maintenance.maintain)
    overview = query(maintenance.overview)
    end_stuck_sessions = query(maintenance.end_stuck_sessions)

    # --- retention

    sweep = transaction("other", retention.sweep)
    sweep_messages = transaction("other", retention.sweep_messages)
    drop_feed = transaction("other", retention.drop_feed)
    drop_logs = transaction("other", retention.drop_logs)
    get_tombstone = query(retention.get_tombstone)
    removals = query(retention.removals)
    forget_removals = transaction("other", retention.forget_removals)

    # --- API keys

    create_api_key = transaction("other", api_keys.create)
    get_api_key = query(api_keys.get)
    list_api_keys = query(api_keys.list_page)
    revoke_api_key = transaction("other", api_keys.revoke)
    touch_api_keys = statement("other", api_keys.touch)

    # --- rate limits

    take_call = transaction("other", rate_limits.take)
    forget_calls = transaction("other", rate_limits.forget)
