import { describe, expect, it } from 'vitest';
import { eventually } from '../../kernel/stack/eventually.ts';
import {
  type Cluster,
  cronJobOf,
  MERGE_PATCH,
  MORNING,
  namespaceOf,
  NIGHT,
  observeInputOf,
  scaled,
} from './cluster.ts';

const YEAR = 366 * 86_400_000;

/** Runs that a CronJob missed while it was asleep, with Kubernetes' own controller. */
export function catchUpTests(cluster: () => Cluster): void {
  /** A CronJob that was due at the turn of the year, while it slept. */
  async function missed(ns: string, spec: object): Promise<object> {
    const { admin, at, create, schedule } = cluster();
    const report = cronJobOf(ns, 'report', { suspend: false });
    await create([namespaceOf(ns), report]);
    await schedule(ns, { namespaces: [ns], ...spec });
    await scaled(at(NIGHT), observeInputOf(ns));
    const lastScheduleTime = new Date(Date.now() - 2 * YEAR);
    await admin.batch.patchNamespacedCronJobStatus(
      { namespace: ns, name: 'report', body: { status: { lastScheduleTime } } },
      MERGE_PATCH,
    );
    return report;
  }

  async function jobs(ns: string): Promise<number> {
    return (await cluster().admin.batch.listNamespacedJob({ namespace: ns })).items.length;
  }

  describe('a CronJob that missed a run while asleep', () => {
    it('runs once when it is woken', async () => {
      const { at } = cluster();
      const ns = 'caught-up';
      await missed(ns, {});
      expect(await jobs(ns)).toBe(0);
      await scaled(at(MORNING), observeInputOf(ns));
      await eventually('the missed run comes', async () => (await jobs(ns)) === 1);
    });

    it('does not run where the schedule says so, and its spec is as it was', async () => {
      const { admin, at, change, read } = cluster();
      const ns = 'not-caught-up';
      const report = await missed(ns, { cronJobs: { catchUp: 'none' } });
      const before = (await read(report)).spec;
      const { outcomes } = await scaled(at(), {
        ...observeInputOf(ns),
        overrides: [{ kind: 'wake', namespace: null, since: 0, until: Date.now() + YEAR, by: 'jane', reason: '' }],
      });
      expect(outcomes).toEqual([]);
      expect((await read(report)).spec).toEqual({ ...before, suspend: false });
      // The controller has seen it awake: it answers a change that it looks at.
      const other = cronJobOf(ns, 'other', { suspend: false });
      await cluster().create([other]);
      await admin.batch.patchNamespacedCronJobStatus(
        {
          namespace: ns,
          name: 'other',
          body: { status: { lastScheduleTime: new Date(Date.now() - 2 * YEAR) } },
        },
        MERGE_PATCH,
      );
      await change(report, { metadata: { labels: { seen: 'yes' } } });
      await change(other, { metadata: { labels: { seen: 'yes' } } });
      await eventually('the controller has come by', async () => (await jobs(ns)) === 1);
      const { items } = await admin.batch.listNamespacedJob({ namespace: ns });
      expect(items.map(({ metadata }) => metadata?.ownerReferences?.[0]?.name)).toEqual(['other']);
    });
  });
}
