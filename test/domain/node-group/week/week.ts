/** Days of one random cluster: teams and hostile tenants come and go, things go wrong, and all of it is watched. */
import { randomOf } from '../plan/simulated-cluster.ts';
import { clusterOf } from './clusters.ts';
import { Ledger } from './ledger.ts';
import { budgetFor, honest, hostile, HOSTILE_COUNT, hostileBudgets } from './tenants.ts';
import { Trouble } from './trouble.ts';
import { MINUTE, WeekCluster } from './week-cluster.ts';
import type { Workload } from './workloads.ts';

const MOST_TEAMS = 9;
const MOST_HOSTILE = 9;

/** @param days how long, and `seed` what happens; `stepped` is called after each step. */
export function daysOf(seed: number, days: number, stepped: () => void = () => {}): Ledger {
  const random = randomOf(seed);
  const ledger = new Ledger();
  const cluster = new WeekCluster({ ...clusterOf(seed), random }, ledger);
  const trouble = new Trouble(cluster, random);
  cluster.budgets.push(...hostileBudgets);
  for (const end = cluster.at + days * 1_440 * MINUTE; cluster.at < end; ) {
    comeAndGo(cluster, random);
    trouble.strike();
    cluster.step();
    ledger.look(cluster, trouble.isBlind);
    stepped();
  }
  return ledger;
}

/** Now and then a team deploys something, changes its size, or ends it, and hostile tenants take turns. */
function comeAndGo(cluster: WeekCluster, random: () => number): void {
  const { workloads } = cluster;
  const all = [...workloads.values()];
  const teams = all.filter(({ isHonest }) => isHonest);
  const others = all.filter(({ isHonest }) => !isHonest);
  const one = (of: readonly Workload[]): Workload | undefined => of[Math.floor(random() * of.length)];
  const begin = (workload: Workload): unknown => workloads.set(workload.name, workload);
  if (teams.length < MOST_TEAMS && random() < 1 / 15) {
    const workload = honest(`app-${cluster.at / MINUTE}`, random);
    begin(workload);
    if (random() < 0.5) cluster.budgets.push(budgetFor(workload));
  } else if (random() < 1 / 90) {
    const gone = one(teams);
    workloads.delete(gone?.name ?? '');
    cluster.budgets = cluster.budgets.filter(({ name }) => name !== gone?.name);
  } else if (random() < 1 / 60) {
    const scaled = one(teams);
    if (scaled !== undefined) scaled.replicas = 1 + Math.floor(random() * 5);
  }
  if (others.length < MOST_HOSTILE && random() < 1 / 10) begin(hostile(Math.floor(random() * HOSTILE_COUNT), random));
  else if (random() < 1 / 120) workloads.delete(one(others)?.name ?? '');
}
