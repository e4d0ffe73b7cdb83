/** The states of a view without content: loading, or not found. */

import { href, type Route } from "../state/route";

export const Loading = () => (
  <p class="faint pad" role="status" aria-label="Loading">
    Loading…
  </p>
);

/** `what` is not there. `to` leads to a place that is, under the name `name`. */
export const Missing = ({ what, to, name }: { what: string; to: Route; name: string }) => (
  <div class="missing">
    <h1>There is no such {what}</h1>
    <p class="lead">It was deleted, it belongs to another owner, or the address is wrong.</p>
    <p>
      <a class="button" href={href(to)}>
        {name}
      </a>
    </p>
  </div>
);
