/** Proves that a policy of the API server is in force, by writes that it has to refuse, tried as dry runs (ADR 100). */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiException, AuthenticationV1Api, type KubeConfig } from '@kubernetes/client-node';
import {
  afterTrial,
  NOTHING_TRIED,
  type TrialAnswer,
  type TrialRecord,
  whyNotInForce,
} from '../../domain/kernel/policy-proof.ts';
import { apiMessage } from '../kubernetes/failure.ts';
import { despiteCancellation } from './cancellation.ts';

/** A write that the roles of an account allow and its policy has to refuse. */
export interface PolicyTrial {
  /** What would be written: "an Event in the name of another component". */
  readonly what: string;
  /** Sends it as a dry run. */
  readonly attempt: (kubeConfig: KubeConfig) => Promise<unknown>;
}

export interface PolicyProofOptions {
  readonly kubeConfig: KubeConfig;
  /** The name of the policy for this account. */
  readonly policyOf: (account: string) => string;
  /** Tried one after the other until one of them tells. */
  readonly trials: readonly PolicyTrial[];
  /** In milliseconds: after a trial that proved it, and after any other. */
  readonly pace: { readonly every: number; readonly retry: number };
  /** Hears of each change, with the reason why the policy does not count as in force; null: it does. */
  readonly onChange: (why: string | null, policy: string) => void;
}

/** What is known of one policy, by trials that are repeated when they are asked for. */
export class PolicyProof {
  readonly #options: PolicyProofOptions;
  #record: TrialRecord = NOTHING_TRIED;
  #user: string | null = null;
  #triedAt = Number.NEGATIVE_INFINITY;
  #trying: Promise<void> | null = null;
  #told: string | null | undefined;

  constructor(options: PolicyProofOptions) {
    this.#options = options;
  }

  get policy(): string {
    // `system:serviceaccount:NAMESPACE:NAME`, or the name of a user.
    return this.#options.policyOf(this.#user?.split(':').at(-1) ?? 'this account');
  }

  /** Why the policy does not count as in force, by the trials so far; null where it does. */
  get trouble(): string | null {
    return whyNotInForce(this.#record, this.policy, performance.now());
  }

  /** Whether something else refused what was tried last, so that the policy was not asked. */
  get isUntold(): boolean {
    return this.#record.answer?.kind === 'untold';
  }

  /**
   * Tries again, unless the last trial is not older than this, in milliseconds.
   *
   * @throws the client's error where the API server does not answer: what was known stays known.
   */
  async renew(maxAgeMs: number): Promise<void> {
    if (performance.now() - this.#triedAt < maxAgeMs) return;
    // Shared by whoever asks meanwhile, so that no cancelled activity may end it.
    this.#trying ??= despiteCancellation(async () => await this.#try()).finally(() => {
      this.#trying = null;
    });
    await this.#trying;
  }

  /** Tries again and again until the signal is aborted. */
  async keepTrying(signal: AbortSignal): Promise<void> {
    const { every, retry } = this.#options.pace;
    while (!signal.aborted) {
      // An API server that is away takes no write either, and the process says so by itself.
      await this.renew(0).catch(() => {});
      await sleep(this.trouble === null ? every : retry, undefined, { signal }).catch(() => {});
    }
  }

  async #try(): Promise<void> {
    const { kubeConfig, trials, onChange } = this.#options;
    const at = performance.now();
    const { status } = await kubeConfig.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    this.#user = status?.userInfo?.username ?? this.#user;
    const answer = await answerOf(trials, { kubeConfig, policy: this.policy, user: this.#user ?? 'this account' });
    this.#record = afterTrial(this.#record, answer, at);
    this.#triedAt = at;
    const why = this.trouble;
    if (why !== this.#told) onChange(why, this.policy);
    this.#told = why;
  }
}

interface Trying {
  readonly kubeConfig: KubeConfig;
  readonly policy: string;
  readonly user: string;
}

/** The answer of the first trial that tells anything. */
async function answerOf(trials: readonly PolicyTrial[], { kubeConfig, policy, user }: Trying): Promise<TrialAnswer> {
  const whys: string[] = [];
  for (const { what, attempt } of trials) {
    try {
      await attempt(kubeConfig);
      return { kind: 'accepted', what: `${what} from ${user}` };
    } catch (error) {
      if (!(error instanceof ApiException) || isAway(error.code)) throw error;
      const message = apiMessage(error) ?? `HTTP ${error.code}`;
      if (message.includes(`ValidatingAdmissionPolicy '${policy}'`)) return { kind: 'refused' };
      whys.push(`${what} is refused otherwise: ${message}`);
    }
  }
  return { kind: 'untold', why: whys.join('; ') };
}

/** Neither a yes nor a no: it is asked again. */
function isAway(code: number): boolean {
  return code === 401 || code === 429 || code >= 500;
}
