import { availableParallelism } from 'node:os';
import type { Environment } from './go-build.ts';

const MEBIBYTE = 1024 * 1024;
/**
 * The most that a compiler may take before it collects garbage. kube-apiserver, from nothing on two cores: 312 s as Go is by
 * itself, 276 s with GOGC=400, 247 s without a collector below 3 GiB.
 */
const MOST = 3072 * MEBIBYTE;
/** Below this the largest packages would be collected all the time, which is slower than Go's own way. */
const LEAST = 2048 * MEBIBYTE;

/**
 * Go's variables that keep its garbage collector out of the way while it compiles: a compiler lives for seconds, and its garbage
 * goes with it. Go runs one compiler a core, and all of them at their limit, with `go` itself, fit the memory that is free.
 *
 * @returns nothing where there is too little memory, or where somebody has set these variables.
 */
export function compilerMemory(
  environment: Environment,
  availableBytes = process.availableMemory(),
  cores = availableParallelism(),
): Environment {
  if (environment['GOGC'] !== undefined || environment['GOMEMLIMIT'] !== undefined) return {};
  const share = availableBytes / (cores + 1);
  if (share < LEAST) return {};
  return { GOGC: 'off', GOMEMLIMIT: `${Math.floor(Math.min(share, MOST) / MEBIBYTE)}MiB` };
}
