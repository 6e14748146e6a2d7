/** The cases of an existing resizer about the life of a pull request and its lock, through Headroom's state machine. */
import * as z from 'zod';
import { acquired, closed, merged, opened, synced } from '../../../domain/quota-resize/decide/apply-outcome.ts';
import { decide } from '../../../domain/quota-resize/decide/decide.ts';
import type { OpenDecision } from '../../../domain/quota-resize/model/decision.ts';
import { pullRequestTexts } from '../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import { decisionOf, requireState, type ResizeMemory } from '../../../domain/quota-resize/model/memory.ts';
import type { Verdict } from '../../../domain/quota-resize/model/verdict.ts';
import {
  decision,
  HOUR,
  lease,
  memory,
  NOW,
  observation,
  openDecision,
  policy,
  pullRequest,
  quota,
  ref,
  seenWith,
} from '../../domain/quota-resize/model/observations.ts';
import { type Adapter, adapter, LATER_STRATEGY, NotApplicable, NotCompared } from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';
import { widerTable } from './deviations.ts';

const list = z.record(z.string(), z.string());
const direction = z.enum(['grow', 'shrink']);

const needInput = z.strictObject({ hard: list, used: list, openPrFound: z.number(), createdPr: z.number().optional() });
const heldInput = z.strictObject({
  leasePr: z.number(),
  leaseDirection: direction.optional(),
  pr: z.strictObject({ open: z.boolean(), merged: z.boolean().optional() }),
});

/** The decision of an open pull request with this number. */
function openedAs(number: number): OpenDecision {
  return openDecision({ id: `pr-${number}`, pullRequest: ref({ number }) });
}

/** How often a need leads to a pull request, and which one the lock is for afterwards. */
function open({ hard, used, openPrFound, createdPr = 0 }: z.infer<typeof needInput>): object {
  const observed = observation({ quota: quota({ hard, used }) });
  if (openPrFound > 0) {
    // Headroom's own pull request of an earlier run is known by the decision that the Lease remembers.
    const found = openedAs(openPrFound);
    const locked = lease({ holder: `headroom/${found.id}`, decision: found });
    const seen = { observation: { ...observed, lease: locked }, pullRequest: pullRequest({ number: openPrFound }) };
    const [after, verdict] = decide(seen, memory(), NOW);
    return { createCalls: isOpening(verdict) ? 1 : 0, leasePr: decisionOf(after)?.pullRequest?.number ?? 0 };
  }
  // A need that has stood still for long enough.
  const [noted] = decide({ observation: observed, pullRequest: null }, memory(), NOW);
  const [, verdict] = decide({ observation: observed, pullRequest: null }, noted, NOW + HOUR);
  if (!isOpening(verdict)) return { createCalls: 0, leasePr: decisionOf(noted)?.pullRequest?.number ?? 0 };
  const proposed = decision({ id: 'proposed' });
  const after = opened(acquired(requireState(noted, 'Idle'), proposed), proposed, ref({ number: createdPr }));
  return { createCalls: 1, leasePr: decisionOf(after)?.pullRequest?.number ?? 0 };
}

function isOpening(verdict: Verdict): boolean {
  return verdict.kind === 'propose' || verdict.kind === 'open';
}

const ONLY_RAISES = 'Headroom only raises limits, so that a Lease has no direction';

/** What is kept of a pull request once it is seen closed. */
function close({ leasePr, leaseDirection, pr }: z.infer<typeof heldInput>): unknown {
  if (leaseDirection === 'shrink') throw new NotApplicable(LATER_STRATEGY);
  const merge = { sha: 'f00', at: NOW, by: 'alice', isOwn: false, limits: { 'requests.cpu': '12' } };
  const seen = pullRequest({
    number: leasePr,
    state: pr.open ? 'open' : 'closed',
    merge: pr.merged === true ? merge : null,
  });
  const held = openedAs(leasePr);
  const [decided, verdict] = decide(seenWith(held, seen), memory({ decision: held }), NOW);
  const after = ended(decided, verdict);
  return {
    leasePr: decisionOf(after)?.pullRequest?.number ?? 0,
    leaseDirection: new NotCompared(ONLY_RAISES),
    lastGrowSet: after.lastChange !== null,
    lastShrinkSet: new NotCompared(ONLY_RAISES),
  };
}

/** The memory once what a person did is noted, and the cluster shows what was merged. */
function ended(before: ResizeMemory, verdict: Verdict): ResizeMemory {
  if (verdict.kind === 'closedByPerson') return closed(requireState(before, 'Open'), verdict.rejection);
  if (verdict.kind !== 'mergedByPerson') return before;
  const { decision: mergedDecision } = verdict;
  return synced(merged(requireState(before, 'Open'), mergedDecision, mergedDecision.merge), NOW);
}

const contested = z.strictObject({ heldBy: z.string(), acquire: z.array(z.number()) });
const leaseInput = z.union([
  contested,
  z.partialRecord(z.enum(['acquire', 'then', 'firstUpdate']), z.union([z.number(), z.string()])),
]);
/** `acquire200: 'ok'`, or what becomes of one write. */
const leaseOutcome = z.union([
  z.record(z.string().regex(/^acquire[0-9]+$/), z.enum(['ok', 'error'])),
  z
    .strictObject({
      leaseKept: z.boolean(),
      holder: z.string().nullable(),
      name: z.string(),
      'updates>=': z.number(),
    })
    .partial(),
]);

/** Which of several decisions gets on while one holds the lock: a number stands for the decision of that pull request. */
function acquire(input: z.infer<typeof leaseInput>): unknown {
  const { data } = contested.safeParse(input);
  if (data === undefined)
    throw new NotApplicable('a write to the cluster, which the integration tests of the Leases do');
  const holder = data.heldBy.replace(/^pr-/, 'headroom/pr-');
  const outcomes = data.acquire.map((number) => {
    const wanted = decision({ id: `pr-${number}` });
    const observed = observation({ lease: lease({ holder }) });
    const [, verdict] = decide({ observation: observed, pullRequest: null }, memory({ decision: wanted }), NOW);
    return [`acquire${number}`, verdict.reason === 'LeaseHeld' ? 'error' : 'ok'];
  });
  return Object.fromEntries(outcomes);
}

const bodyInput = z.strictObject({ namespace: z.string(), quota: z.string(), limits: list });

/** The description of the pull request that raises these limits. */
function body({ namespace, quota: name, limits }: z.infer<typeof bodyInput>): string {
  const changes = Object.entries(limits).map(([resource, to]) => ({
    resource,
    from: '1',
    to,
    used: '1',
    demand: '0',
    reason: 'Usage is 1 of 1 CPU (100 %), and the threshold is 80 %.',
  }));
  return pullRequestTexts().body({
    target: { cluster: 'c', namespace, quota: name },
    decision: decision({ changes }),
    policy: policy(),
    repository: 'acme/gitops',
    base: 'main',
    paths: ['quota.yaml'],
    quotas: [{ quota: name, changes, how: 'in quota.yaml', inGit: {} }],
    leftOut: [],
    temporalUi: null,
  });
}

const parts = z.strictObject({ contains: z.array(z.string()), rows: z.array(z.array(z.string())).optional() });

/** Whether the text has every part, and for each row a line of a table with such cells in this order. */
function hasParts(expected: unknown, got: unknown): boolean {
  const { contains, rows = [] } = parts.parse(expected);
  const text = String(got);
  const lines = text.split('\n').map((line) => line.split('|').map((cell) => cell.replaceAll(/[`*\s]/g, '')));
  const hasRow = (row: readonly string[]): boolean =>
    lines.some((cells) => row.every((cell, index) => cells.indexOf(cell) > cells.indexOf(row[index - 1] ?? '')));
  return contains.every((part) => text.includes(part)) && rows.every(hasRow);
}

const ASKS_GITHUB = 'how often GitHub is asked is not for the state machine to say; the integration tests count it';

const opening = adapter(
  needInput,
  z.strictObject({ findCalls: z.number(), createCalls: z.number(), leasePr: z.number() }).partial(),
  (input) => ({ ...open(input), findCalls: new NotCompared(ASKS_GITHUB) }),
  sameExpectedKeys,
);
const closing = adapter(
  heldInput,
  z
    .strictObject({
      leasePr: z.number(),
      leaseDirection: z.string(),
      lastShrinkSet: z.boolean(),
      lastGrowSet: z.boolean(),
    })
    .partial(),
  close,
  sameExpectedKeys,
);

export const lifecycleKinds: Readonly<Record<string, Adapter>> = {
  'pr-lifecycle': (testCase) => {
    const { hard } = z.looseObject({ hard: z.unknown() }).safeParse(testCase.input).data ?? {};
    return hard === undefined ? closing(testCase) : opening(testCase);
  },
  lease: adapter(leaseInput, leaseOutcome, acquire, sameJson),
  'pr-body': adapter(bodyInput, z.strictObject({ contains: z.array(z.string()) }), body, hasParts, [widerTable]),
};
