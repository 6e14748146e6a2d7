/** What is recorded of searches for open pull requests that no Lease knows. */
import type { orphanSearch } from '../../../workflows/quota-resize/orphan-search.ts';
import { orphanSearchStart } from '../../../workflows/quota-resize/start.ts';
import { reopenPullRequest } from '../../kernel/stack/reopen-pull-request.ts';
import type { Stack } from '../../kernel/stack/stack.ts';
import type { ShownPullRequest, WatchedQuota } from '../../kernel/stack/watched-quota.ts';
import type { Scenario } from '../stages.ts';
import { opened } from './given.ts';

async function closed(quota: WatchedQuota): Promise<ShownPullRequest> {
  const pull = await quota.pullRequest();
  await quota.stack.forge.closePullRequest(pull.number, 'bob');
  await quota.reaches('CoolingDown', 'PreviouslyRejected');
  return pull;
}

export const searchScenarios: Readonly<Record<string, Scenario<Stack>>> = {
  'pull-requests-reopened': async (stack, namespace) => {
    const wanted = await opened(stack, `${namespace}-wanted`);
    const unwanted = await opened(stack, `${namespace}-unwanted`);
    const edited = await opened(stack, `${namespace}-edited`);
    const { head, number } = await edited.pullRequest();
    await stack.forge.pushCommit({ branch: head.ref, files: { 'OTHER.md': 'mine\n' }, author: 'alice' });
    await edited.reaches('AwaitingMerge', 'ForeignCommit');
    const pulls = [await closed(wanted), await closed(unwanted)];
    await closed(edited);
    await unwanted.annotate({ 'resizer.io/enabled': 'false' });
    await unwanted.ends('OptedOut');
    for (const pull of pulls) await reopenPullRequest(stack, pull, 'alice');
    await stack.forge.reopenPullRequest(number, 'alice');

    const handle = await stack.client.workflow.start<typeof orphanSearch>(
      'orphanSearch',
      orphanSearchStart(stack.cluster),
    );
    await handle.result();
    return { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
  },
};
