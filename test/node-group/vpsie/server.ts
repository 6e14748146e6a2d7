/** VPSie's REST, as unkind as the real one, with the real Nodes of kwok for its machines. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { CoreV1Api } from '@kubernetes/client-node';
import { nodeOf } from '../plane.ts';
import { OFFERS, shown, VpsieAccount, type VpsieMachine } from './account.ts';
import {
  type AddBehaviour,
  type Fault,
  type HttpAnswer,
  json,
  type NodeBehaviour,
  type Unkindness,
  unkindAnswer,
} from './behaviour.ts';

export interface VpsieServerOptions {
  /** Where Nodes are made; absent: nowhere. */
  readonly core?: CoreV1Api;
  /** `/v2`, or `/apps/v2` with the header Vpsie-Auth. */
  readonly authentication?: 'bearer' | 'vpsie-auth';
  /** How long a token lasts that was granted, in milliseconds. */
  readonly tokenLastsMs?: number;
}

/** What a person has at VPSie. */
export const CREDENTIALS = { token: 'a-static-token', clientId: 'a-client', clientSecret: 'the-secret-of-a-client' };

interface Call {
  readonly method: string;
  /** Below the base. */
  readonly path: string;
}

/** Of a person who uses the same cluster. */
const FOREIGN_GROUP = 'by-hand';
const DAY_MS = 86_400_000;
const NOT_FOUND = unkindAnswer('not-found');

export class VpsieServer {
  readonly account = new VpsieAccount();
  /** What was asked, in its order. */
  readonly calls: Call[] = [];
  /** The most requests for machines that were under way at once, as long as they could still take effect. */
  mostUnderWay = 0;
  /** How Nodes come. */
  nodes: NodeBehaviour = { afterMs: 0, nodes: 1 };
  /** What becomes of requests for machines for which `next` says nothing. */
  usual: AddBehaviour = {};
  readonly #options: VpsieServerOptions;
  readonly #server: Server;
  readonly #next: AddBehaviour[] = [];
  readonly #faults: Fault[] = [];
  readonly #tokens = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #foreign = new Set<string>();
  #underWay = 0;
  #granted = 0;

  private constructor(options: VpsieServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: VpsieServerOptions = {}): Promise<VpsieServer> {
    const server = new VpsieServer(options);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${this.#base}`;
  }

  get #base(): string {
    return this.#options.authentication === 'vpsie-auth' ? '/apps/v2' : '/v2';
  }

  /** The behaviours of the next requests for machines, in their order. */
  next(...behaviours: readonly AddBehaviour[]): void {
    this.#next.push(...behaviours);
  }

  /** What becomes of the next request of a kind. */
  fault(fault: Fault): void {
    this.#faults.push(fault);
  }

  /** Our machines, whatever the list says. */
  get machines(): readonly string[] {
    return [...this.account.machines.keys()].filter((identifier) => !this.#foreign.has(identifier));
  }

  /** Machines of somebody else in the same cluster. */
  get foreignMachines(): readonly string[] {
    return [...this.account.machines.keys()].filter((identifier) => this.#foreign.has(identifier));
  }

  /** Somebody else makes a machine, in a group of theirs. */
  addForeign(afterMs = 0): void {
    const { account } = this;
    const group = account.groups.find(({ name }) => name === FOREIGN_GROUP) ?? account.addGroup(FOREIGN_GROUP, 21);
    const machine = account.addMachine(group.id, Date.now() + afterMs);
    this.#foreign.add(machine.identifier);
    this.#later(afterMs, () => this.#nodesOf(machine));
  }

  /** Ends the tokens that were granted. */
  endTokens(): void {
    this.#tokens.clear();
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { method = 'GET', url = '/' } = request;
    if (!url.startsWith(`${this.#base}/`)) return send(response, NOT_FOUND);
    const call = { method, path: url.slice(this.#base.length) };
    this.calls.push(call);
    if (call.path === '/auth/from/api') return this.#finish(response, call, () => this.#grant(body));
    if (!this.#isAuthorized(request)) return send(response, unkindAnswer('unauthorized'));
    const adds = /^\/k8s\/cluster\/byId\/([^/]+)\/add\/slave\/group\/(\d+)$/u.exec(call.path);
    if (method === 'POST' && adds !== null) return this.#add(response, adds[1] ?? '', Number(adds[2]));
    this.#finish(response, call, () => this.#route(call, body));
  }

  /** Answers, unless a fault says otherwise. */
  #finish(response: ServerResponse, { method, path }: Call, act: () => HttpAnswer): void {
    const at = this.#faults.findIndex((fault) => fault.method === method && path.includes(fault.path));
    const [fault] = at < 0 ? [] : this.#faults.splice(at, 1);
    const answer = fault === undefined || fault.takesEffect === true ? act() : null;
    unkindly(response, fault?.answer ?? null, answer);
  }

  #route({ method, path }: Call, body: string): HttpAnswer {
    const { account } = this;
    const data: unknown = body === '' ? null : JSON.parse(body);
    const asked = `${method} ${path}`;
    if (asked === `GET /k8s/cluster/byId/${account.cluster}`) {
      return json(200, { error: false, data: { nodes: account.listed(Date.now()) } });
    }
    if (asked === `GET /k8s/node/groups/byClusterId/${account.cluster}`) {
      const groups = account.groups.map(({ id, name, size }) => ({
        id,
        group_name: name,
        boxsize_id: size,
        nodes_count: account.countOf(id, Date.now()),
        is_deleted: 0,
      }));
      return json(200, { error: false, data: groups });
    }
    if (asked === 'POST /k8s/cluster/add/group') return this.#addGroup(data);
    if (asked === 'POST /k8s/offers') {
      return field(data, 'dcIdentifier') === account.datacenter ? json(200, { error: false, data: OFFERS }) : NOT_FOUND;
    }
    if (asked === `DELETE /k8s/cluster/byId/${account.cluster}/delete/slave`) {
      return account.machines.delete(String(field(data, 'identifier')))
        ? json(200, { error: false, data: true })
        : NOT_FOUND;
    }
    return NOT_FOUND;
  }

  #addGroup(data: unknown): HttpAnswer {
    if (field(data, 'clusterIdentifier') !== this.account.cluster) return NOT_FOUND;
    this.account.addGroup(String(field(data, 'groupName')), Number(field(data, 'KubeSizeID')));
    return json(200, { error: false, data: true });
  }

  #add(response: ServerResponse, cluster: string, group: number): void {
    const { account } = this;
    if (cluster !== account.cluster || account.groups.every(({ id }) => id !== group)) return send(response, NOT_FOUND);
    const { machines = 1, listedAfterMs = 0, foreignAfterMs, answer } = this.#next.shift() ?? this.usual;
    if (foreignAfterMs !== undefined) this.addForeign(foreignAfterMs);
    this.#underWay += 1;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.#underWay);
    const listedFrom = Date.now() + listedAfterMs;
    const made = Array.from({ length: machines }, () => account.addMachine(group, listedFrom));
    // What the answer names is known, whenever it is listed.
    if (answer === undefined) this.#underWay -= 1;
    this.#later(listedAfterMs, () => {
      if (answer !== undefined) this.#underWay -= 1;
      for (const machine of made) this.#nodesOf(machine);
    });
    const [first] = made;
    const data = first === undefined ? true : shown(first);
    const kind =
      answer === 'true' || answer === 'data-true' || answer === 'without-identifier' ? null : (answer ?? null);
    unkindly(response, kind, json(200, answerBody(answer, data)));
  }

  #nodesOf({ hostname }: VpsieMachine): void {
    const { core } = this.#options;
    if (core === undefined) return;
    const names = [hostname.toLowerCase(), `${hostname.toLowerCase()}-again`].slice(0, this.nodes.nodes);
    this.#later(this.nodes.afterMs, () => {
      for (const name of names) void core.createNode({ body: nodeOf(name) }).catch(() => undefined);
    });
  }

  #later(afterMs: number, act: () => void): void {
    if (afterMs === 0) return act();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, afterMs);
    this.#timers.add(timer);
  }

  #grant(body: string): HttpAnswer {
    const form = new URLSearchParams(body);
    const { clientId, clientSecret } = CREDENTIALS;
    if (form.get('clientId') !== clientId || form.get('clientSecret') !== clientSecret)
      return unkindAnswer('unauthorized');
    this.#granted += 1;
    const token = `granted-token-${this.#granted}`;
    const expires = Date.now() + (this.#options.tokenLastsMs ?? DAY_MS);
    this.#tokens.set(token, expires);
    return json(200, { error: false, accessToken: { token, expires: new Date(expires).toISOString() } });
  }

  #isAuthorized({ headers }: IncomingMessage): boolean {
    const token =
      this.#options.authentication === 'vpsie-auth'
        ? String(headers['vpsie-auth'])
        : (/^Bearer (.+)$/u.exec(headers.authorization ?? '')?.[1] ?? '');
    return token === CREDENTIALS.token || (this.#tokens.get(token) ?? 0) > Date.now();
  }
}

function answerBody(answer: AddBehaviour['answer'], data: unknown): unknown {
  if (answer === 'true') return true;
  if (answer === 'data-true') return { error: false, data: true };
  if (answer === 'without-identifier') return { error: false, data: { id: 0, status: 'provisioning' } };
  return { error: false, data };
}

/** @param answer what would be said without the unkindness; null: nothing was done. */
function unkindly(response: ServerResponse, kind: Unkindness | null, answer: HttpAnswer | null): void {
  if (kind === 'silence') return;
  if (kind === 'break') return void response.destroy();
  send(response, kind === null ? (answer ?? NOT_FOUND) : unkindAnswer(kind));
}

function send(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  response.writeHead(status, headers).end(body);
}

function field(data: unknown, key: string): unknown {
  return typeof data === 'object' && data !== null ? Reflect.get(data, key) : undefined;
}
