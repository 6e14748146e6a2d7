/**
 * The command line as one file that stands alone. In a thread it reads content of repositories, for which `content-thread.ts` starts this
 * very file where no other is beside it.
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) void import('../../starter/cli.ts');
else void import('../../activities/quota-resize/source/content/content-thread-main.ts');
