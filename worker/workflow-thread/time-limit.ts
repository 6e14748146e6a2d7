import { Script } from 'node:vm';
import { ReusableVMWorkflow, ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import type { Activator } from '@temporalio/workflow/lib/internals.js';

type Creators = ReusableVMWorkflowCreator;
type Workflows = ReusableVMWorkflow;

/** What makes workflows, with the method that is replaced. */
interface Creator {
  createWorkflow: (
    this: Creator,
    ...given: Parameters<Creators['createWorkflow']>
  ) => ReturnType<Creators['createWorkflow']>;
}

/** A workflow, with the methods that are replaced and what is private in it. */
interface Activated {
  readonly runId: string;
  readonly activator: Activator;
  activate: (this: Activated, ...given: Parameters<Workflows['activate']>) => ReturnType<Workflows['activate']>;
  dispose: (this: Activated) => Promise<void>;
}

/**
 * Has the SDK limit the time of each activation of a workflow once. By itself it limits each of the six calls of an activation
 * into the workflow's context, and for each limit Node starts a thread with a loop of its own and waits for its end: 90 µs of
 * CPU, and longer on a busy machine.
 *
 * To be called before workflows are made. One that goes on for longer fails its task, as by itself.
 *
 * @throws TypeError with the first bundle of workflows, where the SDK limits the time otherwise.
 */
export function limitEachActivationOnce(): void {
  const creators = ReusableVMWorkflowCreator;
  const create = creators.create.bind(creators);
  const made = creators.prototype as unknown as Creator;
  const workflows = ReusableVMWorkflow.prototype as unknown as Activated;
  const { createWorkflow } = made;
  const { activate, dispose } = workflows;
  let limit = Number.NaN;

  creators.create = (async (bundle, milliseconds, ...others) => {
    if (!Number.isSafeInteger(milliseconds)) {
      throw new TypeError(`@temporalio/worker limits the time of workflows by ${milliseconds}: see time-limit.ts`);
    }
    limit = milliseconds;
    // Without one, Node starts no thread.
    return await create(bundle, undefined as unknown as number, ...others);
  }) as typeof creators.create;
  made.createWorkflow = async function (options) {
    return await within(limit, async () => await createWorkflow.call(this, options));
  };
  workflows.activate = async function (activation) {
    try {
      return await within(limit, async () => await activate.call(this, activation));
    } catch (error) {
      return { runId: this.runId, failed: { failure: this.activator.errorToFailure(error) } };
    }
  };
  workflows.dispose = async function () {
    await within(limit, async () => {
      await dispose.call(this);
    });
  };
}

/** What is run within a limit at the moment, where the script finds it. */
const current: { run: () => unknown } = { run: () => undefined };
const CURRENT = Symbol.for('headroom.within');
Object.defineProperty(globalThis, CURRENT, { value: current });
const script = new Script("globalThis[Symbol.for('headroom.within')].run()");

/**
 * Calls `run`, and ends what it calls after `milliseconds`, in every context. Of an asynchronous function this is the part
 * until it waits for the first time, which is all in which the SDK calls into a workflow's context.
 *
 * @throws Error with the code `ERR_SCRIPT_EXECUTION_TIMEOUT` then.
 */
function within<Result>(milliseconds: number, run: () => Result): Result {
  current.run = run;
  return script.runInThisContext({ timeout: milliseconds }) as Result;
}
