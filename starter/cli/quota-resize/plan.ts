/** `headroom plan`: the diff that a pull request would carry, worked out on a local checkout. */
import { chmodSync, mkdirSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { type Percent, parsePercent, percentRatio } from '../../../domain/kernel/percent.ts';
import {
  ceilTo,
  compareQuantities,
  isQuantity,
  multiplyByRatio,
  parseQuantity,
} from '../../../domain/kernel/quantity.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { isCountable, roundLimitUp } from '../../../domain/quota-resize/sizing/round.ts';
import { limitsInGit, obstacleOf } from '../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { FileEdit, QuotaLocation } from '../../../domain/quota-resize/git/locate/location/location.ts';
import type { Scan } from '../../../domain/quota-resize/git/locate/scan/scan.ts';
import { unifiedDiff } from '../../../domain/quota-resize/git/yaml/unified-diff.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import { answered, type Checkout } from './checkout.ts';
import type { CommandTools } from '../controller.ts';
import { type CheckoutSources, withCheckout, withSourceOptions } from './sources.ts';

interface PlanOptions {
  readonly repo: string;
  readonly cluster?: string;
  readonly template?: string;
  readonly namespace?: string;
  readonly quota?: string;
  readonly set?: ResourceList;
  readonly all?: boolean;
  readonly increment?: Percent;
  readonly write?: boolean;
}

export function addPlanCommand(program: Command, tools: CommandTools): void {
  const command = withSourceOptions(program.command('plan'))
    .description('the diff that a pull request would carry for a local checkout')
    .option('--namespace <name>', 'the namespace of the quota')
    .option('--quota <name>', 'the ResourceQuota')
    .option('--set <resource=quantity>', 'the new limit, such as requests.cpu=12; may be repeated', setArgument)
    .option('--all', 'every quota that can be placed')
    .option('--increment <percent>', 'by how much each limit is raised with --all, such as 20%', percentArgument)
    .option('--write', 'change the files, too');
  command.action(async (options: PlanOptions) => {
    const wrong = wrongCombination(options);
    if (wrong !== undefined) {
      command.error(`error: ${wrong}`, { exitCode: exitCodes.configuration });
    }
    await withCheckout(
      options,
      tools,
      (checkout, sources) => plan(tools, checkout, sources, options),
      options.namespace === undefined ? [] : [options.namespace],
    );
  });
}

function setArgument(text: string, before: ResourceList = {}): ResourceList {
  const match = /^([^=]+)=(.*)$/.exec(text);
  const [, resource = '', value = ''] = match ?? [];
  if (match === null || resource.trim() !== resource) {
    throw new InvalidArgumentError(`"${text}" is not <resource>=<quantity>, such as requests.cpu=12`);
  }
  if (!isQuantity(value) || parseQuantity(value).nano < 0n) {
    throw new InvalidArgumentError(`"${value}" is not a quantity: write 12, 500m or 4Gi`);
  }
  const amount = parseQuantity(value);
  if (isCountable(resource) && ceilTo(amount, parseQuantity('1')).nano !== amount.nano) {
    throw new InvalidArgumentError(`"${value}" is not a whole number, and ${resource} are counted in pieces`);
  }
  if (Object.hasOwn(before, resource)) {
    throw new InvalidArgumentError(`${resource} is set twice`);
  }
  return { ...before, [resource]: value };
}

function percentArgument(text: string): Percent {
  try {
    const percent = parsePercent(text);
    if (percentRatio(percent).numerator > 0n) {
      return percent;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) {
      throw error;
    }
    throw new InvalidArgumentError(error.message);
  }
  throw new InvalidArgumentError(`"${text}" raises nothing: write a percentage above 0`);
}

/** What is wrong with the options together; undefined when they say one thing. */
function wrongCombination({ all, increment, namespace, quota, set }: PlanOptions): string | undefined {
  if (all === true) {
    if (namespace !== undefined || quota !== undefined || set !== undefined) {
      return '--all is for every quota: leave out --namespace, --quota and --set';
    }
    return increment === undefined ? '--all needs --increment, such as --increment 20%' : undefined;
  }
  if (increment !== undefined) {
    return '--increment goes with --all; for one quota say the new limit with --set';
  }
  const missing = [
    ...(namespace === undefined ? ['--namespace'] : []),
    ...(quota === undefined ? ['--quota'] : []),
    ...(set === undefined ? ['--set'] : []),
  ];
  return missing.length === 0
    ? undefined
    : `${missing.join(', ')} missing: say which quota with --namespace N --quota Q --set requests.cpu=12, or all of them with --all --increment 20%`;
}

/** The changes of a plan, and what could not be planned. */
interface Intent {
  readonly edits: readonly FileEdit[];
  readonly problems: readonly string[];
}

async function plan(
  { output }: CommandTools,
  checkout: Checkout,
  sources: CheckoutSources,
  options: PlanOptions,
): Promise<void> {
  const { edits, problems } =
    options.increment === undefined
      ? await planOne(checkout, sources, options.namespace ?? '', options.quota ?? '', options.set ?? {})
      : await planAll(checkout, await sources.scan(), options.increment);
  // git apply resolves paths from the top of the work tree, wherever it is run.
  output.exact(unifiedDiff(edits.map((edit) => ({ ...edit, path: `${checkout.prefix}${edit.path}` }))));
  if (options.write === true) {
    writeAll(checkout.root, edits);
  }
  if (problems.length > 0) {
    output.fail(problems.join('\n'), exitCodes.failed);
  }
}

async function planOne(
  checkout: Checkout,
  sources: CheckoutSources,
  namespace: string,
  name: string,
  limits: ResourceList,
): Promise<Intent> {
  const resources = Object.keys(limits);
  const answer = await sources.locate({ namespace, name, resources });
  if (answer.kind === 'blocked') {
    return {
      edits: [],
      problems:
        answer.reason === 'FileNotFound'
          ? notFound(await sources.scan(), namespace, name)
          : [`${namespace}/${name}: ${answer.message}`],
    };
  }
  const { location } = answer;
  const inGit = limitsInGit(location, resources);
  const lowered = resources.flatMap((resource) => {
    const [current, wanted] = [inGit[resource], limits[resource] ?? ''];
    return current !== undefined && compareQuantities(parseQuantity(wanted), parseQuantity(current)) < 0
      ? [`${namespace}/${name}: ${resource}=${wanted} is below ${current}, which Git says: a limit is only ever raised`]
      : [];
  });
  if (lowered.length > 0) {
    return { edits: [], problems: lowered };
  }
  const result = await answered(checkout, { kind: 'edit', location, limits });
  return result.kind === 'edited' ? { edits: result.edits, problems: [] } : { edits: [], problems: [result.message] };
}

/** How many quotas are named that may have been meant. */
const MEANT_SHOWN = 5;

function notFound({ quotas, unlocated }: Scan, namespace: string, name: string): readonly string[] {
  const own = unlocated.filter((quota) => quota.name === name && quota.namespace === namespace);
  if (own.length > 0) {
    return own.map(({ path, line, message }) => `${namespace}/${name}: ${path}:${line}: ${message}`);
  }
  const all = [...quotas, ...unlocated].filter((quota) => quota.namespace !== null && quota.name !== null);
  const meant = [
    all.filter((quota) => quota.namespace === namespace),
    all.filter((quota) => quota.name === name),
    all,
  ].find((quotas) => quotas.length > 0);
  const there =
    meant === undefined
      ? 'there is no quota at all'
      : `there is ${listed(meant.map((quota) => `${quota.namespace ?? ''}/${quota.name ?? ''} in ${quota.path}`))}`;
  const perhaps = unlocated
    .filter((quota) => (quota.name ?? name) === name && (quota.namespace ?? namespace) === namespace)
    .map(({ path, line, message }) => `${path}:${line}: ${message}`);
  return [
    `${namespace}/${name} is not in this checkout: ${there}; headroom sources lists what is`,
    ...(perhaps.length === 0 ? [] : [`of these it is not known whose they are: ${listed(perhaps)}`]),
  ];
}

function listed(items: readonly string[]): string {
  const distinct = [...new Set(items)];
  const more = distinct.length - MEANT_SHOWN;
  return `${distinct.slice(0, MEANT_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

async function planAll(checkout: Checkout, scan: Scan, increment: Percent): Promise<Intent> {
  const problems = scan.unlocated.map(
    ({ namespace, name, path, line, message }) => `${path}:${line}: ${namespace ?? '?'}/${name ?? '?'}: ${message}`,
  );
  const raises = scan.quotas.flatMap((location) =>
    Object.entries(raised(location, increment)).flatMap(([resource, limit]) => {
      const rejection = obstacleOf(location, resource);
      problems.push(...(rejection === undefined ? [] : [rejection]));
      return rejection === undefined ? [{ location, resource, limit }] : [];
    }),
  );
  const together = await answered(checkout, { kind: 'raiseTogether', raises });
  return { edits: together.edits, problems: [...problems, ...together.problems] };
}

/** Each limit raised by the increment as the worker would; a limit of 0 is deliberate and stays. */
function raised({ values }: QuotaLocation, increment: Percent): ResourceList {
  const { numerator, denominator } = percentRatio(increment);
  return Object.fromEntries(
    Object.entries(values).flatMap(([resource, { text }]) => {
      const current = parseQuantity(text);
      const limit = roundLimitUp(resource, multiplyByRatio(current, denominator + numerator, denominator), text);
      return current.nano > 0n && compareQuantities(parseQuantity(limit), current) > 0 ? [[resource, limit]] : [];
    }),
  );
}

/** Each file is replaced atomically, so that a reader never sees half of one. */
function writeAll(root: string, edits: readonly FileEdit[]): void {
  const written: { readonly temporary: string; readonly file: string }[] = [];
  try {
    for (const { path, before, after } of edits) {
      const file = join(root, path);
      const temporary = `${file}.headroom-${process.pid}`;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(temporary, after, { flag: 'wx' });
      written.push({ temporary, file });
      if (before !== null) {
        chmodSync(temporary, statSync(file).mode);
      }
    }
  } catch (error) {
    for (const { temporary } of written) {
      unlinkSync(temporary);
    }
    throw error;
  }
  for (const { temporary, file } of written) {
    renameSync(temporary, file);
  }
}
