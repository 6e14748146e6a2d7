/** Names of Kubernetes: what one may look like, and what to answer to one that does not exist. */
import { InvalidArgumentError } from 'commander';
import { closest } from '../../platform/config/closest.ts';

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const OBJECT = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** Kubernetes' limit for the name of an object. */
const MAX_OBJECT_NAME = 253;

export function isNamespaceName(text: string): boolean {
  return NAMESPACE.test(text);
}

export function isObjectName(text: string): boolean {
  return text.length <= MAX_OBJECT_NAME && OBJECT.test(text);
}

export function namespaceArgument(text: string): string {
  if (!isNamespaceName(text)) {
    throw new InvalidArgumentError(`"${text}" is not the name of a namespace, such as team-a`);
  }
  return text;
}

/** The command names what does not exist; the message says what does. */
export class UnknownName extends Error {}

/** At most so many names are listed. */
const NAMED = 5;

/** `: did you mean team-a?`, or what there is, as the end of a sentence. */
export function whatThereIs(written: string, existing: readonly string[], none: string): string {
  const meant = closest(written, existing);
  if (meant !== undefined) return `: did you mean ${meant}?`;
  if (existing.length === 0) return `: ${none}`;
  const more = existing.length - NAMED;
  return `: there is ${existing.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
