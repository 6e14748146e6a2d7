/** What `headroom doctor` finds. */
import { ApiException } from '@kubernetes/client-node';
import { apiMessage } from '../../../activities/kubernetes/failure.ts';
import { isTemporalAnswer, innermost } from '../shared.ts';

export type CheckName =
  | 'temporal'
  | 'cluster'
  | 'rights'
  | 'definitions'
  | 'policies'
  | 'other controllers'
  | 'github'
  | 'clocks';

/** `unknown`: it could not be looked at; `warning`: it runs, and somebody should look. */
export type FindingStatus = 'ok' | 'warning' | 'wrong' | 'unknown';

export interface Finding {
  readonly check: CheckName;
  readonly status: FindingStatus;
  /** A sentence. */
  readonly what: string;
  /** How to mend it, sentences or a command; absent where there is nothing to mend. */
  readonly mend?: string;
}

/** Notes what one check finds. */
export class Findings {
  readonly #check: CheckName;
  readonly all: Finding[] = [];

  constructor(check: CheckName) {
    this.#check = check;
  }

  ok(what: string): void {
    this.all.push({ check: this.#check, status: 'ok', what });
  }

  warning(what: string, mend: string): void {
    this.all.push({ check: this.#check, status: 'warning', what, mend });
  }

  wrong(what: string, mend: string): void {
    this.all.push({ check: this.#check, status: 'wrong', what, mend });
  }

  unknown(what: string, mend: string): void {
    this.all.push({ check: this.#check, status: 'unknown', what, mend });
  }
}

/** What a check could not look at, of an error of one of the servers; the error itself where it is of none. */
export function whyUnseen(error: unknown): string {
  if (error instanceof ApiException) return apiMessage(error) ?? `the API server answers ${error.code}`;
  if (isTemporalAnswer(error)) return innermost(error);
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Runs one check; what it could not look at is a finding as well, and holds up none of the others. */
export async function findingsOf(
  check: CheckName,
  look: (findings: Findings) => Promise<void>,
): Promise<readonly Finding[]> {
  const findings = new Findings(check);
  try {
    await look(findings);
  } catch (error) {
    const isForbidden = error instanceof ApiException && error.code === 403;
    findings.unknown(
      `Some things could not be checked: ${whyUnseen(error)}.`,
      isForbidden ? 'Ask with an account that may read this.' : 'Mend that, and ask again.',
    );
  }
  return findings.all;
}
