/**
 * Whatever goes wrong at GitHub, and even if it sends the token back: nobody can read the token anywhere. Nor a password that
 * somebody wrote into the address of a repository.
 */
import { readFile } from 'node:fs/promises';
import { KubernetesObjectApi } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultAction } from '../kernel/forge/http/faults.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import {
  isRaised,
  namespaceFiles,
  pathOf,
  press,
  QUOTA,
  quickTimings,
  statusOf,
  targetOf,
} from './pressed-namespaces.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { openingOf } from '../kernel/forge/opening.ts';

/** Of no form that anything knows for a credential: only its value tells it. */
const TOKEN = 'recognisable value of this very test'.replaceAll(' ', '-');

const HIDDEN = '[redacted]';

const PASSWORD = 'password-in-an-address';
const ADDRESS = `https://bot:${PASSWORD}@gitlab.corp/acme/gitops.git`;
const SHOWN_ADDRESS = 'https://…@gitlab.corp/acme/gitops.git';
const MISTYPED = 'mistyped';
const APPLIED = 'applied-from-elsewhere';

/** A quota whose namespace has the address in an annotation, and one that Argo CD applies from there. */
function addressedFiles(): Record<string, string> {
  const [applied = ''] = Object.values(namespaceFiles([APPLIED]));
  const mark = `{argocd.argoproj.io/tracking-id: "web:/ResourceQuota:${APPLIED}/${QUOTA}"}`;
  return {
    ...namespaceFiles([MISTYPED], { 'resizer.io/git-repository': ADDRESS }),
    [pathOf(APPLIED)]: applied.replace(`name: ${QUOTA}\n`, `name: ${QUOTA}\n  annotations: ${mark}\n`),
  };
}

/** The Application of Argo CD, and its kind as much as the API server must know of it. */
async function createApplication(): Promise<void> {
  const admin = accessOf(stack.controlPlane.adminKubeconfig);
  const objects = admin.makeApiClient(KubernetesObjectApi);
  const schema = { openAPIV3Schema: { type: 'object', x_kubernetes_preserve_unknown_fields: true } };
  const kind: object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'applications.argoproj.io' },
    spec: {
      group: 'argoproj.io',
      scope: 'Namespaced',
      names: { kind: 'Application', plural: 'applications', singular: 'application' },
      versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
    },
  };
  const application: object = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Application',
    metadata: { name: 'web', namespace: 'argocd' },
    spec: { source: { repoURL: ADDRESS, path: 'teams' } },
  };
  await stack.core.createNamespace({ body: { metadata: { name: 'argocd' } } });
  await objects.create(kind);
  await eventually('the API server knows Applications', async () => {
    await objects.create(application);
    return true;
  });
}

const echo = (status: number): FaultAction => ({ kind: 'status', status, message: `Bearer ${TOKEN} is what you sent` });

/**
 * A namespace for each kind of failure, at a request that every episode makes. The last ones hold up everybody for a
 * minute, so they come when all others are through.
 */
const failures = {
  retried: echo(500),
  refused: echo(403),
  unprocessable: echo(422),
  broken: { kind: 'answer-lost' },
  limited: { kind: 'secondary-rate-limit', retryAfterSeconds: 1 },
  unauthorized: echo(401),
} as const satisfies Record<string, FaultAction>;
const namespaces = Object.keys(failures);

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { ...namespaceFiles(namespaces), ...addressedFiles() },
    forge: { token: TOKEN },
    env: { ...quickTimings, LOG_LEVEL: 'trace' },
  });
  for (const [namespace, action] of Object.entries(failures)) {
    stack.forge.fail({ ...openingOf(namespace), action });
  }
});
afterAll(async () => await stack?.stop());

/**
 * Everything that anybody can read about the workflows: their histories, and why their activities fail now.
 *
 * @param pressed namespaces whose episodes are there; Temporal lists a workflow a moment after it runs.
 */
async function textsInTemporal(pressed: readonly string[]): Promise<string> {
  const episodes = pressed.map((namespace) => quotaResizeId(targetOf(namespace)));
  const listed = await eventually('Temporal lists all episodes', async () => {
    const all: { readonly workflowId: string; readonly runId: string }[] = [];
    for await (const execution of stack.client.workflow.list()) all.push(execution);
    return episodes.every((id) => all.some(({ workflowId }) => workflowId === id)) && all;
  });
  const texts: string[] = [];
  for (const { workflowId, runId } of listed) {
    const handle = stack.client.workflow.getHandle(workflowId, runId);
    texts.push(readable(await handle.fetchHistory()), readable((await handle.describe()).raw));
  }
  return texts.join('\n');
}

/** As JSON, with the data of payloads as the text that it is: messages of Temporal give their bytes in base64. */
function readable(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) =>
    key === 'data' && typeof part === 'string' ? Buffer.from(part, 'base64').toString() : part,
  );
}

async function textsInTheCluster(): Promise<string> {
  const [events, leases] = await Promise.all([
    stack.core.listEventForAllNamespaces(),
    stack.coordination.listLeaseForAllNamespaces(),
  ]);
  return readable([events.items, leases.items]);
}

async function textsInTheLogs(): Promise<string> {
  return (await Promise.all(stack.processes.map(async ({ logFile }) => await readFile(logFile, 'utf8')))).join('\n');
}

/**
 * Milliseconds until an episode comes to something: a worker that starves is noticed after ten seconds, and what it had under
 * way may back off for 30 s before its next attempt.
 */
const EPISODE_MS = 120_000;
/** Half a dozen episodes, one after the other; each has an end of its own, which says what did not come. */
const timeout = 480_000;

const PLACES = ['temporal', 'cluster', 'logs'] as const;

/** Each place where people read, with all that it tells. */
async function collected(pressed: readonly string[]): Promise<Readonly<Record<(typeof PLACES)[number], string>>> {
  return { temporal: await textsInTemporal(pressed), cluster: await textsInTheCluster(), logs: await textsInTheLogs() };
}

function placesWith(texts: Readonly<Record<string, string>>, secret: string): readonly string[] {
  return Object.entries(texts).flatMap(([where, text]) => (text.includes(secret) ? [where] : []));
}

/** What the pending activities of a namespace's episode last failed with. */
async function lastFailures(namespace: string): Promise<string> {
  const handle = stack.client.workflow.getHandle(quotaResizeId(targetOf(namespace)));
  const { raw } = await handle.describe();
  return (raw.pendingActivities ?? []).map(({ lastFailure }) => lastFailure?.message ?? '').join('\n');
}

describe('a password in the address of a repository', { timeout }, () => {
  it('is in no history, no Event, no Lease and no line of a log, of an annotation and of an Application', async () => {
    await createApplication();
    const pressed = [MISTYPED, APPLIED];
    for (const namespace of pressed) await press(stack, namespace);
    await eventually(
      'the first is raised in spite of its annotation',
      async () => await isRaised(stack, MISTYPED),
      EPISODE_MS,
    );
    await eventually(
      'the other is blocked and says where it is applied from',
      async () => JSON.stringify(await statusOf(stack, APPLIED)).includes(SHOWN_ADDRESS),
      EPISODE_MS,
    );
    const texts = await collected(pressed);
    expect(placesWith(texts, 'resizer.io/git-repository: ')).toContain('temporal');
    expect(placesWith(texts, SHOWN_ADDRESS)).toEqual(expect.arrayContaining(['temporal', 'cluster']));
    expect(placesWith(texts, PASSWORD)).toEqual([]);
  });
});

describe('the token for GitHub', { timeout }, () => {
  it('is in no history, no Event, no Lease and no line of a log after failures of every kind', async () => {
    for (const namespace of namespaces) {
      await press(stack, namespace);
      await eventually(
        `the episode of ${namespace} has met its failure`,
        async () => {
          const words = `${await lastFailures(namespace)} ${JSON.stringify(await statusOf(stack, namespace))}`;
          return words.includes(HIDDEN) || (await isRaised(stack, namespace));
        },
        EPISODE_MS,
      );
    }
    const texts = await collected(namespaces);
    expect(texts.temporal, 'GitHub did send it back').toContain(`${HIDDEN} is what you sent`);
    expect(Object.entries(texts).flatMap(([where, text]) => (text.length > 1000 ? [where] : []))).toEqual(PLACES);
    expect(placesWith(texts, TOKEN)).toEqual([]);
  });
});
