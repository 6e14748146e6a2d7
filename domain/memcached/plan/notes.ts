/** What a Memcached is told besides its conditions: what is as it is on purpose, what waits, and what cannot work. */
import { listText } from '../../kernel/sentence.ts';
import { isAutoscaled, type Memcached } from '../api/memcached.ts';
import { specWarnings } from '../api/warnings.ts';
import type { ChildKind } from '../children/children.ts';
import { improvementsOf } from '../children/improvements.ts';
import { podTemplate } from '../children/pod-template.ts';
import { MOST_SLOTS } from '../servers/slots.ts';
import { asleepBy, isTakenOver, type LiveObject, replicasOf } from './live.ts';
import type { Seen } from './seen.ts';

const UNREADABLE = ' restart no pod, because the worker may not read these Secrets';
const CHANGES_OF = 'changes of ';
const HELD_FOR = 'no pod is made or replaced until these Secrets have what pods mount: ';

/** Sentences, in an order that stays. */
export function notesOf(memcached: Memcached, seen: Seen): readonly string[] {
  return [
    ...takenOverNotes(memcached, seen),
    ...ignoredReplicas(memcached),
    ...unservedMonitor(memcached, seen),
    ...unreadableNotes(seen.secrets.unreadable),
    ...lackingNotes(seen.secrets.lacking),
    ...slotNotes(seen.children.Deployment),
    ...pausedNotes(seen.children.Deployment),
    ...specWarnings(memcached.spec),
    ...(['Deployment', 'HorizontalPodAutoscaler'] as const).flatMap((kind) => asleepNotes(kind, seen.children[kind])),
  ];
}

function takenOverNotes(
  memcached: Memcached,
  { children: { Deployment: deployment }, secrets: { hash: secretHash } }: Seen,
): readonly string[] {
  if (deployment === null || !isTakenOver(deployment, memcached.generation)) return [];
  const [before, after] = [true, false].map((wasMade) => podTemplate(memcached, { secretHash, isTakenOver: wasMade }));
  const waiting = improvementsOf(before, after);
  if (waiting.length === 0) return [];
  const what = listText(waiting);
  return [
    `the pods stay as the operator made them that they were taken over from, until the spec changes, and this waits for it: ${what}`,
  ];
}

function ignoredReplicas({ spec }: Memcached): readonly string[] {
  return isAutoscaled(spec) && spec.replicas !== undefined
    ? ['spec.replicas is ignored, because autoscaling is enabled: set it to null']
    : [];
}

function unservedMonitor({ spec: { monitoring } }: Memcached, { unserved }: Seen): readonly string[] {
  const isWanted = monitoring?.enabled === true && monitoring.serviceMonitor !== undefined;
  return isWanted && unserved.includes('ServiceMonitor')
    ? [
        'no ServiceMonitor is made, because the cluster does not serve them: the Prometheus operator brings their definition',
      ]
    : [];
}

function unreadableNotes(names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${CHANGES_OF}${names.join(', ')}${UNREADABLE}`];
}

function lackingNotes(keys: readonly string[]): readonly string[] {
  return keys.length === 0 ? [] : [`${HELD_FOR}${keys.join(', ')}`];
}

type Fields = Readonly<Record<string, unknown>>;

/** The Secrets that a status says cannot be read: who reads none knows it from there. */
export function unreadableSecretsIn(status: Fields): readonly string[] {
  return listedIn(status, CHANGES_OF, UNREADABLE);
}

/** What a status says is not in Secrets, each as `KEY of SECRET`: who reads none knows it from there. */
export function lackingKeysIn(status: Fields): readonly string[] {
  return listedIn(status, HELD_FOR, '');
}

/** What stands between two parts of a note, with commas between. */
function listedIn({ notes }: Fields, before: string, after: string): readonly string[] {
  const list: readonly unknown[] = Array.isArray(notes) ? notes : [];
  const note = list.find((text) => typeof text === 'string' && text.startsWith(before) && text.endsWith(after));
  return typeof note === 'string' ? note.slice(before.length, note.length - after.length).split(', ') : [];
}

function slotNotes(deployment: LiveObject | null): readonly string[] {
  const count = deployment === null ? 0 : replicasOf(deployment);
  return count > MOST_SLOTS
    ? [`of ${count} pods, ${MOST_SLOTS} have slots: who hashes on slots never asks the others`]
    : [];
}

/** Whoever paused it has a reason, so an apply leaves it as it is. */
function pausedNotes(deployment: LiveObject | null): readonly string[] {
  return deployment?.spec?.['paused'] === true
    ? ['the Deployment is paused (spec.paused), so no pod is replaced until somebody resumes it']
    : [];
}

/** A note for each kind of object whose writes are put off, because something sets it back. */
export function setBackNotes(deferred: readonly { readonly child: ChildKind }[]): readonly string[] {
  const kinds = [...new Set(deferred.map(({ child }) => child))];
  return kinds.map((kind) => `something sets the ${kind} back again and again, so it is written ever more rarely`);
}

function asleepNotes(kind: ChildKind, live: LiveObject | null): readonly string[] {
  const schedule = live === null ? null : asleepBy(live);
  return schedule === null
    ? []
    : [`the ${kind} is asleep by the schedule ${schedule}, which has its replicas until it wakes`];
}
