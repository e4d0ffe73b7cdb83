/** A component that is drawn again only if what it is given has changed. */

import { Component, h, type ComponentChildren } from "preact";

export function memo<P extends object>(
  draw: (props: P) => ComponentChildren,
  isSame: (before: P, after: P) => boolean = shallow,
) {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(after: Readonly<P>): boolean {
      return !isSame(this.props as P, after as P);
    }

    override render(): ComponentChildren {
      return h(draw as never, this.props as never);
    }
  };
}

function shallow<P extends object>(before: P, after: P): boolean {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof P>;
  return [...names].every((name) => Object.is(before[name], after[name]));
}
