import { expect, it } from 'vitest';
import { detailsText } from '../../../workflows/kernel/details.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 15);

it('the details say what goes on, until when, and when that was written', () => {
  const shown = {
    phase: 'CoolingDown',
    reason: 'Synced',
    detail: 'cooling down until 2026-11-20T11:13:00Z',
    since: NOW - 120_000,
    facts: ['merged 2026-11-20T10:10:00Z by ann', 'pull request [#7](https://example.com/7)'],
  };
  const subject = { controller: 'quota-resize', target: 'team-a/compute' };
  const awaited = { whom: 'the clock', until: 'the cooldown is over' };
  const first =
    '**CoolingDown** (Synced) since 2026-11-20T10:13:00Z: quota-resize of team-a/compute waits for the clock, until the cooldown is over.';
  expect(detailsText(subject, shown, awaited, NOW)).toBe(`${first}

Cooling down until 2026-11-20T11:13:00Z (in 58 min).

- merged 2026-11-20T10:10:00Z (5 min ago) by ann
- pull request [#7](https://example.com/7)

As of 2026-11-20T10:15:00Z.`);
  expect(detailsText(subject, { ...shown, facts: [] }, awaited, NOW)).toBe(`${first}

Cooling down until 2026-11-20T11:13:00Z (in 58 min).

As of 2026-11-20T10:15:00Z.`);
});

it('the first line says of what has ended that it is over', () => {
  const ended = { phase: 'Ended', reason: 'Collected', detail: 'kept 3', since: NOW, facts: [] };
  const [first] = detailsText({ controller: 'lease-gc', target: 'prod' }, ended, null, NOW).split('\n');
  expect(first).toBe('**Ended** (Collected) since 2026-11-20T10:15:00Z: lease-gc of prod is over.');
});
