/** The simulation against the real kube-scheduler. 5,000 questions, of which `make test` asks 300. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type NodePlane, startNodePlane } from '../plane.ts';
import { AgreementRun } from './agreement.ts';
import { amount } from '../../kernel/long.ts';
import { seed } from '../../kernel/seed.ts';

const QUESTIONS = amount({ short: 300, long: 5_000 });
/** Milliseconds for a question: the scheduler takes ten, and several times as long where all cores are busy. */
const QUESTION_MS = 600;

let plane: NodePlane;
beforeAll(async () => {
  // Nodes and volumes are what the test makes them: nobody finds out that there is no kubelet, and no storage.
  const without = ['node-lifecycle', 'taint-eviction', 'ttl', 'persistentvolume-binder'];
  const controllers = ['*', ...without.map((name) => `-${name}-controller`)].join(',');
  plane = await startNodePlane({ controllerManagerFlags: [`--controllers=${controllers}`] });
});
afterAll(async () => {
  await plane?.stop();
});

it(`kube-scheduler and the simulation agree on ${QUESTIONS} random pods`, {
  timeout: 60_000 + QUESTIONS * QUESTION_MS,
}, async () => {
  const { bound, unanswered, misfits, differences } = await new AgreementRun(plane, seed).ask(QUESTIONS);
  console.log(
    `${QUESTIONS} questions, ${bound} bound, ${unanswered} without an answer, kept away by: ${JSON.stringify(misfits)}`,
  );
  expect(differences).toEqual([]);
  expect(bound).toBeGreaterThan(QUESTIONS / 10);
  expect(unanswered).toBeLessThan(QUESTIONS / 20);
  expect(Object.keys(misfits).length).toBeGreaterThan(8);
});
