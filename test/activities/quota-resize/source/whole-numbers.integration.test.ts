import { expect, it } from 'vitest';
import { annotated, change, decide, policy, startGitOps, target } from '../gitops-fixture.ts';

const CHART = {
  'quota/Chart.yaml': 'apiVersion: v2\nname: quota\nversion: 1.0.0\n',
  'quota/templates/quota.yaml':
    'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    requests.cpu: {{ int .Values.cpu }}\n    requests.memory: {{ .Values.memory | int64 }}\n',
  'quota/values.yaml': 'cpu: 3 # cores\nmemory: 1073741824\n',
  'quota/values.schema.json': JSON.stringify({
    properties: { cpu: { type: 'integer' }, memory: { type: 'integer' } },
  }),
};

it('where a chart takes whole numbers only, a look says what is greater, and a decision is written as it is or not at all', async () => {
  await using gitops = await startGitOps(CHART);
  const { activities, github } = gitops.worker({ baseBranch: 'main' });
  const candidates = annotated('quota');
  const seen = await activities.observeSource({
    target,
    limits: { 'requests.cpu': '3600m', 'requests.memory': '1229Mi' },
    candidates,
  });
  expect(seen).toMatchObject({ kind: 'found', rounded: { 'requests.cpu': '4' } });

  const ensure = async (cpu: string) => {
    const decision = decide([change('requests.cpu', '3', cpu), change('requests.memory', '1073741824', '1229Mi')]);
    const candidatesByQuota = [{ quota: 'compute', candidates }];
    return await activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
  };
  const refused = await ensure('3600m');
  expect(refused).toMatchObject({ kind: 'blocked', message: expect.stringContaining('makes an integer of it') });
  expect(gitops.effects()).toEqual([]);

  const opened = await ensure('4');
  if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
  expect(await github.pullRequests.filesOf(1)).toEqual(['quota/values.yaml']);
  expect(await gitops.forge.readFile(opened.pullRequest.branch, 'quota/values.yaml')).toBe(
    'cpu: 4 # cores\nmemory: 1288699904\n',
  );
});
