import { ApiException } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { createPauseGuard, type PauseOptions } from '../../../activities/kernel/pause.ts';
import { createPauseActivities } from '../../../activities/kernel/pause-activities.ts';
import { PauseView } from '../../../activities/kernel/pause-view.ts';
import { storePause } from '../../../domain/kernel/stored-pause.ts';

const alice = { by: 'alice', reason: '', at: 1 };
const scope = { kind: 'target', controller: 'quota-resize', name: 'team-a/compute' } as const;
const subject = { controller: 'quota-resize', namespace: 'team-a', name: 'team-a/compute' } as const;
const KEY = 'target_quota-resize_team-a_compute';

/** A worker over ConfigMaps of which its watch says nothing, with a clock that the test moves. */
function given({ isMissing = false }: { readonly isMissing?: boolean } = {}) {
  const world = { data: {} as Record<string, string>, now: 0 };
  const view = new PauseView(
    async () => ({ everything: null, pauses: { ...world.data } }),
    () => world.now,
  );
  view.watched(true);
  const core = {
    patchNamespacedConfigMap: async ({ body }: { body: { data: Record<string, string | null> } }) => {
      if (isMissing) throw new ApiException(404, 'not found', undefined, {});
      for (const [key, value] of Object.entries(body.data)) {
        if (value === null) delete world.data[key];
        else world.data[key] = value;
      }
    },
  };
  const options = { kubernetes: { core }, systemNamespace: 's', pauses: view } as unknown as PauseOptions;
  const guard = createPauseGuard(options);
  return { world, view, activities: createPauseActivities(options), guard: async () => await guard(subject, 'it') };
}

describe('a pause that a worker keeps', () => {
  it('holds for its own writes at once, although its watch has not told it', async () => {
    const { view, activities, guard } = given();
    await view.read();
    await activities.ensurePauseKept({ scope, pause: alice });
    await expect(guard()).rejects.toThrow('nothing is written for it: paused by alice');
  });

  it('cannot be kept without the ConfigMap, and need not be taken away there', async () => {
    const { activities } = given({ isMissing: true });
    await expect(activities.ensurePauseKept({ scope, pause: alice })).rejects.toThrow('not found');
    await activities.ensurePauseKept({ scope, pause: null });
  });
});

describe('a view that lags', () => {
  it('prevents no write after the pause has ended', async () => {
    const { world, view, guard } = given();
    world.data[KEY] = storePause(alice);
    await view.read();
    world.data = {};
    world.now = 2_000;
    await guard();
  });

  it('ends no wait for a resume', async () => {
    const { world, view, activities } = given();
    await view.read();
    world.data[KEY] = storePause(alice);
    world.now = 2_000;
    await expect(activities.awaitResume({ subject })).rejects.toThrow('paused by alice');
  });

  it('is not what a run reads when a pause was written or ended a moment ago', async () => {
    const { world, view, activities } = given();
    await view.read();
    world.data[KEY] = storePause(alice);
    expect(await activities.observePause({ subject })).toMatchObject({ scope: 'target', by: 'alice' });
    world.data = {};
    expect(await activities.observePause({ subject })).toBeNull();
  });
});
