import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { resolveServer } from '../../../tools/resolver/resolve-server.ts';
import { type AuditEvent, auditLogReader, auditPolicy } from './audit-log.ts';
import { keepBootstrap, prepareBootstrap } from './bootstrap.ts';
import { freePort, onFreePorts } from './free-port.ts';
import { goMemory } from './go-memory.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { untilReady } from './readiness.ts';
import { type SupervisedProcess, startProcess, temporaryDirectory } from './supervised-process.ts';

/** A user whom the API server knows by a token. RBAC decides what it may do; without a binding that is nothing. */
export interface ControlPlaneUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

export interface ControlPlaneOptions {
  /** Where the data, logs and kubeconfigs live. A given folder is kept; without one they are removed with the servers. */
  readonly dir?: string;
  /** Beside `admin`, who is always there and may do everything. */
  readonly users?: readonly ControlPlaneUser[];
  /** Added to kube-apiserver's flags, such as `--runtime-config=…`. */
  readonly apiServerFlags?: readonly string[];
  /** Added to kube-controller-manager's flags, such as `--controllers=*,-cronjob-controller`. */
  readonly controllerManagerFlags?: readonly string[];
  /** Called with a line of text about what has started and how long that took. */
  readonly log?: (message: string) => void;
}

/** Process ids, for tests that look for leftovers. */
interface ControlPlanePids {
  readonly etcd: number;
  readonly apiServer: number;
  readonly controllerManager: number;
}

/** A running etcd, kube-apiserver and kube-controller-manager. There are no nodes: pods are created and stay Pending. */
export interface ControlPlane {
  /** `https://127.0.0.1:PORT`, the same through every restart. */
  readonly url: string;
  /** The folder with the data, the logs (`*.log`), the audit log and the kubeconfigs. */
  readonly dir: string;
  /** Path of the kubeconfig of `admin` (system:masters). */
  readonly adminKubeconfig: string;
  readonly pids: () => ControlPlanePids;
  /**
   * Path of a user's kubeconfig.
   * @throws Error for a user who was not named at the start.
   */
  readonly kubeconfigFor: (user: string) => string;
  /** Gives a user a new token, in the same kubeconfig file; the old one is refused (401) from then on. Restarts the API server. */
  readonly rotateToken: (user: string) => Promise<void>;
  /** What the API server was asked so far, except by the control plane itself. */
  readonly auditEvents: () => Promise<AuditEvent[]>;
  /** SIGKILL: connections break, and new ones are refused until `startApiServer`. */
  readonly killApiServer: () => Promise<void>;
  /** Starts it again on the same port with the same data; ready when this resolves. */
  readonly startApiServer: () => Promise<void>;
  readonly restartApiServer: () => Promise<void>;
  /** Ends all processes and removes the folder unless it was given. Calling it twice is fine. */
  readonly stop: () => Promise<void>;
}

/**
 * A flag of kube-controller-manager: its autoscaler, which reconciles every 15 s, does nothing while a file runs. Between the
 * two writes by which Headroom scales a workload and its HorizontalPodAutoscaler it would add a third, where each is counted.
 */
export const NO_AUTOSCALER = '--horizontal-pod-autoscaler-sync-period=1h';

const ADMIN = 'admin';
const CONTROLLER_MANAGER = 'system:kube-controller-manager';
const MASTERS = 'system:masters';

/**
 * Starts a Kubernetes control plane on a free port of 127.0.0.1. It is ready when the API server answers /readyz and the
 * controllers work.
 * @throws ServerUnavailable when a binary is nowhere and cannot be built; Error with the end of a log when a server does not start.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries: Binaries = {
    // One after the other: a build takes all cores.
    etcd: await resolveServer('etcd'),
    apiServer: await resolveServer('kube-apiserver'),
    controllerManager: await resolveServer('kube-controller-manager'),
  };
  const dir = options.dir ?? (await temporaryDirectory('control-plane'));
  await mkdir(dir, { recursive: true });
  const plane = new RunningControlPlane(dir, binaries, options);
  try {
    await plane.start();
  } catch (error) {
    await plane.stop();
    throw error;
  }
  return plane.asControlPlane();
}

interface Binaries {
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager: string;
}

interface UserWithToken {
  readonly groups: readonly string[];
  token: string;
}

class RunningControlPlane {
  readonly #dir: string;
  readonly #binaries: Binaries;
  readonly #options: ControlPlaneOptions;
  readonly #users = new Map<string, UserWithToken>();
  #port = 0;
  #certificateAuthority = '';
  #etcd: SupervisedProcess | undefined;
  #apiServer: SupervisedProcess | undefined;
  #controllerManager: SupervisedProcess | undefined;

  constructor(dir: string, binaries: Binaries, options: ControlPlaneOptions) {
    this.#dir = dir;
    this.#binaries = binaries;
    this.#options = options;
    this.#users.set(ADMIN, { groups: [MASTERS], token: newToken() });
    this.#users.set(CONTROLLER_MANAGER, { groups: [MASTERS], token: newToken() });
    for (const user of options.users ?? []) {
      if (this.#users.has(user.name)) {
        throw new Error(`the control plane already has a user ${user.name}; give another name`);
      }
      this.#users.set(user.name, { groups: user.groups ?? [], token: newToken() });
    }
  }

  async start(): Promise<void> {
    await this.#writeFiles();
    await this.#timed('etcd', () => this.#startEtcd());
    const { apiServerFlags = [] } = this.#options;
    await prepareBootstrap(this.#dir, ETCD_SOCKET, apiServerFlags);
    await this.#timed('kube-apiserver', () =>
      onFreePorts(async () => {
        this.#port = await freePort();
        await this.#startApiServer();
      }),
    );
    await Promise.all([...this.#users.keys()].map((user) => this.#writeKubeconfig(user)));
    await keepBootstrap(this.#dir, ETCD_SOCKET, apiServerFlags);
    await this.#timed('kube-controller-manager', () => this.#startControllerManager());
  }

  asControlPlane(): ControlPlane {
    return {
      url: this.#url(),
      dir: this.#dir,
      adminKubeconfig: this.#kubeconfigFor(ADMIN),
      pids: () => ({
        etcd: this.#etcd?.pid ?? 0,
        apiServer: this.#apiServer?.pid ?? 0,
        controllerManager: this.#controllerManager?.pid ?? 0,
      }),
      kubeconfigFor: (user) => this.#kubeconfigFor(user),
      rotateToken: (user) => this.#rotateToken(user),
      auditEvents: auditLogReader(this.#file('audit.jsonl')),
      killApiServer: () => this.#killApiServer(),
      startApiServer: () => this.#startApiServer(),
      restartApiServer: async () => {
        await this.#killApiServer();
        await this.#startApiServer();
      },
      stop: () => this.stop(),
    };
  }

  async stop(): Promise<void> {
    // SIGKILL: nothing of what they hold is wanted any more, and a graceful API server waits for its watchers.
    await Promise.all([this.#controllerManager?.kill(), this.#apiServer?.kill(), this.#etcd?.kill()]);
    if (this.#options.dir === undefined) {
      await rm(this.#dir, { recursive: true, force: true });
    }
  }

  async #writeFiles(): Promise<void> {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(this.#file('service-accounts.key'), privateKey.export({ type: 'sec1', format: 'pem' }));
    await writeFile(this.#file('audit-policy.yaml'), auditPolicy(['system:apiserver', CONTROLLER_MANAGER]));
    await this.#writeTokens();
  }

  async #writeTokens(): Promise<void> {
    const lines = [...this.#users].map(
      ([name, { token, groups }]) => `${token},"${name}",${name},"${groups.join(',')}"\n`,
    );
    await writeFile(this.#file('tokens.csv'), lines.join(''), { mode: 0o600 });
  }

  async #startEtcd(): Promise<void> {
    // etcd and its only client talk over sockets in their own folder: no port to race for, and no chance to meet another
    // control plane's etcd. etcd wants the form host:port and makes a file of that name in its working folder.
    const peer = 'unix://etcd-peer:1';
    this.#etcd = await startProcess({
      name: 'etcd',
      command: this.#binaries.etcd,
      env: goMemory(512),
      args: [
        '--name=headroom',
        `--data-dir=${this.#file('etcd')}`,
        `--listen-client-urls=unix://${ETCD_SOCKET}`,
        `--advertise-client-urls=unix://${ETCD_SOCKET}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=headroom=${peer}`,
        '--unsafe-no-fsync',
        '--log-level=warn',
      ],
      cwd: this.#dir,
      logFile: this.#file('etcd.log'),
    });
    await untilReady(this.#etcd, async () => {
      const answer = await get({ socketPath: join(this.#dir, ETCD_SOCKET), path: '/health' });
      return answer.includes('"true"');
    });
  }

  async #startApiServer(): Promise<void> {
    if (this.#apiServer !== undefined && this.#apiServer.exit() === undefined) {
      throw new Error('the API server runs already; kill it first');
    }
    const certificates = this.#file('certificates');
    this.#apiServer = await startProcess({
      name: 'kube-apiserver',
      command: this.#binaries.apiServer,
      env: goMemory(1024),
      args: [
        `--etcd-servers=unix://${ETCD_SOCKET}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${this.#port}`,
        // No address of the machine is looked up, and no `kubernetes` Service has to point at one.
        '--advertise-address=127.0.0.1',
        '--endpoint-reconciler-type=none',
        '--service-cluster-ip-range=10.0.0.0/24',
        `--cert-dir=${certificates}`,
        `--service-account-key-file=${this.#file('service-accounts.key')}`,
        `--service-account-signing-key-file=${this.#file('service-accounts.key')}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        `--token-auth-file=${this.#file('tokens.csv')}`,
        '--authorization-mode=RBAC',
        // Pods may be created before the controllers have made their namespace's default service account.
        '--disable-admission-plugins=ServiceAccount',
        `--audit-policy-file=${this.#file('audit-policy.yaml')}`,
        `--audit-log-path=${this.#file('audit.jsonl')}`,
        // Megabytes: one file, however long the test.
        '--audit-log-maxsize=10000',
        // A hundred episodes at once must not meet the limits (400 and 200) that protect a real API server.
        '--max-requests-inflight=4000',
        '--max-mutating-requests-inflight=2000',
        // No shares for its clients in what these two bound together: they are a fifth of what its start takes.
        '--enable-priority-and-fairness=false',
        '--profiling=false',
        ...(this.#options.apiServerFlags ?? []),
      ],
      cwd: this.#dir,
      logFile: this.#file('kube-apiserver.log'),
    });
    await untilReady(this.#apiServer, async () => {
      this.#certificateAuthority = await readFile(join(certificates, 'apiserver.crt'), 'utf8');
      return (await this.#getAsAdmin('/readyz')) === 'ok';
    });
  }

  async #killApiServer(): Promise<void> {
    await this.#apiServer?.kill();
  }

  async #startControllerManager(): Promise<void> {
    const flags = this.#options.controllerManagerFlags ?? [];
    this.#controllerManager = await startProcess({
      name: 'kube-controller-manager',
      command: this.#binaries.controllerManager,
      env: goMemory(512),
      args: [
        `--kubeconfig=${this.#kubeconfigFor(CONTROLLER_MANAGER)}`,
        `--service-account-private-key-file=${this.#file('service-accounts.key')}`,
        '--use-service-account-credentials=false',
        '--leader-elect=false',
        // Nothing asks it for anything, so it needs no port.
        '--secure-port=0',
        // Its own default, 20 a second, would make a test of a hundred workloads wait for the controllers.
        '--kube-api-qps=1000',
        '--kube-api-burst=2000',
        // Its workers of volumes and of claims both write the volume that they bind, and who meets a conflict leaves it to the next
        // round. With its own default, 15 s, one claim was bound after up to 30 s.
        '--pvclaimbinder-sync-period=1s',
        ...flags,
      ],
      cwd: this.#dir,
      logFile: this.#file('kube-controller-manager.log'),
    });
    const chosen = flags
      .findLast((flag) => flag.startsWith('--controllers='))
      ?.replace('--controllers=', '')
      .split(',');
    if (chosen !== undefined && (!chosen.includes('*') || chosen.includes('-serviceaccount-controller'))) {
      return; // the controller whose work is awaited below is not among them
    }
    await untilReady(this.#controllerManager, async () => {
      const answer = await this.#getAsAdmin('/api/v1/namespaces/default/serviceaccounts/default');
      return answer.includes('"ServiceAccount"');
    });
  }

  async #rotateToken(user: string): Promise<void> {
    this.#userWithToken(user).token = newToken();
    await this.#writeTokens();
    // The API server reads its token file at its start only.
    await this.#killApiServer();
    await this.#startApiServer();
    await this.#writeKubeconfig(user);
  }

  #kubeconfigFor(user: string): string {
    this.#userWithToken(user);
    return this.#file(`${user.replaceAll(/[^\w.-]/g, '_')}.kubeconfig`);
  }

  #userWithToken(user: string): UserWithToken {
    const found = this.#users.get(user);
    if (found === undefined) {
      throw new Error(
        `the control plane has no user ${user}; name it in startControlPlane({ users }), which has ${[...this.#users.keys()].join(', ')}`,
      );
    }
    return found;
  }

  #writeKubeconfig(user: string): Promise<void> {
    return writeKubeconfig(this.#kubeconfigFor(user), {
      server: this.#url(),
      certificateAuthority: this.#certificateAuthority,
      user,
      token: this.#userWithToken(user).token,
    });
  }

  #getAsAdmin(path: string): Promise<string> {
    return get({
      host: '127.0.0.1',
      port: this.#port,
      path,
      ca: this.#certificateAuthority,
      headers: { authorization: `Bearer ${this.#userWithToken(ADMIN).token}` },
    });
  }

  async #timed(what: string, start: () => Promise<void>): Promise<void> {
    const begin = performance.now();
    await start();
    this.#options.log?.(`${what} ready after ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  }

  #url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  #file(name: string): string {
    return join(this.#dir, name);
  }
}

/** In the folder of a control plane. */
export const ETCD_SOCKET = 'etcd:1';

function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** The body of the answer to a GET. Connections are not kept: the server may be about to go. */
function get(
  options: { path: string } & (
    | { socketPath: string }
    | { host: string; port: number; ca: string; headers: Record<string, string> }
  ),
): Promise<string> {
  return new Promise((resolve, reject) => {
    // A server that accepts and does not answer (milliseconds) is not ready.
    const timeout = 5000;
    const request =
      'ca' in options
        ? httpsRequest({ ...options, agent: new Agent({ keepAlive: false }), timeout })
        : httpRequest({ ...options, agent: false, timeout });
    request.once('response', (response) => {
      text(response).then(resolve, reject);
    });
    request.once('timeout', () => {
      request.destroy(new Error(`no answer to ${options.path} within ${timeout} ms`));
    });
    request.once('error', reject);
    request.end();
  });
}
