/** The one gate in front of every write of a process to its cluster: the policy that holds it has to be proved (ADR 100). */
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { PauseInForce } from '../../domain/kernel/pause.ts';
import { WritesHeld } from '../kubernetes/writes-held.ts';
import { changesNothing } from './audit.ts';
import { PolicyProof, type PolicyTrial } from './policy-proof.ts';

/** Milliseconds between two trials where nothing is written. */
const EVERY_MS = 60 * 60_000;
/** After a trial that did not prove the policy. */
const RETRY_MS = 5_000;
/** The same where it is only said. */
const OBSERVED_RETRY_MS = 60_000;
/** A write needs a proof that is not older than this: for so long a policy that was just deleted may be missed. */
const PROVED_MS = 10_000;
/** Hundreds of workflows that wait share a trial. */
const JUST_TRIED_MS = 1_000;

export interface WriteGateOptions {
  /** `observed`: what is wrong is said, and nothing is held. */
  readonly mode: 'required' | 'observed';
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** What a process tries once it is connected. */
export interface GateTrials {
  readonly kubeConfig: KubeConfig;
  /** Empty for a process that writes nothing with its settings. */
  readonly trials: readonly PolicyTrial[];
  readonly signal: AbortSignal;
}

/** Whether what a process writes is held to its fields, as its readiness says it. */
type Condition =
  | { readonly ready: true; readonly warning?: string }
  | { readonly ready: false; readonly reason: string };

/** How often a policy is tried without any write. */
export function trialPace(mode: WriteGateOptions['mode']): { readonly every: number; readonly retry: number } {
  return { every: EVERY_MS, retry: mode === 'required' ? RETRY_MS : OBSERVED_RETRY_MS };
}

export class WriteGate {
  readonly #options: WriteGateOptions;
  #proof: PolicyProof | null = null;
  #heldSince: number | null = null;
  #writesNothing = false;

  constructor(options: WriteGateOptions) {
    this.#options = options;
  }

  /** Tries the policy now and every hour, and more often until it is proved, until the signal is aborted. */
  async keepTrying({ kubeConfig, trials, signal }: GateTrials): Promise<void> {
    this.#writesNothing = trials.length === 0;
    if (this.#writesNothing) return;
    const { log, mode } = this.#options;
    this.#proof = new PolicyProof({
      kubeConfig,
      trials,
      pace: trialPace(mode),
      policyOf: (account) => `${account}-writes`,
      onChange: (why, policy) => {
        this.#heldSince = why === null ? null : Date.now();
        if (why === null)
          log.info({ policy }, `the ValidatingAdmissionPolicy ${policy} holds what this process writes`);
        else log.warn({ policy }, mode === 'required' ? `nothing is written: ${why}` : why);
      },
    });
    await this.#proof.keepTrying(signal);
  }

  /** For the readiness of the process. */
  condition(): Condition {
    const trouble = this.#writesNothing ? null : this.#trouble;
    if (trouble === null) return { ready: true };
    return this.#options.mode === 'required' ? { ready: false, reason: trouble } : { ready: true, warning: trouble };
  }

  /**
   * As a pause of everything, by trials that are not older than this in milliseconds; null where it may be written.
   *
   * @throws the client's error where the API server does not answer.
   */
  async held(maxAgeMs: number): Promise<PauseInForce | null> {
    if (this.#options.mode === 'observed') return null;
    if (this.#writesNothing) return this.#pause('with its settings this process has nothing to write');
    await this.#proof?.renew(Math.max(Math.min(maxAgeMs, PROVED_MS), JUST_TRIED_MS));
    const trouble = this.#trouble;
    return trouble === null ? null : this.#pause(trouble);
  }

  /**
   * Before each request that may change something.
   *
   * @throws {WritesHeld} where it may not be sent.
   */
  readonly beforeWrite = async ({ url }: { readonly url: string }): Promise<void> => {
    if (this.#options.mode === 'observed' || changesNothing(new URL(url))) return;
    const pause = await this.held(PROVED_MS);
    if (pause !== null) throw new WritesHeld(pause);
  };

  /** Why the policy does not count as in force; null where it does. */
  get #trouble(): string | null {
    return this.#proof === null ? 'the policy of writes has not been tried yet' : this.#proof.trouble;
  }

  #pause(reason: string): PauseInForce {
    return {
      scope: 'policy',
      by: 'the setting writePolicy: required',
      reason,
      at: this.#heldSince,
      kept: 'see headroom doctor',
    };
  }
}
