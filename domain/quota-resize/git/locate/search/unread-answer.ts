/** What files that are not read mean for the result of a search. */
import type { MissingFiles } from '../location/location.ts';
import { wordsOf } from '../tree/paths.ts';
import { type UnreadFile, unreadText } from '../tree/unread.ts';
import { type LocateAnswer, remedy, type Search, unlocated } from './search.ts';

/**
 * The result with what was not read. A quota that was found stays found, and people see with its pull request what was
 * not read; where nothing was found, a file that is too costly is the reason.
 */
export function withUnread(search: Search, answer: Exclude<LocateAnswer, MissingFiles>): LocateAnswer {
  const { reader, wanted } = search;
  const unread = new Map([...reader.unread].filter(([, { hasNoQuota }]) => hasNoQuota !== true));
  if (unread.size === 0) {
    return answer;
  }
  const label = `ResourceQuota ${wanted.namespace}/${wanted.name}`;
  const costly = [...unread].filter(([, { why }]) => why === 'TooCostly');
  if (answer.kind === 'unlocated') {
    return answer.reason === 'FileNotFound' && costly.length > 0
      ? unlocated(
          'ContentTooCostly',
          `no other file has ${label}, but ${unreadText(new Map(costly))}; ${remedy(search)}`,
          answer.candidates,
        )
      : answer;
  }
  const { location } = answer;
  const rival = costly.find(([path]) => isOfNamespace(path, wanted.namespace));
  if (rival !== undefined) {
    return unlocated('ContentTooCostly', rivalMessage(`${label} is at ${location.path}:${location.line}`, rival));
  }
  return { kind: 'located', location: { ...location, how: `${location.how}. Not read: ${unreadText(unread)}` } };
}

/**
 * Only a file that is called like the namespace is taken for a possible second place of the quota: a file of another
 * namespace must not stop this one's lookup.
 */
function isOfNamespace(path: string, namespace: string): boolean {
  return wordsOf(path).includes(namespace);
}

function rivalMessage(found: string, [path, { message }]: readonly [string, UnreadFile]): string {
  return `${found}, but may be in ${path} as well, which ${message}: make that file simpler, or name the quota's file with the annotation resizer.io/git-path`;
}
