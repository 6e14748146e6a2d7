import { isoSeconds } from './git/objects.ts';
import type { Hook } from './model.ts';

/** How a webhook is made. */
export interface HookOptions {
  /** Where its deliveries go. */
  url: string;
  /** What they are signed with. Without it they carry no signature. */
  secret?: string;
  /** GitHub's names of events: `pull_request`, `push` …, or `*`. Default: all. */
  events?: readonly string[];
  /** Default: `json`. */
  contentType?: 'json' | 'form';
  /** Default: true. */
  active?: boolean;
}

/** A webhook of now. */
export function newHook(id: number, options: HookOptions): Hook {
  const now = isoSeconds(new Date());
  const hook: Hook = {
    id,
    url: options.url,
    secret: null,
    contentType: 'json',
    insecureSsl: '0',
    events: ['*'],
    active: true,
    createdAt: now,
    updatedAt: now,
  };
  applyHook(hook, options);
  return hook;
}

/** Changes what is given. */
export function applyHook(hook: Hook, { url, secret, events, contentType, active }: Partial<HookOptions>): void {
  if (url !== undefined) hook.url = url;
  if (secret !== undefined) hook.secret = secret;
  if (events !== undefined) hook.events = events;
  if (contentType !== undefined) hook.contentType = contentType;
  if (active !== undefined) hook.active = active;
  hook.updatedAt = isoSeconds(new Date());
}
