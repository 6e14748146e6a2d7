/** What an administrator of Temporal types for what Headroom may not do, or must not do by itself. */
import type { TemporalTarget, WorkerDeployment } from './temporal-target.ts';

type Place = Pick<TemporalTarget, 'address' | 'namespace' | 'connection'>;

/** Endpoints of namespaces and of regions in Temporal Cloud. */
const CLOUD = /\.(?:tmprl\.cloud|api\.temporal\.io)(?::\d+)?$/;

/** Creates search attributes that are Keywords. Temporal Cloud has another command line for it. */
export function searchAttributesCommand(place: Place, names: readonly string[]): string {
  if (CLOUD.test(place.address)) {
    const attributes = names.map((name) => `--search-attribute ${name}=Keyword`);
    return ['tcld namespace search-attributes add --namespace', place.namespace, ...attributes].join(' ');
  }
  const attributes = names.map((name) => `--name ${name} --type Keyword`);
  return ['temporal operator search-attribute create', ...flagsOf(place), ...attributes].join(' ');
}

/** Makes a version the one that workflows run on. */
export function currentVersionCommand(place: Place, { name, buildId }: WorkerDeployment): string {
  const version = ['--deployment-name', name, '--build-id', buildId];
  return ['temporal worker deployment set-current-version', ...flagsOf(place), ...version, '--yes'].join(' ');
}

function flagsOf({ address, namespace, connection }: Place): readonly string[] {
  const { apiKey, tls = apiKey !== undefined } = connection.reveal();
  const isTls = tls !== false && tls !== null;
  return ['--address', address, '--namespace', namespace, ...(isTls ? ['--tls'] : [])];
}
