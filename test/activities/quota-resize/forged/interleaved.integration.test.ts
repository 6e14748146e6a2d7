/** Whoever may schedule activities at any moment of a merge gets nothing but what the gate has checked, and counts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../../kubernetes/cluster.ts';
import { change, type GitOps, startGitOps } from '../gitops-fixture.ts';
import { type Attacker, attack, manifestOf, STRICT } from './attacker.ts';

const NAMES = ['swap', 'twice'] as const;

let cluster: Cluster;
let gitops: GitOps;

beforeAll(async () => {
  cluster = await startCluster();
  const files = NAMES.map((name) => manifestOf(`interleaved-${name}`, '10'));
  gitops = await startGitOps(Object.assign({}, ...files) as Record<string, string>);
});
afterAll(async () => {
  await gitops?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

async function of(name: (typeof NAMES)[number]): Promise<Attacker> {
  return await attack(cluster, gitops, `interleaved-${name}`, { guardrail: { ...STRICT, max: { cpu: '40' } } });
}

describe('whoever may schedule activities', () => {
  it('and writes a smaller decision over the one that the commit is compared with, has nothing merged', async () => {
    const { activities, target, meanwhile, opened, merged, raises, inGit } = await of('swap');
    const decision = await opened('10000');
    const smaller = { ...decision, changes: [change('requests.cpu', '10', '12')] };
    meanwhile.afterRecorded = async () => await activities.ensureLeaseUpdated({ target, decision: smaller });
    expect(await merged(decision)).toContain('records another decision than the one that is to be merged');
    expect(await raises()).toEqual([]);
    expect(await inGit()).toBe('10');
  });

  it('and has a pull request merged twice at the same time, has the growth counted', async () => {
    const { meanwhile, opened, merged, raises, inGit } = await of('twice');
    const decision = await opened('20');
    const message = 'Base branch was modified. Review and try the merge again.';
    gitops.forge.fail({ method: 'PUT', path: '**/merge', times: 1, action: { kind: 'status', status: 405, message } });
    const first = Promise.withResolvers<string>();
    const second = Promise.withResolvers<string>();
    meanwhile.afterExpected = async () => {
      await new Promise<void>((bothExpect) => {
        // The second one asks the forge when the first is over, which asks when both count on a merge.
        meanwhile.afterExpected = async () => {
          bothExpect();
          await first.promise;
        };
        second.resolve(merged(decision));
      });
    };
    first.resolve(merged(decision));
    expect(await Promise.all([first.promise, second.promise])).toEqual(['moved', 'merged']);
    expect(await inGit()).toBe('20');
    expect(await raises()).toEqual([expect.objectContaining({ to: { 'requests.cpu': '20' } })]);
    expect(await raises()).toEqual([expect.not.objectContaining({ isPending: true })]);
  });
});
