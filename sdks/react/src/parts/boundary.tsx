/** Where an error of a part ends: without one, React takes the whole page away. */
import { Component, type ReactNode } from "react";
import { sayWhy } from "../state/words.js";

interface Props {
  /** What is drawn; when it changes, it is tried anew. */
  of?: unknown;
  /** What stands there instead. */
  instead: (why: string) => ReactNode;
  children: ReactNode;
}

export class Boundary extends Component<Props, { why: string | null }> {
  override state = { why: null };

  static getDerivedStateFromError(error: unknown): { why: string } {
    return { why: sayWhy(error) };
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.why !== null && before.of !== this.props.of) this.setState({ why: null });
  }

  override render(): ReactNode {
    return this.state.why === null ? this.props.children : this.props.instead(this.state.why);
  }
}
