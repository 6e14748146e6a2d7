/** When pods that are left over need not wait until nothing has changed for a moment. */
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../domain/node-group/model/node-group.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { LeftOver } from '../../../../domain/node-group/plan/left-over.ts';
import { podKind } from '../../../../domain/node-group/plan/pod-kind.ts';
import { boundTo, machineOf, nodeOf, NOW, podOf } from '../builders.ts';

const SECOND = 1_000;
const READY = NOW + 40 * SECOND;
const small = podOf('small', { cpu: '1' });
const CAME_FOR = [podKind(small)];

/** A pod like `small`, about which kube-scheduler has written at that moment. */
function refused(name: string, writtenAt: number | null, over: Partial<Pod> = {}): Pod {
  const unscheduled = { reason: 'Unschedulable', message: '', since: NOW, writtenAt };
  return { ...small, name, uid: name, unscheduled, ...over };
}

class Told {
  readonly leftOver = new LeftOver();

  /** A machine that came for pods like `small` unless it is said otherwise, and whether it is ready. */
  machine(name: string, isReady: boolean, over: Partial<Machine> = {}): void {
    const phase = isReady ? 'Ready' : 'Provisioning';
    this.leftOver.machine(name, machineOf(name, 'pool', { phase, cameFor: CAME_FOR, ...over }));
    const { phase: is } = { phase, ...over };
    if (is === 'Ready') this.leftOver.node(name, { ...nodeOf(name), ready: { status: 'True', since: READY } });
  }

  pods(...pods: readonly Pod[]): void {
    for (const pod of pods) this.leftOver.pod(pod.name, pod);
  }
}

/** Two pods waited, and a node has come for both. */
function arrived(): Told {
  const told = new Told();
  told.pods(refused('a', NOW), refused('b', NOW));
  told.machine('m', false);
  told.machine('m', true);
  return told;
}

describe('pods are left over', () => {
  it('when kube-scheduler has refused the last of them again, and once', () => {
    const told = arrived();
    expect(told.leftOver.take()).toBe(false);
    told.pods(boundTo('m', refused('a', null)));
    expect(told.leftOver.take()).toBe(false);
    told.pods(refused('b', READY));
    expect([told.leftOver.take(), told.leftOver.take()]).toEqual([true, false]);
    told.pods(refused('b', READY + SECOND));
    expect(told.leftOver.take()).toBe(false);
  });

  it('when the last of the others has got its place, or is gone', () => {
    for (const last of [boundTo('m', refused('a', null)), null]) {
      const told = arrived();
      told.pods(refused('b', READY));
      expect(told.leftOver.take()).toBe(false);
      told.leftOver.pod('a', last);
      expect(told.leftOver.take()).toBe(true);
    }
  });

  it('whatever waits besides that no machine came for', () => {
    const told = new Told();
    told.pods(refused('a', NOW), { ...podOf('huge', { cpu: '100' }), name: 'huge' });
    told.machine('m', false);
    told.machine('m', true);
    told.pods(refused('a', READY));
    expect(told.leftOver.take()).toBe(true);
  });

  it('again when the nodes are there that came for them then', () => {
    const told = arrived();
    told.pods(boundTo('m', refused('a', null)), refused('b', READY));
    told.leftOver.take();
    told.machine('n', false);
    told.leftOver.node('n', { ...nodeOf('n'), ready: { status: 'True', since: READY + 10 * SECOND } });
    told.leftOver.machine('n', machineOf('n', 'pool', { phase: 'Ready', cameFor: CAME_FOR }));
    expect(told.leftOver.take()).toBe(false);
    told.pods(refused('b', READY + 10 * SECOND));
    expect(told.leftOver.take()).toBe(true);
  });

  it('also beside a node whose clock is ahead, and which has long been Ready', () => {
    const told = new Told();
    const far = (since: number) => ({ ...nodeOf('far'), ready: { status: 'True', since } }) as const;
    told.leftOver.node('far', far(NOW));
    told.pods(refused('a', NOW));
    told.machine('m', false);
    told.machine('m', true);
    // Its kubelet has written the condition again, as every five minutes.
    told.leftOver.node('far', far(READY + 60 * SECOND));
    told.pods(refused('a', READY));
    expect(told.leftOver.take()).toBe(true);
  });
});

describe('pods are not left over', () => {
  it('while another machine is on its way, and when it fails they are', () => {
    const told = new Told();
    told.pods(refused('a', NOW));
    told.machine('m', false);
    told.machine('late', false);
    told.machine('m', true);
    told.pods(refused('a', READY));
    expect(told.leftOver.take()).toBe(false);
    told.machine('late', false, { phase: 'Failed' });
    expect(told.leftOver.take()).toBe(true);
  });

  it('while one is younger than the last node: it may be the first one of another burst', () => {
    const told = arrived();
    told.pods(boundTo('m', refused('a', null)), refused('b', READY), refused('c', READY, { createdAt: READY }));
    expect(told.leftOver.take()).toBe(false);
  });

  it('while nobody knows when kube-scheduler has written', () => {
    const told = arrived();
    told.pods(refused('a', null), refused('b', READY));
    expect(told.leftOver.take()).toBe(false);
  });

  it('where no machine has come, and where the first list of a starter has nodes that were ready before', () => {
    const told = new Told();
    told.machine('m', true);
    told.pods(refused('a', READY));
    expect(told.leftOver.take()).toBe(false);
  });
});
