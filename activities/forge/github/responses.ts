/** What GitHub answers, as the client types it, and the parts that are read everywhere alike. */
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { EpochMs } from '../../../domain/kernel/time.ts';

export type Responses = RestEndpointMethodTypes;
export type PullData = Responses['pulls']['get']['response']['data'];
export type ListedPullData = Responses['pulls']['list']['response']['data'][number];
export type ReviewData = Responses['pulls']['listReviews']['response']['data'][number];

export function loginOf(account: object | null | undefined): string | null {
  const login = account !== null && account !== undefined && 'login' in account ? account.login : undefined;
  return typeof login === 'string' ? login : null;
}

export function moment(date: string | undefined): EpochMs {
  const parsed = Date.parse(date ?? '');
  return Number.isNaN(parsed) ? Date.now() : parsed;
}
