import { expect, it } from 'vitest';
import { loadConfig, settingEntries } from '../../../starter/config.ts';

it('knows each setting that asks for webhooks, and has worker and starter in one process refuse it', () => {
  const asking = settingEntries.filter(({ setting }) => /webhooks$|webhook-address$/.test(setting.flag ?? ''));
  expect(asking.map(({ path }) => path)).toEqual([
    'webhooks.enabled',
    'lightsOut.webhookAddress',
    'memcached.webhookAddress',
    'nodeGroups.webhookAddress',
  ]);
  for (const { setting } of asking) {
    const value = setting.isSwitch === true ? 'true' : '127.0.0.1:0';
    const env = { CLUSTER_NAME: 'kind', GITHUB_WEBHOOK_SECRET: 'secret', [setting.env]: value };
    expect(() => loadConfig({ env, argv: [], program: 'all-in-one' })).toThrow(
      `${setting.env}: is not for worker and starter`,
    );
    expect(() => loadConfig({ env, argv: [], program: 'starter' })).not.toThrow();
  }
  const off = { CLUSTER_NAME: 'kind', GITHUB_WEBHOOKS: 'false' };
  expect(() => loadConfig({ env: off, argv: [], program: 'all-in-one' })).not.toThrow();
});
