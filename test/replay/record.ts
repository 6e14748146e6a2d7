/**
 * `npm run replay:record [-- NAME…]`: plays scenarios on real servers and writes the histories that the replay test replays;
 * all of them, or those of the controllers and scenarios that are named: `lights-out`, `quota-resize/need-grew`, `need-grew`.
 */
import type { Client } from '@temporalio/client';
import { controllers, stagesFor } from './controllers.ts';
import { forgetUnreleased, type Replacements, UNRELEASED, writeHistory } from './histories.ts';
import type { Platform, Recorded, Scenario, Started } from './stages.ts';
import { logErrorsOnly } from './workflows-only.ts';

/** One scenario with everything that its recording needs. */
interface Part {
  readonly controller: string;
  readonly name: string;
  readonly scenario: Scenario<unknown>;
  readonly platform: Platform<unknown>;
  readonly isAlone: boolean;
}

logErrorsOnly();
const asked = process.argv.slice(2);
const parts = await allParts();
const chosen = asked.length === 0 ? parts : parts.filter((part) => asked.some((name) => isCalled(part, name)));
const unknown = asked.filter((name) => !parts.some((part) => isCalled(part, name)));
if (unknown.length > 0) {
  console.error(`replay:record: no controller and no scenario is called ${unknown.join(', ')}; there are:`);
  for (const { controller, name } of parts) console.error(`  ${controller}/${name}`);
  process.exit(2);
}
const failures: unknown[] = [];
for (const [platform, ofPlatform] of Map.groupBy(chosen, (part) => part.platform)) {
  failures.push(...(await playAll(platform, ofPlatform)));
}
// What has no scenario any more is of no use; what could not be played stays as it was.
if (asked.length === 0 && failures.length === 0) {
  await forgetUnreleased(
    ({ controller, name }) => !parts.some((part) => part.controller === controller && part.name === name),
  );
}
console.log(`recorded ${chosen.length - failures.length} of ${chosen.length} scenarios as ${UNRELEASED}`);
for (const failure of failures) console.error(failure);
process.exit(failures.length === 0 ? 0 : 1);

async function allParts(): Promise<Part[]> {
  const found: Part[] = [];
  for (const controller of controllers) {
    for (const { platform, together, alone } of await stagesFor(controller)) {
      const add = (scenarios: Readonly<Record<string, Scenario<unknown>>>, isAlone: boolean): void => {
        for (const [name, scenario] of Object.entries(scenarios)) {
          found.push({ controller, name, scenario, platform, isAlone });
        }
      };
      add(together, false);
      add(alone, true);
    }
  }
  return found;
}

function isCalled({ controller, name }: Part, called: string): boolean {
  return called === controller || called === name || called === `${controller}/${name}`;
}

/** Plays on servers of their own. Returns why what could not be recorded was not. */
async function playAll(platform: Platform<unknown>, ofPlatform: readonly Part[]): Promise<unknown[]> {
  const begun = performance.now();
  const started = await platform();
  console.log(`${platform.name} after ${secondsSince(begun)}`);
  try {
    const together = ofPlatform.filter(({ isAlone }) => !isAlone).map(async (part) => await play(started, part));
    const failed = (await Promise.allSettled(together)).flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    for (const part of ofPlatform.filter(({ isAlone }) => isAlone)) {
      await play(started, part).catch((error: unknown) => failed.push(error));
    }
    return failed;
  } finally {
    await started.stop();
  }
}

async function play(
  { servers, client, replacements }: Started<unknown>,
  { controller, name, scenario }: Part,
): Promise<void> {
  const begun = performance.now();
  try {
    // Names of namespaces are shared by all controllers on a platform.
    const episode = await scenario(servers, `${controller}-${name}`);
    await forgetUnreleased((history) => history.controller === controller && history.name === name);
    await record(client, { controller, name }, episode, replacements);
    console.log(`${controller}/${name} after ${secondsSince(begun)}`);
  } catch (error) {
    throw new Error(`${controller}/${name}, after ${secondsSince(begun)}`, { cause: error });
  }
}

function secondsSince(begun: number): string {
  return `${((performance.now() - begun) / 1000).toFixed(1)} s`;
}

/** Writes the history of an episode, and of every run that it continued as: `name`, `name-2`, `name-3`. */
async function record(
  client: Client,
  { controller, name }: Pick<Part, 'controller' | 'name'>,
  { workflowId, runId }: Recorded,
  replacements: Replacements,
): Promise<void> {
  let next: string | undefined = runId;
  for (let run = 1; next !== undefined; run += 1) {
    const history = await client.workflow.getHandle(workflowId, next).fetchHistory();
    await writeHistory({ controller, name: run === 1 ? name : `${name}-${run}` }, history, replacements);
    next = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
}
