import { buildPrograms } from './build-programs.ts';

/** `npm run build -- FOLDER` builds the programs into a folder, as an image has them. Without one it is `dist`. */
const [folder = 'dist', ...rest] = process.argv.slice(2);
if (rest.length > 0) {
  console.error('expected at most one argument, the folder to write the programs to: npm run build -- dist');
  process.exit(2);
}
await buildPrograms(folder);
