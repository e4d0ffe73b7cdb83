/** How a run is, as a word and a colour. */

import type { Status } from "../../log/events";

export const StatusChip = ({ status }: { status: Status }) => (
  <span class="status" data-status={status}>
    <span class="dot" data-is={status} aria-hidden="true" />
    {status}
  </span>
);
