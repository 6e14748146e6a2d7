import { ThreadedVMWorkflowCreator } from '@temporalio/worker/lib/workflow/threaded-vm.js';

type Creator = Awaited<ReturnType<typeof ThreadedVMWorkflowCreator.create>>;

/**
 * Has all Temporal workers of this process that run workflows share one thread for them. The SDK gives each of them a thread,
 * with the whole bundle and 40 MB of memory, which one that has a workflow task in a minute does not need.
 *
 * To be called before the first worker is made. All of them must have the same bundle and no activities of their own.
 */
export function shareWorkflowThread(): void {
  const create = ThreadedVMWorkflowCreator.create.bind(ThreadedVMWorkflowCreator);
  let shared: { readonly creator: Promise<Creator>; users: number } | null = null;
  ThreadedVMWorkflowCreator.create = async (options) => {
    const mine = (shared ??= { creator: create({ ...options, threadPoolSize: 1 }), users: 0 });
    mine.users += 1;
    const leave = async (): Promise<void> => {
      mine.users -= 1;
      if (mine.users > 0) return;
      if (shared === mine) shared = null;
      await (await mine.creator).destroy();
    };
    try {
      const creator = await mine.creator;
      return Object.assign(Object.create(creator) as Creator, { destroy: leave });
    } catch (error) {
      mine.users -= 1;
      if (shared === mine) shared = null;
      throw error;
    }
  };
}
