/** Why a run ended otherwise than well, and what to do about it. */

import type { RunState } from "../../log/fold/state";

const ADVICE: Record<string, string> = {
  agent_error: "The agent's own code failed. Its events show how far it came. Fix the agent, then try again.",
  validation_error:
    "This agent takes tasks with inputs, not words. Send it a task (docs/contract.md), or choose another agent.",
  nondeterministic: "The agent's code changed while it waited. Try again to start over with the new code.",
  node_timeout: "Try again, or give the node more time in the plan.",
  unknown_outcome: "Look at what the tool acts on before you try again: it may have happened.",
  poison: "This run has taken several workers down with it. Look at its events before you try again.",
  model_error: "Try again; if it happens again, look at the model's settings.",
  model_unavailable: "The provider is unavailable. Try again in a moment.",
  model_timeout: "The provider is slow. Try again in a moment.",
  rate_limited: "Wait a minute, then try again.",
  model_refused: "Check the model's name and the provider's key on the server.",
  context_too_long: "Start a new chat, or fork from an earlier message.",
  remote_unavailable: "Check that the remote agent runs, then try again.",
  remote_timeout: "Try again, or give the remote agent more time.",
  timeout: "The run took longer than its agent may. Try again, or raise `max_seconds`.",
};
const OTHERWISE = "Try again, or look at the run's events to see how it came to that.";

const STOPPED: Record<string, string> = {
  max_steps: "The agent stopped early: it has used all its turns (max_turns).",
  max_tokens_exceeded: "The agent stopped early: its budget is spent (max_usd, max_output_tokens).",
  invalid_tool_call: "The agent stopped early: its last tool calls were invalid.",
};

export function Trouble({ state, retry }: { state: RunState; retry: (() => void) | undefined }) {
  const again = retry && (
    <button type="button" class="small" onClick={retry}>
      Try again
    </button>
  );
  if (state.error) {
    return (
      <div class="trouble" role="alert">
        <p>
          <strong>{state.error.message || "The run failed."}</strong> {ADVICE[state.error.code] ?? OTHERWISE}
        </p>
        <p class="faint">
          <code>{state.error.code}</code> {again}
        </p>
      </div>
    );
  }
  if (state.canceled === "forked") return <p class="stopped">The fork begins here; all above is a copy.</p>;
  if (state.canceled !== undefined) {
    return (
      <p class="stopped" role="status">
        {state.canceled === "requested" ? "Stopped." : `Stopped: ${state.canceled}.`} {again}
      </p>
    );
  }
  const stopped = state.stopReason && STOPPED[state.stopReason];
  return stopped ? <p class="stopped">{stopped}</p> : null;
}
