"""What the engine offers to faces, in one place."""

from dataclasses import dataclass

from runyard.engine.access import Access
from runyard.engine.approvals import Approvals
from runyard.engine.attendance import Attendance
from runyard.engine.cancel import Cancel
from runyard.engine.checkpoints import Checkpoints
from runyard.engine.conversations import Conversations
from runyard.engine.deadlines import Deadlines
from runyard.engine.feed import Feed
from runyard.engine.intake import Intake
from runyard.engine.overview import Overviews
from runyard.engine.records import Records
from runyard.engine.staff import Staff
from runyard.engine.stream import Streams
from runyard.engine.views import Views


@dataclass(frozen=True)
class Engine:
    intake: Intake
    views: Views
    streams: Streams
    cancel: Cancel
    approvals: Approvals
    attendance: Attendance
    checkpoints: Checkpoints
    access: Access
    deadlines: Deadlines
    conversations: Conversations
    staff: Staff
    feed: Feed
    records: Records
    overviews: Overviews
