import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import type { PullRequestReader } from './pull-request-reader.ts';
import type { QuotaReader } from './quota-reader.ts';
import type { SourceReader } from './source-reader.ts';

/** What an act goes by, and who reads for it and keeps what was read from pass to pass. */
export interface Acting {
  readonly target: QuotaTarget;
  readonly seen: Seen;
  readonly quota: QuotaReader;
  readonly pullRequest: PullRequestReader;
  readonly sources: SourceReader;
}
