import { expect, it } from 'vitest';
import { refusedRights } from './refused-rights.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/headroom/leases?limit=500';

function answered(code: number, decision: string, username = 'headroom-worker') {
  return {
    user: { username },
    verb: 'list',
    objectRef: { resource: 'leases', namespace: 'headroom', apiGroup: 'coordination.k8s.io' },
    responseStatus: { code },
    requestURI: LEASES,
    annotations: { 'authorization.k8s.io/decision': decision },
  };
}

it('a request that a starting API server refused once, and that the roles allow, is none that they forbid', async () => {
  const asked: unknown[] = [];
  const problems = await refusedRights([answered(403, 'forbid')], async (...question) => {
    asked.push(question);
    return true;
  });
  expect(problems).toEqual([]);
  expect(asked).toEqual([
    ['headroom-worker', { verb: 'list', resource: 'leases', namespace: 'headroom', group: 'coordination.k8s.io' }],
  ]);
});

it('a request that the roles still forbid is named once, however often it was refused and whoever else may', async () => {
  const events = [answered(403, 'forbid'), answered(403, 'forbid'), answered(200, 'allow')];
  expect(await refusedRights(events, async () => false)).toEqual([
    `no role allows headroom-worker list leases (${LEASES})`,
  ]);
});

it('what admission refused is a problem whatever the roles say', async () => {
  expect(await refusedRights([answered(403, 'allow')], async () => true)).toEqual([
    `admission refused headroom-worker list leases (${LEASES})`,
  ]);
});

it("refusals of others are not Headroom's", async () => {
  expect(await refusedRights([answered(403, 'forbid', 'tenant')], async () => false)).toEqual([]);
});
