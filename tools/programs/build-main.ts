import { buildPrograms } from './build-programs.ts';

/** `npm run build -- FOLDER` builds the programs into a folder, as an image has them. */
const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  console.error('expected one argument, the folder to write the programs to: npm run build -- dist');
  process.exit(2);
}
await buildPrograms(folder);
