/** Shows what happened if a view cannot be drawn, instead of nothing; another place, or `Try again`, draws it again. */

import { Component, type ComponentChildren } from "preact";
import { href } from "../state/route";
import { Failure } from "./failure";

/** `place`: the address of the view. */
type Shape = { place: string; children: ComponentChildren };

export class Boundary extends Component<Shape, { failure?: string | undefined }> {
  static override getDerivedStateFromError(error: unknown): { failure: string } {
    return { failure: String(error) };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override componentDidUpdate({ place }: Shape): void {
    if (place !== this.props.place && this.state.failure !== undefined) this.again();
  }

  private readonly again = () => this.setState({ failure: undefined });

  override render({ children }: Shape, { failure }: { failure?: string | undefined }) {
    if (failure === undefined) return children;
    return (
      <main class="view page">
        <div class="missing">
          <h1>This view cannot be shown</h1>
          <Failure text={failure} again={this.again} />
          <p>
            <a class="button" href={href({ view: "chats" })}>
              New chat
            </a>
          </p>
        </div>
      </main>
    );
  }
}
