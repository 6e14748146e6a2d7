/**
 * Starts a program as it ships with other values of constants: `node with-constants.mjs FILE [arguments…]`. JavaScript, because what
 * Node needs to read TypeScript would count as the program's memory.
 */
import { pathToFileURL } from 'node:url';

const [, , file, ...args] = process.argv;
process.argv = [process.execPath, file, ...args];
const { start } = await import(pathToFileURL(file).href);
start(JSON.parse(process.env.HEADROOM_TEST_CONSTANTS));
