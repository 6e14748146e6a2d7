/** What each controller that the worker runs brings to the replay gate: `test/replay/<controller>/`. */
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { controllers as registry } from '../../worker/registry.ts';
import type { Coverage } from './coverage.ts';
import type { Stage } from './stages.ts';

export const controllers = Object.keys(registry) as ControllerName[];

export function workflowTypesOf(controller: ControllerName): readonly string[] {
  return registry[controller].workflowTypes;
}

/** By workflow type. @throws Error when the controller has none, with what is to be written. */
export async function coverageFor(controller: ControllerName): Promise<Readonly<Record<string, Coverage<never>>>> {
  const { coverage } = await brought<{ coverage: Readonly<Record<string, Coverage<never>>> }>(controller, 'coverage');
  return coverage;
}

/** What records its histories. @throws Error when the controller has none, with what is to be written. */
export async function stagesFor(controller: ControllerName): Promise<readonly Stage[]> {
  const { stages } = await brought<{ stages: readonly Stage[] }>(controller, 'scenarios');
  return stages;
}

async function brought<Module>(controller: ControllerName, file: string): Promise<Module> {
  try {
    return (await import(`./${controller}/${file}.ts`)) as Module;
  } catch (error) {
    throw new Error(`the controller ${controller} needs test/replay/${controller}/${file}.ts`, { cause: error });
  }
}
