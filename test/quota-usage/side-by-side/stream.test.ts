import { describe, expect, it } from 'vitest';
import { namespaceOf, type Operation } from './operation.ts';
import { makeStream } from './stream.ts';

const options = { seed: 7, operations: 2_000, faults: true } as const;
const stream = makeStream(options);

/** `create pods`, `patch pods/resize`: what is done to which resource. */
function act(operation: Operation): string {
  if (operation.kind === 'fault') return operation.fault;
  const inNamespace = /\/namespaces\/[^/]+\/([^/]+)(?:\/[^/]+(\/[^/]+)?)?$/.exec(operation.path);
  return `${operation.kind} ${inNamespace === null ? operation.path.split('/')[4] : `${inNamespace[1]}${inNamespace[2] ?? ''}`}`;
}

describe('the stream of a seed', () => {
  it('is the same every time, and another for another seed', () => {
    expect(makeStream(options)).toEqual(stream);
    expect(makeStream({ ...options, seed: 8 })).not.toEqual(stream);
  });

  it('has each fault once where it is short, and everything that was killed is started again', () => {
    const faults = makeStream({ ...options, operations: 400 }).filter(({ kind }) => kind === 'fault');
    expect(faults.map(act)).toEqual([
      'starterKilled',
      'starterStarted',
      'apiServersRestarted',
      'workerKilled',
      'workerStarted',
    ]);
  });

  it('has as many random operations as asked for, and everything that quotas count among them', () => {
    expect(stream.filter(({ kind }) => kind !== 'fault').length).toBeGreaterThanOrEqual(options.operations);
    const acts = new Set(stream.map(act));
    const expected = [
      'create pods',
      'patch pods',
      'patch pods/status',
      'patch pods/resize',
      'delete pods',
      'create services',
      'patch services',
      'delete services',
      'create persistentvolumeclaims',
      'patch persistentvolumeclaims',
      'patch persistentvolumeclaims/status',
      'create resourceclaims',
      'delete resourceclaims',
      'create configmaps',
      'create widgets',
      'create gadgets',
      'create resourcequotas',
      'patch resourcequotas',
      'delete resourcequotas',
      'delete customresourcedefinitions',
      'create deviceclasses',
      'delete deviceclasses',
      'starterKilled',
      'workerKilled',
      'apiServersRestarted',
    ];
    expect(expected.filter((each) => !acts.has(each))).toEqual([]);
  });

  it('never creates a name twice while it exists, and changes only what does', () => {
    const alive = new Set<string>();
    const wrong: string[] = [];
    for (const operation of stream) {
      if (operation.kind === 'fault' || operation.kind === 'counted') continue;
      if (operation.kind === 'create') {
        const { name } = (operation.body as { readonly metadata: { readonly name: string } }).metadata;
        const path = `${operation.path}/${name}`;
        if (alive.has(path)) wrong.push(operation.words);
        alive.add(path);
        continue;
      }
      const path = operation.path.replace(/\/(?:status|resize)$/, '');
      if (!alive.has(path)) wrong.push(operation.words);
      // A pod in its deletion is still there for whoever ends it.
      if (operation.kind === 'delete' && !path.includes('/pods/')) alive.delete(path);
    }
    expect(wrong).toEqual([]);
  });

  it('leaves a deleted namespace alone', () => {
    const deleted = new Set<string | null>();
    const late: string[] = [];
    for (const operation of stream) {
      if (deleted.has(namespaceOf(operation))) late.push(operation.words);
      const own = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(operation.kind === 'delete' ? operation.path : '')?.[1];
      if (own !== undefined) deleted.add(own);
    }
    expect(deleted.size).toBe(2);
    expect(late).toEqual([]);
  });

  it('awaits nothing of Headroom while a part of it is down', () => {
    const down = new Set<string>();
    const inVain: string[] = [];
    for (const operation of stream) {
      if (operation.kind === 'counted' && down.size > 0) inVain.push(operation.words);
      const [, what, how] = /^(starter|worker)(Killed|Started)$/.exec(act(operation)) ?? [];
      if (what !== undefined && how === 'Killed') down.add(what);
      if (what !== undefined && how === 'Started') down.delete(what);
    }
    expect(inVain).toEqual([]);
    expect(down.size).toBe(0);
  });
});
