/** The agents of a daemon and what each offers, requested on demand. */
import { sayWhy } from "chat/state/words";
import type { AgentInfo, Operations } from "sandbox-agentd";
import type { Mode, Model } from "../daemon/types";
import { Observable } from "chat/state/observable";

export interface Offer {
  readonly modes: readonly Mode[];
  readonly models: readonly Model[];
  readonly defaultModel: string | null;
  readonly failure: string | null;
}

interface View {
  readonly agents: readonly AgentInfo[];
  readonly failure: string | null;
  readonly loading: boolean;
}

export class AgentList extends Observable<View> {
  #view: View = { agents: [], failure: null, loading: true };
  #offers = new Map<string, Promise<Offer>>();
  #reloads = 0;

  constructor(private readonly client: Operations) {
    super();
  }

  get snapshot(): View {
    return this.#view;
  }

  async reload(): Promise<void> {
    const reload = ++this.#reloads;
    this.#set({ loading: true });
    const change = await this.client.listAgents().then(
      ({ agents }) => ({ agents, failure: null }),
      (error: unknown) => ({ failure: sayWhy(error) }),
    );
    // An earlier request may be answered later, and says less.
    if (reload !== this.#reloads) return;
    this.#offers.clear();
    this.#set({ ...change, loading: false });
  }

  /** Modes and models of an agent in a directory. An agent that cannot list its models still has modes. */
  offer(agent: string, directory: string): Promise<Offer> {
    const key = `${agent}\n${directory}`;
    let offer = this.#offers.get(key);
    if (!offer) {
      offer = this.#ask(agent, directory);
      this.#offers.set(key, offer);
    }
    return offer;
  }

  async #ask(agent: string, directory: string): Promise<Offer> {
    const query = directory ? { directory } : {};
    const [modes, models] = await Promise.allSettled([this.client.listModes(agent, query), this.client.listModels(agent, query)]);
    const failed = [modes, models].find((answer) => answer.status === "rejected");
    return {
      modes: modes.status === "fulfilled" ? modes.value.modes : [],
      models: models.status === "fulfilled" ? models.value.models : [],
      defaultModel: models.status === "fulfilled" ? (models.value.defaultModel ?? null) : null,
      failure: failed ? sayWhy(failed.reason) : null,
    };
  }

  #set(change: Partial<View>): void {
    this.#view = { ...this.#view, ...change };
    this.changed();
  }
}
