/** A process that runs budgets and nothing else, for tests that kill it: the product's own second worker. */
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { createGitHubBudgetWorker } from '../../worker/github-budget/worker.ts';
import { testedWorkflows } from '../kernel/stack/programs.ts';

const [address = '', namespace = ''] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: ['SIGTERM'] });
const worker = await createGitHubBudgetWorker({
  connection: await NativeConnection.connect({ address }),
  namespace,
  identity: `headroom-worker@test/${process.pid}`,
  workflowBundle: await testedWorkflows(),
  shutdownForceTime: 2_000,
});
process.stdout.write('running\n');
await worker.run();
process.exit();
