import { describe, expect, it } from 'vitest';
import { controllerNames, controllersToldOf, type ControllerName } from '../../../domain/kernel/controllers.ts';

/** The controllers of the resizer, and the one that is on. */
const controllers = Object.fromEntries(
  controllerNames.map((name) => [
    name,
    { isEnabled: () => ['quota-resize', 'lease-gc', 'github-budget', 'lights-out'].includes(name) },
  ]),
) as Readonly<Record<ControllerName, { readonly isEnabled: () => boolean }>>;
const toldBy = (...runs: readonly ControllerName[]) => controllersToldOf(controllers, { runs: new Set(runs) });

describe('the controllers whose workflows a process tells of', () => {
  it('are all, where one process runs all', () => {
    expect(toldBy(...controllerNames)).toBeNull();
  });

  it('are its own, and of the resizer those as well that nobody runs', () => {
    expect(toldBy('lights-out')).toEqual(['lights-out']);
    expect(toldBy('quota-resize', 'lease-gc', 'github-budget')).toEqual(
      controllerNames.filter((name) => name !== 'lights-out'),
    );
  });

  it('are told of once each, by those of the pairs that there are', () => {
    const runs = [['quota-resize', 'lease-gc', 'github-budget'], ['lights-out']] as const;
    expect(runs.flatMap((own) => toldBy(...own) ?? []).toSorted()).toEqual([...controllerNames].toSorted());
  });
});
