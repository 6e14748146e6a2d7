/** `headroom lights-out` as a program of its own. */
import { headroom, type ProgramOutcome } from '../starter/run-program.ts';

/** So often it is begun anew before it is taken for a Temporal that is away. */
const ATTEMPTS = 5;

/**
 * Runs a command to its end. For a connection to Temporal it has five seconds, which a busy machine may need more than: it has
 * asked for nothing by then, and is begun anew. Where Temporal is said to be elsewhere, it is not.
 */
export async function lightsOutProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Promise<ProgramOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await headroom(['lights-out', ...args], { ...environment, ...more });
    const isUnreached = outcome.stderr.includes('Temporal cannot be reached at');
    if (!isUnreached || 'TEMPORAL_ADDRESS' in more || attempt === ATTEMPTS) return outcome;
  }
}
