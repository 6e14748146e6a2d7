import type { EpochMs } from './time.ts';

/** The connection of a watch. */
export interface WatchConnection {
  /** Since when it is connected; null while it is not. */
  readonly connectedSince: EpochMs | null;
  /** When it was last connected before that, or the objects were last listed. */
  readonly lastConnectedAt: EpochMs;
}
