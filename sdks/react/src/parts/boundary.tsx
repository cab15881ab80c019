/** An error boundary for a part of the page: without one, React unmounts everything. */
import { Component, type ReactNode } from "react";
import { sayWhy } from "../state/words.js";

interface Props {
  /** What is rendered; a change resets the boundary. */
  of?: unknown;
  /** The fallback. */
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
