"""The log actions: one row for every line that Runyard writes into its own log.

docs/logs.md is made from this table. No call site reads it, so it costs a log line nothing: a test compares it with the
calls in the source.
"""

from typing import Literal, NamedTuple

Level = Literal["debug", "info", "warning", "error", "critical", "any"]

NOTHING = "Nothing."


class LogAction(NamedTuple):
    """One kind of log line: its level, its meaning, and a remedy for the operator."""

    name: str
    level: Level
    meaning: str
    remedy: str = NOTHING


_CHECK_DATABASE = "Nothing if it stops within seconds. Otherwise check the database and the network."
_CHECK_DISK = "Check free space and the permissions of the data directory."
_FIX_AGENT = "Fix the agent. The run's log has the details."
_REPORT = "Report it with the line: this is a defect of Runyard or of an installed plug-in."

LOG_ACTIONS = (
    # other engines
    LogAction("executor.started", "info", "A Celery worker takes tasks of these queues."),
    LogAction(
        "executor.notify_failed",
        "warning",
        "The broker of `RUNYARD_EXECUTOR` did not take a message. Runs wait until it does. Logged once until it works.",
        "Check the broker's address and that it runs.",
    ),
    LogAction("executor.announce_failed", "warning", "Ready runs could not be read and announced.", _CHECK_DATABASE),
    LogAction("executor.claim_failed", "warning", "A task could not claim a run. A later task does.", _CHECK_DATABASE),
    # agents
    LogAction("agent.crashed", "warning", "An agent raised an exception. Its run ends with `agent_error`.", _FIX_AGENT),
    LogAction("agent.decided", "info", "An agent in a channel called a tool, `do_nothing` included."),
    LogAction(
        "agent.interrupted",
        "error",
        "The watchdog interrupted agent code that blocked the event loop for too long. The run ends with an error.",
        "Move the blocking call at `where` into a thread (`asyncio.to_thread`) or a plain `def` tool.",
    ),
    LogAction("memory.updated", "info", "An agent changed its memory."),
    LogAction("tool.finished", "info", "A tool call ended. `outcome` is `ok` or an error code."),
    LogAction(
        "remote_agent.call_failed",
        "warning",
        "A remote agent did not answer, or answered with an error.",
        "Check the remote agent's service and address.",
    ),
    LogAction("mcp.connected", "info", "A connection to an MCP server is open."),
    LogAction(
        "mcp.connection_failed",
        "warning",
        "A connection to an MCP server could not be opened, or broke. The next call opens a new one.",
        "Check the MCP server's command or address.",
    ),
    LogAction("models.load_started", "info", "The model library is being imported, before the worker claims runs."),
    LogAction("models.loaded", "info", "The model library is imported."),
    LogAction(
        "models.load_failed",
        "error",
        "A library of models or tool servers cannot be imported. Runs that need it will fail.",
        "Reinstall Runyard with its dependencies.",
    ),
    LogAction(
        "sandbox.checked",
        "info",
        "The sandbox was tested on this machine. `works` is false if it does not isolate.",
        "If `works` is false, run `runyard doctor` for the reason.",
    ),
    LogAction(
        "sandbox.kill_failed",
        "error",
        "Processes of a sandbox are still alive after they were killed.",
        "Look for processes in uninterruptible sleep and kill them.",
    ),
    LogAction(
        "sandbox.cleanup_failed",
        "error",
        "A temporary folder of the sandbox could not be removed.",
        "Remove it from the temporary directory. Check the file system.",
    ),
    # runs
    LogAction("run.finished", "info", "A run ended. `status` and `code` say how."),
    LogAction("run.abandoned", "info", "A run was canceled because no client reconnected in time."),
    LogAction(
        "run.reaped",
        "warning",
        "A run's worker stopped sending heartbeats. `fate` says whether the run was queued again or ended.",
        "Find out why the worker died or froze.",
    ),
    LogAction("run.ownership_lost", "info", "A worker stopped writing to a run that another worker has taken over."),
    LogAction(
        "run.agent_not_found",
        "warning",
        "A worker claimed a run whose agent its app does not declare, and gave it back.",
        "Deploy an app that declares the agent, or cancel the run.",
    ),
    LogAction(
        "run.event_rejected",
        "error",
        "The store rejected an event of a run. The run ends with `unwritable`.",
        "Look at the `journal.write_rejected` line of the same run.",
    ),
    LogAction(
        "run.write_failed",
        "error",
        "A worker could not write to a run and left it. The reaper recovers the run.",
        _CHECK_DATABASE,
    ),
    LogAction(
        "run.release_failed",
        "warning",
        "A worker could not put a claimed run back into the queue. The reaper recovers it.",
        _CHECK_DATABASE,
    ),
    LogAction(
        "run.database_call_retried",
        "warning",
        "A run waits for the database and repeats a call.",
        _CHECK_DATABASE,
    ),
    LogAction("push.failed", "info", "The receiver did not accept a push notification. It is sent again later."),
    LogAction(
        "push.given_up",
        "warning",
        "A push notification failed too often, or its receiver answered 410. Nothing more is sent to it.",
        "Check the receiver. The client can set the configuration again; it then gets the missed updates.",
    ),
    LogAction(
        "push.claim_failed",
        "warning",
        "Push notifications could not be read or recorded. They follow later.",
        _CHECK_DATABASE,
    ),
    LogAction("wait.expired", "info", "A timer was due, or a wait passed its deadline without an answer."),
    LogAction(
        "waits.answer_delayed",
        "warning",
        "A run ended, but the run that waits for it could not be answered yet. A sweep repeats it.",
        _CHECK_DATABASE,
    ),
    LogAction("deadline.cancel_failed", "warning", "A run past its deadline could not be canceled.", _CHECK_DATABASE),
    LogAction(
        "disconnect.save_failed",
        "warning",
        "A client's disconnect could not be stored, so its run will not be canceled for it.",
        _CHECK_DATABASE,
    ),
    # log and streams
    LogAction(
        "journal.write_retried", "warning", "Events could not be committed; the write is repeated.", _CHECK_DATABASE
    ),
    LogAction(
        "journal.write_rejected",
        "error",
        "The database rejected an event of one run. Other runs are not affected.",
        "Look at the error class and at the database's own log.",
    ),
    LogAction(
        "outbox.publish_failed", "warning", "Committed events could not be published to followers.", _CHECK_DATABASE
    ),
    LogAction("streams.poll_failed", "warning", "The position of followed logs could not be read.", _CHECK_DATABASE),
    LogAction(
        "stream.stalled",
        "info",
        "A client read too slowly, so its stream was closed. It can reconnect and continue.",
        "If it is frequent, check the client and the proxies in between.",
    ),
    LogAction(
        "feed.update_failed", "warning", "New entries of the channel feed could not be numbered.", _CHECK_DATABASE
    ),
    LogAction("reply_order.advanced", "info", "The next runs of a group chat were put into the queue."),
    LogAction(
        "reply_order.round_failed", "warning", "The next runs of group chats could not be queued.", _CHECK_DATABASE
    ),
    # workers
    LogAction("worker.registered", "info", "A worker has a new id and may claim runs."),
    LogAction("worker.claim_failed", "warning", "A worker could not claim runs from the queue.", _CHECK_DATABASE),
    LogAction("worker.heartbeat_failed", "warning", "A heartbeat failed and is repeated.", _CHECK_DATABASE),
    LogAction(
        "worker.lease_lost",
        "error",
        "A worker's lease expired. It stopped its runs, and other workers take them over.",
        "Check the database, the network and the machine's load.",
    ),
    LogAction(
        "worker.orphan_claim_released",
        "warning",
        "The store had a run assigned to this worker that the worker did not know. It was put back into the queue.",
    ),
    LogAction("worker.cancel_poll_failed", "warning", "Cancel requests could not be read.", _CHECK_DATABASE),
    LogAction("worker.drain_started", "info", "A worker claims no more runs and waits for its runs to end."),
    LogAction(
        "worker.deregister_failed",
        "warning",
        "A stopping worker could not be removed from the store. Its lease expires by itself.",
    ),
    LogAction("reaper.round_failed", "warning", "A round of the reaper failed and will be repeated.", _CHECK_DATABASE),
    LogAction(
        "database.sessions_terminated",
        "warning",
        "Database sessions of a stuck process held locks and were terminated.",
        "Find out which process froze.",
    ),
    # upkeep
    LogAction("retention.swept", "info", "The retention policy deleted old rows. The counts say how many."),
    LogAction("retention.sweep_failed", "warning", "Old rows could not be deleted.", _CHECK_DATABASE),
    LogAction(
        "files.removal_failed", "error", "Files of a deleted object could not be removed; repeated.", _CHECK_DISK
    ),
    LogAction("files.cleanup_failed", "warning", "The list of deleted objects could not be read.", _CHECK_DATABASE),
    LogAction(
        "uploads.cleanup_failed", "warning", "Failed uploads and unused files could not be deleted.", _CHECK_DATABASE
    ),
    LogAction("snapshot.ignored", "info", "A snapshot of another version was ignored; the log was read instead."),
    LogAction(
        "snapshot.save_failed", "warning", "A snapshot was not saved; readers read more of the log.", _CHECK_DATABASE
    ),
    LogAction("snapshot.fold_failed", "warning", "A snapshot of a running run could not be made.", _CHECK_DATABASE),
    LogAction(
        "snapshot.timed_out", "warning", "A run ended before its last snapshot was made; readers read more of the log."
    ),
    LogAction("checkpoint.round_failed", "warning", "Due checkpoints could not be read.", _CHECK_DATABASE),
    LogAction(
        "checkpoint.save_failed", "error", "A checkpoint was not saved; a fallback copy is written.", _CHECK_DISK
    ),
    LogAction(
        "checkpoint.save_timed_out", "error", "A checkpoint took too long; a fallback copy is written.", _CHECK_DISK
    ),
    LogAction("checkpoint.fallback_failed", "error", "A fallback copy could not be written.", _CHECK_DISK),
    LogAction("checkpoint.restore_failed", "warning", "A fallback copy could not be saved again.", _CHECK_DISK),
    LogAction("checkpoint.read_failed", "warning", "A fallback copy could not be read or decrypted.", _CHECK_DISK),
    LogAction("checkpoint.discarded", "info", "A fallback copy was removed because its chat was deleted."),
    LogAction("checkpoint.drafts_removed", "info", "Half-written files of killed processes were removed."),
    LogAction("background_task.failed", "error", "A background loop raised and was started again.", _REPORT),
    # access
    LogAction("api_key.created", "info", "An API key was created."),
    LogAction("api_key.revoked", "info", "An API key was revoked."),
    LogAction("api_key.rejected", "info", "A request had an API key that is unknown, expired, revoked or wrong."),
    LogAction(
        "api_keys.missing",
        "warning",
        "The server requires API keys, but none exists. No client can connect.",
        "Create one with `runyard keys create --owner NAME --scope all`.",
    ),
    # HTTP
    LogAction("request.finished", "info", "The access log: a request, or a whole stream, is over."),
    LogAction("request.failed", "error", "A request was answered with a 5xx status. `code` says why.", _CHECK_DATABASE),
    LogAction(
        "request.crashed", "error", "A request raised an unexpected exception and was answered with 500.", _REPORT
    ),
    LogAction("contract.answered", "info", "A request of the agent contract was answered."),
    # the bus
    LogAction("bus.connected", "info", "The connection to the message bus is open."),
    LogAction(
        "bus.disconnected",
        "warning",
        "The connection to the message bus broke. Clients are served by polling until it is back.",
        "Check the bus and the network. Nothing is lost meanwhile.",
    ),
    LogAction(
        "bus.handler_failed", "error", "A message of the bus could not be handled. Polling makes up for it.", _REPORT
    ),
    # the process
    LogAction("server.started", "info", "The server accepts requests at `url`."),
    LogAction("metrics_server.started", "info", "Metrics are served at `url`."),
    LogAction(
        "process.child_ended",
        "error",
        "A process of `serve --processes` ended by itself. It is started again if it had served before.",
        "Look at the lines before it.",
    ),
    LogAction("process.restart_started", "info", "SIGHUP was received: the processes are replaced one after another."),
    LogAction("process.restart_finished", "info", "All processes are replaced."),
    LogAction(
        "process.restart_failed",
        "error",
        "A new process could not start, so the old ones stay.",
        "Fix what the lines before it say, then send SIGHUP again.",
    ),
    LogAction("process.stop_requested", "info", "The process received a signal to stop."),
    LogAction(
        "process.tasks_abandoned",
        "warning",
        "Tasks of agents ignored their cancellation when the process ended.",
        "Do not suppress `asyncio.CancelledError` in agents.",
    ),
    LogAction(
        "process.aborted",
        "critical",
        "The event loop stayed blocked, so the process ended itself with exit code 70.",
        "Fix the blocking call at `where`.",
    ),
    LogAction(
        "event_loop.blocked",
        "warning",
        "The event loop has not run for a second. `where` is the line that blocks it.",
        "Move the blocking call at `where` into a thread.",
    ),
    LogAction(
        "event_loop.exit_ignored",
        "error",
        "A callback raised SystemExit or KeyboardInterrupt, and the server ignored it.",
        "Remove the call of `exit` from agent code.",
    ),
    LogAction("thread.crashed", "error", "A thread ended with an exception.", "Fix the code at `where`."),
    LogAction("exception.ignored", "error", "An exception in a destructor was ignored.", "Fix the code at `where`."),
    LogAction("library.logged", "any", "A library logged something. Only its source is kept, never its text."),
    LogAction(
        "log.lines_lost",
        "warning",
        "Log lines were dropped because stderr did not accept them in time.",
        "Check the program that reads the log.",
    ),
)
