/** LightsOutSchedules as arguments. */
import { lightsOutId } from '../../../domain/lights-out/target.ts';
import type { TargetForm } from '../controller.ts';

// The client of Kubernetes takes its time to load, which a command that does not need it does not wait for.
const schedules = async () => await import('./schedules.ts');

export const scheduleTarget: TargetForm = {
  argument: 'schedule',
  description: 'the LightsOutSchedule',
  // Whether there is one, and which was meant, is for the cluster to say.
  isTarget: (text) => text !== '' && !/[\s/]/.test(text),
  expected: 'the name of a schedule, such as dev-nights',
  workflowId: (cluster, schedule) => lightsOutId({ cluster, schedule }),
  whyNothingRuns: async (config, schedule) => await (await schedules()).whyNobodyAnswers(config, schedule),
  assertExists: async (config, schedule) => {
    const { chosen, readSchedules } = await schedules();
    chosen(await readSchedules(config), schedule, config.kubernetes.clusterName);
  },
};
