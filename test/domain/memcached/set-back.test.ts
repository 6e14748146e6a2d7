import { describe, expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { type ChildKind, childKinds } from '../../../domain/memcached/children/children.ts';
import { decide, freshMemory } from '../../../domain/memcached/decide/decide.ts';
import type { LiveObject } from '../../../domain/memcached/plan/live.ts';
import { observationOf } from '../../../domain/memcached/plan/observe.ts';
import { planOf } from '../../../domain/memcached/plan/plan.ts';
import type { LiveChildren, Seen } from '../../../domain/memcached/plan/seen.ts';
import { setBackOf } from '../../../domain/memcached/plan/set-back.ts';
import { appliedStatus } from '../../../domain/memcached/status/status.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-11-27T10:00:00Z');

/** A Memcached of three ready pods, as the API server has it, and somebody who sets back what Headroom writes. */
class Fought {
  now = START;
  /** When Headroom wrote what. */
  readonly writes: { readonly at: number; readonly what: string }[] = [];
  #children = Object.fromEntries(childKinds.map((kind) => [kind, null])) as Record<ChildKind, LiveObject | null>;
  #status: Readonly<Record<string, unknown>> = {};
  #spec: object = { replicas: 3 };
  #generation = 1;

  specify(spec: object): void {
    this.#spec = spec;
    this.#generation += 1;
  }

  edit(kind: ChildKind, change: (live: LiveObject) => LiveObject): void {
    const live = this.#children[kind];
    if (live === null) throw new Error(`there is no ${kind}`);
    this.#children[kind] = change(live);
  }

  notes(): unknown {
    return this.#status['notes'];
  }

  #seen(): Seen {
    const metadata = { name: 'cache', namespace: 'team-a', uid: 'owner', generation: this.#generation };
    return {
      memcached: readMemcached({ metadata, spec: this.#spec, status: this.#status }),
      children: this.#children satisfies LiveChildren,
      at: this.now,
      otherOperator: null,
      endpointSlices: [],
      unserved: [],
      secrets: { hash: '', missing: [], lacking: [], unreadable: [] },
    };
  }

  /** An episode, as far as it comes now; the moment at which it goes on by itself, and why. */
  look(): { readonly until: number | null; readonly reason: string } {
    const [, verdict] = decide(observationOf(this.#seen(), this.now), freshMemory, false);
    if (verdict.kind !== 'ensure')
      return { until: verdict.kind === 'wait' ? verdict.until : null, reason: verdict.reason };
    for (const step of planOf(this.#seen()).steps) this.#write(step);
    this.#status = appliedStatus(this.#status, planOf(this.#seen()).status, this.now);
    return this.look();
  }

  #write(step: ReturnType<typeof planOf>['steps'][number]): void {
    const kind = step.kind === 'scale' ? 'Deployment' : step.child;
    const live = this.#children[kind];
    this.writes.push({ at: this.now, what: `${step.kind} ${kind}` });
    if (step.kind === 'delete') this.#children[kind] = null;
    else if (step.kind === 'apply') {
      const counts = { observedGeneration: 1, replicas: 3, readyReplicas: 3, updatedReplicas: 3 };
      const metadata = { ...step.body.metadata, uid: `${kind}-uid`, generation: 1 };
      const spec = step.body.spec === undefined ? {} : { spec: { ...live?.spec, ...step.body.spec } };
      this.#children[kind] = { ...step.body, ...spec, status: counts, metadata };
    } else {
      const mark = step.setBack === undefined ? {} : { 'memcached.c5c3.io/count-set-back': step.setBack };
      const annotations = { ...(live?.metadata?.['annotations'] as object), ...mark };
      this.#children[kind] = {
        ...live,
        spec: { ...live?.spec, replicas: step.replicas },
        metadata: { ...live?.metadata, annotations },
      };
    }
  }

  /** For so long, somebody acts so many milliseconds after each write of Headroom's. */
  fight(forMs: number, afterMs: number, act: () => void): number {
    this.look();
    const [end, before] = [this.now + forMs, this.writes.length];
    while (this.now < end) {
      this.now += afterMs;
      act();
      for (let { until } = this.look(); until !== null && until > this.now && this.now < end; { until } = this.look()) {
        this.now = until;
      }
    }
    return this.writes.length - before;
  }
}

const otherSelector = (live: LiveObject): LiveObject => ({
  ...live,
  spec: { ...live.spec, selector: { app: 'theirs' } },
});
const scaledTo =
  (replicas: number) =>
  (live: LiveObject): LiveObject => ({ ...live, spec: { ...live.spec, replicas } });

describe('what somebody sets back', () => {
  it.each<[string, ChildKind, (live: LiveObject) => LiveObject]>([
    ['a field', 'Service', otherSelector],
    ['the count of pods', 'Deployment', scaledTo(7)],
  ])('slowly, %s, is written ever more rarely', (_, kind, change) => {
    for (const afterMs of [20 * SECOND, 10 * MINUTE]) {
      const world = new Fought();
      const writes = world.fight(24 * 60 * MINUTE, afterMs, () => world.edit(kind, change));
      // Each half an hour in the end; a few before.
      expect(writes).toBeLessThanOrEqual(2 * 24 + 10);
      expect(writes).toBeGreaterThan(20);
    }
  });

  it('a few times is put right at once, and after an hour of peace again', () => {
    const world = new Fought();
    world.look();
    for (let hour = 0; hour < 3; hour += 1) {
      for (let time = 0; time < 3; time += 1) {
        world.now += 5 * MINUTE;
        world.edit('Service', otherSelector);
        expect(world.look()).toEqual({ until: null, reason: 'AsSpecified' });
        expect(world.writes.at(-1)).toEqual({ at: world.now, what: 'apply Service' });
      }
      world.now += 60 * MINUTE;
    }
  });

  it('again and again waits, says so, and keeps back nothing else', () => {
    const world = new Fought();
    world.look();
    for (let time = 0; time < 4; time += 1) {
      world.now += 10 * SECOND;
      world.edit('Service', otherSelector);
      world.look();
    }
    const since = world.now - 10 * SECOND;
    expect(world.look()).toEqual({ until: since + 30 * SECOND, reason: 'SetBack' });
    expect(world.notes()).toEqual([
      'something sets the Service back again and again, so it is written ever more rarely',
    ]);
    const before = world.writes.length;
    world.specify({ replicas: 3, memcached: { threads: 8 } });
    expect(world.look().reason).toBe('SetBack');
    expect(world.writes.slice(before)).toEqual([{ at: world.now, what: 'apply Deployment' }]);
    // What people want of the same object is no set-back.
    world.specify({ replicas: 3, memcached: { threads: 8 }, service: { annotations: { team: 'a' } } });
    expect(world.look()).toEqual({ until: null, reason: 'AsSpecified' });
  });

  it('is counted by what the object remembers, whatever anybody wrote there', () => {
    const name = 'memcached.c5c3.io/set-back';
    const of = (mark?: string) => setBackOf({ metadata: { annotations: { [name]: mark } } }, name, START);
    const first = { count: 1, from: START, mark: '1 2026-11-27T10:00:00Z' };
    for (const mark of [undefined, '', 'often', '7', '7 today', '0 2026-11-27T09:59:00Z', '7 2026-11-27T09:00:00Z']) {
      expect(of(mark)).toEqual(first);
    }
    expect(of('2 2026-11-27T09:59:00Z')).toMatchObject({ count: 3, from: START });
    expect(of('3 2026-11-27T09:59:50Z')).toMatchObject({ count: 4, from: START + 20 * SECOND });
    // No later than half an hour from now.
    expect(of('999 2036-01-01T00:00:00Z')).toMatchObject({ count: 1000, from: START + 30 * MINUTE });
    expect(of('999 2036-01-01T00:00:00Z').mark).toBe('999 2026-11-27T10:00:00Z');
  });
});
