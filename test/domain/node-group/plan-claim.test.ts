import { describe, expect, it } from 'vitest';
import {
  claimedRemovals,
  countedClaims,
  decisionOf,
  formatClaims,
  formatFence,
  machinesOf,
  parseClaims,
  parseFence,
  removalsOf,
  type PlanClaim,
  type PlanClaims,
  upcomingMachines,
  withClaim,
  withoutMachines,
  withoutRemoval,
} from '../../../domain/node-group/plan-claim.ts';
import { NOW } from './builders.ts';

const MINUTE = 60_000;
const fence = { lease: '7', plan: 'p1' };

function claimOf(group: string, over: Partial<PlanClaim> = {}): PlanClaim {
  const decision = decisionOf(fence, group);
  return { decision, group, at: NOW, machines: { small: 2, large: 1 }, givenUp: [], ...over };
}

function lease(resourceVersion: string, claims: PlanClaims = { plan: 'p0', claims: [] }) {
  return { resourceVersion, claims };
}

const OVER = { kind: 'over' };

describe('a claim of a plan', () => {
  it('is made while nobody has acted since the plan was made, and where there is no Lease yet', () => {
    const claimed = { kind: 'new', claims: { plan: 'p1', claims: [claimOf('web')] } };
    expect(withClaim(lease('7'), fence, claimOf('web'))).toEqual(claimed);
    expect(withClaim(null, { ...fence, lease: '' }, claimOf('web'))).toEqual(claimed);
  });

  it('is refused when somebody has acted on another plan, or somebody has deleted or made the Lease', () => {
    expect(withClaim(lease('8'), fence, claimOf('web'))).toEqual(OVER);
    expect(withClaim(null, fence, claimOf('web'))).toEqual(OVER);
    expect(withClaim(lease('8'), { ...fence, lease: '' }, claimOf('web'))).toEqual(OVER);
  });

  it('is made beside that of another group of the same plan', () => {
    const present = lease('8', { plan: 'p1', claims: [claimOf('web')] });
    expect(withClaim(present, fence, claimOf('batch'))).toEqual({
      kind: 'new',
      claims: { plan: 'p1', claims: [claimOf('web'), claimOf('batch')] },
    });
  });

  it('is held by its own decision for four minutes, also after a later plan, and never made again', () => {
    const own = claimOf('web', { givenUp: [1] });
    const at = NOW + 4 * MINUTE;
    for (const plan of ['p1', 'p2']) {
      const present = lease('9', { plan, claims: [own] });
      expect(withClaim(present, fence, claimOf('web', { at: at - 1 }))).toEqual({ kind: 'held', claim: own });
      expect(withClaim(present, fence, claimOf('web', { at }))).toEqual(OVER);
    }
  });

  it('goes with the next one after ten minutes', () => {
    const old = claimOf('batch', { decision: 'p0/batch', at: NOW - 10 * MINUTE });
    const recent = claimOf('jobs', { decision: 'p0/jobs', at: NOW - 10 * MINUTE + 1 });
    const present = lease('7', { plan: 'p0', claims: [old, recent] });
    expect(withClaim(present, fence, claimOf('web'))).toMatchObject({ claims: { claims: [recent, claimOf('web')] } });
    expect(countedClaims(present.claims, NOW)).toEqual([recent]);
  });

  it('is read as it was written, and anything else as nothing', () => {
    const claims = { plan: 'p1', claims: [claimOf('web')] };
    expect(parseClaims(formatClaims(claims))).toEqual(claims);
    expect(parseFence(formatFence(fence))).toEqual(fence);
    for (const text of [undefined, '', '[', '[]', '{"claims":[{}, 7]}']) {
      expect(parseClaims(text)).toEqual({ plan: '', claims: [] });
    }
    expect(() => parseFence('{}')).toThrow('not the version of a plan');
  });
});

describe('the machines of a claim', () => {
  it('have the same names whatever the order of the types, and others in another decision', () => {
    const names = machinesOf(claimOf('web')).map(({ name }) => name);
    expect(machinesOf(claimOf('web', { machines: { large: 1, small: 2 } })).map(({ name }) => name)).toEqual(names);
    expect(
      new Set([...names, ...machinesOf(claimOf('web', { decision: 'p9/web' })).map(({ name }) => name)]).size,
    ).toBe(6);
    expect(machinesOf(claimOf('web')).map(({ instanceType }) => instanceType)).toEqual(['large', 'small', 'small']);
  });

  it('have names that Kubernetes takes, however long that of the group', () => {
    const [first] = machinesOf(claimOf(`${'long.'.repeat(10)}group-of-nodes`));
    expect(first?.name).toMatch(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
    expect(first?.name.length).toBeLessThanOrEqual(63);
  });

  it('come until they exist, were given up, or ten minutes are over', () => {
    const claim = claimOf('web');
    const [first, second, third] = machinesOf(claim).map(({ name }) => name);
    const claims = { plan: 'p1', claims: [claim] };
    const names = (present: PlanClaims, existing: readonly string[], at = NOW) =>
      upcomingMachines(present, new Set(existing), at).map(({ name }) => name);
    expect(names(claims, [first ?? ''])).toEqual([second, third]);
    const less = withoutMachines(claims, new Set([second ?? '', 'unknown']), NOW);
    expect(less?.claims).toEqual([{ ...claim, givenUp: [1] }]);
    expect(names(less ?? claims, [])).toEqual([first, third]);
    expect(withoutMachines(less ?? claims, new Set([second ?? '']), NOW)).toBeNull();
    expect(names(claims, [], NOW + 10 * MINUTE)).toEqual([]);
  });
});

describe('a claim of nodes that go', () => {
  const removals = ['uid-a', 'uid-b'];
  const goes = claimOf('web', { decision: removalsOf(fence, 'web'), machines: {}, removals });
  const other = { lease: '7', plan: 'p2' };

  it('is refused when somebody has acted on another plan, be it for a removal', () => {
    const present = lease('8', { plan: 'p1', claims: [goes] });
    const late = { ...goes, decision: removalsOf(other, 'batch'), group: 'batch', removals: ['uid-c'] };
    expect(withClaim(present, other, late)).toEqual(OVER);
    expect(withClaim(present, other, claimOf('batch', { decision: decisionOf(other, 'batch') }))).toEqual(OVER);
  });

  it('stands beside what the same group creates of the same plan', () => {
    const present = lease('8', { plan: 'p1', claims: [goes] });
    expect(withClaim(present, fence, claimOf('web'))).toMatchObject({
      kind: 'new',
      claims: { claims: [goes, claimOf('web')] },
    });
    expect(withClaim(present, fence, goes)).toEqual({ kind: 'held', claim: goes });
  });

  it('makes no machine, and names the nodes for as long as it counts', () => {
    expect(upcomingMachines({ plan: 'p1', claims: [goes] }, new Set(), NOW)).toEqual([]);
    expect(claimedRemovals([goes, claimOf('web')])).toEqual(removals);
    expect(claimedRemovals(countedClaims({ plan: 'p1', claims: [goes] }, NOW + 10 * MINUTE))).toEqual([]);
  });

  it('names a node no more whose drain was undone', () => {
    const claims = { plan: 'p1', claims: [goes, claimOf('web')] };
    const left = withoutRemoval(claims, 'uid-a', NOW);
    expect(left).toEqual({ plan: 'p1', claims: [{ ...goes, removals: ['uid-b'] }, claimOf('web')] });
    expect(withoutRemoval(left ?? claims, 'uid-a', NOW)).toBeNull();
  });

  it('with machines that replace them names them until none of these machines comes', () => {
    const replaces = claimOf('web', { removals });
    const names = machinesOf(replaces).map(({ name }) => name);
    const claims = { plan: 'p1', claims: [replaces, goes] };
    const some = withoutMachines(claims, new Set(names.slice(1)), NOW);
    expect(claimedRemovals(some?.claims ?? [])).toEqual([...removals, ...removals]);
    const none = withoutMachines(claims, new Set(names), NOW);
    expect(none?.claims).toEqual([{ ...replaces, givenUp: names.map((_, at) => at), removals: [] }, goes]);
  });

  it('is read as it was written, and no other text as one', () => {
    expect(parseClaims(formatClaims({ plan: 'p1', claims: [goes] })).claims).toEqual([goes]);
    expect(parseClaims(JSON.stringify({ plan: 'p1', claims: [{ ...goes, removals: [7] }] })).claims).toEqual([]);
  });
});
