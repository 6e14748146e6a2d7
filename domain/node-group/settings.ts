import { defineSettings } from '../kernel/settings/setting.ts';

/** None yet: no process runs node groups. */
export const nodeGroupSettings = defineSettings({}, {}, []);
