import type { CoordinationV1Api } from '@kubernetes/client-node';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { connectKubernetes, type Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { GUARDRAIL_LOCK_EXPIRES_MS, withGuardrailLock } from '../../../activities/quota-resize/lease/guardrail-lock.ts';
import { noPullRequestEnds as ends, type PullRequestEnds } from '../../../activities/quota-resize/lease/ends.ts';
import { patchLease } from '../../../activities/kubernetes/lease-object.ts';
import { LeaseStore } from '../../../activities/quota-resize/lease/lease.ts';
import { createMergeGate, type MergeGate } from '../../../activities/quota-resize/pull-request/merge-gate.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import {
  type Approval,
  type Decision,
  decidedLimits,
  type DecisionFacts,
  type Merge,
  type OpenDecision,
} from '../../../domain/quota-resize/model/decision.ts';
import { guardrailLeaseName } from '../../../domain/quota-resize/model/lease.ts';
import { WRITE_TIMEOUT_MS } from '../../../domain/quota-resize/model/timings.ts';
import { BUILT_IN_GUARDRAIL, type Guardrail } from '../../../domain/quota-resize/policy/guardrail.ts';
import type { PolicyDefaults } from '../../../domain/quota-resize/policy/policy.ts';
import { change, openDecision, ref } from '../../domain/quota-resize/model/observations.ts';
import { defaults } from '../../domain/quota-resize/policy/policies.ts';
import { SYNCS_WITHIN_MS } from '../../../domain/quota-resize/policy/recorded-raise.ts';
import { MINUTE_MS } from '../../../domain/kernel/time.ts';
import {
  type Cluster,
  kubeConfig,
  namespaceOf,
  observed,
  quotaCounted,
  quotaOf,
  SYSTEM_NAMESPACE,
  targetOf,
  templateOf,
  WORKER,
  workloadOf,
} from './cluster.ts';

interface Given {
  readonly hard?: string;
  readonly to?: string;
  /** Limits of further quotas of the namespace, which the decision raises as well. */
  readonly batched?: readonly {
    readonly quota: string;
    readonly hard: string;
    readonly to: string;
    readonly annotations?: Record<string, string>;
    readonly demandByMessage?: boolean;
  }[];
  readonly annotations?: Record<string, string>;
  /** Annotations of the quota; absent: those with which it needs what the decision says. */
  readonly needs?: Record<string, string>;
  readonly decision?: Partial<DecisionFacts & Pick<OpenDecision, 'pullRequest'>>;
}

/** What right before a merge is checked again, with the decision of a Lease. */
export function mergeGateTests(cluster: () => Cluster): void {
  let namespaces = 0;
  const log = pino({ level: 'silent' });

  function leases(kubernetes = cluster().worker): LeaseStore {
    return new LeaseStore({ kubernetes, systemNamespace: SYSTEM_NAMESPACE, abandonedHolder: null, ends, log });
  }

  function gate(changed: Partial<PolicyDefaults> = {}, kubernetes = cluster().worker): MergeGate {
    return createMergeGate({
      kubernetes,
      policyDefaults: { ...defaults, mode: 'propose', ...changed },
      systemNamespace: SYSTEM_NAMESPACE,
      leases: leases(kubernetes),
      ends,
      usage: 'off',
      log,
    });
  }

  /** Has a quota need a limit without any workload. */
  function needing(limit: string): Record<string, string> {
    return { 'resizer.io/cpu-min': limit };
  }

  /** Has all quotas of the namespace need at least so much CPU: what is raised along is so for workloads that were denied. */
  async function denied({ namespace, quota }: QuotaTarget, along: readonly string[], cpu: string): Promise<void> {
    for (const name of [quota, ...along]) await quotaCounted(cluster(), namespace, name);
    await cluster().create(
      workloadOf('ReplicaSet', namespace, 'web', { replicas: 1, template: templateOf('web', cpu) }),
    );
    await observed(cluster(), targetOf(namespace, quota), ({ demand, otherQuotas }) => {
      expect(demand).not.toEqual([]);
      expect(otherQuotas.map(({ name }) => name).toSorted()).toEqual(along.toSorted());
    });
  }

  /** A quota in a namespace of its own, whose Lease holds a decision with an open pull request. */
  async function locked({
    hard = '10',
    to = '12',
    batched = [],
    annotations = {},
    needs = needing(to),
    decision: more = {},
  }: Given = {}): Promise<{
    readonly target: QuotaTarget;
    readonly decision: OpenDecision;
  }> {
    namespaces += 1;
    const target = targetOf(`gate-${namespaces}`);
    await cluster().create(
      namespaceOf(target.namespace, annotations),
      quotaOf(target.namespace, { 'requests.cpu': hard }, 'compute', {}, needs),
    );
    const uidOf = async (name: string): Promise<string> => {
      const { namespace } = target;
      const { metadata } = await cluster().admin.core.readNamespacedResourceQuota({ name, namespace });
      return metadata?.uid ?? '';
    };
    const batchedQuotas = [];
    for (const { quota, annotations: own = {}, demandByMessage = false, ...limits } of batched) {
      await cluster().create(quotaOf(target.namespace, { 'requests.cpu': limits.hard }, quota, {}, own));
      const changes = [change({ from: limits.hard, to: limits.to })];
      const quotaUid = await uidOf(quota);
      batchedQuotas.push({ quota, quotaUid, changes, demandByMessage, approvalRequirement: null, candidates: [] });
    }
    const decision = openDecision({
      id: namespaces.toString(16).padStart(8, '0'),
      quotaUid: await uidOf(target.quota),
      ...(batchedQuotas.length === 0 ? {} : { batchedQuotas }),
      decidedAt: Date.now(),
      changes: [change({ from: hard, to })],
      ...more,
    });
    if (batched.length > 0) {
      const limits = [{ hard, to }, ...batched].flatMap((one) => [Number(one.hard), Number(one.to)]);
      await denied(
        target,
        batched.map(({ quota }) => quota),
        String(Math.max(...limits)),
      );
    }
    const store = leases();
    await store.acquire(target, { ...decision, pullRequest: null });
    await store.update(target, decision);
    return { target, decision };
  }

  /** Has the gate merge it, and the forge say so. */
  async function mergedAs(
    { target, decision }: { readonly target: QuotaTarget; readonly decision: OpenDecision },
    { at, limits }: Pick<Merge, 'at' | 'limits'>,
    through = gate(),
  ): Promise<Decision> {
    const merge = { sha: 'f00', at, by: 'bot', isOwn: true, limits };
    await leases().acquire(target, { ...decision, pullRequest: null });
    await leases().update(target, decision);
    const expected = await through.merging(target, decision, async (_, expectMerge) => await expectMerge());
    await through.ended(target, decision, merge, expected);
    await leases().release(target, decision, { rejection: null });
    return { ...decision, merge };
  }

  /** How often it was merged; `undefined` counts as once. */
  async function merged(
    { target, decision }: { readonly target: QuotaTarget; readonly decision: OpenDecision },
    through = gate(),
  ): Promise<string> {
    let count = 0;
    try {
      const recorded = await through.recorded(target, decision.id);
      await through.merging(target, recorded, () => Promise.resolve((count += 1)));
    } catch (error) {
      return `refused after ${count}: ${error instanceof Error ? error.message : String(error)}`;
    }
    return `merged ${count}`;
  }

  async function setHard({ namespace, quota: name }: QuotaTarget, cpu: string): Promise<void> {
    const { core } = cluster().admin;
    const body = await core.readNamespacedResourceQuota({ name, namespace });
    await core.replaceNamespacedResourceQuota({
      name,
      namespace,
      body: Object.assign(body, { spec: { hard: { 'requests.cpu': cpu } } }),
    });
  }

  function approvalOf(decision: OpenDecision, changed: Partial<Approval> = {}): Approval {
    const limits = Object.fromEntries(decision.changes.map(({ resource, to }) => [resource, to]));
    return { by: 'ann', at: Date.now(), reason: '', limits, headSha: decision.pullRequest.headSha, ...changed };
  }

  function only(changed: Partial<Guardrail>): Pick<PolicyDefaults, 'guardrails'> {
    return { guardrails: [{ ...BUILT_IN_GUARDRAIL, name: 'prod', ...changed }] };
  }

  function ofNamespaces(
    targets: readonly QuotaTarget[],
    changed: Partial<Guardrail>,
  ): Pick<PolicyDefaults, 'guardrails'> {
    const names = targets.map(({ namespace }) => namespace);
    return { guardrails: [{ ...BUILT_IN_GUARDRAIL, namespaces: { names }, ...changed }, BUILT_IN_GUARDRAIL] };
  }

  function locks(): Omit<Parameters<typeof withGuardrailLock>[0], 'kubernetes'> {
    return { systemNamespace: SYSTEM_NAMESPACE, log };
  }

  /** The same API server; `onRead` hears how many Leases were read so far. */
  function countedReads(kubernetes: Kubernetes, onRead: (reads: number) => void): Kubernetes {
    let reads = 0;
    const { coordination } = kubernetes;
    const counted = Object.assign(Object.create(coordination) as CoordinationV1Api, {
      readNamespacedLeaseWithHttpInfo(...request: Parameters<CoordinationV1Api['readNamespacedLeaseWithHttpInfo']>) {
        onRead((reads += 1));
        return coordination.readNamespacedLeaseWithHttpInfo(...request);
      },
    });
    return { ...kubernetes, coordination: counted };
  }

  /** The same API server; `heard` gets the name of each request. */
  function heardRequests(kubernetes: Kubernetes, heard: (request: string) => void): Kubernetes {
    const ofApi = <Api extends object>(api: Api): Api =>
      new Proxy(api, {
        get: (_, name) => {
          const value: unknown = Reflect.get(api, name);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]): unknown => {
            heard(String(name));
            return Reflect.apply(value, api, given);
          };
        },
      });
    const { core, apps, batch, coordination } = kubernetes;
    return {
      ...kubernetes,
      core: ofApi(core),
      apps: ofApi(apps),
      batch: ofApi(batch),
      coordination: ofApi(coordination),
    };
  }

  function microTime(at: number): string {
    return new Date(at).toISOString().replace('Z', '000Z');
  }

  describe('the gate before a merge', () => {
    it('lets the decision of the Lease pass', async () => {
      expect(await merged(await locked())).toBe('merged 1');
    });

    it('believes nobody who names another decision, or one that the Lease never had', async () => {
      const { target, decision } = await locked();
      expect(await merged({ target, decision: { ...decision, id: 'ffffffff' } })).toContain('does not hold decision');
      const unheard = targetOf(target.namespace, 'unheard-of');
      expect(await merged({ target: unheard, decision })).toContain('does not hold decision');
    });

    it('does not merge another head than the one that is recorded', async () => {
      const { target, decision } = await locked();
      const through = gate();
      const before = await through.recorded(target, decision.id);
      await leases().update(target, { ...decision, pullRequest: ref({ headSha: 'f'.repeat(40) }) });
      await expect(through.merging(target, before, () => Promise.resolve())).rejects.toThrow('another head');
    });

    it.each([
      ['a step above max-step', { to: '30' }, 'is more than 2 × the limit'],
      ['a raise from 0', { hard: '0', to: '1' }, 'is 0, which is deliberate'],
      [
        'what an annotation wants approved',
        { annotations: { 'resizer.io/approval': 'before-merge' } },
        'needs an approval',
      ],
    ])('asks for an approval of %s, of these values and this head', async (_, given, why) => {
      const held = await locked(given);
      const { target, decision } = held;
      expect(await merged(held)).toMatch(new RegExp(`refused after 0.*nobody has approved it.*${why}`));
      await leases().update(target, { ...decision, approval: approvalOf(decision, { headSha: 'f'.repeat(40) }) });
      expect(await merged(held)).toContain('nobody has approved it');
      await leases().update(target, {
        ...decision,
        approval: approvalOf(decision, { limits: { 'requests.cpu': '7' } }),
      });
      expect(await merged(held)).toContain('nobody has approved it');
      await leases().update(target, { ...decision, approval: approvalOf(decision) });
      expect(await merged(held)).toBe('merged 1');
    });

    it('asks whoever verified an approval again, where the guardrail wants it verified', async () => {
      const held = await locked({ to: '30' });
      const { target, decision } = held;
      const { headSha } = decision.pullRequest;
      const through = gate(only({ approvalBy: 'verified' }));
      // What the workflow says of it, or writes into the Lease, verifies nothing.
      const approval = approvalOf(decision, { verified: 'kubernetes' });
      await leases().update(target, { ...decision, approval, approvedBy: 'ann', approvalVerifiedBy: 'kubernetes' });
      expect(await merged(held, through)).toMatch(/refused after 0.*nobody whose name is verified has approved it/);
      const mergedWith = async (head: string): Promise<string> => {
        const reviews = () => Promise.resolve([{ by: 'bob', headSha: head, at: Date.now() }]);
        return await through.merging(target, decision, () => Promise.resolve('merged'), reviews);
      };
      await expect(mergedWith('f'.repeat(40))).rejects.toThrow('nobody whose name is verified');
      expect(await mergedWith(headSha)).toBe('merged');
    });

    it('measures the step from the limit in the cluster, whatever the decision says', async () => {
      const held = await locked({ to: '30', decision: { changes: [change({ from: '29', to: '30' })] } });
      expect(await merged(held)).toContain('is more than 2 × the limit');
    });

    it.each([
      ['auto-merge is off', { 'resizer.io/auto-merge': 'false' }, 'auto-merge is off'],
      ['the namespace opted out', { 'resizer.io/enabled': 'false' }, 'it opted out'],
      ['the mode is observe', { 'resizer.io/mode': 'observe' }, 'the mode is observe'],
      ['merging is frozen', { 'resizer.io/freeze-until': '2199-01-01' }, 'merging is frozen until'],
      ['a maximum is exceeded', { 'resizer.io/cpu-max': '11' }, 'requests.cpu 12 is above its maximum of 11'],
    ])('merges nothing when %s', async (_, annotations, why) => {
      expect(await merged(await locked({ annotations }))).toContain(why);
    });

    it('merges nothing for a quota that was deleted and created again', async () => {
      expect(await merged(await locked({ decision: { quotaUid: 'another' } }))).toContain('deleted and created again');
    });

    it('merges nothing that a guardrail forbids', async () => {
      const held = await locked();
      expect(await merged(held, gate(only({ max: { cpu: '11' } })))).toContain('above its maximum of 11');
      expect(await merged(held, gate(only({ git: { repositories: ['acme/other'] } })))).toContain(
        'guardrail prod allows acme/other only',
      );
      expect(await merged(held, gate(only({ git: { branches: ['live'] } })))).toContain('allows live only');
      expect(await merged(held, gate(only({ git: { paths: ['elsewhere'] } })))).toContain('allows elsewhere only');
      expect(
        await merged(held, gate(only({ mergeWindows: [{ cron: '0 0 29 2 *', duration: 60_000, zone: 'UTC' }] }))),
      ).toContain('outside of the merge windows (guardrail prod');
      expect(await merged(held, gate(only({ git: { repositories: ['Acme/GitOps'] } })))).toBe('merged 1');
    });

    it('counts what was merged without a person in the last day', async () => {
      const held = await locked({ hard: '10', to: '20' });
      const store = leases();
      await store.release(held.target, { ...held.decision }, { rejection: null });
      await setHard(held.target, '4');
      const { pullRequest } = held.decision;
      const changes = [change({ from: '4', to: '10' })];
      const earlier = { ...held.decision, id: 'eeeeeeee', changes, pullRequest: { ...pullRequest, number: 1 } };
      const merge = { at: Date.now(), limits: { 'requests.cpu': '10' } };
      const owner = { target: held.target, decision: earlier };
      await store.synced(held.target, await mergedAs(owner, merge, gate({ maxStep: '4' })), Date.now());
      await setHard(held.target, '10');
      await store.acquire(held.target, { ...held.decision, pullRequest: null });
      await store.update(held.target, held.decision);
      expect(await merged(held)).toContain('above 16, the most that guardrail built-in allows in 24 hours');
    });

    it('forgets a refused merge unless another request is under way, and counts a merge that nobody expected', async () => {
      const { target, decision } = await locked();
      const through = gate();
      const raises = async () => (await leases().read(target)).raises;
      const expecting = async () => await through.merging(target, decision, async (_, merges) => await merges());
      const first = await expecting();
      const second = await expecting();
      await through.refused(first);
      await through.refused(second);
      expect(await raises(), 'of the first nobody knows when the second is refused').toMatchObject([
        { isPending: true },
      ]);
      const merge = { sha: 'f00', at: Date.now(), by: 'bot', isOwn: true, limits: {} };
      await leases().remember(target, (memory) => ({ ...memory, raises: [] }));
      await through.ended(target, decision, merge, null);
      expect(await raises()).toMatchObject([{ from: { 'requests.cpu': '10' }, to: { 'requests.cpu': '12' } }]);
      await through.ended(target, decision, merge, second);
      expect(await raises()).toHaveLength(1);
    });

    it('takes over the lock of a merge that ended long ago without giving it back', async () => {
      const held = await locked();
      const name = guardrailLeaseName('alone');
      const renewTime = microTime(Date.now() - 2 * GUARDRAIL_LOCK_EXPIRES_MS);
      const metadata = { name, namespace: SYSTEM_NAMESPACE };
      const spec = { holderIdentity: 'a merge that is gone', renewTime };
      await cluster().create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
      expect(await merged(held, gate(only({ name: 'alone', totals: { cpu: '1000' } })))).toBe('merged 1');
    });

    it('leaves a merge its lock for as long as the activity may take', async () => {
      const { admin, worker } = cluster();
      const name = guardrailLeaseName('slow');
      const order: string[] = [];
      let readTwice = (): void => undefined;
      const waits = new Promise<void>((resolve) => (readTwice = resolve));
      const secondEnds: Promise<void>[] = [];
      await withGuardrailLock({ ...locks(), kubernetes: worker }, 'slow', 'first', async (renew) => {
        // The first merge has gone on for as long as an activity may take.
        const spec = { renewTime: microTime(Date.now() - WRITE_TIMEOUT_MS) };
        await patchLease({ kubernetes: admin, systemNamespace: SYSTEM_NAMESPACE }, name, { spec });
        const readOf = countedReads(worker, (reads) => {
          if (reads === 2) readTwice();
        });
        const second = withGuardrailLock({ ...locks(), kubernetes: readOf }, 'slow', 'second', () => {
          order.push('second');
          return Promise.resolve();
        });
        secondEnds.push(second);
        await Promise.race([waits, second]);
        await renew();
        order.push('first');
      });
      await Promise.all(secondEnds);
      expect(order).toEqual(['first', 'second']);
    });

    it('merges nothing when its lock was lost while everything was checked', async () => {
      const { admin } = cluster();
      const held = await locked({ to: '30' });
      const { target, decision } = held;
      const through = gate(only({ name: 'lost', approvalBy: 'verified', totals: { cpu: '1000' } }));
      const name = guardrailLeaseName('lost');
      let merges = 0;
      const merging = through.merging(
        target,
        await through.recorded(target, decision.id),
        () => Promise.resolve((merges += 1)),
        async () => {
          await admin.coordination.deleteNamespacedLease({ name, namespace: SYSTEM_NAMESPACE });
          return [{ by: 'bob', headSha: decision.pullRequest.headSha, at: Date.now() }];
        },
      );
      await expect(merging).rejects.toThrow('was lost before the merge');
      expect(merges).toBe(0);
    });

    it('keeps the result of a merge whose lock cannot be given back, and logs that', async () => {
      const { plane, worker } = cluster();
      const lines: string[] = [];
      const config = kubeConfig(plane.kubeconfigFor(WORKER));
      // Nothing listens there.
      config.clusters = config.clusters.map((one) => ({ ...one, server: 'https://127.0.0.1:1' }));
      const unreachable = connectKubernetes(config);
      let isReachable = true;
      const kubernetes = {
        ...worker,
        get coordination() {
          return isReachable ? worker.coordination : unreachable.coordination;
        },
      };
      const options = { ...locks(), kubernetes, log: pino({}, { write: (line: string) => void lines.push(line) }) };
      const result = await withGuardrailLock(options, 'cut-off', 'merge', () => {
        isReachable = false;
        return Promise.resolve('merged');
      });
      expect(result).toBe('merged');
      expect(lines.join('')).toContain('could not be given back');
      const name = guardrailLeaseName('cut-off');
      await cluster().admin.coordination.deleteNamespacedLease({ name, namespace: SYSTEM_NAMESPACE });
    });

    it('counts both quotas of one decision towards the total', async () => {
      const both = await locked({ hard: '40', to: '60', batched: [{ quota: 'second', hard: '40', to: '60' }] });
      const totalOf = (cpu: string) => ofNamespaces([both.target], { name: 'together', totals: { cpu } });
      expect(await merged(both, gate(totalOf('100')))).toContain('what guardrail together leaves of its total');
      expect(await merged(both, gate(totalOf('120')))).toBe('merged 1');
    });

    it('lets no amount that cannot be read stop totals of other keys, and counts it as unbounded in those of its own', async () => {
      const first = await locked();
      const second = await locked();
      const rules = ofNamespaces([first.target, second.target], { name: 'unreadable', totals: { cpu: '1000' } });
      const { namespace } = first.target;
      await cluster().create(quotaOf(namespace, { 'count/jobs.batch': '1e1002' }, 'odd'));
      expect(await merged(first, gate(rules))).toBe('merged 1');
      await cluster().create(quotaOf(namespace, { 'requests.cpu': '1e1002' }, 'odder'));
      expect(await merged(second, gate(rules))).toContain(
        `requests.cpu "1e1002" of quota ${namespace}/odder cannot be read and counts as unbounded`,
      );
      // Other guardrails of these tests hold for all namespaces.
      await cluster().admin.core.deleteNamespacedResourceQuota({ namespace, name: 'odder' });
    });

    it('counts what a later decision has merged and the cluster does not show yet', async () => {
      const earlier = await locked({ hard: '40', to: '60' });
      const later = await locked({ hard: '40', to: '50' });
      const rules = ofNamespaces([earlier.target, later.target], { name: 'unsynced', totals: { cpu: '100' } });
      await mergedAs(later, { at: Date.now(), limits: { 'requests.cpu': '50' } });
      expect(await merged(earlier, gate(rules))).toContain('above 50, what guardrail unsynced leaves of its total');
    });

    it('counts a batched quota that the cluster does not show yet, although it shows the quota that raised it', async () => {
      const both = await locked({ hard: '10', to: '12', batched: [{ quota: 'second', hard: '40', to: '60' }] });
      const { target } = both;
      const other = await locked({ hard: '40', to: '50' });
      const rules = ofNamespaces([target, other.target], { name: 'half-synced', totals: { cpu: '110' } });
      const inGit = await mergedAs(both, { at: Date.now(), limits: { 'requests.cpu': '12' } });
      await leases().synced(target, inGit, Date.now());
      expect(await merged(other, gate(rules))).toContain('above 38, what guardrail half-synced leaves of its total');
    });

    it('counts a raise of which nothing is known for as long as the cluster may not show it, and no longer', async () => {
      const unknown = await locked({ hard: '40', to: '60' });
      const other = await locked({ hard: '40', to: '50' });
      const rules = ofNamespaces([unknown.target, other.target], { name: 'unknown', totals: { cpu: '95' } });
      await gate().merging(unknown.target, unknown.decision, async (_, merges) => await merges());
      await leases().release(unknown.target, unknown.decision, { rejection: null });
      const askedAgo = async (ms: number): Promise<void> =>
        await leases().remember(unknown.target, (memory) => ({
          ...memory,
          raises: memory.raises.map((one) => ({ ...one, at: Date.now() - ms })),
        }));
      await askedAgo(2 * SYNCS_WITHIN_MS - MINUTE_MS);
      expect(await merged(other, gate(rules))).toContain('what guardrail unknown leaves of its total');
      await askedAgo(2 * SYNCS_WITHIN_MS);
      expect(await merged(other, gate(rules))).toBe('merged 1');
    });

    it('forgets what was pending for every quota of a decision that is released when its pull request is closed', async () => {
      const { target, decision } = await locked({ batched: [{ quota: 'second', hard: '10', to: '12' }] });
      const raises = async (quota: string) => (await leases().read({ ...target, quota })).raises;
      await gate().merging(target, decision, async (_, merges) => await merges());
      for (const quota of [target.quota, 'second']) expect(await raises(quota)).toMatchObject([{ isPending: true }]);
      const closed: PullRequestEnds = { ...ends, endOf: () => Promise.resolve({ kind: 'closed' }) };
      const { ensureLeaseReleased } = cluster().activities({ ends: closed });
      await ensureLeaseReleased({ target, decision, rejection: null });
      for (const quota of [target.quota, 'second']) expect(await raises(quota)).toEqual([]);
    });

    it('counts for a decision that has grown what was decided before that, merged or not', async () => {
      const earlier = await locked({ hard: '40', to: '50', needs: needing('60') });
      const later = await locked({ hard: '40', to: '50' });
      const rules = ofNamespaces([earlier.target, later.target], { name: 'grown', totals: { cpu: '100' } });
      const grown = { ...earlier.decision, changes: [change({ from: '40', to: '60' })] };
      await leases().update(earlier.target, grown);
      const both = { target: earlier.target, decision: grown };
      expect(await merged(both, gate(rules))).toContain('above 50, what guardrail grown leaves of its total');
    });

    it('dates decisions by their Leases, so that nobody gets what is left for one of eleven minutes ago', async () => {
      const earlier = await locked({ hard: '40', to: '60' });
      await leases().remember(earlier.target, ({ decision, ...memory }) => ({
        ...memory,
        decision: decision && { ...decision, decidedAt: Date.now() - 11 * MINUTE_MS },
      }));
      const later = await locked({ hard: '40', to: '50', decision: { decidedAt: 1 } });
      await leases().update(later.target, { ...later.decision, decidedAt: 1 });
      const rules = ofNamespaces([earlier.target, later.target], { name: 'dated', totals: { cpu: '100' } });
      expect(await merged(later, gate(rules))).toContain('above 40, what guardrail dated leaves of its total');
    });

    it('merges nothing without a person while its quota rests, or what a person rejected', async () => {
      const held = await locked();
      const { target, decision } = held;
      await leases().remember(target, (memory) => ({ ...memory, lastModified: Date.now() - MINUTE_MS }));
      expect(await merged(held)).toMatch(
        /refused after 0.*the quota cools down, and until \S+Z only a person may merge it; an approval does not change that/,
      );
      expect(await merged(held, gate({ cooldown: MINUTE_MS }))).toBe('merged 1');
      await leases().update(target, { ...decision, cooldownSkippedAt: Date.now() });
      expect(await merged(held), 'as by the command').toBe('merged 1');
      expect(await merged(held, gate(only({ approvalBy: 'verified' }))), 'whose name is claimed').toContain(
        'cools down',
      );
      const rejection = { limits: { 'requests.cpu': '12' }, at: Date.now() - 2 * MINUTE_MS, by: 'mona', reason: '' };
      await leases().remember(target, (memory) => ({ ...memory, lastModified: null, rejections: [rejection] }));
      await leases().update(target, decision);
      expect(await merged(held, gate({ cooldown: MINUTE_MS }))).toMatch(/refused after 0.*mona rejected 12 CPU/);
      expect(await merged(held, gate({ cooldown: MINUTE_MS, rejectionCooldown: MINUTE_MS }))).toBe('merged 1');
    });

    it('merges nothing without a person that nothing needs, or more than was needed when it was stored', async () => {
      const idle = await locked({ needs: {} });
      expect(await merged(idle)).toContain(
        'nothing in the cluster needs it, and only a person may merge it; an approval does not change that',
      );
      const within = await locked({ needs: needing('11') });
      expect(await merged(within), 'within an increment').toBe('merged 1');
      const some = await locked({ to: '15', needs: needing('11') });
      expect(await merged(some)).toContain('would become 15 CPU, 11 CPU was needed');
      const known = () => Promise.resolve({ compute: { 'requests.cpu': '15' } });
      await leases().update(some.target, some.decision, known);
      expect(await merged(some), 'less is needed than before').toBe('merged 1');
      const larger = { ...some.decision, changes: [change({ from: '10', to: '20' })] };
      await leases().update(some.target, larger);
      expect(await merged({ target: some.target, decision: larger })).toContain('15 CPU was needed');
      const approved = await locked({ to: '30', needs: {} });
      await leases().update(approved.target, { ...approved.decision, approval: approvalOf(approved.decision) });
      expect(await merged(approved), 'a person wants it').toBe('merged 1');
    });

    it('merges nothing along for a quota that lacks nothing', async () => {
      const second = { quota: 'second', hard: '10', to: '12' };
      const held = await locked({ batched: [second] });
      expect(await merged(held)).toBe('merged 1');
      const { namespace } = held.target;
      const { core } = cluster().admin;
      const body = await core.readNamespacedResourceQuota({ name: 'second', namespace });
      await core.replaceNamespacedResourceQuota({
        name: 'second',
        namespace,
        body: Object.assign(body, { spec: { hard: { 'requests.cpu': '1000' } } }),
      });
      expect(await merged(held)).toMatch(/second: nothing in the cluster needs it/);
    });

    /** Annotations with which a quota is not merged by Headroom, and why. */
    const held = [
      [{ 'resizer.io/freeze-until': '2099-01-01' }, 'freeze-until'],
      [{ 'resizer.io/merge-windows': '0 0 29 2 * for 1m' }, 'merge-windows'],
      [{ 'resizer.io/auto-merge': 'false' }, 'auto-merge is off'],
      [{ 'resizer.io/approval': 'before-merge' }, 'nobody has approved it'],
    ] as const;

    it.each(held)('merges nothing along for a quota with %o', async (annotations, why) => {
      const batched = await locked({ batched: [{ quota: 'second', hard: '10', to: '12', annotations }] });
      expect(await merged(batched)).toMatch(new RegExp(`^refused after 0: .*${why}`));
      expect(await merged(await locked({ batched: [{ quota: 'second', hard: '10', to: '12' }] }))).toBe('merged 1');
    });

    it('asks for an approval of what only a message tells of, whichever quota it is about', async () => {
      const second = { quota: 'second', hard: '10', to: '12', demandByMessage: true };
      const batched = await locked({ batched: [second] });
      expect(await merged(batched)).toMatch(/nobody has approved it, and quota second: only the message of an Event/);
      const limits = { 'requests.cpu': '12', 'quota second: requests.cpu': '12' };
      const approved = { ...batched.decision, approval: approvalOf(batched.decision, { limits }) };
      await leases().update(batched.target, approved);
      expect(await merged(batched)).toBe('merged 1');
    });

    /** A decision, and another that joined its pull request. */
    async function shared(
      mine: Given = {},
      theirs: Given = {},
    ): Promise<Readonly<Record<'owner' | 'joined', Awaited<ReturnType<typeof locked>>>>> {
      const owner = await locked(mine);
      const other = await locked(theirs);
      const joinedTo = { namespace: owner.target.namespace, quota: owner.target.quota, decision: owner.decision.id };
      const joined = {
        target: other.target,
        decision: { ...other.decision, pullRequest: { ...owner.decision.pullRequest, joinedTo } },
      };
      const { namespace, quota } = other.target;
      const limits = decidedLimits(other.decision);
      const decision = { ...owner.decision, joined: [{ namespace, quota, decision: other.decision.id, limits }] };
      await leases().update(owner.target, decision);
      return { owner: { target: owner.target, decision }, joined };
    }

    it('merges what several decisions share when each of them lets this head be merged', async () => {
      const { owner, joined } = await shared();
      const { target, decision } = joined;
      const { headSha } = decision.pullRequest;
      const withoutRecord: Decision = { ...decision, pullRequest: null, readyAt: headSha };
      const ownOne = { ...decision, pullRequest: ref(), readyAt: headSha };
      const larger = { ...decision, readyAt: headSha, changes: [change({ from: '10', to: '13' })] };
      const earlier = { ...decision, readyAt: 'f'.repeat(40) };
      for (const not of [decision, withoutRecord, ownOne, larger, earlier]) {
        await leases().update(target, not);
        expect(await merged(owner)).toMatch(/^refused after 0/);
      }
      await leases().update(target, { ...decision, readyAt: headSha });
      expect(await merged(owner)).toBe('merged 1');
    });

    it('hands over what it checked, and lets nothing be merged when a Lease has another decision by then', async () => {
      const { owner, joined } = await shared();
      const ready = { ...joined.decision, readyAt: joined.decision.pullRequest.headSha };
      await leases().update(joined.target, ready);
      const through = gate();
      const recorded = await through.recorded(owner.target, owner.decision.id);
      const more = {
        quota: 'other',
        quotaUid: 'uid',
        changes: [change({ from: '1', to: '2' })],
        approvalRequirement: null,
        candidates: [],
      };
      const swapped = [
        [owner.target, { ...owner.decision, changes: [change({ from: '10', to: '11' })] }, owner.decision],
        [owner.target, { ...owner.decision, joined: [] }, owner.decision],
        [joined.target, { ...ready, changes: [change({ from: '10', to: '11' })] }, ready],
        [joined.target, { ...ready, batchedQuotas: [more] }, ready],
      ] as const;
      for (const [target, other, before] of swapped) {
        let limits: unknown = null;
        const merging = through.merging(owner.target, recorded, async (checked, expectMerge) => {
          await leases().update(target, other);
          limits = [checked.own, ...checked.joined].map((one) => decidedLimits(one.decision));
          return await expectMerge();
        });
        await expect(merging).rejects.toThrow('its Lease holds another decision');
        for (const one of [owner, joined]) expect((await leases().read(one.target)).raises).toEqual([]);
        expect(limits).toEqual([{ 'requests.cpu': '12' }, { 'requests.cpu': '12' }]);
        await leases().update(target, before);
      }
    });

    it('asks for an approval of each decision, and holds each to the policy of its own quota', async () => {
      const asking = await shared({}, { to: '30' });
      const { target, decision } = asking.joined;
      const ready = { ...decision, readyAt: decision.pullRequest.headSha };
      await leases().update(target, ready);
      expect(await merged(asking.owner)).toMatch(new RegExp(`${target.namespace}.*nobody has approved it`));
      await leases().update(target, { ...ready, approval: approvalOf(decision) });
      expect(await merged(asking.owner)).toBe('merged 1');
      const out = await shared({}, { annotations: { 'resizer.io/enabled': 'false' } });
      const { headSha } = out.joined.decision.pullRequest;
      await leases().update(out.joined.target, { ...out.joined.decision, readyAt: headSha });
      expect(await merged(out.owner)).toContain('it opted out');
    });

    it.each(held)('merges nothing that is shared with a quota with %o', async (annotations, why) => {
      const { owner, joined } = await shared({}, { annotations });
      const { headSha } = joined.decision.pullRequest;
      await leases().update(joined.target, { ...joined.decision, readyAt: headSha });
      expect(await merged(owner)).toMatch(new RegExp(`^refused after 0: .*${joined.target.namespace}.*${why}`));
    });

    it('asks for an approval of what only a message tells of in a decision that joined', async () => {
      const { owner, joined } = await shared({}, { decision: { demandByMessage: true } });
      const ready = { ...joined.decision, readyAt: joined.decision.pullRequest.headSha };
      await leases().update(joined.target, ready);
      expect(await merged(owner)).toContain('nobody has approved it, and only the message of an Event');
      await leases().update(joined.target, { ...ready, approval: approvalOf(joined.decision) });
      expect(await merged(owner)).toBe('merged 1');
    });

    it('counts what several decisions share towards the total, under one guardrail', async () => {
      const { owner, joined } = await shared({ hard: '10', to: '15' }, { hard: '10', to: '15' });
      const { headSha } = joined.decision.pullRequest;
      await leases().update(joined.target, { ...joined.decision, readyAt: headSha });
      const both = [owner.target, joined.target];
      const totalOf = (cpu: string) => ofNamespaces(both, { name: 'shared', totals: { cpu } });
      expect(await merged(owner, gate(totalOf('26')))).toContain('what guardrail shared leaves of its total');
      const one = ofNamespaces([owner.target], { name: 'of-one', totals: { cpu: '1000' } });
      expect(await merged(owner, gate(one))).toContain('another guardrail holds');
      expect(await merged(owner, gate(totalOf('30')))).toBe('merged 1');
    });

    it('has others wait for its lock while it reads totals, policies and Leases, and not while it reads namespaces', async () => {
      const { owner, joined } = await shared();
      const { headSha } = joined.decision.pullRequest;
      // Whoever writes a decision may say that it waits for an approval, which the gate finds to be none.
      const told = { reason: 'ApprovalRequired', message: 'it is said' } as const;
      await leases().update(joined.target, { ...joined.decision, readyAt: headSha, approvalRequirement: told });
      const rules = ofNamespaces([owner.target, joined.target], { name: 'waited', totals: { cpu: '1000' } });
      const requests: string[] = [];
      const kubernetes = heardRequests(cluster().worker, (request) => requests.push(request));
      const through = gate(rules, kubernetes);
      const recorded = await through.recorded(owner.target, owner.decision.id);
      let held: readonly string[] = [];
      await through.merging(owner.target, recorded, () => {
        held = requests.slice(requests.indexOf('createNamespacedLease') + 1);
        return Promise.resolve();
      });
      const times = (request: string): number => held.filter((one) => one === request).length;
      expect(Object.fromEntries([...new Set(held)].toSorted().map((one) => [one, times(one)]))).toEqual({
        // What counts towards the totals, once for all decisions.
        listNamespace: 1,
        listResourceQuotaForAllNamespaces: 1,
        listNamespacedLease: 1,
        // Of each decision its policy, its limits, and its Lease twice: as it was found, and with its raises settled.
        readNamespace: 2,
        readNamespacedResourceQuota: 2,
        // And the lock, which is renewed.
        readNamespacedLeaseWithHttpInfo: 5,
        replaceNamespacedLease: 1,
      });
    });

    it('keeps the total of a guardrail while two merge at the same time', async () => {
      const first = await locked({ hard: '10', to: '15' });
      const second = await locked({ hard: '10', to: '15' });
      const rules = ofNamespaces([first.target, second.target], { name: 'both', totals: { cpu: '26' } });
      const results = await Promise.all([merged(first, gate(rules)), merged(second, gate(rules))]);
      expect(results).toEqual([
        'merged 1',
        expect.stringContaining('above 11, what guardrail both leaves of its total'),
      ]);
      const { items } = await cluster().admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
      expect(items.filter(({ metadata }) => metadata?.name?.startsWith('guardrail-'))).toEqual([]);
    });
  });
}
