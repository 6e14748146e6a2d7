/** Providers of whose machines nothing comes. */
import type { Creation, NodeProvider } from '../../../activities/node-group/provider/provider.ts';

/** A provider whose machines never become nodes. */
export function silent(): NodeProvider & { readonly made: Set<string> } {
  const made = new Set<string>();
  return {
    made,
    instanceTypes: () => Promise.resolve([]),
    ensureCreated: (_group, requests) =>
      Promise.resolve(
        requests.map(({ name }): Creation => {
          made.add(name);
          return { kind: 'made', providerId: `silent-${name}`, nodeName: name };
        }),
      ),
    ensureDeleted: (_group, { name }) => {
      made.delete(name);
      return Promise.resolve({ kind: 'gone' });
    },
  };
}

/** A provider that has no machines. */
export function refusing(detail: string): NodeProvider {
  return {
    ...silent(),
    ensureCreated: (_group, requests) => Promise.resolve(requests.map((): Creation => ({ kind: 'failed', detail }))),
  };
}
