import type { Monitoring } from '../../domain/kernel/monitoring/monitoring.ts';
import { sharedMonitoring } from '../../domain/kernel/monitoring/shared-monitoring.ts';
import { controllerMonitoring } from '../../domain/registry.ts';

/** What one dashboard, one group of rules and one section of docs/metrics.md are made from. */
export interface Section {
  /** Of the controller; the frame of all has the name `overview`. */
  readonly name: string;
  readonly monitoring: Monitoring;
}

/** The first panels of the frame say what waits for people. They begin the overview; then come the controllers, then the processes. */
const PEOPLE_FIRST = 4;

/** The frame, with whatever of the controllers is in the overview, and each controller that measures anything. */
export const sections: readonly Section[] = [
  { name: 'overview', monitoring: overview() },
  ...Object.entries(controllerMonitoring)
    .filter(([, { metrics }]) => Object.keys(metrics).length > 0)
    .map(([name, monitoring]) => ({ name, monitoring })),
];

function overview(): Monitoring {
  const ofControllers = Object.values(controllerMonitoring).flatMap(({ panels }) =>
    panels.filter(({ isInOverview }) => isInOverview === true),
  );
  const ofFrame = sharedMonitoring.panels;
  const first = ofFrame.slice(0, PEOPLE_FIRST);
  return { ...sharedMonitoring, panels: [...first, ...ofControllers, ...ofFrame.slice(PEOPLE_FIRST)] };
}
