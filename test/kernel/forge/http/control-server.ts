import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '../api-error.ts';
import type { AppOptions, InstallOptions } from '../apps/apps.ts';
import type { ForgeApp } from '../apps/handle.ts';
import type { CheckRunChange, CommitStatusChange, Control, Push } from '../control.ts';
import type { HookOptions } from '../hooks.ts';
import type { CheckMode, MergeMethod } from '../model.ts';
import { readBody } from './api-server.ts';
import type { FaultRule, Faults, Hold, HoldRule } from './faults.ts';
import type { RateLimits } from './rate-limits.ts';

export interface ControlServerOptions {
  /** The control of a repository by its name, `owner/repo`; of the first one for null. */
  readonly controlOf: (repository: string | null) => Control;
  readonly faults: Faults;
  readonly registerApp: (options: AppOptions) => ForgeApp;
  readonly limits: RateLimits;
  /** What the counters and logs say now. */
  readonly report: () => { requests: number; writes: readonly unknown[]; violations: readonly string[] };
}

/**
 * The control surface over HTTP, below `/_forge/`: JSON in, JSON out, the same names as the methods. A hold has an id;
 * `GET holds/ID` answers once a request is held.
 */
export class ControlServer {
  readonly #options: ControlServerOptions;
  readonly #holds = new Map<string, Hold>();

  constructor(options: ControlServerOptions) {
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    let status = 200;
    let answer: unknown;
    try {
      const text = (await readBody(request)).toString();
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      const name = url.pathname.replace(/^\/_forge\/?/, '').replace(/\/$/, '');
      answer = await this.#run(request.method ?? 'GET', name, url, body);
      if (answer === undefined) status = 204;
    } catch (cause) {
      status = cause instanceof ApiError ? cause.status : 400;
      answer = { message: cause instanceof Error ? cause.message : String(cause) };
    }
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    response.end(answer === undefined ? undefined : JSON.stringify(answer));
  }

  async #run(method: string, name: string, url: URL, body: Record<string, unknown>): Promise<unknown> {
    const { controlOf, faults, report } = this.#options;
    const control = controlOf(url.searchParams.get('repository'));
    const [area = '', first = '', second = ''] = name.split('/');
    switch (`${method} ${area}`) {
      case 'GET ':
        return { requests: report().requests, writes: report().writes.length, violations: report().violations };
      case 'GET writes':
        return report().writes;
      case 'POST faults':
        faults.fail(body as unknown as FaultRule);
        return undefined;
      case 'DELETE faults':
        faults.clear();
        return undefined;
      case 'POST apps':
        return this.#registerApp(body as unknown as AppOptions & { install?: readonly InstallOptions[] });
      case 'PUT limits':
        this.#options.limits.setSecondary(body);
        return undefined;
      case 'GET write-times':
        return this.#options.limits.writeTimes(url.searchParams.get('credential') ?? undefined);
      case 'POST holds':
        return first === '' ? this.#hold(body as unknown as HoldRule) : this.#open(first, second);
      case 'GET holds':
        return this.#holdOf(first).held;
      case 'POST default-checks':
        control.setDefaultChecks(body['mode'] as CheckMode);
        return undefined;
      case 'POST check-runs':
        return control.setCheckRun(body as unknown as CheckRunChange);
      case 'POST statuses':
        return control.setStatus(body as unknown as CommitStatusChange);
      case 'PUT protection':
        return control.protectBranch(decodeURIComponent(first), body);
      case 'DELETE protection':
        return control.protectBranch(decodeURIComponent(first), undefined);
      case 'PUT merge-settings':
        return control.setMergeSettings(body);
      case 'POST pulls':
        return this.#actOnPull(control, Number(first), second, body);
      case 'POST commits':
        return { sha: await control.pushCommit(body as unknown as Push) };
      case 'POST hooks':
        return { id: await control.addHook(body as unknown as HookOptions) };
      case 'DELETE hooks':
        return control.removeHook(Number(first));
      case 'GET deliveries':
        return control.deliveries();
      case 'POST deliveries':
        return control.redeliver(Number(first));
      case 'PUT accounts':
        control.setAccounts(body);
        return undefined;
      case 'DELETE branches':
        return control.deleteBranch(decodeURIComponent(first));
      case 'GET file': {
        const content = await control.readFile(
          url.searchParams.get('ref') ?? 'HEAD',
          url.searchParams.get('path') ?? '',
        );
        if (content === undefined) throw new ApiError(404, 'no such file at that ref');
        return { content };
      }
      default:
        throw new ApiError(404, `the control surface has no ${method} /_forge/${name}`);
    }
  }

  async #actOnPull(control: Control, number: number, action: string, body: Record<string, unknown>): Promise<unknown> {
    const by = typeof body['by'] === 'string' ? body['by'] : 'somebody';
    switch (action) {
      case 'close':
        return control.closePullRequest(number, by);
      case 'reopen':
        return control.reopenPullRequest(number, by);
      case 'merge':
        return {
          sha: await control.mergePullRequest(number, by, (body['method'] as MergeMethod | undefined) ?? 'squash'),
        };
      case 'approve':
        return { id: await control.approveReview(number, by) };
      case 'request-changes':
        return { id: await control.requestChanges(number, by) };
      case 'dismiss':
        return control.dismissReview(number, String(body['user']), by);
      case 'request-review':
        return control.requestReview(number, body, by);
      case 'label':
        return control.addLabel(number, String(body['label']), by);
      case 'draft':
        return control.setDraft(number, body['draft'] !== false, by);
      case 'comment':
        return control.comment(number, by, String(body['body']));
      default:
        throw new ApiError(404, `a pull request can be closed, reopened, merged, approved …, but not "${action}"`);
    }
  }

  #registerApp({ install = [], ...options }: AppOptions & { install?: readonly InstallOptions[] }): object {
    const { id, clientId, bot, ...app } = this.#options.registerApp(options);
    return { id, clientId, bot, installations: install.map((account) => app.install(account).id) };
  }

  #hold(rule: HoldRule): { id: string } {
    const id = randomUUID();
    this.#holds.set(id, this.#options.faults.hold(rule));
    return { id };
  }

  #open(id: string, action: string): undefined {
    const hold = this.#holdOf(id);
    if (action === 'release') hold.release();
    else if (action === 'abandon') hold.abandon();
    else throw new ApiError(404, `a hold can be released or abandoned, but not "${action}"`);
    return undefined;
  }

  #holdOf(id: string): Hold {
    const hold = this.#holds.get(id);
    if (!hold) throw new ApiError(404, `there is no hold ${id}`);
    return hold;
  }
}
