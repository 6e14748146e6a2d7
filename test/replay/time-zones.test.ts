import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { expect, it } from 'vitest';

/** Modules and words of the platform that know time zones. */
const KNOW_ZONES = ['croner', 'schedule/cron-runs', 'schedule/local-day', 'schedule/moment', 'Intl.', '.toLocale'];

it('workflows ask nobody for time zones, so a history that is older than their data replays as it was', async () => {
  const workflowsPath = new URL('../../workflows/index.ts', import.meta.url).pathname;
  const bundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) });
  // The source map at its end is no code.
  const [code = ''] = bundle.code.split('//# sourceMappingURL=');
  expect(code).toContain('domain/lights-out/decide');
  expect(KNOW_ZONES.filter((word) => code.includes(word))).toEqual([]);
});
