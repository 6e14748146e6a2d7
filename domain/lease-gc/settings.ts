import { timing } from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';

const timings = {
  leaseGcInterval: timing('lease-gc-interval', '12h', 'How often the Leases of deleted quotas are collected.', '1m'),
} as const satisfies Settings;

export const leaseGcSettings = defineSettings({}, { timings }, []);
