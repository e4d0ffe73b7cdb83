/** The number of queued, running and waiting runs. */

import { overview, type Seen } from "../api/overview";
import { useReading } from "../state/requests";

const EVERY = 3000;

export function Overview() {
  const { value: seen } = useReading(overview, [], EVERY);
  return (
    <div class="overview" role="status" aria-label="Overview">
      {seen && (
        <>
          <Count name="queued" count={seen.queued} />
          <Count name="running" count={seen.running} />
          <Count name="waiting" count={seen.waiting} />
        </>
      )}
    </div>
  );
}

function Count({ name, count }: { name: string; count: Seen["queued"] }) {
  return (
    <span class={count === 0 ? "count none" : "count"} data-count={name}>
      <b>{count}</b> {name}
    </span>
  );
}
