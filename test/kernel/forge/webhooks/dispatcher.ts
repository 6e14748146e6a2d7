import type { ForgeContext } from '../context.ts';
import type { Hook } from '../model.ts';
import { Mutex } from '../mutex.ts';
import { idOf } from '../people.ts';
import type { Deliverer, Target } from './deliverer.ts';
import type { Delivery, Message } from './delivery.ts';
import type { ForgeEvent } from './event.ts';
import { messageOf, pingOf } from './payload.ts';

/** What an installed app adds to a repository: its own hook, with the installation in every payload. */
export interface AppTarget extends Target {
  readonly installation: { readonly id: number; readonly node_id: string };
}

export interface DispatcherOptions {
  readonly deliverer: Deliverer;
  /** The hooks of the apps that are installed on the repository. */
  readonly apps: (forge: ForgeContext) => readonly AppTarget[];
  /** Looks at every message before it is sent, for example against GitHub's description. */
  readonly inspect: (message: Message) => Promise<void>;
  /** Hears of a payload that could not be made. */
  readonly failed: (reason: string) => void;
  readonly enterpriseHost?: string;
}

/** Turns what happens in one repository into messages to its hooks, in the order in which it happened. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #order = new Mutex();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Never throws and never waits: whoever caused the event goes on. */
  dispatch(forge: ForgeContext, event: ForgeEvent): void {
    const wants = ({ hook }: Target): boolean =>
      hook.active && (hook.events.includes('*') || hook.events.includes(event.name));
    const targets = this.#hooksOf(forge).filter(wants);
    const apps = this.#options.apps(forge).filter(wants);
    if (targets.length === 0 && apps.length === 0) return;
    const { deliverer, failed } = this.#options;
    const sending = this.#order.run(async () => {
      const message = await messageOf(forge, event);
      await this.#options.inspect(message);
      for (const target of targets) void deliverer.send(target, message);
      for (const { installation, ...target } of apps) {
        void deliverer.send(target, { ...message, payload: { ...message.payload, installation } });
      }
    });
    void deliverer.track(
      sending.catch((cause: unknown) => failed(`the webhook ${event.name} could not be made: ${String(cause)}`)),
    );
  }

  /** Sends a hook its `ping`. */
  async ping(forge: ForgeContext, hook: Hook): Promise<Delivery | undefined> {
    const { deliverer, inspect } = this.#options;
    const message = pingOf(forge, hook);
    // From here on, so that nobody takes all for delivered while it is looked at.
    return await deliverer.track(inspect(message).then(() => deliverer.send(this.#targetOf(forge, hook), message)));
  }

  /** What was delivered to one hook of a repository, the oldest first. */
  deliveries(forge: ForgeContext, hook: Hook): readonly Delivery[] {
    return this.#options.deliverer.deliveries(keyOf(forge, hook));
  }

  redeliver(id: number): Promise<Delivery | undefined> {
    return this.#options.deliverer.redeliver(id);
  }

  forget(forge: ForgeContext, hook: Hook): void {
    this.#options.deliverer.forget(keyOf(forge, hook));
  }

  #hooksOf(forge: ForgeContext): Target[] {
    return forge.store.state.hooks.map((hook) => this.#targetOf(forge, hook));
  }

  #targetOf(forge: ForgeContext, hook: Hook): Target {
    const { enterpriseHost } = this.#options;
    return {
      key: keyOf(forge, hook),
      hook,
      origin: {
        targetType: 'repository',
        targetId: idOf(`${forge.owner}/${forge.repo}`),
        ...(enterpriseHost === undefined ? {} : { enterpriseHost }),
      },
    };
  }
}

function keyOf({ owner, repo }: ForgeContext, { id }: Hook): string {
  return `${owner}/${repo}#${id}`;
}
