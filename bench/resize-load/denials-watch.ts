import { type CoreV1Event, Watch } from '@kubernetes/client-node';
import { parseAdmissionMessage } from '../../domain/quota-resize/demand/event-message.ts';
import { accessOf } from '../../test/kernel/stack/access.ts';

/** When admission first refused a pod of each namespace, in milliseconds since 1970, as the API server told of it. */
export class DenialsWatch {
  readonly #first = new Map<string, number>();
  #watch: AbortController | null = null;

  static async start(kubeconfig: string): Promise<DenialsWatch> {
    const denials = new DenialsWatch();
    denials.#watch = await new Watch(accessOf(kubeconfig)).watch(
      '/api/v1/events',
      { fieldSelector: 'reason=FailedCreate' },
      (_phase, event: CoreV1Event) => denials.#add(event),
      () => {},
    );
    return denials;
  }

  /** The first refusal in a namespace; undefined while there is none. */
  of(namespace: string): number | undefined {
    return this.#first.get(namespace);
  }

  stop(): void {
    this.#watch?.abort();
  }

  #add({ message, metadata: { namespace = '' } }: CoreV1Event): void {
    if (this.#first.has(namespace)) return;
    if (parseAdmissionMessage(message ?? '').class === 'exceededQuota') this.#first.set(namespace, Date.now());
  }
}
