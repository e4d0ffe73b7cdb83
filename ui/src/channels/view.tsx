import type { Route } from "../route";
export function Channels(_: { route: Route }) {
  return <main class="view page" />;
}
