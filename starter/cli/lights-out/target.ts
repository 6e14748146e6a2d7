/** LightsOutSchedules as arguments. */
import { lightsOutId } from '../../../domain/lights-out/target.ts';
import type { TargetForm } from '../controller.ts';

// The Kubernetes client takes long to load, so commands that do not need it do not load it.
const schedules = async () => await import('./schedules.ts');

export const scheduleTarget: TargetForm = {
  argument: 'schedule',
  description: 'the LightsOutSchedule',
  // Whether the name exists is checked in the cluster.
  isTarget: (text) => text !== '' && !/[\s/]/.test(text),
  expected: 'the name of a schedule, such as dev-nights',
  workflowId: (cluster, schedule) => lightsOutId({ cluster, schedule }),
  whyNothingRuns: async (loaded, schedule) => await (await schedules()).whyNobodyAnswers(loaded, schedule),
  assertExists: async (loaded, schedule) => {
    const { chosen, readSchedules } = await schedules();
    chosen(await readSchedules(loaded), schedule, loaded.config.kubernetes.clusterName);
  },
};
