import { promiseHooks } from 'node:v8';
import { cutoffStackTrace } from '@temporalio/common';
import { GlobalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';
import type { Activator } from '@temporalio/workflow/lib/internals.js';

type Frames = NonNullable<GlobalHandlers['currentStackTrace']>;

/** Where a promise was made, in the two forms that Temporal's queries answer with. */
interface PromiseStack {
  readonly formatted: string;
  readonly structured: Frames;
}

/** The object that sets the SDK's hooks, with what is private in it. */
interface Hooks extends Pick<GlobalHandlers, 'currentStackTrace' | 'promiseHookInstalled'> {
  setPromiseHook: (this: Hooks) => void;
  stopPromiseHook: () => void;
}

/** The global things of the context that a promise is from. */
interface Realm {
  readonly activator: () => Activator | undefined;
  readonly Error: ErrorConstructor;
}

/** A promise that `Promise.all`, `race`, `any` or `allSettled` makes of each of theirs: who waits for it waits for them. */
const OF_AN_AGGREGATE =
  /^\s+at Promise\.then \(<anonymous>\)\n\s+at (?:Function|Promise)\.(?:race|all|allSettled|any) \(<anonymous>\)\n/;

/** The lines of the hook itself, which is where the error is made. */
const OF_THE_HOOK = /^\s*at [^\n]+\n(?:\s*at initAll \(node:internal\/promise_hooks:\d+:\d+\)\n?)?/;

/**
 * Has the SDK keep of each promise of a workflow where it was made, and write that down only for who asks for it (Temporal's queries
 * `__stack_trace` and `__enhanced_stack_trace`). By itself it writes the text for each promise at once, with the positions in the
 * sources, which took a third of the time of the thread that runs workflows; there is no setting.
 *
 * To be called before the SDK sets its hooks, which it does with the first bundle of workflows.
 *
 * @throws Error where the SDK sets them otherwise.
 */
export function writePromiseStacksWhenAsked(): void {
  const hooks = GlobalHandlers.prototype as unknown as Partial<Hooks>;
  if (typeof hooks.setPromiseHook !== 'function') {
    throw new Error('@temporalio/worker sets its hooks in another way: see promise-stacks.ts');
  }
  hooks.setPromiseHook = setPromiseHook;
}

function setPromiseHook(this: Hooks): void {
  this.stopPromiseHook = promiseHooks.createHook({
    init: (promise, parent) => {
      const realm = realmOf(promise);
      const store = realm.activator()?.promiseStackStore;
      if (store === undefined || promise === parent) return;
      store.promiseToStack.set(promise, new LazyStack(new realm.Error(), this));
      store.childToParent.set(promise, new Set(parent === undefined ? [] : [parent]));
    },
    settled: (promise) => {
      const store = realmOf(promise).activator()?.promiseStackStore;
      store?.childToParent.delete(promise);
      store?.promiseToStack.delete(promise);
    },
  }) as () => void;
  this.promiseHookInstalled = true;
}

const realms = new WeakMap<object, Realm>();

/** By the function that makes functions there: each context has its own, and what it makes sees the context's global object. */
function realmOf(promise: object): Realm {
  const makeFunction = promise.constructor.constructor as FunctionConstructor;
  let realm = realms.get(makeFunction);
  if (realm === undefined) {
    realm = {
      activator: makeFunction('return globalThis.__TEMPORAL_ACTIVATOR__') as Realm['activator'],
      Error: makeFunction('return globalThis.Error')() as ErrorConstructor,
    };
    realms.set(makeFunction, realm);
  }
  return realm;
}

/** V8 notes where an error was made, and makes the text when it is read for the first time. */
class LazyStack implements PromiseStack {
  readonly #error: Error;
  readonly #hooks: Hooks;
  #written: PromiseStack | null = null;

  constructor(error: Error, hooks: Hooks) {
    this.#error = error;
    this.#hooks = hooks;
  }

  /** Empty for a promise that is not to be shown. */
  get formatted(): string {
    return this.#stack().formatted;
  }

  get structured(): Frames {
    return this.#stack().structured;
  }

  #stack(): PromiseStack {
    return (this.#written ??= written(this.#error, this.#hooks));
  }
}

function written(error: Error, hooks: Hooks): PromiseStack {
  // Set by the SDK's formatting of stacks, which reading the stack calls, to the same frames.
  hooks.currentStackTrace = undefined;
  const all = (error.stack ?? '').replace(/^Error\n/, '');
  const frames: Frames = hooks.currentStackTrace ?? [];
  const text = all.replace(OF_THE_HOOK, '');
  if (OF_AN_AGGREGATE.test(text)) return { formatted: '', structured: [] };
  const formatted = cutoffStackTrace(text);
  const lines = new Set(formatted.split('\n'));
  const shown = all.split('\n').flatMap((line, index) => (lines.has(line) ? (frames[index] ?? []) : []));
  return { formatted, structured: shown };
}
