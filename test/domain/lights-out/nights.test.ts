import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import {
  DELETES_VOLUMES,
  DOWN_SINCE,
  EXCLUDE_UNTIL,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  SLEEP_UNTIL,
  WAKE_UNTIL,
  type WorkloadType,
} from '../../../domain/lights-out/schedule/names.ts';
import type { Override } from '../../../domain/lights-out/schedule/override.ts';
import { evaluate } from '../../../domain/lights-out/workload/evaluate.ts';
import { joinedUids, unmarkedUids } from '../../../domain/lights-out/workload/unmarked.ts';
import type { EvaluationContext } from '../../../domain/lights-out/workload/evaluation.ts';
import { type Plan, planSchedule } from '../../../domain/lights-out/decide/plan.ts';
import { namespacesInScope } from '../../../domain/lights-out/schedule/scope.ts';
import type { ScopedNamespace, Workload } from '../../../domain/lights-out/workload/workload.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { byWidget, contextOf, DUSK, namespaceOf, scaledObject, specOf, workloadOf } from './planned.ts';
import { type Keeper, type LastWrite, ReferenceModel, type Voice } from './reference-model.ts';
import { SmallCluster } from './small-cluster.ts';

const PROTECTED = ['temporal'];
const BORN = DUSK - 1_000_000_000;
const SCHEDULES = ['nights', 'team-b-nights'] as const;
type Name = (typeof SCHEDULES)[number];

const KEYS = [
  'a/web',
  'a/owned',
  'a/keda',
  'a/db',
  'a/job',
  'b/web',
  'b/job',
  'b/idle',
  'kube-system/dns',
  'temporal/frontend',
];
const TYPES: Readonly<Record<string, WorkloadType>> = { 'a/db': 'StatefulSet', 'a/job': 'CronJob', 'b/job': 'CronJob' };
const AT_FIRST: Readonly<Record<string, number>> = { 'a/job': 1, 'b/job': 1, 'b/idle': 0 };
const MANAGERS = { person: 'kubectl', gitops: 'argocd-controller', machine: 'kube-controller-manager' } as const;

const nameOf = (key: string) => key.split('/')[1] ?? key;
const namespaceNameOf = (key: string) => key.split('/')[0] ?? key;
const full = (key: string) => AT_FIRST[key] ?? 3;

const key = fc.constantFrom(...KEYS);
const schedule = fc.constantFrom(...SCHEDULES);
const namespace = fc.constantFrom('a', 'b');
const hours = fc.integer({ min: 1, max: 30 });
const kind = fc.constantFrom('wake' as const, 'sleep' as const);
const value = fc.constantFrom(0, 1, 2, 5);

/** What happens to a cluster in a night. */
const event = fc.oneof(
  fc.record({ what: fc.constant('turn' as const), schedule }),
  fc.record({ what: fc.constant('turn' as const), schedule }),
  fc.record({ what: fc.constant('scale' as const), key, value }),
  fc.record({ what: fc.constant('scale' as const), key, value }),
  fc.record({ what: fc.constant('deploy' as const), key }),
  fc.record({ what: fc.constant('gitops' as const), key }),
  fc.record({ what: fc.constant('undo' as const), key }),
  fc.record({ what: fc.constant('machine' as const), key, value: fc.constantFrom(1, 4) }),
  fc.record({ what: fc.constant('create' as const), key, by: fc.constantFrom('person' as const, 'gitops' as const) }),
  fc.record({ what: fc.constant('remove' as const), key }),
  fc.record({ what: fc.constant('label' as const), namespace }),
  fc.record({ what: fc.constant('types' as const) }),
  fc.record({ what: fc.constant('exclude' as const), key }),
  fc.record({ what: fc.constant('annotate' as const), key, kind, hours }),
  fc.record({ what: fc.constant('leave' as const), key, hours: fc.option(hours) }),
  fc.record({ what: fc.constant('leaveNamespace' as const), namespace, hours: fc.option(hours) }),
  fc.record({ what: fc.constant('unannotate' as const), key }),
  fc.record({ what: fc.constant('annotateNamespace' as const), namespace, kind, hours }),
  fc.record({ what: fc.constant('override' as const), schedule, namespace: fc.option(namespace), kind, hours }),
  fc.record({ what: fc.constant('suspend' as const), schedule }),
  fc.record({ what: fc.constant('keep' as const), schedule, replicas: fc.constantFrom(0, 2) }),
  fc.record({ what: fc.constant('delete' as const), schedule }),
  fc.record({ what: fc.constant('vanish' as const) }),
  fc.record({ what: fc.constant('policy' as const) }),
  fc.record({ what: fc.constant('allow' as const) }),
);
type NightEvent = typeof event extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  event,
  seconds: fc.integer({ min: 2, max: 8 * 3600 }),
  /** `crash`: Headroom ends after so many writes; somebody may scale a workload between the look and the writes. */
  after: fc.oneof(
    fc.constant('nothing' as const),
    fc.record({ writes: fc.nat({ max: 8 }), by: schedule, race: fc.option(fc.record({ key, value })) }),
    fc.constant('settle' as const),
    fc.constant('settle' as const),
  ),
});

/** Compares a million times, for which an assertion of the test runner is too slow. */
function same(what: string, wanted: unknown, got: unknown): void {
  if (wanted !== got) throw new Error(`${what}: the table says ${String(wanted)}, it is ${String(got)}`);
}

/** A cluster, its schedules, and the table of what must be: every event goes to both. */
class Nights {
  readonly cluster = new SmallCluster();
  readonly model = new ReferenceModel();
  readonly overrides: Record<Name, Override[]> = { nights: [], 'team-b-nights': [] };
  /** What the workflow of each schedule carries from its last observation. */
  readonly carried: Partial<Record<Name, Pick<Plan, 'joinedWorkloads' | 'unmarked'>>> = {};
  /** Workloads that somebody once set to none. */
  readonly zeroed = new Set<string>();
  now = DUSK - 5_000_000;
  #uid = 0;

  constructor() {
    for (const name of ['a', 'b', 'kube-system', 'temporal']) {
      this.cluster.namespaces.set(name, namespaceOf(name, { labels: { sleeps: 'yes' } }));
    }
    for (const name of SCHEDULES) {
      this.model.keepers.push({
        name,
        isSuspended: false,
        isLeaving: false,
        state: 'Up',
        since: this.now,
        completedAt: null,
        lastLook: null,
        keeps: 0,
        types: [],
        excludes: name === 'nights',
        voices: [],
      });
    }
    for (const workload of KEYS) this.create(workload, 'person', BORN);
    this.rescope();
  }

  create(workload: string, by: 'person' | 'gitops', at: number): void {
    const type = TYPES[workload] ?? 'Deployment';
    const first = full(workload);
    this.#uid += 1;
    this.cluster.put(
      workload,
      workloadOf({
        kind: type,
        namespace: namespaceNameOf(workload),
        name: nameOf(workload),
        uid: `uid-${this.#uid}`,
        createdAt: at,
        createdBy: MANAGERS[by],
        replicas: type === 'CronJob' ? null : first,
        changed: { manager: MANAGERS[by], at, isOnlyIt: false },
        autoscalers: workload === 'a/keda' ? [scaledObject()] : [],
        ...(workload === 'a/owned' ? byWidget({ replicas: first, uid: `widget-${this.#uid}` }) : {}),
      }),
    );
    this.model.rows.set(workload, {
      isCronJob: type === 'CronJob',
      type,
      namespace: namespaceNameOf(workload),
      value: first,
      full: 0,
      sleeper: null,
      sleptAt: 0,
      last: { by, at, isSure: false },
      bornAt: at,
      isBornOfPerson: by === 'person',
      isExcluded: false,
      leftUntil: null,
      voices: [],
      losesVolumes: false,
      mayLoseVolumes: false,
    });
    this.zeroed.delete(workload);
    if (first === 0) this.zeroed.add(workload);
  }

  specOf({ name, keeps, types, isSuspended }: Keeper) {
    return specOf({
      downscaleReplicas: keeps,
      suspend: isSuspended,
      controllerOwned: 'scale',
      workloadTypes: types as WorkloadType[],
      ...(name === 'nights'
        ? {
            namespaces: [],
            namespaceSelector: { matchLabels: { sleeps: 'yes' } },
            excludeLabels: { matchLabels: { keep: 'yes' } },
          }
        : { namespaces: ['b', 'kube-system', 'temporal'] }),
    });
  }

  /** Tells the table the namespaces, which it takes as they are but for those that no schedule may ever touch. */
  rescope(): void {
    const labelled = ['a', 'b'].filter((name) => this.cluster.namespaces.get(name)?.labels['sleeps'] === 'yes');
    this.model.scopes = { nights: labelled, 'team-b-nights': ['b'] };
  }

  context(keeper: Keeper): EvaluationContext {
    return contextOf({
      schedule: keeper.name,
      createdAt: SCHEDULES.indexOf(keeper.name as Name),
      spec: this.specOf(keeper),
      now: this.now,
      period: { state: keeper.state, since: keeper.since },
      isRestoringAll: keeper.isLeaving,
      overrides: this.overrides[keeper.name as Name],
      completedAt: keeper.completedAt,
      joinedWorkloads: joinedUids(this.carried[keeper.name as Name]?.joinedWorkloads ?? []),
      protectedNamespaces: PROTECTED,
      others: this.model.keepers
        .filter((other) => other !== keeper)
        .map((other) => ({
          name: other.name,
          createdAt: SCHEDULES.indexOf(other.name as Name),
          spec: this.specOf(other),
          isIdle: other.isSuspended || other.isLeaving,
        })),
    });
  }

  /** An observation: the table looks at the same moment. */
  plan(keeper: Keeper): Plan {
    const name = keeper.name as Name;
    const unmarked = unmarkedUids(this.carried[name]?.unmarked);
    const context = { ...this.context(keeper), ...(unmarked === undefined ? {} : { unmarked }) };
    const workloads = [...this.cluster.workloads.values()];
    const plan = planSchedule({ context, namespaces: [...this.cluster.namespaces.values()], workloads });
    this.carried[name] = plan;
    this.model.look(name, this.now);
    return plan;
  }

  /** Applies a plan, or its first writes; each workload that was written is one that the table may change as well. */
  apply(keeper: Keeper, { items }: Plan, limit: number, at: number): void {
    let left = limit;
    for (const { workload, direction } of items) {
      const where = `${workload.namespace}/${workload.name}`;
      const before = this.cluster.workloads.get(where);
      if (before === undefined) continue;
      // A plan has names: what is written is what the workload is to be by now.
      const namespace = this.cluster.namespaces.get(workload.namespace) ?? null;
      const evaluation = evaluate(before, namespace, this.context(keeper));
      if (evaluation.kind === 'keep' || evaluation.item.direction !== direction) continue;
      const isOwned = evaluation.item.owner !== undefined;
      let isVisited = false;
      for (const [index, write] of evaluation.writes.entries()) {
        // The marks and the owner's number are two writes; what lies between is tested by itself.
        if (left === 0 && !(isOwned && index > 0)) return;
        left = Math.max(0, left - 1);
        if (!this.cluster.write(where, write, at)) break;
        // The workload of an owner gets no number, whatever happens.
        if (isOwned && write.kind === before.kind) same(`a number for ${where}`, undefined, write.patch['spec']);
        if (isVisited || (write.kind !== before.kind && write.kind !== 'ScaledOwner')) continue;
        isVisited = true;
        if (direction === 'Up' && write.patch['spec'] !== undefined) {
          // Nothing is restored that carries no annotation: a second time there is none.
          const { annotations, labels } = before;
          const mark = annotations[ORIGINAL_REPLICAS] ?? annotations[ORIGINAL_SUSPEND] ?? labels[ORIGINAL_REPLICAS];
          same(`${where} is marked`, true, mark !== undefined);
        }
        same(`${where} may be touched`, true, workload.namespace === 'a' || workload.namespace === 'b');
        this.model.visit(where, keeper.name, at);
      }
    }
  }

  settle(): void {
    for (let round = 0; ; round += 1) {
      if (round > 8) throw new Error('no plan is empty after eight looks of each schedule');
      let items = 0;
      for (const keeper of this.model.keepers) {
        const plan = this.plan(keeper);
        items += plan.items.length;
        this.apply(keeper, plan, Number.POSITIVE_INFINITY, this.now);
      }
      if (items === 0) break;
    }
    this.model.settle(this.now);
    for (const [name, row] of this.model.rows) {
      const workload = this.cluster.get(name);
      const { annotations, labels, autoscalers } = workload;
      same(`the value of ${name}`, row.value, this.cluster.value(name));
      // The annotations of a Deployment are those of another revision where somebody went back to that.
      const isHalf = annotations[MANAGED_BY] === undefined || labels[MANAGED_BY] === undefined;
      const isUndone = workload.kind === 'Deployment' && isHalf;
      if (!isUndone) same(`the owner of ${name}`, row.sleeper, annotations[MANAGED_BY] ?? null);
      same(`the label of ${name}`, row.sleeper, labels[MANAGED_BY] ?? null);
      const keda = autoscalers[0]?.annotations ?? {};
      if (row.sleeper !== null && row.last.by === 'ours' && name === 'a/keda' && this.model.keepers.length > 0) {
        same(`the pause of ${name}`, `${row.value}`, keda[KEDA_PAUSED_REPLICAS]);
      }
    }
  }

  /** Somebody sets a value, as far as it is another one. */
  write(workload: string, next: number, by: LastWrite['by'] & keyof typeof MANAGERS, isSure = true): void {
    const row = this.model.rows.get(workload);
    if (row === undefined || next === this.cluster.value(workload)) return;
    // The annotations of an older revision count for what has no replicas: nothing is lost by that.
    const { annotations, labels } = this.cluster.get(workload);
    if (next === 0 && annotations[ORIGINAL_REPLICAS] !== undefined && labels[MANAGED_BY] === undefined) return;
    this.cluster.set(workload, next, { manager: MANAGERS[by], at: this.now, isOnlyIt: isSure });
    row.value = next;
    row.last = { by, at: this.now, isSure };
    if (next === 0) this.zeroed.add(workload);
  }

  scale(workload: string, next: number): void {
    this.write(workload, this.model.rows.get(workload)?.isCronJob === true ? Math.min(next, 1) : next, 'person');
  }

  /** Annotates a workload or a namespace, and says so to the table. */
  #note<T extends Workload | ScopedNamespace>(
    object: T,
    voices: readonly Voice[],
    { kind, hours }: { readonly kind: 'wake' | 'sleep'; readonly hours: number },
  ): { readonly object: T; readonly voices: readonly Voice[] } {
    const until = this.now + hours * 3_600_000;
    const name = kind === 'wake' ? WAKE_UNTIL : SLEEP_UNTIL;
    const annotations = { ...object.annotations, [name]: formatInstant(until) };
    const voice: Voice = { kind, from: null, until };
    const others = voices.filter((other) => other.kind !== kind);
    if (kind === 'wake') return { object: { ...object, annotations }, voices: [...others, voice] };
    const { sleepingSince: _before, ...rest } = object;
    // It is not always said when an annotation was written.
    if (hours % 3 === 0) return { object: { ...rest, annotations } as T, voices: [...others, voice] };
    const since = { ...voice, from: this.now, isRounded: true };
    return { object: { ...object, annotations, sleepingSince: this.now }, voices: [...others, since] };
  }

  /** Excludes a workload or a namespace for so many hours; null takes that back. */
  #leave<T extends Workload | ScopedNamespace>(object: T, hours: number | null): { object: T; until: number | null } {
    const { [EXCLUDE_UNTIL]: _before, ...annotations } = object.annotations;
    if (hours === null) return { object: { ...object, annotations }, until: null };
    // An annotation has whole seconds.
    const until = Math.floor((this.now + hours * 3_600_000) / 1000) * 1000;
    return { object: { ...object, annotations: { ...annotations, [EXCLUDE_UNTIL]: formatInstant(until) } }, until };
  }

  /** Somebody changes whether a StatefulSet loses its volumes when it is scaled down, or whether it may. */
  #volumes(workload: string, what: 'policy' | 'allow'): void {
    const row = this.model.rows.get(workload);
    if (row === undefined) return;
    if (what === 'policy') row.losesVolumes = !row.losesVolumes;
    else row.mayLoseVolumes = !row.mayLoseVolumes;
    const { deletesVolumes: _before, ...object } = this.cluster.get(workload);
    const { [DELETES_VOLUMES]: _allowed, ...annotations } = object.annotations;
    this.cluster.put(workload, {
      ...object,
      ...(row.losesVolumes ? { deletesVolumes: true } : {}),
      annotations: row.mayLoseVolumes ? { ...annotations, [DELETES_VOLUMES]: 'true' } : annotations,
    });
  }

  happen(event: NightEvent): void {
    const keeper = 'schedule' in event ? this.model.keepers.find(({ name }) => name === event.schedule) : undefined;
    const row = 'key' in event ? this.model.rows.get(event.key) : undefined;
    switch (event.what) {
      case 'turn':
        if (keeper === undefined) return;
        keeper.state = keeper.state === 'Up' ? 'Down' : 'Up';
        keeper.since = this.now;
        return;
      case 'scale':
        this.scale(event.key, event.value);
        return;
      case 'deploy': {
        // A new image: whoever applies it owns the replicas by then only if they were another number, or their own before.
        if (row === undefined) return;
        const isOwner = row.last.by === 'person';
        if (this.cluster.value(event.key) !== full(event.key)) this.write(event.key, full(event.key), 'person', false);
        else if (isOwner) {
          row.last = { by: 'person', at: this.now, isSure: false };
          this.cluster.set(event.key, full(event.key), { manager: MANAGERS.person, at: this.now, isOnlyIt: false });
        }
        return;
      }
      case 'gitops':
        this.write(event.key, full(event.key), 'gitops', false);
        return;
      case 'undo': {
        // Back to an older revision: its annotations come with it, which were copied by day or in some other night.
        if (row === undefined || row.type !== 'Deployment' || !['a', 'b'].includes(row.namespace)) return;
        const workload = this.cluster.get(event.key);
        const {
          [ORIGINAL_REPLICAS]: _count,
          [MANAGED_BY]: _owner,
          [DOWN_SINCE]: _since,
          ...rest
        } = workload.annotations;
        if (workload.labels[MANAGED_BY] !== undefined) this.cluster.put(event.key, { ...workload, annotations: rest });
        else if (this.cluster.value(event.key) > 0) {
          const stale = { [ORIGINAL_REPLICAS]: '7', [MANAGED_BY]: 'nights', [DOWN_SINCE]: formatInstant(BORN) };
          this.cluster.put(event.key, { ...workload, annotations: { ...rest, ...stale } });
        }
        return;
      }
      case 'machine':
        // What KEDA does to its own workload is another matter; CronJobs have no machines.
        if (row !== undefined && !row.isCronJob && event.key !== 'a/keda')
          this.write(event.key, event.value, 'machine');
        return;
      case 'create':
        if (row === undefined) this.create(event.key, event.by, this.now);
        return;
      case 'remove':
        this.cluster.remove(event.key);
        this.model.rows.delete(event.key);
        return;
      case 'label': {
        const found = this.cluster.namespaces.get(event.namespace);
        if (found === undefined) return;
        const labels: Record<string, string> = found.labels['sleeps'] === 'yes' ? {} : { sleeps: 'yes' };
        this.cluster.namespaces.set(event.namespace, { ...found, labels });
        this.rescope();
        return;
      }
      case 'types': {
        const nights = this.model.keepers.find(({ name }) => name === 'nights');
        if (nights !== undefined) nights.types = nights.types.length === 0 ? ['CronJob', 'StatefulSet'] : [];
        return;
      }
      case 'exclude': {
        if (row === undefined) return;
        row.isExcluded = !row.isExcluded;
        const workload = this.cluster.get(event.key);
        const { keep: _, ...labels } = workload.labels;
        this.cluster.put(event.key, { ...workload, labels: row.isExcluded ? { ...labels, keep: 'yes' } : labels });
        return;
      }
      case 'annotate': {
        if (row === undefined) return;
        const workload = this.cluster.get(event.key);
        const { object, voices } = this.#note(workload, row.voices, event);
        row.voices = voices;
        this.cluster.put(event.key, object);
        return;
      }
      case 'unannotate': {
        if (row === undefined) return;
        row.voices = [];
        const workload = this.cluster.get(event.key);
        const { [WAKE_UNTIL]: _wake, [SLEEP_UNTIL]: _sleep, ...annotations } = workload.annotations;
        this.cluster.put(event.key, { ...workload, annotations });
        return;
      }
      case 'leave': {
        if (row === undefined) return;
        const { object, until } = this.#leave(this.cluster.get(event.key), event.hours);
        row.leftUntil = until;
        this.cluster.put(event.key, object);
        return;
      }
      case 'leaveNamespace': {
        const found = this.cluster.namespaces.get(event.namespace);
        if (found === undefined) return;
        const { object, until } = this.#leave(found, event.hours);
        const { [event.namespace]: _before, ...others } = this.model.namespaceLeftUntil;
        this.model.namespaceLeftUntil = until === null ? others : { ...others, [event.namespace]: until };
        this.cluster.namespaces.set(event.namespace, object);
        return;
      }
      case 'annotateNamespace': {
        const found = this.cluster.namespaces.get(event.namespace);
        if (found === undefined) return;
        const before = this.model.namespaceVoices[event.namespace] ?? [];
        const { object, voices } = this.#note(found, before, event);
        this.model.namespaceVoices[event.namespace] = voices;
        this.cluster.namespaces.set(event.namespace, object);
        return;
      }
      case 'override': {
        if (keeper === undefined) return;
        const until = this.now + event.hours * 3_600_000;
        const { kind, namespace } = event;
        keeper.voices = [...keeper.voices, { kind, namespace, from: this.now, until }];
        this.overrides[event.schedule].push({ kind, namespace, since: this.now, until, by: 'alice', reason: '' });
        return;
      }
      case 'suspend':
        if (keeper !== undefined) keeper.isSuspended = !keeper.isSuspended;
        return;
      case 'keep':
        if (keeper !== undefined) keeper.keeps = event.replicas;
        return;
      case 'delete':
        if (keeper !== undefined) keeper.isLeaving = true;
        return;
      case 'policy':
      case 'allow':
        this.#volumes('a/db', event.what);
        return;
      case 'vanish':
        // By force, without what its finalizer would have done.
        this.model.keepers = this.model.keepers.filter(({ name }) => name !== 'team-b-nights');
    }
  }
}

describe('a few workloads over many nights', () => {
  it('end as the reference model says, whatever happened, and a second pass changes nothing', () => {
    let settled = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 3, maxLength: 25 }), (steps) => {
        const nights = new Nights();
        for (const { event: next, seconds, after } of steps) {
          nights.now += seconds * 1000;
          nights.happen(next);
          nights.now += 1000;
          if (after === 'settle') {
            nights.settle();
            settled += 1;
          } else if (after !== 'nothing') {
            const keeper = nights.model.keepers.find(({ name }) => name === after.by);
            if (keeper === undefined) continue;
            const plan = nights.plan(keeper);
            const at = nights.now;
            nights.now += 1000;
            if (after.race !== null) nights.scale(after.race.key, after.race.value);
            nights.apply(keeper, plan, after.writes, at);
          }
        }
        nights.now += 1000;
        nights.settle();
        for (const keeper of nights.model.keepers) keeper.isLeaving = true;
        nights.now += 1000;
        nights.settle();
        for (const [workload, row] of nights.model.rows) {
          // Of a schedule that vanished, with nobody left to take its place.
          if (row.sleeper !== null) continue;
          if (!nights.zeroed.has(workload)) same(`${workload} runs`, true, nights.cluster.value(workload) > 0);
          expect(
            nights.cluster.get(workload).autoscalers.flatMap(({ annotations }) => Object.keys(annotations)),
          ).toEqual([]);
        }
      }),
      { numRuns: 1000 },
    );
    expect(settled).toBeGreaterThan(3_000);
  });

  it('are in the scope that the table says', () => {
    const nights = new Nights();
    const namespaces = [...nights.cluster.namespaces.values()];
    for (const keeper of nights.model.keepers) {
      expect(namespacesInScope(nights.specOf(keeper), namespaces, PROTECTED)).toEqual(nights.model.scopes[keeper.name]);
    }
  });
});
