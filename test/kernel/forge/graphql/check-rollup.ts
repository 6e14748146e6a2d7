import type { ForgeContext } from '../context.ts';
import type { CheckRun } from '../model.ts';
import { idOf } from '../people.ts';
import { nodeId } from '../represent/urls.ts';
import { connection, type PageArguments } from './connection.ts';

/** `StatusCheckRollup`: everything that CI says about a commit; null when it says nothing. */
export function checkRollupObject(forge: ForgeContext, sha: string): Readonly<Record<string, unknown>> | null {
  // As on GitHub a run that was repeated is in the list beside the one that repeats it.
  const runs = forge.store.state.checkRuns.filter(({ headSha }) => headSha === sha);
  const statuses = forge.checks.latestStatuses(sha);
  if (runs.length + statuses.length === 0) return null;
  const results = forge.checks.verdicts(sha).map(({ result }) => result);
  const state = results.includes('failed') ? 'FAILURE' : results.includes('pending') ? 'PENDING' : 'SUCCESS';
  const all = [
    ...runs.map((run) => runObject(run)),
    ...statuses.map((status) => ({
      __typename: 'StatusContext',
      id: nodeId('StatusContext', status.id),
      context: status.context,
      state: status.state.toUpperCase(),
      description: status.description,
      targetUrl: status.targetUrl,
      createdAt: status.createdAt,
    })),
  ];
  return {
    __typename: 'StatusCheckRollup',
    id: nodeId('StatusCheckRollup', idOf(sha)),
    state,
    contexts: (page: PageArguments) => connection('contexts', all, page),
  };
}

function runObject(run: CheckRun): Readonly<Record<string, unknown>> {
  const suite = idOf(`suite ${run.headSha}`);
  return {
    __typename: 'CheckRun',
    id: nodeId('CheckRun', run.id),
    databaseId: run.id,
    name: run.name,
    status: run.status.toUpperCase(),
    conclusion: run.conclusion?.toUpperCase() ?? null,
    startedAt: run.startedAt,
    completedAt: run.completedAt,
    title: run.title,
    summary: run.summary,
    text: run.text,
    detailsUrl: run.detailsUrl,
    externalId: run.externalId,
    checkSuite: { __typename: 'CheckSuite', id: nodeId('CheckSuite', suite), databaseId: suite },
  };
}
