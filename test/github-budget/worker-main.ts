/** A process that runs budgets and nothing else, for tests that kill it: the product's own second worker. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createGitHubBudgetWorker } from '../../worker/github-budget/worker.ts';
import { testedWorkflows } from '../kernel/stack/programs.ts';

const [address = '', namespace = ''] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: ['SIGTERM'] });
const connection = await NativeConnection.connect({ address });
const identity = `headroom-worker@test/${process.pid}`;
const worker = await createGitHubBudgetWorker({
  createWorker: async (options) => await Worker.create({ ...options, connection, namespace, identity }),
  workflowBundle: await testedWorkflows(),
  shutdownForceTime: 2_000,
});
process.stdout.write('running\n');
await worker.run();
process.exit();
