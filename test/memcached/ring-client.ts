/** A client that shares keys out on a ring by the slots of servers, as docs/memcached.md says. */
import HashRing from 'hashring';
import { onThisMachine } from './kubelet/addresses.ts';
import { TextClient } from './text-client.ts';

/** What became of a key that was asked for. */
export type Found = 'there' | 'missing' | 'unreachable';

export class RingClient {
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #ring: HashRing;
  readonly #connections: Map<string, Promise<TextClient>>;

  /**
   * @param lines of `servers.txt`.
   * @param before whose connections are taken over, as of a client that has read the list again.
   */
  constructor(lines: readonly string[], before?: RingClient) {
    this.#addresses = new Map(lines.map((line) => line.split(' ')).map(([name = '', address = '']) => [name, address]));
    this.#ring = new HashRing([...this.#addresses.keys()]);
    this.#connections = before === undefined ? new Map() : before.#connections;
  }

  /** The name of the slot that has a key. */
  slotOf(key: string): string {
    return this.#ring.get(key);
  }

  /** What is not there is there afterwards, where the server can be reached. */
  async ask(key: string): Promise<Found> {
    const address = this.#addresses.get(this.slotOf(key)) ?? '';
    try {
      const client = await this.#connected(address);
      if ((await client.get(key)) !== undefined) return 'there';
      await client.set(key, key);
      return 'missing';
    } catch {
      this.#connections.delete(address);
      return 'unreachable';
    }
  }

  close(): void {
    for (const connection of this.#connections.values()) {
      void connection.then(
        (client) => client.close(),
        () => {},
      );
    }
  }

  async #connected(address: string): Promise<TextClient> {
    const [podIP = ''] = address.split(':');
    const connection = this.#connections.get(address) ?? TextClient.connect(onThisMachine(podIP));
    this.#connections.set(address, connection);
    return await connection;
  }
}
