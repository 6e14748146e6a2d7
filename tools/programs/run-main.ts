import { PROGRAM_NAMES } from './program-names.ts';
import { runProgram } from './run-program.ts';

/** `node tools/programs/run-main.ts NAME [arguments…]` runs one of the programs of this checkout, as it ships. */
const [name, ...args] = process.argv.slice(2);
const program = PROGRAM_NAMES.find((candidate) => candidate === name);
if (program === undefined) {
  console.error(`expected the name of a program: ${PROGRAM_NAMES.join(', ')}`);
  process.exit(2);
}
await runProgram(program, args);
