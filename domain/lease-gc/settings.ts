import { constant, timing } from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';

const timings = {
  leaseGcInterval: constant(
    timing('lease-gc-interval', '12h', 'How often the Leases of deleted quotas are collected.', '1m'),
    'A Lease of a deleted quota harms nobody.',
  ),
} as const satisfies Settings;

export const leaseGcSettings = defineSettings({}, { timings }, []);
