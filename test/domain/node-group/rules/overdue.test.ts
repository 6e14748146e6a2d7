import { expect, it } from 'vitest';
import { overdueReason } from '../../../../domain/node-group/rules/overdue.ts';

const MINUTE = 60_000;

it.each([
  ['Provisioning', 10],
  ['Joining', 15],
] as const)('a machine may be %s for %d minutes', (phase, minutes) => {
  const machine = { phase, phaseSince: MINUTE, createdAt: 0 };
  const end = (minutes + 1) * MINUTE;
  expect(overdueReason(machine, 60 * MINUTE, end - 1)).toBeNull();
  expect(overdueReason(machine, 60 * MINUTE, end)).toBe(
    `it was ${phase} for longer than the timeout of ${minutes} minutes`,
  );
});

it.each(['Pending', 'Provisioning', 'Provisioned', 'Joining'] as const)(
  'a %s machine has the time that its group gives in all, however new the phase',
  (phase) => {
    const machine = { phase, phaseSince: 5 * MINUTE, createdAt: 0 };
    expect(overdueReason(machine, 5 * MINUTE, 5 * MINUTE - 1)).toBeNull();
    expect(overdueReason(machine, 5 * MINUTE, 5 * MINUTE)).toBe(
      'it was not a ready node within its timeout of 5 minutes',
    );
  },
);

it.each(['Ready', 'Terminating', 'Deleting', 'Failed'] as const)('a %s machine is not coming', (phase) => {
  expect(overdueReason({ phase, phaseSince: 0, createdAt: 0 }, MINUTE, 90 * MINUTE)).toBeNull();
});
