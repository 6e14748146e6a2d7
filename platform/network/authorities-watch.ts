/** Whoever trusts the authorities of a file has read it at the start: a process that sees another file has to begin anew. */
import { readAuthorities } from './authorities.ts';
import type { ConfigProblem } from '../../domain/kernel/settings/setting.ts';

/** Milliseconds. kubelet brings a changed ConfigMap or Secret into a pod within about a minute. */
const LOOKS_EVERY_MS = 30_000;

export interface WatchedAuthorities {
  /** How the user named the file, and its path. */
  readonly where: string;
  readonly path: string;
  /** What it had at the start. */
  readonly authorities: readonly string[];
}

/**
 * Looks at the file now and then until `signal` is aborted.
 *
 * @param onChanged hears once that it has other authorities, all of which can be read.
 * @param onUnusable hears what is wrong with a changed file, once for each wrong content: what was read before is trusted on.
 */
export function watchAuthorities(
  { where, path, authorities }: WatchedAuthorities,
  readFile: (path: string) => string,
  heard: {
    readonly signal: AbortSignal;
    readonly onChanged: () => void;
    readonly onUnusable: (problem: string) => void;
    readonly looksEveryMs?: number;
  },
): void {
  const { signal, onChanged, onUnusable, looksEveryMs = LOOKS_EVERY_MS } = heard;
  const before = keyOf(authorities);
  let told: string | null = null;
  const timer = setInterval(() => {
    const problems: ConfigProblem[] = [];
    const now = readAuthorities({ where, path }, readFile, problems);
    if (now === undefined) {
      const problem = problems.map((one) => `${one.where}: ${one.message}`).join('; ');
      if (problem !== told) onUnusable(problem);
      told = problem;
      return;
    }
    told = null;
    if (keyOf(now) === before) return;
    clearInterval(timer);
    onChanged();
  }, looksEveryMs);
  timer.unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Their order means nothing. */
function keyOf(authorities: readonly string[]): string {
  return authorities.toSorted().join('\n');
}
