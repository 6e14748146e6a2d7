import { createHash } from 'node:crypto';
import { isoSeconds, type Signature } from './git/objects.ts';

/** A stable id for a login (or any name): the same in every run. */
export function idOf(name: string): number {
  return createHash('sha1').update(name).digest().readUIntBE(0, 4) + 1;
}

/** The name and address that GitHub gives the commits of a login that hides its address. */
export function signatureOf(login: string): Signature {
  return { name: login, email: `${idOf(login)}+${login}@users.noreply.github.com`, date: isoSeconds(new Date()) };
}

/** Who commits what is done on the web: merges and updates of branches. */
export function webSignature(at = new Date()): Signature {
  return { name: 'GitHub', email: 'noreply@github.com', date: isoSeconds(at) };
}
