import type { Monitoring } from '../kernel/monitoring/monitoring.ts';

/** Its workflow ends within minutes, and what it could not do is in its result. */
export const leaseGcMonitoring: Monitoring = {
  title: 'Leases',
  metrics: {},
  waitingPhases: [],
  panels: [],
  alerts: [],
};
