import { describe, expect, it } from 'vitest';
import {
  asWritten,
  cappedRequirement,
  computeRequirement,
  coveredBy,
  describeChange,
  mergeChanges,
  requirementDigest,
  outgrows,
} from '../../../../domain/quota-resize/sizing/requirement.ts';
import { approvalRequirementOf } from '../../../../domain/quota-resize/decide/approval-requirement.ts';
import { isUnderPressure } from '../../../../domain/quota-resize/sizing/over-threshold.ts';
import type { Proposal } from '../../../../domain/quota-resize/model/verdict.ts';
import { change, cpu, demand, HOUR, NOW, observation, policy, quota } from '../model/observations.ts';

function requirement(observed: Parameters<typeof observation>[0], since: number | null = null): Proposal {
  const computed = computeRequirement(observation(observed), since);
  if (computed === null) throw new Error('there is no need');
  return computed;
}

describe('a requirement', () => {
  it('of a threshold is told with its numbers, and without evidence', () => {
    expect(requirement({})).toEqual({
      changes: [change()],
      evidence: [],
      notes: [],
      unmetDemand: false,
      demandByMessage: false,
      approvalRequirement: null,
    });
  });

  it('of unmet demand names who misses what, and since when', () => {
    const found = requirement({ quota: cpu('7'), demand: [demand({ 'requests.cpu': '4' })] });
    expect(found).toMatchObject({ unmetDemand: true, demandByMessage: false });
    expect(found.changes.map(describeChange)).toEqual([
      'requests.cpu 10 → 14: Workloads still need 4 CPU that the quota denied. Usage is 7 of 10 CPU.',
    ]);
    expect(found.evidence).toEqual([
      'ReplicaSet web still needs 4 CPU (requests.cpu) for 2 replicas that the quota denied. The last denial was at 2026-11-20T10:00:00Z.',
    ]);
  });

  it('of both causes says both, and one missing replica is one', () => {
    const found = requirement({ demand: [demand({ 'requests.cpu': '4' }, { missing: 1 })] });
    expect(found.changes[0]?.reason).toBe(
      'Workloads still need 4 CPU that the quota denied. Usage is 9 of 10 CPU (90 %), and the threshold is 80 %.',
    );
    expect(found.evidence[0]).toContain(' for 1 replica that the quota denied.');
  });

  it('known by a message counts from the last change on, and what still misses always', () => {
    const observationWith = (basis: 'message' | 'workload') => ({
      quota: cpu('7'),
      demand: [demand({ 'requests.cpu': '4' }, { basis, lastSeen: NOW })],
    });
    expect(computeRequirement(observation(observationWith('message')), NOW)).toBeNull();
    const required = requirement(observationWith('message'), NOW - 1);
    expect(required.demandByMessage).toBe(true);
    expect(required.evidence).toEqual([
      'The quota denied ReplicaSet web 4 CPU (requests.cpu). The last denial was at 2026-11-20T10:00:00Z.',
    ]);
    expect(requirement(observationWith('workload'), NOW + HOUR).demandByMessage).toBe(false);
  });

  it('adds the demand of several workloads, and tells only of those that matter', () => {
    const both = quota({ hard: { 'requests.cpu': '10', pods: '100' }, used: { 'requests.cpu': '7', pods: '3' } });
    const small = demand({ pods: '1' }, { workload: { kind: 'Job', name: 'j', uid: 'uid-j' }, basis: 'message' });
    const found = requirement({
      quota: both,
      demand: [demand({ 'requests.cpu': '2', pods: '1' }), demand({ 'requests.cpu': '3' }), small],
    });
    expect(found.changes).toMatchObject([{ resource: 'requests.cpu', to: '15100m', demand: '5' }]);
    expect(found.evidence).toHaveLength(2);
    // The message is about another resource, which has room.
    expect(found.demandByMessage).toBe(false);
  });

  it('says which of the missing replicas are the surge of a rolling update', () => {
    const evidence = (surge: number) =>
      requirement({ quota: cpu('9'), demand: [demand({ 'requests.cpu': '4' }, { missing: 4, surge })] }).evidence[0];
    expect(evidence(3)).toBe(
      'ReplicaSet web still needs 4 CPU (requests.cpu) for 4 replicas that the quota denied. A rolling update needs 3 of them, only while it lasts. The last denial was at 2026-11-20T10:00:00Z.',
    );
    expect(evidence(1)).toContain(' A rolling update needs 1 of them, only while it lasts.');
    expect(evidence(0)).not.toContain('rolling update');
    const rest = requirement({ demand: [demand({ 'requests.cpu': '4' }, { missing: 3, surge: 3, later: 7 })] })
      .evidence[0];
    expect(rest).toContain(
      ' only while it lasts. Room for 7 replicas that the rolling update still has to replace is counted in. The last denial',
    );
  });

  it('of a minimum alone says so, and needs an approval from 0', () => {
    const observed = { quota: cpu('1', '2'), policy: policy({ 'cpu-min': '4' }) };
    expect(requirement(observed)).toMatchObject({
      belowMinimum: true,
      unmetDemand: false,
      changes: [{ to: '4', reason: 'The minimum is 4 CPU (resizer.io/cpu-min on the namespace).' }],
    });
    expect(requirement({ ...observed, quota: cpu('0', '0') }).approvalRequirement?.reason).toBe('RaiseFromZero');
    const both = requirement({ ...observed, quota: cpu('2', '2') });
    expect(both.belowMinimum).toBeUndefined();
    const beside = quota({ hard: { 'requests.cpu': '2', pods: '10' }, used: { 'requests.cpu': '1', pods: '9' } });
    expect(requirement({ ...observed, quota: beside }).belowMinimum).toBeUndefined();
    expect(both.changes[0]?.reason).toBe(
      'Usage is 2 of 2 CPU (100 %), and the threshold is 80 %. The minimum is 4 CPU (resizer.io/cpu-min on the namespace).',
    );
  });

  it('is capped at the maximum, and says what that leaves out', () => {
    const observed = {
      quota: cpu('18', '18'),
      policy: policy({ 'cpu-max': '20' }),
      demand: [demand({ 'requests.cpu': '5' })],
    };
    const found = requirement(observed);
    expect(found.changes).toMatchObject([{ to: '20' }]);
    expect(found.changes[0]?.reason).toBe(
      'Workloads still need 5 CPU that the quota denied. Usage is 18 of 18 CPU (100 %), and the threshold is 80 %. The maximum is 20 CPU (resizer.io/cpu-max on the namespace). Workloads need 3 CPU more than that.',
    );
    expect(found.notes).toEqual([
      'requests.cpu is raised only to its maximum of 20 CPU (resizer.io/cpu-max on the namespace). Workloads need 3 CPU more than that.',
    ]);
    expect(requirement({ ...observed, demand: [] }).notes).toEqual([
      'requests.cpu is raised only to its maximum of 20 CPU (resizer.io/cpu-max on the namespace). Without it the limit would be raised to 21.6 CPU.',
    ]);
  });

  it('is none at the maximum, and then what is missing is said', () => {
    const gpus = quota({ hard: { 'requests.nvidia.com/gpu': '8' }, used: { 'requests.nvidia.com/gpu': '8' } });
    const observed = observation({
      quota: gpus,
      policy: policy({ 'requests.nvidia.com_gpu-max': '8' }),
      demand: [demand({ 'requests.nvidia.com/gpu': '2' })],
    });
    expect(computeRequirement(observed, null)).toBeNull();
    expect(cappedRequirement(observed, null)).toEqual([
      'requests.nvidia.com/gpu is at its maximum of 8 nvidia.com/gpu (resizer.io/requests.nvidia.com_gpu-max on the namespace). Workloads need 2 nvidia.com/gpu more than that.',
    ]);
    const above = {
      ...observed,
      quota: quota({ hard: { 'requests.nvidia.com/gpu': '9' }, used: { 'requests.nvidia.com/gpu': '9' } }),
    };
    expect(cappedRequirement(above, null)[0]).toContain(
      'is at 9 nvidia.com/gpu, above its maximum of 8 nvidia.com/gpu (',
    );
    expect(cappedRequirement(observation(), null)).toEqual([]);
  });

  it('is written within the maximum', () => {
    const memory = quota({ hard: { 'requests.memory': '1Gi' }, used: { 'requests.memory': '1Gi' } });
    const rules = policy({ 'memory-max': '1100500Ki' });
    const found = requirement({ quota: memory, policy: rules });
    expect(asWritten(found, { limits: { 'requests.memory': '1024Mi' } }, rules).changes[0]?.to).toBe('1100500Ki');
  });

  it('that fits, and a quota that is gone, are none', () => {
    expect(
      computeRequirement(observation({ quota: cpu('5'), demand: [demand({ 'requests.cpu': '5' })] }), null),
    ).toBeNull();
    expect(computeRequirement(observation({ quota: null }), null)).toBeNull();
  });

  it('is the same by its values, in whatever order', () => {
    const changes = [change(), change({ resource: 'pods', to: '5' })];
    expect(requirementDigest({ changes })).toBe(requirementDigest({ changes: changes.toReversed() }));
    expect(requirementDigest({ changes })).toBe('pods=5,requests.cpu=12');
  });
});

describe('a raise that people have to approve', () => {
  it('is one above max-step, by value', () => {
    expect(approvalRequirementOf(policy(), [change({ from: '1', to: '2000m' })])).toBeNull();
    expect(approvalRequirementOf(policy(), [change({ from: '1', to: '2001m' })])).toEqual({
      reason: 'MaxStepExceeded',
      message: 'requests.cpu from 1 to 2001m is more than 2 × the limit (resizer.io/max-step)',
    });
    expect(approvalRequirementOf(policy({ 'max-step': '3' }), [change({ from: '1', to: '3' })])).toBeNull();
  });

  it('is every one from 0, whatever max-step says', () => {
    const raises = [change({ from: '1', to: '9' }), change({ resource: 'pods', from: '0', to: '1' })];
    expect(approvalRequirementOf(policy({ 'max-step': '1000' }), raises)).toEqual({
      reason: 'RaiseFromZero',
      message: 'pods is 0, which is deliberate, and would become 1',
    });
    expect(approvalRequirementOf(policy(), raises)?.reason).toBe('RaiseFromZero');
  });
});

describe('a requirement against values that are decided', () => {
  const grown = (to: string, amount = '0') => ({ ...requirement({}), changes: [change({ to, demand: amount })] });

  it('outgrows them by an increment, by any unmet demand, and by another resource', () => {
    const limits = { 'requests.cpu': '12' };
    expect(outgrows(grown('14399m'), limits, policy())).toBe(false);
    expect(outgrows(grown('14400m'), limits, policy())).toBe(true);
    expect(outgrows(grown('12001m', '1'), limits, policy())).toBe(true);
    expect(outgrows(grown('12000m', '1'), limits, policy())).toBe(false);
    expect(outgrows(grown('1'), { pods: '5' }, policy())).toBe(true);
    expect(outgrows(grown('12600m'), limits, policy({ 'cpu-increment': '5' }))).toBe(true);
  });

  it('never takes back a value, and keeps the unit of the decision', () => {
    const decided = [change({ to: '12000m' }), change({ resource: 'limits.memory', from: '2048Mi', to: '3072Mi' })];
    const wanted = [
      change({ to: '11' }),
      change({ resource: 'limits.memory', from: '2Gi', to: '4Gi' }),
      change({ resource: 'pods', from: '4', to: '5' }),
    ];
    expect(mergeChanges(decided, wanted, policy()).map(({ resource, to }) => `${resource}=${to}`)).toEqual([
      'requests.cpu=12000m',
      'limits.memory=4096Mi',
      'pods=5',
    ]);
  });

  it('is covered where every value is there already', () => {
    const changes = [change({ to: '12' }), change({ resource: 'pods', to: '5' })];
    expect(coveredBy(changes, { 'requests.cpu': '12000m', pods: '6' })).toBe(true);
    expect(coveredBy(changes, { 'requests.cpu': '12', pods: '4' })).toBe(false);
    expect(coveredBy(changes, { 'requests.cpu': '12' })).toBe(false);
  });

  it('is written in the unit of the manifest, and gated by what is written', () => {
    const proposal = { ...requirement({}), changes: [change({ from: '10', to: '12100m' })] };
    expect(asWritten(proposal, { limits: { 'requests.cpu': '10' } }, policy()).changes[0]?.to).toBe('12100m');
    expect(
      asWritten({ ...proposal, changes: [change()] }, { limits: { 'requests.cpu': '10000m' } }, policy()).changes[0]
        ?.to,
    ).toBe('12000m');
    const memory = { resource: 'requests.memory', from: '8Gi', to: '12Gi', used: '8Gi' };
    const stepped = policy({ steps: 'memory=4Gi', 'max-step': '10' });
    // 12885M would be no multiple of 4Gi.
    const inFile = asWritten(
      { ...proposal, changes: [change(memory)] },
      { limits: { 'requests.memory': '8G' } },
      stepped,
    );
    expect(inFile.changes[0]?.to).toBe('12Gi');
    const written = asWritten(
      { ...proposal, changes: [change(memory)] },
      { limits: { 'requests.memory': '8192Mi' } },
      stepped,
    );
    expect(written.changes[0]?.to).toBe('12288Mi');
    const grown = mergeChanges([change({ ...memory, to: '9G' })], [change(memory)], stepped);
    expect(grown[0]?.to).toBe('12Gi');
    expect(asWritten(proposal, { limits: {} }, policy({ 'max-step': '1.2' })).approvalRequirement?.reason).toBe(
      'MaxStepExceeded',
    );
  });
});

describe('pressure', () => {
  it('is a threshold that is reached, of a namespace that takes part', () => {
    expect(isUnderPressure({ hard: { pods: '10' }, used: { pods: '8' } }, policy())).toBe(true);
    expect(isUnderPressure({ hard: { pods: '10' }, used: { pods: '7' } }, policy())).toBe(false);
    expect(isUnderPressure({ hard: { pods: '0' }, used: { pods: '0' } }, policy())).toBe(false);
    expect(isUnderPressure({ hard: { pods: '10' }, used: { pods: '8' } }, policy({ enabled: 'false' }))).toBe(false);
  });

  it('is a limit below its minimum, and none at its maximum', () => {
    expect(isUnderPressure({ hard: { pods: '10' }, used: { pods: '0' } }, policy({ 'pods-min': '12' }))).toBe(true);
    expect(isUnderPressure({ hard: { pods: '10' }, used: { pods: '10' } }, policy({ 'pods-max': '10' }))).toBe(false);
    expect(isUnderPressure({ hard: { pods: '9' }, used: { pods: '9' } }, policy({ 'pods-max': '10' }))).toBe(true);
  });
});
