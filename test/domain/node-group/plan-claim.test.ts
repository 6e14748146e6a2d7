import { describe, expect, it } from 'vitest';
import {
  countedClaims,
  decisionOf,
  formatClaims,
  formatFence,
  machinesOf,
  parseClaims,
  parseFence,
  type PlanClaim,
  type PlanClaims,
  upcomingMachines,
  withClaim,
  withoutMachines,
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

describe('a claim of a plan', () => {
  it('is made while nobody has acted since the plan was made, and where there is no Lease yet', () => {
    const claimed = { plan: 'p1', claims: [claimOf('web')] };
    expect(withClaim(lease('7'), fence, claimOf('web'))).toEqual(claimed);
    expect(withClaim(null, { ...fence, lease: '' }, claimOf('web'))).toEqual(claimed);
  });

  it('is refused when somebody has acted on another plan, or somebody has deleted or made the Lease', () => {
    expect(withClaim(lease('8'), fence, claimOf('web'))).toBeNull();
    expect(withClaim(null, fence, claimOf('web'))).toBeNull();
    expect(withClaim(lease('8'), { ...fence, lease: '' }, claimOf('web'))).toBeNull();
  });

  it('is made beside that of another group of the same plan', () => {
    const first = withClaim(lease('7'), fence, claimOf('web'));
    expect(first).not.toBeNull();
    expect(
      withClaim(lease('8', first ?? undefined), fence, claimOf('batch'))?.claims.map(({ group }) => group),
    ).toEqual(['web', 'batch']);
  });

  it('is renewed by its own decision also after a later plan, but not after four minutes', () => {
    const claims = { plan: 'p2', claims: [claimOf('web', { givenUp: [1] })] };
    const at = NOW + 4 * MINUTE - 1;
    expect(withClaim(lease('9', claims), fence, claimOf('web', { at }))).toEqual({
      plan: 'p2',
      claims: [claimOf('web', { at, givenUp: [1] })],
    });
    expect(withClaim(lease('9', claims), fence, claimOf('web', { at: at + 1 }))).toBeNull();
  });

  it('goes with the next one after ten minutes', () => {
    const old = claimOf('batch', { decision: 'p0/batch', at: NOW - 10 * MINUTE });
    const recent = claimOf('jobs', { decision: 'p0/jobs', at: NOW - 10 * MINUTE + 1 });
    const present = lease('7', { plan: 'p0', claims: [old, recent] });
    expect(withClaim(present, fence, claimOf('web'))?.claims).toEqual([recent, claimOf('web')]);
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
