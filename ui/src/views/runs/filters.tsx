/** Which runs are listed: by status, agent, age, cost, error code and id. */

import { agents, type RunQuery } from "../../api/calls";
import { Choice } from "../../frame/choice";
import type { Status } from "../../log/events";
import type { Query } from "../../state/query";
import { useReading } from "../../state/requests";

const STATUSES: Status[] = ["queued", "running", "waiting", "done", "error", "canceled"];
const HOUR_MS = 3_600_000;
const AGES: Record<string, number> = {
  "last hour": HOUR_MS,
  "last day": 24 * HOUR_MS,
  "last 7 days": 7 * 24 * HOUR_MS,
  "last 30 days": 30 * 24 * HOUR_MS,
};
const COSTS: Record<string, number> = {
  "$0.01 or more": 0.01,
  "$0.10 or more": 0.1,
  "$1 or more": 1,
  "$10 or more": 10,
};
const SHORTEST_ID = 4;

export type Filter = {
  status?: string | undefined;
  agent?: string | undefined;
  age?: string | undefined;
  cost?: string | undefined;
  error?: string | undefined;
  id?: string | undefined;
};

export function Filters({ filter, choose }: { filter: Filter; choose: (filter: Filter) => void }) {
  const to = (part: Filter) => choose({ ...filter, ...part });
  const { value: known } = useReading(agents, []);
  const names = (known ?? []).map((agent) => agent.id);
  return (
    <div class="filters" role="group" aria-label="Filter">
      <Choice name="Status" options={STATUSES} value={filter.status} choose={(status) => to({ status })} />
      <Choice name="Agent" options={names} value={filter.agent} choose={(agent) => to({ agent })} />
      <Choice name="Age" options={Object.keys(AGES)} value={filter.age} choose={(age) => to({ age })} />
      <Choice name="Cost" options={Object.keys(COSTS)} value={filter.cost} choose={(cost) => to({ cost })} />
      <Words name="Error code" value={filter.error} choose={(error) => to({ error })} />
      <Words name="Run id" value={filter.id} choose={(id) => to({ id })} />
    </div>
  );
}

type Written = { name: string; value: string | undefined; choose: (value: string | undefined) => void };

function Words({ name, value, choose }: Written) {
  return (
    <label class="inline">
      {name}
      <input
        type="search"
        aria-label={name}
        class="narrow"
        maxlength={100}
        value={value ?? ""}
        onInput={(event) => choose(event.currentTarget.value || undefined)}
      />
    </label>
  );
}

/** The filter that the address names, without a status, an age or a cost that is not offered. Pure. */
export const filterOf = ({ status, agent, age, cost, error, id }: Query): Filter => ({
  status: STATUSES.find((each) => each === status),
  agent,
  age: age !== undefined && Object.hasOwn(AGES, age) ? age : undefined,
  cost: cost !== undefined && Object.hasOwn(COSTS, cost) ? cost : undefined,
  error,
  id,
});

/** The filter as the server takes it, at this time. Pure. */
export function queryOf(filter: Filter, now = Date.now()): RunQuery {
  const age = AGES[filter.age ?? ""];
  const id = filter.id?.trim().toLowerCase();
  return {
    status: STATUSES.find((status) => status === filter.status),
    agent: filter.agent,
    error: filter.error?.trim() || undefined,
    since: age ? new Date(now - age).toISOString() : undefined,
    min_usd: COSTS[filter.cost ?? ""],
    id_part: id && id.length >= SHORTEST_ID ? id.slice(0, 36) : undefined,
  };
}
