import { REPOSITORY } from '../http/route.ts';

export type Access = 'read' | 'write' | 'admin';
/** What an app may do, by GitHub's names: `contents`, `pull_requests`, `checks` … */
export type Permissions = Readonly<Record<string, Access>>;

const LEVELS = ['read', 'write', 'admin'] as const satisfies readonly Access[];

// The first line that fits says which permission a route of a repository asks for; one of several is enough.
const NEEDED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^PUT \/pulls\/\{pull_number\}\/merge$/, ['contents']],
  [/^\w+ \/commits\/\{ref\}\/check-runs|^\w+ \/check-runs/, ['checks']],
  [/^\w+ \/commits\/\{ref\}\/status|^\w+ \/statuses/, ['statuses']],
  [/^\w+ \/branches\/\{branch\}\/protection/, ['administration']],
  [/^\w+ \/hooks/, ['repository_hooks']],
  [/^\w+ (\/pulls|\/commits\/\{commit_sha\}\/pulls)/, ['pull_requests']],
  [/^\w+ \/(issues|labels)/, ['issues', 'pull_requests']],
  [/^\w+ \/(git|contents|commits|compare|branches)/, ['contents']],
];

/** Whether these permissions are enough for a route. Everybody who sees a repository may read what is about it alone. */
export function allows(permissions: Permissions, method: string, path: string): boolean {
  const route = `${method} ${path.slice(REPOSITORY.length)}`;
  const [, names] = NEEDED.find(([pattern]) => pattern.test(route)) ?? [];
  if (!names) return method === 'GET';
  return names.some((name) => has(permissions, name, method === 'GET' ? 'read' : 'write'));
}

/** Whether one permission is there, at this level or a higher one. */
export function has(permissions: Permissions, name: string, wanted: Access): boolean {
  const own = permissions[name];
  return own !== undefined && LEVELS.indexOf(own) >= LEVELS.indexOf(wanted);
}
