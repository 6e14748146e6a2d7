/** An explanation in words, for a terminal. */
import { sentence } from '../../../../domain/kernel/sentence.ts';
import { withRelativeTimes } from '../../../../domain/kernel/time.ts';
import { columns } from '../../columns.ts';
import type { Explanation, ResourceFacts } from './facts.ts';
import { fromText } from './layers.ts';

/** The whole explanation, ending in a line break. */
export function explanationText(explanation: Explanation): string {
  const { target, at, evidence, notes, guardrail, policy, next, afterwards, locations, otherQuotas, warnings } =
    explanation;
  const head = `${target.namespace}/${target.quota} in ${target.cluster} at ${at}\n`;
  const rest = [
    ...supposed(explanation),
    ...explanation.settings.notes,
    ...explanation.settings.differences,
    '',
    ...resourceTable(explanation.resources),
    ...section('What is used', counted(explanation)),
    ...section('Missing', evidence),
    ...section('Left out', notes),
    ...section(
      'Other quotas of the namespace that lack room for the same workloads',
      otherQuotas.map((name) => `${target.namespace}/${name}`),
    ),
    ...section('What runs now', running(explanation)),
    ...section('What happens next', [
      ...next.map(
        (step) => `${step.at === at ? 'now' : step.at}: ${step.phase} (${step.reason}). ${sentence(step.detail)}`,
      ),
      ...afterwards.map((step) => sentence(`then ${step}`)),
    ]),
    ...section('Where Headroom looks for it in Git', locations),
    ...section('What needs no person', guardrail),
    '',
    'Policy',
    ...columns(policy.map(({ setting, value, from }) => [`  ${setting}`, value, fromText(from)])),
    ...section('Warnings', warnings),
    '',
  ].join('\n');
  return head + withRelativeTimes(rest, Date.parse(at));
}

function supposed({ whatIf }: Explanation): readonly string[] {
  if (whatIf === null) return [];
  const parts = [
    ...whatIf.replicas.map(({ kind, name, from, to }) => `${kind} ${name} had ${to} replicas instead of ${from}`),
    ...Object.entries(whatIf.used).map(([resource, used]) => `${used} of ${resource} were used`),
  ];
  return [`As if ${parts.join(', and ')}.`];
}

function counted({ usage: { mode, from, notes } }: Explanation): readonly string[] {
  return mode === 'off'
    ? []
    : [
        `Headroom counted it from the objects of the namespace, because the mode is ${mode} (${fromText(from)}).`,
        ...notes,
      ];
}

function running({ episode, episodeUnknown }: Explanation): readonly string[] {
  if (episodeUnknown !== null) return [episodeUnknown];
  if (episode === null) return ['Nothing runs now. What follows is what would happen if an episode began now.'];
  return [`${episode.phase} (${episode.reason}) since ${episode.since}. ${sentence(episode.detail)}`];
}

function resourceTable(resources: readonly ResourceFacts[]): readonly string[] {
  if (resources.length === 0) return ['The quota has no limits.'];
  const hasBounds = resources.some(({ minimum, maximum, step }) => (minimum ?? maximum ?? step) !== null);
  const bounds = (cells: string): readonly string[] => (hasBounds ? [cells] : []);
  return columns([
    ['RESOURCE', 'USED', 'HARD', 'SHARE', 'THRESHOLD', 'INCREMENT', ...bounds('BOUNDS'), 'MISSING', 'PROPOSED', 'WHY'],
    ...resources.map((resource) => [
      resource.resource,
      resource.used ?? '?',
      resource.hard,
      resource.share === null ? '-' : `${resource.share} %`,
      `${resource.threshold.value} % (${resource.threshold.from.layer})`,
      `${resource.increment.value} % (${resource.increment.from.layer})`,
      ...bounds(boundsOf(resource)),
      resource.missing,
      resource.proposed ?? '-',
      resource.why,
    ]),
  ]);
}

function boundsOf({ minimum, maximum, step }: ResourceFacts): string {
  const parts = [
    minimum === null ? undefined : `min ${minimum.value} (${minimum.from.layer})`,
    maximum === null ? undefined : `max ${maximum.value} (${maximum.from.layer})`,
    step === null ? undefined : `step ${step.value} (${step.from.layer})`,
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? '-' : parts.join(', ');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}
