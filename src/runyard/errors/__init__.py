"""Every error that Runyard raises on purpose. The docstring of a class is its default message.

    RunyardError
    ├── KeyRequired               401  no valid API key was sent
    ├── ScopeMissing              403  the key lacks the scope
    ├── NotFound                  404  the owner has nothing with that id
    ├── Gone                      410  deleted by the retention policy
    ├── Invalid                   422  the request is not valid
    │   ├── BadRequest            400  the request cannot be parsed
    │   ├── InvalidInput               the input does not match the tool
    │   ├── WrongType             415  files of this type are not accepted
    │   └── TooLarge              413
    ├── Conflict                  409
    │   ├── KeyReused                  one Idempotency-Key, two different requests
    │   ├── RunActive                  the run (or thread) has not ended
    │   ├── AlreadyDecided             the approval is decided already
    │   │   └── RunEnded               the run that asked has ended
    │   └── Sealed                     encrypted content cannot be searched
    ├── TooMany                   429  a limit is reached; try again later
    │   ├── TooManyRequests            of one API key, in a short time
    │   ├── TooManyStreams             open at once, of one API key or at this process
    │   └── QueueFull                  too many runs are queued
    ├── Unavailable               503  the database is unavailable; try again
    │   ├── ClockAhead                 the clock of this server is ahead
    │   └── DiskFull                   the database cannot write
    ├── Unreadable                500  a stored value cannot be decrypted
    ├── WriteRefused                   the store rejected a write (engine only)
    │   ├── Fenced                     another worker owns the run now
    │   ├── CancelRequested            finish as canceled instead
    │   ├── NotParked                  a decision came first: continue
    │   └── NonMonotonicSeq            the expected seq is not the next one
    ├── AgentError                     ends a run with the status `error`
    │   ├── InvalidTask                the inputs of a task are not valid
    │   ├── EventTooLarge              an event of the agent is too large
    │   ├── AnswerTooLarge             the answer is too large
    │   ├── BlockedLoop                the agent blocked the event loop and was interrupted
    │   ├── WrongThread                a context was used outside the thread of its agent
    │   ├── Nondeterministic           a replay made other calls than the record
    │   ├── NestedCall                 a step or a tool made a recorded call itself
    │   ├── ResultNotJson              a result is not JSON
    │   ├── StepFailed                 a recorded step raised
    │   │   └── ToolFailed             a tool raised or timed out
    │   │       ├── Rejected           a person rejected the call
    │   │       └── ToolError          raised by a tool; the model receives its message
    │   │           ├── CalledTooOften called too often by this agent for this owner
    │   │           ├── NoSandbox      this machine has no working sandbox
    │   │           ├── ServerGone     its tool server does not answer
    │   │           └── RemoteFailed   a remote agent returned no result
    │   │               ├── RemoteUnavailable  it cannot be reached
    │   │               ├── RemoteNotAllowed   its address is private and not allowed
    │   │               ├── RemoteTimedOut     it took too long
    │   │               └── RemoteBroken       its response is cut off or not of the contract
    │   ├── NodeFailed                 a node of a plan raised
    │   │   └── NodeTimedOut           the node timed out
    │   ├── AnswerTimedOut             no answer came in time
    │   ├── ChildFailed                a child run failed or was canceled
    │   ├── TooManyChildren            too many child runs, or nested too deep
    │   ├── UnknownOutcome             it is unknown whether a `once` call took effect
    │   └── ModelError                 the model returned no answer
    │       ├── ModelUnavailable       it is unreachable, or its answer is cut off
    │       │   ├── ModelTimedOut      it did not respond in time
    │       │   └── RateLimited        the provider limits the rate
    │       ├── ModelRefused           the provider rejects the request: key or parameter
    │       │   └── FilesNotSupported  the model takes no images, or no files
    │       ├── ContextTooLong         the conversation exceeds the context window
    │       └── InvalidAnswer          its answer does not fit the schema of its agent
    └── StartupError                   one sentence for the terminal, exit code 2

`web/errors/problems.py` maps these errors to HTTP status codes. A message never repeats text that a client or a model
sent.
"""

from runyard.errors.agents import (
    AgentError,
    AnswerTimedOut,
    AnswerTooLarge,
    BlockedLoop,
    ChildFailed,
    EventTooLarge,
    InvalidTask,
    NestedCall,
    NodeFailed,
    NodeTimedOut,
    Nondeterministic,
    ResultNotJson,
    StepFailed,
    TooManyChildren,
    UnknownOutcome,
    WrongThread,
)
from runyard.errors.base import (
    RunyardError,
    StartupError,
)
from runyard.errors.models import (
    ContextTooLong,
    FilesNotSupported,
    InvalidAnswer,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
    RateLimited,
)
from runyard.errors.requests import (
    AlreadyDecided,
    BadRequest,
    Conflict,
    Gone,
    Invalid,
    InvalidInput,
    KeyRequired,
    KeyReused,
    NotFound,
    QueueFull,
    RunActive,
    RunEnded,
    ScopeMissing,
    Sealed,
    TooLarge,
    TooMany,
    TooManyRequests,
    TooManyStreams,
    WrongType,
)
from runyard.errors.storage import (
    CancelRequested,
    ClockAhead,
    DiskFull,
    Fenced,
    NonMonotonicSeq,
    NotParked,
    Unavailable,
    Unreadable,
    WriteRefused,
)
from runyard.errors.tools import (
    CalledTooOften,
    NoSandbox,
    Rejected,
    RemoteBroken,
    RemoteFailed,
    RemoteNotAllowed,
    RemoteTimedOut,
    RemoteUnavailable,
    ServerGone,
    ToolError,
    ToolFailed,
)

__all__ = [
    "AgentError",
    "AlreadyDecided",
    "AnswerTimedOut",
    "AnswerTooLarge",
    "BadRequest",
    "BlockedLoop",
    "CalledTooOften",
    "CancelRequested",
    "ChildFailed",
    "ClockAhead",
    "Conflict",
    "ContextTooLong",
    "DiskFull",
    "EventTooLarge",
    "Fenced",
    "FilesNotSupported",
    "Gone",
    "Invalid",
    "InvalidAnswer",
    "InvalidInput",
    "InvalidTask",
    "KeyRequired",
    "KeyReused",
    "ModelError",
    "ModelRefused",
    "ModelTimedOut",
    "ModelUnavailable",
    "NestedCall",
    "NoSandbox",
    "NodeFailed",
    "NodeTimedOut",
    "NonMonotonicSeq",
    "Nondeterministic",
    "NotFound",
    "NotParked",
    "QueueFull",
    "RateLimited",
    "Rejected",
    "RemoteBroken",
    "RemoteFailed",
    "RemoteNotAllowed",
    "RemoteTimedOut",
    "RemoteUnavailable",
    "ResultNotJson",
    "RunActive",
    "RunEnded",
    "RunyardError",
    "ScopeMissing",
    "Sealed",
    "ServerGone",
    "StartupError",
    "StepFailed",
    "TooLarge",
    "TooMany",
    "TooManyChildren",
    "TooManyRequests",
    "TooManyStreams",
    "ToolError",
    "ToolFailed",
    "Unavailable",
    "UnknownOutcome",
    "Unreadable",
    "WriteRefused",
    "WrongThread",
    "WrongType",
]
