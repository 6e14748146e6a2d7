/** What scenarios are played on, and how they are described to the recorder. */
import { realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { Replacements } from './histories.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The episode of a scenario, by its workflow id and its first run; what that continued as new is recorded as well. */
export interface Recorded {
  readonly workflowId: string;
  readonly runId: string;
}

/** Drives one episode to where there is nothing more to see. Its own name is the name of what it creates. */
export type Scenario<Servers> = (servers: Servers, name: string) => Promise<Recorded>;

/** Servers as the recorder needs them. */
export interface Started<Servers> {
  readonly servers: Servers;
  readonly client: Client;
  /** What is this run's own in a recording. */
  readonly replacements: Replacements;
  stop(): Promise<void>;
}

/** Starts servers; controllers that play on the same platform share them. */
export type Platform<Servers> = () => Promise<Started<Servers>>;

/** Scenarios on one platform, as the recorder sees them. */
export interface Stage {
  readonly platform: Platform<unknown>;
  /** Those that do not notice each other. */
  readonly together: Readonly<Record<string, Scenario<unknown>>>;
  /** Those that change something for everybody, one after the other, after all others. */
  readonly alone: Readonly<Record<string, Scenario<unknown>>>;
}

/** Scenarios of a controller on a platform, checked against its servers. */
export function stage<Servers>(
  platform: Platform<Servers>,
  {
    together = {},
    alone = {},
  }: {
    readonly together?: Readonly<Record<string, Scenario<Servers>>>;
    readonly alone?: Readonly<Record<string, Scenario<Servers>>>;
  },
): Stage {
  return { platform, together, alone } as Stage;
}

/** What is this machine's own in every recording. */
export const OF_EVERY_RUN: Replacements = [
  [`file://${ROOT}`, 'file:///headroom/'],
  [ROOT, '/headroom/'],
  // A link in a second working tree.
  [`${realpathSync(join(ROOT, 'node_modules'))}/`, '/headroom/node_modules/'],
  [/\b\d+@[\w.-]+/g, 'operator@example'],
  [/(headroom-(?:worker|starter)@[\w.-]+)\/\d+/g, '$1/1'],
  [hostname(), 'host.example'],
];
