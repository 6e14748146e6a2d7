import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Hold } from '../kernel/forge/http/faults.ts';
import { type KubernetesGate, openKubernetesGate } from '../kernel/servers/kubernetes-gate.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { namespaceFiles, press, QUOTA, quickTimings, untilResized } from './pressed-namespaces.ts';
import { type JournalledWrite, sameWriteOf, shapeOf, writesOf } from './write-journal.ts';
import { partOf } from '../kernel/long.ts';

/** Where a worker dies: the write has not happened, has happened without its answer, or is answered. */
const moments = ['before', 'unanswered', 'answered'] as const;
type Moment = (typeof moments)[number];

const RECORDED = 'undisturbed';
/** More than an episode has; a test says so when that is not true any more. */
const MOST_WRITES = 10;
/** So many stand on GitHub at most: a worker has ten requests to it under way, and others must come by. */
const MOST_HELD = 8;
/**
 * Milliseconds until an episode of dozens stands where it should, or is through: a worker that is lost is noticed after
 * ten seconds, what it had under way may back off for 30 s before its next attempt, and where others want the cores dozens
 * take a minute.
 */
const WITHIN_MS = 180_000;
const namespaceOf = (server: JournalledWrite['server'], moment: Moment, number: number): string =>
  `${server.toLowerCase()}-${moment}-${number}`;

let stack: Stack;
let approvalRequirement: KubernetesGate;
let worker: SupervisedProcess;
/** The writes of an episode in which nothing goes wrong. */
let recorded: { readonly writes: readonly JournalledWrite[]; readonly recorded: string };

beforeAll(async () => {
  const numbers = Array.from({ length: MOST_WRITES }, (_, index) => index);
  const disturbed = (['GitHub', 'Kubernetes'] as const).flatMap((server) =>
    moments.flatMap((moment) => numbers.map((number) => namespaceOf(server, moment, number))),
  );
  stack = await startStack({
    files: namespaceFiles([RECORDED, ...disturbed]),
    // Longer than a request stands: one that is given up would be made again, and go on.
    env: { ...quickTimings, 'timings.requestTimeout': '4m' },
    workers: 0,
  });
  approvalRequirement = await openKubernetesGate(stack.controlPlane);
  worker = await nextWorker();
  await press(stack, RECORDED);
  await resized(RECORDED);
  recorded = { writes: decidedWrites(RECORDED), recorded: RECORDED };
  // The servers, and a whole episode.
}, WITHIN_MS + 180_000);

afterAll(async () => {
  await approvalRequirement?.stop();
  await stack?.stop();
});

/**
 * What was written for a namespace, without moves of its branch: one that a lost attempt left without a commit starts from
 * the base as it is when the next one comes. Of records that a merge is asked for the first one alone: each request makes its own.
 */
function decidedWrites(namespace: string): readonly JournalledWrite[] {
  const isMove = ({ server, method, path }: JournalledWrite): boolean =>
    server === 'GitHub' && method === 'PATCH' && path.startsWith('/repos/acme/gitops/git/refs/');
  const writes = writesOf({ ...stack, approvalRequirement }, namespace).filter((write) => !isMove(write));
  const first = writes.findIndex(asksForMerge);
  return writes.filter((write, index) => index === first || !asksForMerge(write));
}

/** Whether the Lease gets a raise that the forge has not answered yet. */
function asksForMerge({ method, body }: JournalledWrite): boolean {
  return method === 'PUT' && body.includes(String.raw`isPending\":true`);
}

async function nextWorker(): Promise<SupervisedProcess> {
  return await stack.startWorker({ KUBECONFIG: await approvalRequirement.kubeconfigFor('headroom-worker') });
}

async function resized(namespace: string): Promise<void> {
  await untilResized(stack, namespace, WITHIN_MS);
}

function numbersOf(server: JournalledWrite['server']): readonly number[] {
  return recorded.writes.flatMap((write, index) => (write.server === server ? [index] : []));
}

/** Arms a hold for one write of a namespace's episode; the result settles when the episode stands at that moment. */
function standsAt(server: JournalledWrite['server'], moment: Moment, index: number, namespace: string): Standstill {
  const pattern = sameWriteOf(namespace, recorded, index);
  const holds: Hold[] = [];
  const hold = (where: 'forge' | 'gate', rule: Parameters<KubernetesGate['hold']>[0]): Hold => {
    const armed = where === 'forge' ? stack.forge.hold(rule) : approvalRequirement.hold(rule);
    holds.push(armed);
    return armed;
  };
  const first = hold(server === 'GitHub' ? 'forge' : 'gate', {
    ...pattern,
    when: moment === 'before' ? 'before' : 'after',
  });
  const observed = async (): Promise<void> => {
    await first.held;
    if (moment !== 'answered') return;
    // Whatever the episode asks for next, of either server.
    const inPath = new RegExp(`\\b${namespace}\\b`);
    const next = [
      hold('gate', { path: inPath, when: 'before' }),
      hold('forge', { path: inPath, when: 'before' }),
      hold('forge', { body: namespace, when: 'before' }),
    ];
    first.release();
    await Promise.race(next.map((standstill) => standstill.held));
  };
  return {
    observed: inTime(observed(), `${namespace} comes to ${server} ${pattern.method} ${pattern.path}`),
    end: () => {
      for (const standstill of holds) standstill.abandon();
    },
  };
}

interface Standstill {
  readonly observed: Promise<void>;
  readonly end: () => void;
}

async function inTime(observed: Promise<void>, what: string): Promise<void> {
  let there = false;
  void observed.then(() => {
    there = true;
  });
  await eventually(what, () => there, WITHIN_MS);
}

/** Kills the worker once every episode stands where it should, and starts another one. */
async function killAt(standstills: readonly Standstill[]): Promise<void> {
  await Promise.all(standstills.map((standstill) => standstill.observed));
  await worker.kill();
  for (const standstill of standstills) standstill.end();
  worker = await nextWorker();
}

/** What was written for a namespace is what is written when nothing goes wrong, each of it once. */
async function expectOneOfEach(namespace: string): Promise<void> {
  await resized(namespace);
  const shapes = decidedWrites(namespace).flatMap((write) => stepByStep(shapeOf(write, namespace)));
  const expected = recorded.writes.flatMap((write) => stepByStep(shapeOf(write, RECORDED)));
  expect({ namespace, writes: shapes.toSorted() }).toEqual({ namespace, writes: expected.toSorted() });
}

/** What is made with one request is made with three where an attempt is repeated. */
function stepByStep(shape: string): readonly string[] {
  if (shape !== 'GitHub POST /graphql') return [shape];
  return [
    'GitHub POST /repos/acme/gitops/git/refs',
    'GitHub PUT /repos/acme/gitops/contents/managed-resources/test/{namespace}/quota.yaml',
    'GitHub POST /repos/acme/gitops/pulls',
  ];
}

async function expectUnlocked(namespaces: readonly string[]): Promise<void> {
  const { items } = await stack.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
  const holders = new Map(items.map(({ metadata, spec }) => [metadata?.name, spec?.holderIdentity ?? '']));
  const leases = namespaces.map((namespace) => `state-${namespace}-${QUOTA}`);
  expect(leases.filter((lease) => holders.get(lease) !== '')).toEqual([]);
  expect([...holders.keys()].filter((name) => name?.startsWith('file-'))).toEqual([]);
}

describe('a worker that is killed', () => {
  it('can be killed at each of these writes of an episode, none of which is there twice', () => {
    const shapes = recorded.writes.map((write) => shapeOf(write, RECORDED));
    expect(shapes).toMatchInlineSnapshot(`
      [
        "Kubernetes POST /api/v1/namespaces/{namespace}/events (QuotaResizeRecommended)",
        "Kubernetes POST /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases",
        "Kubernetes POST /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases",
        "GitHub POST /graphql",
        "Kubernetes PUT /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases/state-{namespace}-objects",
        "Kubernetes PUT /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases/state-{namespace}-objects",
        "GitHub PUT /repos/acme/gitops/pulls/{number}/merge",
        "Kubernetes PUT /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases/state-{namespace}-objects",
        "GitHub DELETE /repos/acme/gitops/git/refs/heads/headroom/test/{namespace}/objects/{decision}",
        "Kubernetes DELETE /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases/{file lock}",
        "Kubernetes PUT /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases/state-{namespace}-objects",
        "Kubernetes POST /api/v1/namespaces/{namespace}/events (QuotaResizeMerged)",
        "Kubernetes PUT /apis/coordination.k8s.io/v1/namespaces/namespace-resizer-system/leases/state-{namespace}-objects",
      ]
    `);
    expect(Math.max(numbersOf('GitHub').length, numbersOf('Kubernetes').length)).toBeLessThanOrEqual(MOST_WRITES);
    expect(moments.length * numbersOf('GitHub').length).toBeLessThan(2 * MOST_HELD);
  });

  it(
    'before, during or after any write leaves one decision, written once',
    async () => {
      const allOf = (server: JournalledWrite['server']) =>
        moments.flatMap((moment) =>
          numbersOf(server).map((index, number) => {
            return { server, moment, index, namespace: namespaceOf(server, moment, number) };
          }),
        );
      const onGitHub = [...partOf(allOf('GitHub'), 5)];
      // One of those on Kubernetes is let go and stands at its next request, which is to GitHub.
      const first = [...partOf(allOf('Kubernetes'), 6), ...onGitHub.splice(0, MOST_HELD - 1)];
      const namespaces: string[] = [];
      for (const turn of [first, onGitHub].filter(({ length }) => length > 0)) {
        const standstills: Standstill[] = [];
        for (const { server, moment, index, namespace } of turn) {
          namespaces.push(namespace);
          standstills.push(standsAt(server, moment, index, namespace));
          await press(stack, namespace);
        }
        await killAt(standstills);
      }
      for (const namespace of namespaces) await expectOneOfEach(namespace);
      await expectUnlocked(namespaces);
      // Twice all stand somewhere, a worker starts, and what the one before had under way counts as lost after ten seconds.
    },
    4 * WITHIN_MS,
  );
});
