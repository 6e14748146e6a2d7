import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { WorkQueue } from '../../../starter/kernel/work-queue.ts';
import {
  scheduleRequest,
  type QueuedScheduleRequest,
  workloadsRequest,
} from '../../../starter/lights-out/reconcile-request.ts';
import { VirtualClock } from '../kernel/virtual-clock.ts';

const target = { cluster: 'test', schedule: 'night' } as const;

/** A queue as the starter has it, in a time of its own, and what it sent: `<second> <about> <cause>`. */
function startQueue() {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const sent: string[] = [];
  const queue = new WorkQueue<QueuedScheduleRequest>({
    send: async ({ about, cause }) => void sent.push(`${Math.round(clock.now() / 1000)} ${about} ${cause}`),
    perSecond: 1_000,
    gapMs: 1_000,
    log: pino({ level: 'silent' }),
    signal: stop.signal,
    clock,
  });
  const running = queue.run();
  onTestFinished(async () => {
    stop.abort();
    await clock.pass(0);
    await running;
  });
  return { queue, clock, sent };
}

it('what GitOps scales up every second is one request in ten seconds, in a dry run one a minute', async () => {
  for (const [isDryRun, times] of [
    [false, ['0', '10', '20', '30', '40', '50', '60']],
    [true, ['0', '60']],
  ] as const) {
    const { queue, clock, sent } = startQueue();
    for (let second = 0; second <= 60; second += 1) {
      queue.add(workloadsRequest(target, { cause: 'Deployment team-a/web: DownAgain', resourceVersion: '', isDryRun }));
      await clock.pass(1_000);
    }
    expect(sent.map((text) => text.split(' ')[0])).toEqual(times);
  }
});

it('a change of the schedule is a request at once, and does not replace one about its workloads', async () => {
  const { queue, clock, sent } = startQueue();
  queue.add(workloadsRequest(target, { cause: 'a', resourceVersion: '1', isDryRun: false }));
  await clock.pass(100);
  queue.add(workloadsRequest(target, { cause: 'b', resourceVersion: '2', isDryRun: false }));
  queue.add(scheduleRequest(target, 'c', '3'));
  await clock.pass(20_000);
  expect(sent).toEqual(['0 workloads a', '0 schedule c', '10 workloads b']);
});
