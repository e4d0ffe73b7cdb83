"""The parts of the engine that faces use."""

from dataclasses import dataclass

from runyard.domain.runs.run import Run
from runyard.engine.access import Access
from runyard.engine.channels.activity import ConversationActivity
from runyard.engine.channels.agent_directory import AgentDirectory
from runyard.engine.channels.agent_history import AgentHistory
from runyard.engine.channels.conversations import Conversations
from runyard.engine.channels.feed import Feed
from runyard.engine.control.cancel import Cancel
from runyard.engine.control.deadlines import Deadlines
from runyard.engine.control.disconnects import Disconnects
from runyard.engine.control.linked_runs import LinkedRuns
from runyard.engine.control.waits import Waits
from runyard.engine.feedback import FeedbackBook
from runyard.engine.files import Files
from runyard.engine.intake.intake import Intake
from runyard.engine.log.pushes import Pushes
from runyard.engine.log.stream import Streams
from runyard.engine.log.tree import Trees
from runyard.engine.model_requests import ModelRequests
from runyard.engine.queries.checkpoints import Checkpoints
from runyard.engine.queries.overview import Overviews
from runyard.engine.queries.statistics import Statistics
from runyard.engine.queries.thread_search import ThreadSearch
from runyard.engine.queries.views import Views
from runyard.engine.shares import Shares


@dataclass(frozen=True)
class Engine:
    intake: Intake
    views: Views
    thread_search: ThreadSearch
    shares: Shares
    feedback: FeedbackBook
    streams: Streams
    trees: Trees
    cancel: Cancel
    waits: Waits
    linked_runs: LinkedRuns
    disconnects: Disconnects
    checkpoints: Checkpoints
    access: Access
    deadlines: Deadlines
    conversations: Conversations
    agent_directory: AgentDirectory
    feed: Feed
    agent_history: AgentHistory
    activity: ConversationActivity
    overviews: Overviews
    files: Files
    pushes: Pushes
    model_requests: ModelRequests
    statistics: Statistics

    async def cancel_last_run(self, owner: str, thread: str, patience: float) -> Run | None:
        """Cancel the last run of a thread, which is named by its id or by the name that a client gave it. Return None
        if there is none."""
        run = (await self.views.thread_head(owner, thread)).run
        return None if run is None else await self.cancel(owner, run.id, patience)
