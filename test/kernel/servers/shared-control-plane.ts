/**
 * A control plane that the test files of a process use one after the other. The next one finds it as it was at its start: what
 * a file leaves in the cluster is taken out of etcd.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { auditLogReader } from './audit-log.ts';
import {
  type ControlPlane,
  type ControlPlaneUser,
  ETCD_SOCKET,
  NO_AUTOSCALER,
  startControlPlane,
} from './control-plane.ts';
import { EtcdStore } from './etcd-keys.ts';
import { untilPoliciesAreCompiled } from './policy-probe.ts';

const WORKER_ACCOUNT = 'system:serviceaccount:namespace-resizer-system:headroom-worker';
const STARTER_ACCOUNT = 'system:serviceaccount:namespace-resizer-system:headroom-starter';
/** Everybody whom one of the files needs: the API server reads its users at its start. */
const USERS: readonly ControlPlaneUser[] = [
  'headroom-worker',
  'headroom-starter',
  WORKER_ACCOUNT,
  STARTER_ACCOUNT,
  'keeper',
  'alice',
  'bob',
  'nobody',
].map((name) => ({ name }));

/** What makes other objects goes first, and namespaces, without which nothing new is let in. */
const MAKERS =
  /^\/registry\/(?:namespaces|deployments|replicasets|statefulsets|daemonsets|jobs|cronjobs|controllers|horizontalpodautoscalers|configmaps)\//;
/** The API server compiles these once a second, so one that is gone goes on to refuse for a moment. */
const POLICIES = /^\/registry\/validatingadmissionpolic(?:ies|ybindings)\//;
const DEFINITIONS = /^\/registry\/apiextensions\.k8s\.io\/customresourcedefinitions\//;
const NAMESPACES = '/registry/namespaces/';
/** What the servers renew by themselves. */
const RENEWED = /^\/registry\/(?:leases\/kube-system|events|ranges|masterleases)\//;

/**
 * Milliseconds between two reads of what is left. By then a controller knows that an object is deleted, and creates
 * nothing more for it.
 */
const LOOK_MS = 100;
/** Milliseconds until everything is gone, on a machine under load. */
const CLEARED_WITHIN_MS = 60_000;

/** The one that nobody uses. A second one would take a few hundredths of a core from the others for as long as it waits. */
let idle: SharedControlPlane | undefined;

/**
 * A control plane with these users, no flags of its own and no autoscaler, empty. `stop` gives it back. One whose API server was killed is
 * not lent again: its controllers come back one after the other within a minute, for which the next file should not wait. Nor is
 * one with definitions of namespaced resources: the quota controller pauses while it takes up and gives up their watches.
 */
export async function borrowControlPlane(users: readonly ControlPlaneUser[] = []): Promise<ControlPlane> {
  const missing = users.filter(
    ({ name, groups = [] }) => groups.length > 0 || !USERS.some((user) => user.name === name),
  );
  if (missing.length > 0) {
    throw new Error(
      `the shared control plane has no user ${missing.map(({ name }) => name).join(', ')}: add it to USERS`,
    );
  }
  const waiting = idle;
  idle = undefined;
  return await (waiting ?? (await SharedControlPlane.start())).lend();
}

/** One that cannot be restored is not lent again either. */
async function giveBack(shared: SharedControlPlane): Promise<void> {
  if (idle !== undefined || shared.wasKilled || (await shared.hasDefinitions())) {
    await shared.stop();
    return;
  }
  try {
    await shared.restore();
  } catch (error) {
    await shared.stop();
    throw error;
  }
  if (idle === undefined) idle = shared;
  else await shared.stop();
}

/** Whether each namespace has what controllers make there. */
function isFurnished(keys: ReadonlySet<string>): boolean {
  const namespaces = [...keys].filter((key) => key.startsWith(NAMESPACES)).map((key) => key.slice(NAMESPACES.length));
  return namespaces.every((name) =>
    [`configmaps/${name}/kube-root-ca.crt`, `serviceaccounts/${name}/default`].every((key) =>
      keys.has(`/registry/${key}`),
    ),
  );
}

class SharedControlPlane {
  readonly #plane: ControlPlane;
  readonly #store: EtcdStore;
  readonly #atStart: ReadonlyMap<string, string>;
  wasKilled = false;

  private constructor(plane: ControlPlane, store: EtcdStore, atStart: ReadonlyMap<string, string>) {
    this.#plane = plane;
    this.#store = store;
    this.#atStart = atStart;
  }

  static async start(): Promise<SharedControlPlane> {
    const plane = await startControlPlane({ users: USERS, controllerManagerFlags: [NO_AUTOSCALER] });
    const store = new EtcdStore(join(plane.dir, ETCD_SOCKET));
    // Its controllers go on for a moment: what they make is part of the start. Under load they come to a namespace seconds later,
    // and what was taken out as another file's would come again and again.
    let before = -1;
    for (let now = await store.keys(); now.size !== before || !isFurnished(now); now = await store.keys()) {
      before = now.size;
      await delay(3 * LOOK_MS);
    }
    return new SharedControlPlane(plane, store, await store.values());
  }

  async lend(): Promise<ControlPlane> {
    const plane = this.#plane;
    const auditLog = join(plane.dir, 'audit.jsonl');
    await this.#clear();
    const { size } = await stat(auditLog);
    let givenBack: Promise<void> | undefined;
    return {
      ...plane,
      auditEvents: auditLogReader(auditLog, size),
      killApiServer: async () => {
        this.wasKilled = true;
        await plane.killApiServer();
      },
      restartApiServer: async () => {
        this.wasKilled = true;
        await plane.restartApiServer();
      },
      rotateToken: async (user) => {
        this.wasKilled = true;
        await plane.rotateToken(user);
      },
      stop: async () => await (givenBack ??= giveBack(this)),
    };
  }

  /** Whether namespaced custom resources were defined. */
  async hasDefinitions(): Promise<boolean> {
    const definitions = [...(await this.#store.values())].filter(([key]) => DEFINITIONS.test(key));
    return definitions.some(([, value]) => Buffer.from(value, 'base64').includes('"scope":"Namespaced"'));
  }

  /** Makes it ready for the next file. */
  async restore(): Promise<void> {
    await this.#clear();
  }

  async stop(): Promise<void> {
    await this.#plane.stop();
  }

  /** Takes away what was not there at the start, until nothing more comes, and puts back what was changed. */
  async #clear(): Promise<void> {
    const deadline = Date.now() + CLEARED_WITHIN_MS;
    let hadPolicies = false;
    for (let isFirst = true; ; isFirst = false) {
      const left = [...(await this.#store.keys())].filter((key) => !this.#atStart.has(key));
      if (left.length === 0) break;
      if (Date.now() > deadline) throw new Error(`in vain taken out of the shared control plane: ${left.join(', ')}`);
      hadPolicies ||= left.some((key) => POLICIES.test(key));
      const makers = left.filter((key) => MAKERS.test(key));
      await this.#store.remove(makers);
      if (isFirst && makers.length > 0) await delay(LOOK_MS);
      await this.#store.remove(left);
      await delay(LOOK_MS);
    }
    const values = await this.#store.values();
    for (const [key, value] of this.#atStart) {
      if (values.get(key) !== value && !RENEWED.test(key)) await this.#store.put(key, value);
    }
    if (hadPolicies) await this.#untilPoliciesAreForgotten(deadline);
  }

  /** They are compiled all at once: when a new one is in force, those that were taken away are not. */
  async #untilPoliciesAreForgotten(deadline: number): Promise<void> {
    await untilPoliciesAreCompiled(this.#plane.adminKubeconfig, deadline);
    const left = [...(await this.#store.keys())].filter((key) => !this.#atStart.has(key));
    await this.#store.remove(left);
  }
}
