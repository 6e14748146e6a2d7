import { readFile } from 'node:fs/promises';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { CommandInput } from '../../../domain/kernel/command-input.ts';
import { quotaResizeId } from '../../../domain/quota-resize/target.ts';
import { type QuotaTarget, taskQueue } from '../../../domain/kernel/target.ts';
import type { Phase, Reason } from '../../../domain/quota-resize/model/verdict.ts';
import {
  commandSignals,
  type OperatorCommand,
  quotaPressureSeen,
  type ResizeStatus,
  status,
} from '../../../workflows/quota-resize/messages.ts';
import type { quotaResize } from '../../../workflows/quota-resize/workflow.ts';
import type { WriteExchange } from '../forge/http/write-log.ts';
import { askedBy } from './asked.ts';
import { eventually } from './eventually.ts';
import { HistoryWatch } from './history-watch.ts';
import { type Stack, SYSTEM_NAMESPACE } from './stack.ts';
import { createDeployment } from './workloads.ts';
import { openedBy } from '../forge/opening.ts';

/**
 * An episode takes seconds, and on machines whose cores are all busy ten times as long: an activity whose worker was not heard
 * of for ten seconds begins anew.
 */
export const EPISODE_MS = 90_000;

export interface GivenQuota {
  readonly namespace: string;
  /** `compute` unless given. */
  readonly quota?: string;
  readonly hard: Readonly<Record<string, string>>;
  /** Of the namespace. In the repository only where it is synced, so that a test that changes them is not undone. */
  readonly annotations?: Readonly<Record<string, string>>;
  /**
   * The file in the repository: by default one that Headroom and the syncer find. null: there is none.
   * A text without `namespace:` is found by Headroom and not applied by the syncer.
   */
  readonly file?: string | null;
  /** Whether the syncer applies the repository's file to the cluster. Default: true. */
  readonly synced?: boolean;
}

/** A pull request as the forge shows it. */
export interface ShownPullRequest {
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly merged: boolean;
  readonly title: string;
  readonly body: string;
  readonly commits: number;
  readonly changed_files: number;
  readonly head: { readonly sha: string; readonly ref: string };
  readonly user: { readonly login: string };
}

/** One quota, from every side from which people see it: the cluster, Git, the forge, Temporal, the log. */
export class WatchedQuota {
  readonly stack: Stack;
  readonly target: QuotaTarget;
  readonly path: string;

  constructor(stack: Stack, namespace: string, quota = 'compute') {
    this.stack = stack;
    this.target = { cluster: stack.cluster, namespace, quota };
    this.path = `managed-resources/${stack.cluster}/${namespace}/${quota}.yaml`;
  }

  get workflowId(): string {
    return quotaResizeId(this.target);
  }

  get branchPrefix(): string {
    const { cluster, namespace, quota } = this.target;
    return `headroom/${cluster}/${namespace}/${quota}/`;
  }

  async deploy(name: string, replicas: number, requests: Readonly<Record<string, string>>): Promise<void> {
    await createDeployment(this.stack.apps, { namespace: this.target.namespace, name, replicas, requests });
  }

  async scale(name: string, replicas: number): Promise<void> {
    await this.stack.apps.patchNamespacedDeploymentScale(
      { name, namespace: this.target.namespace, body: { spec: { replicas } } },
      mergePatch,
    );
  }

  /** Sets annotations of the namespace; null takes one off. */
  async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const body = { metadata: { annotations } };
    await this.stack.core.patchNamespace({ name: this.target.namespace, body }, mergePatch);
  }

  /** Sets annotations of the quota; null takes one off. */
  async annotateQuota(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const { namespace, quota: name } = this.target;
    const body = { metadata: { annotations } };
    await this.stack.core.patchNamespacedResourceQuota({ name, namespace, body }, mergePatch);
  }

  /** Follows Git by hand, where the syncer does not. */
  async setHard(hard: Readonly<Record<string, string>>): Promise<void> {
    const { namespace, quota: name } = this.target;
    await this.stack.core.patchNamespacedResourceQuota({ name, namespace, body: { spec: { hard } } }, mergePatch);
  }

  async pods(): Promise<number> {
    return (await this.stack.core.listNamespacedPod({ namespace: this.target.namespace })).items.length;
  }

  async hard(): Promise<Record<string, string>> {
    const { namespace, quota: name } = this.target;
    return (await this.stack.core.readNamespacedResourceQuota({ namespace, name })).spec?.hard ?? {};
  }

  /** status.used as Kubernetes counts it. */
  async used(): Promise<Record<string, string>> {
    const { namespace, quota: name } = this.target;
    return (await this.stack.core.readNamespacedResourceQuota({ namespace, name })).status?.used ?? {};
  }

  /** Puts a run in the place of the one that runs now, which continues as new after so many history events. */
  async restartRenewing(continueAfterEvents: number): Promise<void> {
    await this.stack.client.workflow.start<typeof quotaResize>('quotaResize', {
      workflowId: this.workflowId,
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      taskQueue: taskQueue(this.target.cluster),
      args: [{ target: this.target, continueAfterEvents }],
    });
  }

  /** The message of each Event of this reason on the quota (or of all reasons), with its type: `Warning: …`. */
  async events(reason?: string): Promise<string[]> {
    const { namespace, quota } = this.target;
    const { items } = await this.stack.core.listNamespacedEvent({
      namespace,
      fieldSelector: `involvedObject.kind=ResourceQuota,involvedObject.name=${quota}`,
    });
    return items
      .filter((event) => reason === undefined || event.reason === reason)
      .map((event) => `${event.type}: ${event.message}`);
  }

  /** For waits for what the newest run says of itself. */
  history(): HistoryWatch {
    return new HistoryWatch(this.stack.client, this.workflowId);
  }

  async status(): Promise<ResizeStatus> {
    return await this.stack.client.workflow.getHandle(this.workflowId).query(status);
  }

  /** What the Temporal UI shows: the current details. */
  async details(): Promise<string> {
    const metadata = await this.stack.client.workflow
      .getHandle(this.workflowId)
      .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    return metadata.currentDetails ?? '';
  }

  /** Waits until the running episode is in a phase, for a reason. @returns what it says then. */
  async reaches(phase: Phase, reason?: Reason, withinMs = EPISODE_MS): Promise<ResizeStatus> {
    let last = 'no episode';
    const history = this.history();
    const what = `${this.target.namespace}/${this.target.quota} is ${phase}${reason === undefined ? '' : ` (${reason})`}`;
    return await eventually(
      what,
      async () => {
        // A query costs Temporal and the worker more than all that is read here.
        last = history.phase ?? last;
        if (history.phase !== phase) return null;
        const seen = await this.status();
        last = `${seen.phase} (${seen.reason}): ${seen.detail}`;
        return seen.phase === phase && (reason === undefined || seen.reason === reason) ? seen : null;
      },
      withinMs,
      history,
    ).catch(async (error: unknown) => {
      const seen = await this.status().catch(() => null);
      if (seen !== null) last = `${seen.phase} (${seen.reason}): ${seen.detail}`;
      const usage = await this.#usage().catch(() => 'unknown');
      throw new Error(
        `${error instanceof Error ? error.message : String(error)}; the last was ${last}; the quota's status is ${usage}`,
      );
    });
  }

  /** For whoever reads a failure: kube-controller-manager may have counted what was gone by then. */
  async #usage(): Promise<string> {
    const { namespace, quota: name } = this.target;
    const { status: shown } = await this.stack.core.readNamespacedResourceQuota({ namespace, name });
    return `${JSON.stringify(shown?.used)} with ${await this.pods()} pods`;
  }

  /** Waits until the newest run is over, with this reason. @returns the detail that it ended with. */
  async ends(reason: Reason, runId?: string): Promise<string> {
    let last = 'no episode';
    const what = `${this.target.namespace}/${this.target.quota} ends with ${reason}`;
    const ask = async () => {
      const handle = this.stack.client.workflow.getHandle(this.workflowId);
      const description = await handle.describe();
      last = description.status.name;
      if (last !== 'COMPLETED' || description.runId === runId) return null;
      // Of this run: there may be a newer one by now, which goes on for long.
      const ended = this.stack.client.workflow.getHandle(this.workflowId, description.runId);
      const result = (await ended.result()) as { reason: string; detail: string };
      last = `${result.reason}: ${result.detail}`;
      return result.reason === reason ? result.detail : null;
    };
    return await eventually(what, ask, EPISODE_MS, this.history()).catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)}; the last was ${last}`);
    });
  }

  /** The search attributes of the newest run. */
  async #searchAttributes(): Promise<Readonly<Record<string, unknown>>> {
    const { searchAttributes } = await this.stack.client.workflow.getHandle(this.workflowId).describe();
    return Object.fromEntries(Object.entries(searchAttributes ?? {}).map(([name, values]) => [name, values?.[0]]));
  }

  /**
   * Until the search attributes are these. A query is answered in the middle of a workflow task, and what the task writes
   * reaches the server at its end.
   */
  async untilAttributes(wanted: Readonly<Record<string, unknown>>): Promise<void> {
    let seen: Readonly<Record<string, unknown>> = {};
    await eventually(
      () => `the search attributes have ${JSON.stringify(wanted)}: they are ${JSON.stringify(seen)}`,
      async () => {
        seen = await this.#searchAttributes();
        return Object.entries(wanted).every(([name, value]) => seen[name] === value);
      },
    );
  }

  /** The summaries that the Temporal UI shows of the newest run: its own, and those of its activities and timers. */
  async summaries(): Promise<{ readonly run: string; readonly steps: readonly string[] }> {
    const handle = this.stack.client.workflow.getHandle(this.workflowId);
    const [{ events }, description] = await Promise.all([handle.fetchHistory(), handle.describe()]);
    const steps = (events ?? [])
      .filter((event) => askedBy(event) !== null || event.timerStartedEventAttributes)
      .map(({ userMetadata }) => Buffer.from(userMetadata?.summary?.data ?? []).toString());
    return { run: (await description.staticSummary()) ?? '', steps };
  }

  async runId(): Promise<string> {
    return (await this.stack.client.workflow.getHandle(this.workflowId).describe()).runId;
  }

  /** Sends a command as an update. @returns what it says it did. @throws when it is refused. */
  async command(name: OperatorCommand, input: CommandInput = {}): Promise<string> {
    return await this.stack.client.workflow
      .getHandle(this.workflowId)
      .executeUpdate<string, [CommandInput]>(name, { args: [input] });
  }

  /** Sends a command as the Temporal UI does. */
  async signal(name: OperatorCommand, input: CommandInput = {}): Promise<void> {
    const handle = this.stack.client.workflow.getHandle(this.workflowId);
    await handle.signal(commandSignals[name], input);
  }

  /** What a starter sends under pressure. */
  async request(): Promise<void> {
    await this.stack.client.workflow
      .getHandle(this.workflowId)
      .signal(quotaPressureSeen, { cause: 'a test', resourceVersion: '' });
  }

  async terminate(): Promise<void> {
    await this.stack.client.workflow.getHandle(this.workflowId).terminate('a test of what is left');
  }

  /** What the Lease holds, or null where there is none. */
  async lease(): Promise<{ holder: string | null; annotations: Readonly<Record<string, string>> } | null> {
    const { namespace, quota } = this.target;
    const { items } = await this.stack.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
    const found = items.find(({ metadata }) => metadata?.name === `state-${namespace}-${quota}`);
    if (found === undefined) return null;
    return { holder: found.spec?.holderIdentity || null, annotations: found.metadata?.annotations ?? {} };
  }

  /** Deletes the Lease, and with it everything that the quota remembers. */
  async deleteLease(): Promise<void> {
    const { namespace, quota } = this.target;
    const name = `state-${namespace}-${quota}`;
    await this.stack.coordination.deleteNamespacedLease({ name, namespace: SYSTEM_NAMESPACE });
  }

  /** Creates the Lease as somebody else would have left it. */
  async createLease(holderIdentity: string): Promise<void> {
    const { namespace, quota } = this.target;
    await this.stack.coordination.createNamespacedLease({
      namespace: SYSTEM_NAMESPACE,
      body: {
        metadata: {
          name: `state-${namespace}-${quota}`,
          labels: { 'app.kubernetes.io/managed-by': 'namespace-resizer' },
        },
        spec: { holderIdentity },
      },
    });
  }

  /** Somebody gives the Lease back. */
  async unlockLease(): Promise<void> {
    const { namespace, quota } = this.target;
    await this.stack.coordination.patchNamespacedLease(
      {
        name: `state-${namespace}-${quota}`,
        namespace: SYSTEM_NAMESPACE,
        body: { spec: { holderIdentity: null } },
      },
      mergePatch,
    );
  }

  /** Every write of Headroom to a branch or a pull request of this quota that had an effect, in its order. */
  writes(): WriteExchange[] {
    return this.stack.forge.writes.filter(
      ({ branch, effect, user }) => effect && user === 'headroom-bot' && branch?.startsWith(this.branchPrefix) === true,
    );
  }

  /** The numbers of the pull requests that were opened for this quota. */
  pullRequests(): number[] {
    return this.stack.forge.writes
      .filter(({ branch }) => branch?.startsWith(this.branchPrefix) === true)
      .flatMap((write) => openedBy(write) ?? []);
  }

  /** The only pull request of this quota, once it is there. @throws when there are several. */
  async pullRequest(): Promise<ShownPullRequest> {
    const number = await eventually(
      `a pull request of ${this.target.namespace}/${this.target.quota} is open`,
      () => this.pullRequests()[0],
      EPISODE_MS,
    );
    const all = this.pullRequests();
    if (all.length > 1) throw new Error(`there are ${all.length} pull requests: ${all.join(', ')}`);
    return await this.shown(number);
  }

  async shown(number: number): Promise<ShownPullRequest> {
    return (await this.#ask(`pulls/${number}`)) as ShownPullRequest;
  }

  /** Waits until the branch was rebuilt in place of a head, and the comment that ends the rebuilding says why. */
  async rebuilt({ number, head }: Pick<ShownPullRequest, 'number' | 'head'>): Promise<ShownPullRequest> {
    const rebuiltWithComment = async (): Promise<ShownPullRequest | false> => {
      // The comment is the last that is written, so what is read after it has the new title too.
      const isCommented = (await this.comments(number)).length > 0;
      const shown = await this.shown(number);
      return isCommented && shown.head.sha !== head.sha && shown;
    };
    return await eventually(`the branch of pull request #${number} is rebuilt`, rebuiltWithComment, EPISODE_MS);
  }

  /** The messages of a pull request's commits, oldest first. */
  async commits(number: number): Promise<string[]> {
    const commits = (await this.#ask(`pulls/${number}/commits`)) as { commit: { message: string } }[];
    return commits.map(({ commit }) => commit.message);
  }

  async comments(number: number): Promise<string[]> {
    return ((await this.#ask(`issues/${number}/comments`)) as { body: string }[]).map(({ body }) => body);
  }

  /** The branches of this quota's decisions that exist now. */
  async branches(): Promise<string[]> {
    const refs = (await this.#ask(`git/matching-refs/heads/${this.branchPrefix}`)) as { ref: string }[];
    return refs.map(({ ref }) => ref);
  }

  /** CI reports on a commit. */
  async check(sha: string, conclusion: 'success' | 'failure', name = 'ci'): Promise<void> {
    await this.stack.forge.setCheckRun({ sha, name, status: 'completed', conclusion });
  }

  /** The file of the quota at the tip of main. */
  async inGit(): Promise<string | undefined> {
    return await this.stack.forge.readFile('main', this.path);
  }

  /** The workers' log lines with this message that are about this quota. */
  async logLines(message: string): Promise<Record<string, unknown>[]> {
    const { namespace, quota } = this.target;
    const logs = this.stack.processes.filter(({ name }) => name === 'worker').map(({ logFile }) => logFile);
    const texts = await Promise.all(logs.map(async (file) => await readFile(file, 'utf8')));
    return texts
      .flatMap((text) => text.split('\n').slice(0, -1)) // what follows the last line's end is still being written
      .filter((line) => line.includes(`"msg":"${message}"`))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['namespace'] === namespace && line['quota'] === quota);
  }

  async #ask(path: string): Promise<unknown> {
    const { forge, env } = this.stack;
    const answer = await fetch(`${forge.url}/repos/acme/gitops/${path}`, {
      // Not kept: the forge closes a connection after five seconds, perhaps in the moment in which it is used again.
      headers: { authorization: `Bearer ${env.worker['GITHUB_TOKEN']}`, connection: 'close' },
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  }
}

/**
 * Puts a namespace with a quota into the repository and into the cluster, and returns when Kubernetes has counted it: pods
 * are refused before, whatever the limit.
 */
export async function givenQuota(stack: Stack, given: GivenQuota): Promise<WatchedQuota> {
  const { namespace, quota = 'compute', hard, annotations = {}, synced = true } = given;
  const watched = new WatchedQuota(stack, namespace, quota);
  const { core } = stack;
  await core.createNamespace({ body: { metadata: { name: namespace, annotations: { ...annotations } } } });
  const file = given.file === undefined ? quotaManifest({ ...(synced ? { namespace } : {}), quota, hard }) : given.file;
  if (file !== null) {
    await stack.forge.pushCommit({ files: { [watched.path]: file }, message: `Add the quota of ${namespace}` });
  }
  if (file === null || !synced) await createQuota(stack, { namespace, quota, hard });
  await counted(watched);
  return watched;
}

/** Creates the quota in the cluster only. */
export async function createQuota(
  { core }: Stack,
  { namespace, quota = 'compute', hard }: Pick<GivenQuota, 'namespace' | 'quota' | 'hard'>,
): Promise<void> {
  await core.createNamespacedResourceQuota({ namespace, body: { metadata: { name: quota }, spec: { hard } } });
}

/** Returns when Kubernetes has counted what the quota's limits are about. */
export async function counted({ stack, target: { namespace, quota: name } }: WatchedQuota): Promise<void> {
  await eventually(`Kubernetes has counted ${namespace}/${name}`, async () => {
    const { status: seen } = await stack.core.readNamespacedResourceQuota({ namespace, name });
    return seen?.used !== undefined;
  });
}

/** A ResourceQuota as people write it. Without a namespace it is the folder's. */
export function quotaManifest({
  namespace,
  quota = 'compute',
  hard,
}: Partial<Pick<GivenQuota, 'namespace' | 'quota'>> & Pick<GivenQuota, 'hard'>): string {
  return [
    '# Agreed with the team in January.',
    'apiVersion: v1',
    'kind: ResourceQuota',
    'metadata:',
    `  name: ${quota}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    'spec:',
    '  hard:',
    ...Object.entries(hard).map(([resource, limit]) => `    ${resource}: "${limit}" # see the wiki`),
    '',
  ].join('\n');
}

const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
