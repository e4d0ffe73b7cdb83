"""Requests, responses and event names of the threads face."""

from typing import Literal

from pydantic import BaseModel, Field, StrictInt, StrictStr

from runyard.fields import RequestBody

RunStatus = Literal["queued", "running", "done", "error", "canceled"]
EventName = Literal["token", "tool_start", "tool_end", "final", "error", "canceled", "state"]


class NewThread(RequestBody):
    user_id: StrictStr | StrictInt | None = Field(None, description="The client's id for the user; returned unchanged.")
    agent: str | None = Field(None, description="The agent that answers in this thread; the default agent if left out.")


class ThreadMade(BaseModel):
    thread_id: str


class NewMessage(RequestBody):
    content: str = Field(min_length=1)
    agent: str | None = Field(None, description="The agent that answers this message.")


class RunMade(BaseModel):
    run_id: str


class MessageSeen(BaseModel):
    id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: str


class ThreadSeen(BaseModel):
    thread_id: str
    user_id: str | int | None
    messages: list[MessageSeen] = Field(description="The newest messages, oldest first.")
    next: str | None = Field(description="Pass it as `before` to get earlier messages; null at the beginning.")


class RunSeen(BaseModel):
    run_id: str
    thread_id: str | None
    status: RunStatus
    created_at: str
    started_at: str | None
    finished_at: str | None
    error: str | None


class Canceled(BaseModel):
    ok: Literal[True] = True
    status: RunStatus
