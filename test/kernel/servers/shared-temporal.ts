/** A Temporal dev server that the test files of a process share, each with a namespace that nobody has used. */
import { startTemporal, type TemporalServer } from './temporal.ts';

/** A namespace costs the server a hundredth of a second when it starts, and nothing while nobody uses it. */
const NAMESPACES = Array.from({ length: 40 }, (_, index) => `test-${index + 1}`);

interface Shared {
  readonly server: TemporalServer;
  readonly unused: string[];
}

let shared: Promise<Shared> | undefined;

/** A server with a namespace of its own for the caller. It stays up for the others, so `kill` and `restart` are refused. */
export async function borrowTemporal(): Promise<TemporalServer> {
  shared ??= start().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  const { server, unused } = await shared;
  const namespace = unused.shift();
  if (namespace === undefined) {
    // The ones before are still in use, perhaps, and end with this process.
    shared = undefined;
    return await borrowTemporal();
  }
  const refuse = async (): Promise<void> => {
    await Promise.reject(new Error('this Temporal is shared: start one with startTemporal to kill it'));
  };
  return { ...server, namespace, kill: refuse, restart: refuse, stop: async () => {} };
}

async function start(): Promise<Shared> {
  return { server: await startTemporal({ moreNamespaces: NAMESPACES }), unused: [...NAMESPACES] };
}
