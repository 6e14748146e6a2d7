/** The cases of machines, of what the provider answers, and of what the webhook takes. */
import * as z from 'zod';
import { readAnswer } from '../../../activities/node-group/provider/vpsie/answer.ts';
import { readMachine } from '../../../domain/node-group/api/machine.ts';
import { nodeGroupSpec } from '../../../domain/node-group/api/node-group-spec.ts';
import { reviewNodeGroup } from '../../../domain/node-group/api/review.ts';
import { readDrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { nextMachineStep } from '../../../domain/node-group/machine/next-step.ts';
import { machinePhases } from '../../../domain/node-group/model/node-group.ts';
import { overdueReason, PHASE_MINUTES } from '../../../domain/node-group/rules/overdue.ts';
import { isTerminalError } from '../../../domain/node-group/rules/terminal-error.ts';
import { NOW } from '../../domain/node-group/builders.ts';
import { type Adapter, adapter, NotApplicable, NotCompared, unsampled } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';
import { keysOf } from '../unknown-keys.ts';
import { failedGoAtOnce, oneNodeAtMost } from './deviations.ts';
import { flag, MINUTE_MS, sameAnswers } from './shapes.ts';

const phase = z.enum(machinePhases);

/** Far from any case: only the limits of phases are asked about. */
const NEVER_MS = 100_000 * MINUTE_MS;

function momentBefore(minutes: number | undefined): string | undefined {
  return minutes === undefined ? undefined : new Date(NOW - minutes * MINUTE_MS).toISOString();
}

const lifecycle = z.strictObject({
  phase,
  /** What the limit of the phase is said to be. */
  timeoutMinutes: z.number().optional(),
  createdAgeMinutes: z.number().optional(),
  provisionedAgeMinutes: z.number().optional(),
});

/** A machine of the VPSie autoscaler, which keeps no time of its phase. */
function afterTimeout(input: z.output<typeof lifecycle>): object {
  const { phase: before, timeoutMinutes, createdAgeMinutes, provisionedAgeMinutes } = input;
  if (timeoutMinutes !== undefined && timeoutMinutes !== PHASE_MINUTES[before]) {
    throw new NotApplicable(`the limit of the phase ${before} is not ${timeoutMinutes} minutes in Headroom`);
  }
  const machine = readMachine({
    metadata: { creationTimestamp: momentBefore(createdAgeMinutes) },
    status: { phase: before, provisionedAt: momentBefore(provisionedAgeMinutes) },
  });
  const reason = overdueReason(machine, NEVER_MS, NOW);
  const isOver = reason !== null;
  return { phase: isOver ? 'Failed' : before, lastError: reason, requeue: !isOver };
}

const lifecycleOutcome = z.strictObject({
  phase: z.string().optional(),
  lastErrorContains: z.string().optional(),
  requeue: z.boolean().optional(),
});

/** `lastErrorContains` is a part of the error. */
function sameOutcome(expected: unknown, got: unknown): boolean {
  const { lastErrorContains, ...rest } = expected as Readonly<Record<string, unknown>>;
  const { lastError } = got as { readonly lastError: string | null };
  return (
    sameAnswers(rest, got) && (typeof lastErrorContains !== 'string' || lastError?.includes(lastErrorContains) === true)
  );
}

const failed = z.strictObject({
  ttlMinutes: z.number(),
  failedAgeMinutes: z.number().optional(),
  createdAgeMinutes: z.number().optional(),
});

/** Headroom asks what is to be done about the machine, and is done with it at once. */
function afterFailure({ failedAgeMinutes, createdAgeMinutes = 0 }: z.output<typeof failed>): object {
  const machine = readDrivenMachine({
    metadata: { creationTimestamp: momentBefore(createdAgeMinutes) },
    status: { phase: 'Failed', phaseSince: momentBefore(failedAgeMinutes) },
  });
  const step = nextMachineStep(machine, null, { isDeleting: false, maxNodeProvisionMs: NEVER_MS, taints: [] }, NOW);
  return { deleted: step.kind === 'giveUp', requeueAfter: 0 };
}

const failedOutcome = z.strictObject({
  deleted: z.boolean().optional(),
  requeueAfter: z.union([z.number(), z.literal('>0')]).nullish(),
});

const deletion = z.strictObject({
  vpsID: z.number().optional(),
  /** Other names of the machine at the provider. */
  identifiers: z.unknown().optional(),
  /** The status of the provider's answer, or of each answer in turn. */
  delete: z.union([z.number(), z.array(z.number())]).optional(),
});

const deletionOutcome = z.strictObject({
  deletedAtSet: z.boolean().optional(),
  error: z.boolean().optional(),
  deleteCalls: z.number().optional(),
  phase: z.string().nullish(),
});

/** A deletion is asked for again until the provider has answered that the machine is gone. */
function deleted({ vpsID, identifiers, delete: answers = [] }: z.output<typeof deletion>): object {
  const isKnown = identifiers !== undefined || vpsID === undefined;
  const { providerId } = readMachine({
    spec: { vpsieInstanceID: vpsID, vpsieNodeIdentifier: isKnown ? 'identifier' : '' },
  });
  if (providerId === null) return { deleteCalls: 0, deletedAtSet: true, error: false };
  const kinds = [answers].flat().map((status) => readAnswer(status, null, status < 300 ? 'true' : '').kind);
  const isGone = kinds.some((kind) => kind === 'done' || kind === 'gone');
  const pace = new NotCompared('Temporal retries a deletion until it is done, at its own pace');
  return { deletedAtSet: isGone, error: !isGone, deleteCalls: pace, phase: pace };
}

/** What the definition asks for besides what a case is about. */
const COMPLETE = {
  minNodes: 1,
  maxNodes: 5,
  datacenterID: 'dc-1',
  resourceIdentifier: 'cluster-1',
  project: 'project-1',
  offeringIDs: ['small'],
  kubernetesVersion: 'v1.28.0',
  kubeSizeID: 5,
};

function isValid(spec: object, namespace = 'kube-system'): object {
  const { problems } = reviewNodeGroup({ metadata: { name: 'web', namespace }, spec: { ...COMPLETE, ...spec } });
  return { valid: problems.length === 0 };
}

/** A case gives the fields of a spec that it is about. */
const specKinds = [
  'validate-datacenter',
  'validate-offering-ids',
  'validate-kubernetes-version',
  'validate-os-image',
  'validate-labels',
  'validate-taints',
] as const;

export const nodeGroupMachineKinds: Readonly<Record<string, Adapter>> = {
  'terminal-error': adapter(
    z.strictObject({ message: z.string().default('') }),
    flag('terminal'),
    ({ message }) => ({ terminal: isTerminalError(message) }),
    sameExpectedKeys,
  ),
  'lifecycle-timeout': adapter(lifecycle, lifecycleOutcome, afterTimeout, sameOutcome),
  'failed-ttl': adapter(failed, failedOutcome, afterFailure, sameAnswers, [failedGoAtOnce]),
  'vm-delete': adapter(deletion, deletionOutcome, deleted, sameAnswers),
  'validate-node-count': adapter(
    z.strictObject({ minNodes: z.number(), maxNodes: z.number() }),
    flag('valid'),
    (bounds) => isValid(bounds),
    sameExpectedKeys,
    [oneNodeAtMost],
  ),
  'validate-namespace': unsampled(
    adapter(
      z.strictObject({ namespace: z.string().default('') }),
      flag('valid'),
      ({ namespace }) => isValid({}, namespace),
      sameExpectedKeys,
    ),
  ),
  ...Object.fromEntries(
    specKinds.map((kind) => [
      kind,
      unsampled(adapter(keysOf(nodeGroupSpec), flag('valid'), (spec) => isValid(spec), sameExpectedKeys)),
    ]),
  ),
};
