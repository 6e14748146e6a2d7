import { MockActivityEnvironment } from '@temporalio/testing';
import { Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scalingMetrics } from '../../../activities/lights-out/metrics.ts';
import { sdkBuckets } from '../../../domain/kernel/monitoring/metric.ts';
import { lightsOutMetrics } from '../../../domain/lights-out/metrics.ts';
import { createLog } from '../../../platform/log/log.ts';
import { forgetRuntime, installRuntime } from '../../platform/process/sdk-runtime.ts';

let address: string;

beforeAll(async () => {
  address = await installRuntime(createLog({ name: 'sdk', level: 'error' }), sdkBuckets(lightsOutMetrics));
});
afterAll(async () => {
  await forgetRuntime();
});

/** One sample of the endpoint as `name{labels}` with its value; Temporal's own labels are left out. */
async function samples(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://${address}/metrics`)).text();
  const found = [...text.matchAll(/^(lightsout_\w+)\{(.*)\} (.+)$/gm)].map(([, name, labels = '', value]) => {
    const own = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([label]) => label).filter((label) => OWN.test(label));
    return [`${name}{${own.toSorted().join(',')}}`, Number(value)] as const;
  });
  return new Map(found);
}
const OWN = /^(?:schedule|namespace|workload_type|operation|direction|result|le)=/;

describe('the metrics on the endpoint of the worker', () => {
  it('have the names and labels that dashboards of the first implementation know', async () => {
    const activity = new MockActivityEnvironment({}, { metricMeter: Runtime.instance().metricMeter });
    await activity.run(async () => {
      const metrics = scalingMetrics('office');
      metrics.operation({ kind: 'Deployment', namespace: 'team-a' }, 'Down');
      metrics.operation({ kind: 'Deployment', namespace: 'team-a' }, 'Down');
      metrics.operation({ kind: 'CronJob', namespace: 'team-b' }, 'Up');
      metrics.error({ kind: 'StatefulSet', namespace: 'team-a' });
      metrics.processed('Down', 'success');
      metrics.processed('Up', 'skipped');
      await Promise.resolve();
    });
    const found = await samples();
    const counted = (name: string): number | undefined => found.get(name);
    const operations = 'lightsout_scaling_operations_total';
    expect(
      counted(`${operations}{namespace="team-a",operation="downscale",schedule="office",workload_type="Deployment"}`),
    ).toBe(2);
    expect(
      counted(`${operations}{namespace="team-b",operation="upscale",schedule="office",workload_type="CronJob"}`),
    ).toBe(1);
    expect(
      counted('lightsout_scaling_errors_total{namespace="team-a",schedule="office",workload_type="StatefulSet"}'),
    ).toBe(1);
    const processed = [...found].filter(([name]) => name.startsWith('lightsout_scaling_workloads_processed_total'));
    expect(processed.map(([name, value]) => [name.match(/direction="\w+"|result="\w+"/g), value])).toEqual([
      [['direction="downscale"', 'result="success"'], 1],
      [['direction="upscale"', 'result="skipped"'], 1],
    ]);
  });

  it('has the buckets of a transition, under the name that a workflow records it by', async () => {
    Runtime.instance().metricMeter.createHistogram('lightsout_scaling_duration', 'float', 'seconds').record(42);
    const found = [...(await samples()).keys()].filter((name) =>
      name.startsWith('lightsout_scaling_duration_seconds_bucket'),
    );
    const bounds = found.map((name) => /le="([^"]+)"/.exec(name)?.[1]);
    expect(bounds).toEqual(['1', '5', '10', '30', '60', '120', '300', '600', '+Inf']);
  });

  it('are not asked for outside of an activity', () => {
    expect(() => {
      scalingMetrics('office').processed('Up', 'failed');
    }).not.toThrow();
  });
});
