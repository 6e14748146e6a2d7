/** Warnings about annotations, for people who read them once. */
import { compareQuantities, parseQuantity } from '../../kernel/quantity.ts';
import { withoutUrlSecrets } from '../pull-request/shown-url.ts';
import { ANNOTATION_PREFIX } from './annotations.ts';
import { type PolicyLayer, type PolicyWarning, type ResizePolicy, settingFor } from './policy.ts';
import type { WrongValue } from './values.ts';

/** An Event holds 1024 characters, but an annotation may hold 256 KiB. */
const SHOWN_CHARACTERS = 80;

/** Warnings about minimums above their maximum, which `minimumFor` ignores. */
export function contradictoryBounds(policy: ResizePolicy): readonly PolicyWarning[] {
  const resources = [...new Set([...Object.keys(policy.minimums), ...Object.keys(policy.maximums)])].toSorted();
  const seen = new Set<string>();
  return resources.flatMap((resource) => {
    const min = settingFor(policy, 'min', resource);
    const max = settingFor(policy, 'max', resource);
    const least = policy.minimums[resourceOf(min.name)];
    const most = policy.maximums[resourceOf(max.name)];
    if (least === undefined || most === undefined || min.source === 'default' || min.source === 'guardrail') return [];
    if (compareQuantities(parseQuantity(least), parseQuantity(most)) <= 0) return [];
    const key = annotationKey(min.name);
    const pair = `${key} ${max.name}`;
    if (seen.has(pair)) return [];
    seen.add(pair);
    const above =
      max.source === 'guardrail'
        ? `the maximum of guardrail ${policy.guardrail.name} ("${most}")`
        : `${annotationKey(max.name)} ("${most}" on the ${max.source})`;
    const wanted = `at most "${most}"`;
    const message = `${key}: "${least}" on the ${min.source} is above ${above} and ignored for ${resource}; write ${wanted}`;
    return [{ key, value: least, layer: min.source, wanted, message }];
  });
}

/** `requests.cpu` of `requests.cpu-min`. */
function resourceOf(name: string): string {
  return name.slice(0, name.lastIndexOf('-'));
}

/** The annotation of a setting; a slash in a resource's name becomes an underscore. */
function annotationKey(name: string): string {
  return `${ANNOTATION_PREFIX}${name.replace('/', '_')}`;
}

/** A value as quoted in a warning: a URL that was pasted in may contain a password. */
function shown(value: string): string {
  const safe = withoutUrlSecrets(value);
  return safe.length > SHOWN_CHARACTERS ? `${safe.slice(0, SHOWN_CHARACTERS)}…` : safe;
}

export function wrongValue(key: string, text: string, layer: PolicyLayer, error: WrongValue): PolicyWarning {
  const value = shown(text);
  // The reason may quote the value.
  const reason = error.reason === undefined || withoutUrlSecrets(text) === text ? '' : ` (${error.reason})`;
  const wanted = error.message.replace(reason, '');
  const message = `${key}: ${JSON.stringify(value)} on the ${layer} is not understood and ignored; write ${wanted}`;
  return { key, value, layer, wanted, message };
}

/** More annotations than are read. */
export function tooMany(count: number, most: number, layer: PolicyLayer): PolicyWarning {
  const wanted = `at most ${most}`;
  const message = `${ANNOTATION_PREFIX}: the ${layer} has ${count} annotations, and ${most} of them are read; write ${wanted}`;
  return { key: ANNOTATION_PREFIX, value: String(count), layer, wanted, message };
}

export function unknownKey(key: string, text: string, layer: PolicyLayer, closest: string | undefined): PolicyWarning {
  const wanted = closest === undefined ? 'one of the documented annotations' : `${ANNOTATION_PREFIX}${closest}`;
  const advice = closest === undefined ? 'no such annotation is known' : `did you mean ${wanted}?`;
  const message = `${shown(key)} on the ${layer} is unknown and ignored; ${advice}`;
  return { key, value: shown(text), layer, wanted, message };
}

/** A valid value that allows more than the platform does: `key: "500" on the quota is above the 200 of …`. */
export function looserValue(
  { name, value, layer }: { readonly name: string; readonly value: string; readonly layer: PolicyLayer },
  relation: string,
  /** `set`: by whom, as in "guardrail prod sets". */
  bound: { readonly value: string; readonly set: string; readonly wanted: string },
): PolicyWarning {
  const key = annotationKey(name);
  const written = shown(value);
  const message = `${key}: ${JSON.stringify(written)} on the ${layer} is ${relation} ${bound.value}, which ${bound.set} and which holds; write ${bound.wanted}`;
  return { key, value: written, layer, wanted: bound.wanted, message };
}
