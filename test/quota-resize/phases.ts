import { EPISODE_MS } from '../kernel/stack/watched-quota.ts';

/**
 * The limit of a test that follows an episode from phase to phase. Each of its waits has a limit of its own and says what did
 * not come; on a machine whose cores are all busy, a few of them together take longer than a test otherwise may.
 */
export const SEVERAL_PHASES = { timeout: 3 * EPISODE_MS } as const;
