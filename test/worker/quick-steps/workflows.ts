/** Workflows of the test beside this file. */
import { controllerActivities, quickly } from '../../../workflows/kernel/activities.ts';

export interface Asked {
  ask(): Promise<string>;
}

const patiently = controllerActivities<Asked>('quota-resize', { startToCloseTimeout: '10 seconds' });

/** Asks within its workflow task. */
export async function asksQuickly(): Promise<string> {
  return await quickly<Asked, 'ask'>(patiently).ask.executeWithOptions({ summary: 'ask' }, []);
}
