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
  expect(detailsText(shown, NOW)).toBe(`**CoolingDown** (Synced) since 2026-11-20T10:13:00Z

Cooling down until 2026-11-20T11:13:00Z (in 58 min).

- merged 2026-11-20T10:10:00Z (5 min ago) by ann
- pull request [#7](https://example.com/7)

As of 2026-11-20T10:15:00Z.`);
  expect(detailsText({ ...shown, facts: [] }, NOW)).toBe(`**CoolingDown** (Synced) since 2026-11-20T10:13:00Z

Cooling down until 2026-11-20T11:13:00Z (in 58 min).

As of 2026-11-20T10:15:00Z.`);
});
