"""Tables of threads, channels, what people add to them, agents, their memory and their usage for a terminal."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from runyard.cli.terminal.output import echo, style
from runyard.cli.terminal.text import age, age_of_id, money, one_line, plain, tokens, until
from runyard.cli.terminal.text_table import TextTable
from runyard.cli.terminal.wrapping import filled

if TYPE_CHECKING:
    from runyard.client.annotation_wire import ShareInfo, UnreadInfo
    from runyard.client.wire import (
        AgentInfo,
        BlockInfo,
        ChannelInfo,
        ChannelMessage,
        FeedbackInfo,
        FoundMessage,
        PassageInfo,
        ThreadInfo,
        ThreadMessage,
        UsageInfo,
    )

MOST_UNREAD = 100  # that a server counts in one channel


def threads_table(threads: "Iterable[ThreadInfo]") -> TextTable:
    made = TextTable("thread", "agent", "age", "active", "title", wraps=(4,))
    for thread in threads:
        active = age_of_id(max(thread.head_run_id or "", thread.thread_id))
        agent, title = plain(thread.agent or "-"), plain(thread.title or "-")
        made.add_row(thread.thread_id, agent, age(thread.created_at), active, title)
    return made


def found_table(messages: "Iterable[FoundMessage]") -> TextTable:
    """Return messages that a search found. The words that were found are in brackets."""
    made = TextTable("thread", "age", "who", "message", wraps=(3,))
    for found in messages:
        made.add_row(found.thread_id, age(found.created_at), found.role, plain(_marked(found.text, found.marks)))
    return made


def _marked(text: str, marks: "Sequence[tuple[int, int]]") -> str:
    for start, end in reversed(marks):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return " ".join(text.split())


def print_thread_messages(messages: "Iterable[ThreadMessage]") -> None:
    for message in messages:
        _message(message.role, message.created_at, message.content)


def channels_table(channels: "Sequence[ChannelInfo]") -> TextTable:
    """Return the list of channels. It has a column of topics only if a channel has one."""
    has_topics = any(channel.topic for channel in channels)
    names = ["channel", "kind", "name", "age", "members", *(["topic"] if has_topics else [])]
    made = TextTable(*names, wraps=[4, 5])
    for channel in channels:
        members = ", ".join(plain(member.id) for member in channel.people)
        topic = [one_line(channel.topic or "", 200)] if has_topics else []
        made.add_row(channel.id, channel.kind, one_line(channel.name, 40), age(channel.created_at), members, *topic)
    return made


def print_channel_messages(messages: "Iterable[ChannelMessage]") -> None:
    for message in messages:
        sender = f"{message.user_id} (agent)" if message.is_agent else message.user_id
        _message(f"{sender}{' replied' if message.parent_message_id else ''}", message.created_at, message.text)


def _message(sender: str, created_at: str, text: str) -> None:
    echo(f"{style(plain(sender), bold=True)} {style(f'{age(created_at)} ago', dim=True)}")
    echo(f"{filled(plain(text), sys.stdout, '')}\n")


def shares_table(shares: "Iterable[ShareInfo]") -> TextTable:
    made = TextTable("link", "age", "valid for")
    for share in shares:
        made.add_row(share.share_id, age(share.created_at), until(share.expires_at) or "-")
    return made


def print_feedback(feedback: "FeedbackInfo | None") -> None:
    if feedback is None:
        echo("No feedback")
        return
    made = TextTable("", "", wraps=[1], header=False)
    made.add_row("feedback", style(feedback.value, fg="green" if feedback.value == "up" else "red"))
    made.add_row("age", age(feedback.created_at))
    if feedback.comment:
        made.add_row("comment", plain(feedback.comment))
    made.echo()


def unread_table(found: "Iterable[UnreadInfo]", channels: "Mapping[str, ChannelInfo]") -> TextTable:
    """Return the unread messages of channels. A DM has the names of its participants."""
    made = TextTable("channel", "name", "unread", "read up to", wraps=[1])
    for each in found:
        channel = channels.get(each.id)
        people = ", ".join(plain(member.id) for member in channel.people) if channel else ""
        name = one_line(channel.name, 40) if channel and channel.name else people
        count = f"{each.unread}+" if each.unread >= MOST_UNREAD else str(each.unread)
        made.add_row(each.id, name or "-", count, each.read_message_id or "-")
    return made


def agents_table(agents: "Iterable[AgentInfo]") -> TextTable:
    made = TextTable("agent", "model", "turns", "budget", "state", "title", wraps=[5])
    for agent in agents:
        state = "declared" if agent.is_declared else "made here"
        made.add_row(
            plain(agent.id),
            plain(agent.model_id or "-"),
            str(agent.max_turns),
            money(agent.max_budget_usd),
            state if agent.is_active else style("inactive", fg="yellow"),
            one_line(agent.title or ("" if agent.display_name == agent.id else agent.display_name)),
        )
    return made


def print_agent(agent: "AgentInfo") -> None:
    made = TextTable("", "", wraps=[1], header=False)
    made.add_row("agent", plain(agent.id))
    made.add_row("name", plain(agent.display_name or agent.id))
    if agent.title:
        made.add_row("title", plain(agent.title))
    made.add_row("state", "active" if agent.is_active else style("inactive", fg="yellow"))
    made.add_row("declared", "in code" if agent.is_declared else "over the API")
    made.add_row("model", plain(agent.model_id or "-"))
    made.add_row("limits", f"{agent.max_turns} turns, {money(agent.max_budget_usd)}")
    if agent.system_prompt:
        made.add_row("prompt", plain(agent.system_prompt))
    made.echo()


def memory_table(agent_id: str, blocks: "Iterable[BlockInfo]", passages: "Iterable[PassageInfo]") -> TextTable:
    """Return the blocks by label and the passages by id, in one table."""
    made = TextTable("block or passage", "age", "note", "content", wraps=[3])
    for block in blocks:
        note = f"of {plain(block.owner_id)}" if block.owner_id != agent_id else "shared" if block.is_shared else ""
        made.add_row(plain(block.label), age(block.updated_at), note, one_line(block.content, 300))
    for passage in passages:
        made.add_row(passage.id, age(passage.created_at), plain(" ".join(passage.tags)), one_line(passage.content, 300))
    return made


def usage_table(title: str, rows: "Iterable[tuple[str, tuple[int, UsageInfo]]]") -> TextTable:
    """Return runs, tokens and cost by day or agent."""
    made = TextTable(title, "runs", "tokens in", "tokens out", "cost")
    for name, (runs, usage) in rows:
        made.add_row(
            plain(name), f"{runs:,}", tokens(usage.input_tokens), tokens(usage.output_tokens), money(usage.usd)
        )
    return made
