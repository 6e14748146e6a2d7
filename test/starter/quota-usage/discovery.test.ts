import { describe, expect, it } from 'vitest';
import type { ApiAnswer, ApiGetOptions } from '../../../activities/kubernetes/api-get.ts';
import { createDiscovery } from '../../../starter/quota-usage/discovery.ts';

const CORE = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: { creationTimestamp: null },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            { resource: 'nodes', scope: 'Cluster', verbs: ['list', 'watch'] },
            { resource: 'pods', scope: 'Namespaced', verbs: ['get', 'list', 'watch'], subresources: [{}] },
          ],
        },
      ],
    },
  ],
};

function groups(...items: readonly object[]) {
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

const things = (version: string, freshness: string, ...names: readonly string[]) => ({
  version,
  freshness,
  resources: names.map((resource) => ({ resource, scope: 'Namespaced', verbs: ['list', 'watch'] })),
});

/** A server with these answers for `/apis`, one for each round; the last one stays. */
function serverWith(...rounds: readonly (object | Error)[]) {
  const asked: (ApiGetOptions & { path: string })[] = [];
  const left = [...rounds];
  const get = async (path: string, options: ApiGetOptions): Promise<ApiAnswer> => {
    asked.push({ path, ...options });
    if (path === '/api') return { kind: 'answer', body: CORE, etag: undefined };
    const round = left.length > 1 ? left.shift() : left[0];
    if (round instanceof Error) throw round;
    const etag = JSON.stringify(round);
    return options.ifNoneMatch === etag ? { kind: 'notModified' } : { kind: 'answer', body: round, etag };
  };
  return { get, asked };
}

describe('a round of discovery', () => {
  it('tells of each resource its group, its scope, its verbs, and the first version that has it', async () => {
    const { get, asked } = serverWith(
      groups({
        metadata: { name: 'example.com' },
        versions: [things('v1', 'Current', 'old'), things('v1beta1', 'Current', 'new', 'old')],
      }),
    );
    const verbs = ['list', 'watch'];
    expect(await createDiscovery(get)()).toEqual({
      kind: 'discovered',
      resources: [
        { group: '', resource: 'nodes', version: 'v1', namespaced: false, verbs },
        { group: '', resource: 'pods', version: 'v1', namespaced: true, verbs: ['get', ...verbs] },
        { group: 'example.com', resource: 'old', version: 'v1', namespaced: true, verbs },
        { group: 'example.com', resource: 'new', version: 'v1beta1', namespaced: true, verbs },
      ],
      failed: [],
    });
    expect(asked.map(({ path }) => path)).toEqual(['/api', '/apis']);
  });

  it('names a version whose server does not answer, and takes nothing that was known of it before', async () => {
    const { get } = serverWith(
      groups(
        { metadata: { name: 'away.example.com' }, versions: [things('v1', 'Stale', 'leftovers')] },
        { metadata: { name: 'half.example.com' }, versions: [things('v2', 'Stale'), things('v1', 'Current', 'here')] },
        { metadata: { name: 'new.example.com' }, versions: [{ version: 'v1', freshness: 'Stale' }] },
      ),
    );
    expect(await createDiscovery(get)()).toMatchObject({
      kind: 'discovered',
      resources: [{ resource: 'nodes' }, { resource: 'pods' }, { resource: 'here', version: 'v1' }],
      failed: ['away.example.com/v1', 'half.example.com/v2', 'new.example.com/v1'],
    });
  });

  it('says the same as before when the server says that nothing has changed', async () => {
    const { get, asked } = serverWith(
      groups({ metadata: { name: 'example.com' }, versions: [things('v1', 'Current', 'things')] }),
    );
    const discover = createDiscovery(get);
    const first = await discover();
    expect(await discover()).toEqual(first);
    expect(asked.filter(({ path }) => path === '/apis').map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([
      undefined,
      expect.stringContaining('things'),
    ]);
  });

  it.each<[string, object | Error, RegExp]>([
    ['is refused', new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') }), /ECONNREFUSED/],
    ['is of an old kind', { kind: 'APIGroupList', groups: [] }, /\/apis is not aggregated discovery: kind/],
    ['makes no sense', groups({ metadata: { name: 'x' }, versions: [{}] }), /items\.0\.versions\.0\.version/],
  ])('of which one request %s fails as a whole, and says why', async (_, answer, reason) => {
    expect(await createDiscovery(serverWith(answer).get)()).toEqual({
      kind: 'failed',
      reason: expect.stringMatching(reason),
    });
  });

  it('recovers from a failed one', async () => {
    const discover = createDiscovery(serverWith(new Error('away'), groups()).get);
    expect(await discover()).toEqual({ kind: 'failed', reason: 'away' });
    expect(await discover()).toMatchObject({ kind: 'discovered', failed: [] });
  });
});
