import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { controllerNames } from '../../../domain/kernel/controllers.ts';
import { BUILT_IN_GUARDRAIL } from '../../../domain/quota-resize/policy/guardrail.ts';
import { policyDefaults } from '../../../domain/quota-resize/settings.ts';
import { loadConfig, settingEntries } from '../../../starter/config.ts';
import { temporaryConfig } from './temporary-config.ts';

const TOKEN = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';
const base = { CLUSTER_NAME: 'kind' };
const propose = { ...base, HEADROOM_MODE: 'propose', GITHUB_OWNER: 'acme', GITHUB_REPO: 'gitops', GITHUB_TOKEN: TOKEN };

const { folder, file, load, refusal } = temporaryConfig();

describe('layers', () => {
  it('has the documented default for everything but the name of the cluster', () => {
    const config = load(base);
    expect(policyDefaults(config)).toEqual({
      mode: 'observe',
      dryRun: false,
      threshold: '80',
      increment: '20',
      cooldown: 3_600_000,
      autoMerge: false,
      maxStep: '2',
      burst: 'settle',
      steps: {},
      approval: 'none',
      approvalReminder: 86_400_000,
      approvalTimeout: null,
      freezeUntil: null,
      mergeWindows: [],
      rejectionCooldown: 86_400_000,
      guardrails: [BUILT_IN_GUARDRAIL],
    });
    expect(config.kubernetes).toMatchObject({ clusterName: 'kind', systemNamespace: 'namespace-resizer-system' });
    expect(config.gitPathTemplate.text).toBe('managed-resources/{{ .Cluster }}/{{ .Namespace }}');
    expect(config.temporal).toMatchObject({ address: 'localhost:7233', namespace: 'default' });
    expect(config.github).toBeUndefined();
    expect(config.process.logLevel).toBe('info');
    expect(config.timings).toEqual({
      demandSettle: 2_000,
      githubWriteSpacing: 1_000,
      checksPollMin: 15_000,
      checksPollMax: 300_000,
      checksPollRamp: 600_000,
      settle: 60_000,
      updateInterval: 600_000,
      needGone: 600_000,
      holdRetry: 300_000,
      fileWait: 86_400_000,
      syncPoll: 15_000,
      syncOverdue: 1_200_000,
      rejectionCooldown: 86_400_000,
      recommendationRepeat: 86_400_000,
      leaseGcInterval: 43_200_000,
      requestTimeout: 30_000,
    });
  });

  it('a flag outranks the environment, the environment the file, and the file the default', () => {
    const config = file('headroom.yaml', 'resize: { threshold: 60, increment: 30%, cooldownMinutes: 5 }\n');
    const env = { ...base, HEADROOM_CONFIG: config, THRESHOLD: '70%', INCREMENT: '40' };
    expect(load(env, '--threshold', '90%').resize).toMatchObject({
      threshold: '90',
      increment: '40',
      cooldownMinutes: 5,
      maxStep: '2',
    });
  });

  it('the file named by the flag outranks the file named by the environment', () => {
    const env = { ...base, HEADROOM_CONFIG: file('a.yaml', 'process: { logLevel: debug }\n') };
    expect(load(env, `--config=${file('b.yaml', 'process: { logLevel: warn }\n')}`).process.logLevel).toBe('warn');
  });

  it('an empty environment variable counts as absent', () => {
    expect(load({ ...base, THRESHOLD: '', HEADROOM_MODE: '' }).resize).toMatchObject({
      threshold: '80',
      mode: 'observe',
    });
  });

  it('an empty file, an empty group and a key without a value change nothing', () => {
    const empty = file('empty.yaml', '# nothing\n');
    const keys = file('keys.yaml', 'resize:\nprocess:\n  logLevel:\n');
    expect(load(base, '--config', empty)).toMatchObject({ resize: { threshold: '80' } });
    expect(load(base, '--config', keys)).toMatchObject({ process: { logLevel: 'info' } });
  });

  it('a switch alone means true, and takes a value behind an equals sign', () => {
    expect(load(base, '--enable-auto-merge').resize.autoMerge).toBe(true);
    expect(load({ ...base, ENABLE_AUTO_MERGE: 'TRUE' }).resize.autoMerge).toBe(true);
    expect(load({ ...base, ENABLE_AUTO_MERGE: '1' }, '--enable-auto-merge=false').resize.autoMerge).toBe(false);
  });

  it('in a pod the probes and the metrics can be reached from outside it, elsewhere only from this machine', () => {
    const pod = load({ ...base, KUBERNETES_SERVICE_HOST: '10.0.0.1' }).process;
    expect(pod.healthAddress).toEqual({ host: '0.0.0.0', port: 8081 });
    expect(pod.metricsAddress).toEqual({ host: '0.0.0.0', port: 9090 });
    expect(load(base).process.healthAddress).toEqual({ host: '127.0.0.1', port: 0 });
    expect(load(base, '--health-address', '[::1]:80').process.healthAddress).toEqual({ host: '::1', port: 80 });
  });
});

describe('the values', () => {
  it('know where they were written, and never what was written there', () => {
    const config = file('headroom.yaml', 'resize:\n  burst: fill\n  threshold: 60\n');
    const secret = 'a-very-secret-value';
    const { origins } = load(
      { ...base, HEADROOM_CONFIG: config, THRESHOLD: '70', TEMPORAL_API_KEY: secret },
      '--increment=30',
    );
    expect(origins.get('resize.burst')).toEqual({ where: 'resize.burst', layer: `${config} line 2` });
    expect(origins.get('resize.threshold')).toEqual({ where: 'THRESHOLD', layer: 'environment' });
    expect(origins.get('resize.increment')).toEqual({ where: '--increment', layer: 'command line' });
    expect(origins.has('resize.mode')).toBe(false);
    expect(JSON.stringify([...origins])).not.toContain(secret);
  });
});

describe('durations', () => {
  it.each([
    ['0', 0],
    ['500ms', 500],
    ['15s', 15_000],
    ['1.5h', 5_400_000],
    ['1h30m', 5_400_000],
    ['24h', 86_400_000],
  ])('%s is %d ms', (written, ms) => {
    expect(load(base, '--settle', written).timings.settle).toBe(ms);
  });

  it.each(['15', 's', '-1s', '1w', '1h 30m', 'soon', '577h'])(
    '%s is rejected with the form of a duration',
    (written) => {
      expect(refusal(base, `--settle=${written}`)).toContain(
        `--settle (command line): "${written}" is not valid: expected a duration such as "500ms", "15s", "10m" or "1h30m"`,
      );
    },
  );
});

describe('a bad value', () => {
  it.each<[string, string, string]>([
    ['CLUSTER_NAME', 'a/b', 'letters, digits, "-", "." and "_"'],
    ['SYSTEM_NAMESPACE', 'Kube_System', 'lower-case letters'],
    ['TEMPORAL_ADDRESS', 'http://temporal:7233', 'host:port without a scheme'],
    ['TEMPORAL_TLS', 'yes', 'true or false'],
    ['GITHUB_API_URL', 'api.github.com', 'an http or https address, such as https://api.github.com'],
    ['GITHUB_OWNER', 'acme/gitops', 'such as acme'],
    ['GITHUB_REPO', 'acme/gitops', 'without its owner'],
    ['GIT_PATH_TEMPLATE', 'clusters/{{ .Clutser }}', '{{ .Cluster }} and {{ .Namespace }}'],
    ['HEADROOM_MODE', 'on', '"observe" or "propose"'],
    ['DRY_RUN', 'maybe', 'true or false'],
    ['ENABLE_AUTO_MERGE', 'ja', 'true, false or github'],
    ['THRESHOLD', '120', 'a percentage above 0 and up to 100, such as 80 or 80%'],
    ['INCREMENT', '0%', 'a percentage above 0 and up to 1000'],
    ['COOLDOWN_MINUTES', '-5', 'a number of minutes'],
    ['MAX_STEP', '0.5', 'a factor from 1 to 1000'],
    ['LOG_LEVEL', 'loud', 'trace, debug, info, warn or error'],
    ['HEALTH_ADDRESS', '8081', 'host:port, such as 127.0.0.1:8081'],
    ['METRICS_ADDRESS', '127.0.0.1:65536', 'host:port, such as 127.0.0.1:8081'],
    ['HEADROOM_MAX_CACHED_WORKFLOWS', 'many', 'a number from 0 to 100000'],
    ['HEADROOM_SYNC_OVERDUE', '5ms', 'from 10ms to 576h'],
  ])('of %s is rejected with its name, the value and what would be right', (name, value, right) => {
    const message = refusal({ ...base, [name]: value });
    expect(message).toContain(`- ${name} (environment): "${value}" is not valid: expected `);
    expect(message).toContain(right);
    expect(message).toContain('has one problem');
  });

  it('in the file is named by its path and its line', () => {
    const path = file('headroom.yaml', 'kubernetes:\n  clusterName: kind\nresize:\n  threshold: lots\n');
    expect(refusal({}, '--config', path)).toContain(
      `resize.threshold (${path} line 4): "lots" is not valid: expected a percentage`,
    );
  });

  it('is reported together with all others', () => {
    const path = file('headroom.yaml', 'resize:\n  mode: 3\n');
    const message = refusal({ THRESHOLD: 'x', HEADROOM_CONFIG: path }, '--max-step', '0', '--log-levle', 'debug');
    expect(message).toContain('5 problems');
    for (const name of ['CLUSTER_NAME', 'THRESHOLD', 'resize.mode', '--max-step', '--log-levle']) {
      expect(message).toContain(name);
    }
  });

  it('a missing cluster name is rejected with all its names', () => {
    expect(refusal({})).toContain('CLUSTER_NAME, --cluster-name, kubernetes.clusterName in the file: is required');
  });
});

describe('a constant', () => {
  it('that somebody sets is refused with its value, in every layer', () => {
    const path = file(
      'headroom.yaml',
      'timings:\n  holdRetry: 1m\nstarter:\n  hintsPerSecond: 5\nresize:\n  mode: observe\n',
    );
    const message = refusal({ ...base, HEADROOM_SYNC_POLL: '1s' }, '--update-interval', '1m', '--config', path);
    expect(message).toContain('- HEADROOM_SYNC_POLL: is a constant, 15s: leave it out');
    expect(message).toContain('- --update-interval: is a constant, 10m: leave it out');
    expect(message).toContain(`- ${path} line 2: timings.holdRetry is a constant, 5m: leave it out`);
    expect(message).toContain(`- ${path} line 4: starter.hintsPerSecond is a constant, 50: leave it out`);
    expect(message).toContain('4 problems');
    expect(refusal({ ...base, HEADROOM_MEMCACHED_WEBHOOK_HOST: 'x' })).toContain('headroom-memcached.<namespace>.svc');
  });

  it('is no name that a wrong one is taken for', () => {
    expect(refusal(base, '--sync-pol', '1s')).toContain('--sync-pol: is not a flag: --help shows them all');
    const path = file('headroom.yaml', 'timings:\n  synkPoll: 1s\nstarters:\n  a: 1\n');
    expect(refusal(base, '--config', path)).not.toMatch(/syncPoll|did you mean starter/);
    expect(load({ ...base, HEADROOM_SYNC_POL: '1s' }).notices.join()).not.toContain('SYNC_POL');
  });

  it('has another value for whoever runs a program by code, which must be one', () => {
    const constants = { 'timings.syncPoll': '200ms' };
    expect(loadConfig({ env: base, argv: [], constants }).timings).toMatchObject({ syncPoll: 200, holdRetry: 300_000 });
    expect(() => loadConfig({ env: base, argv: [], constants: { 'timings.syncPoll': 'soon' } })).toThrow(
      '"soon" is not',
    );
    expect(() => loadConfig({ env: base, argv: [], constants: { 'timings.settle': '1s' } })).toThrow('not a constant');
  });

  it('a worker and a starter run the controllers that they are told, and what belongs to these, and all without a word', () => {
    const runs = (program: 'worker' | 'starter', ...argv: string[]) => [
      ...loadConfig({ env: base, argv, program }).runs,
    ];
    expect(runs('worker')).toEqual(controllerNames);
    expect(runs('worker', 'node-group')).toEqual(['node-group']);
    expect(runs('starter', 'memcached', '--threshold', '70', 'quota-resize')).toEqual([
      'quota-resize',
      'memcached',
      'lease-gc',
      'github-budget',
    ]);
    expect(() => runs('worker', 'lease-gc')).toThrow(
      '"lease-gc": is not a flag: every setting is given as --flag value; nor',
    );
    expect(() => loadConfig({ env: base, argv: ['node-group'], program: 'all-in-one' })).toThrow(
      /"node-group": is not a flag: every setting is given as --flag value$/,
    );
  });

  it('a process that does not resize quotas reads no credential of GitHub and no secret of its webhooks', () => {
    const files = {
      GITHUB_TOKEN: '',
      GITHUB_TOKEN_FILE: '/nowhere/token',
      GITHUB_WEBHOOK_SECRET_FILE: '/nowhere/secret',
    };
    const env = { ...propose, ...files, GITHUB_WEBHOOKS: 'true', HEADROOM_NODE_GROUPS: 'true' };
    for (const program of ['worker', 'starter'] as const) {
      expect(() => loadConfig({ env, argv: ['quota-resize'], program })).toThrow('/nowhere/');
      const config = loadConfig({ env, argv: ['node-group'], program });
      const { address, secrets } = config.webhooks;
      expect([config.github, address, secrets, config.secrets]).toEqual([undefined, undefined, undefined, []]);
    }
  });

  it('of its users there are at most 80 settings', () => {
    expect(settingEntries.length).toBeLessThanOrEqual(80);
  });
});

describe('an unknown name', () => {
  it('among the flags is rejected with the nearest one', () => {
    expect(refusal(base, '--treshold=5')).toContain('--treshold: is not a flag: did you mean --threshold?');
    expect(refusal(base, '--quux')).toContain('--quux: is not a flag: --help shows them all');
  });

  it('among the keys of the file is rejected with its line and the nearest one', () => {
    const path = file('headroom.yaml', 'resize:\n  treshold: 5\ngithubb:\n  owner: acme\n');
    const message = refusal(base, '--config', path);
    expect(message).toContain(`${path} line 2: resize.treshold is not a setting: did you mean resize.threshold?`);
    expect(message).toContain(`${path} line 3: githubb is not a setting: did you mean github?`);
  });

  it('that begins with HEADROOM_ and is nearly a setting is pointed out', () => {
    expect(load({ ...base, HEADROOM_SETLE: '1s', HEADROOM_WORKER_SERVICE_HOST: '10.0.0.2' }).notices).toContain(
      'The environment variable HEADROOM_SETLE is not a setting: did you mean HEADROOM_SETTLE?',
    );
    expect(load({ ...base, HEADROOM_WORKER_SERVICE_HOST: '10.0.0.2' }).notices.join()).not.toContain('HEADROOM_WORKER');
  });

  it('a word without a flag, and a flag without its value, are rejected and swallow nothing', () => {
    const message = refusal(base, 'propose', '--mode', '--treshold');
    expect(message).toContain('"propose": is not a flag');
    expect(message).toContain('--mode: needs a value: expected "observe" or "propose"');
    expect(message).toContain('--treshold: is not a flag');
    expect(refusal(base, '--enable-auto-merge', 'false')).toContain('"false": is not a flag');
  });
});

describe('the file', () => {
  it('that cannot be read is rejected by the name that names it', () => {
    const path = join(folder(), 'none.yaml');
    expect(refusal({ ...base, HEADROOM_CONFIG: path })).toContain(`HEADROOM_CONFIG: cannot read "${path}": ENOENT`);
  });

  it.each([
    ['resize: { mode: observe', 'is not valid YAML'],
    ['resize: { mode: observe }\nresize: { dryRun: true }', 'is not valid YAML'],
    ['- a\n- b', 'must be a map of groups'],
    ['resize: observe', 'resize must be a map of mode, dryRun'],
    ['resize: { mode: [observe] }', 'resize.mode must be a single value: expected "observe" or "propose"'],
  ])('with %j is rejected', (content, why) => {
    expect(refusal(base, '--config', file('headroom.yaml', content))).toContain(why);
  });

  it('must not hold a secret', () => {
    const message = refusal(base, '--config', file('headroom.yaml', `github:\n  token: ${TOKEN}\n`));
    expect(message).toContain('line 2: github.token must not be in the file');
    expect(message).toContain('set GITHUB_TOKEN in the environment instead');
    expect(message).not.toContain(TOKEN);
  });
});

describe('a secret', () => {
  it('is shown by no printing of the configuration', () => {
    const config = load({ ...propose, TEMPORAL_API_KEY: 'temporal-key-123' });
    const printed = [
      JSON.stringify(config),
      inspect(config, { depth: null, showHidden: true }),
      String(config.secrets),
    ];
    for (const text of printed) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain('temporal-key-123');
    }
    expect(config.temporal.connection.reveal()).toMatchObject({ apiKey: 'temporal-key-123', tls: true });
  });

  it('is not in an error, wherever it was written', () => {
    const message = refusal(
      { ...base, GITHUB_API_URL: 'https://bot:hunter22@ghe', GITHUB_OWNER: `${TOKEN}/x` },
      '--github-token',
      'plain-secret',
      `--github-tokn=other-secret`,
    );
    expect(message).toContain('--github-token: is not a flag');
    expect(message).toContain('must not carry a user or a password');
    for (const secret of [TOKEN, 'hunter22', 'plain-secret', 'other-secret']) expect(message).not.toContain(secret);
  });
});

describe('Temporal', () => {
  const toml = `
[profile.default]
address = "from-profile:7233"
namespace = "profile-namespace"
[profile.cloud]
address = "cloud:7233"
api_key = "key-in-the-profile"
`;

  it('is found by its own variables above its profile', () => {
    const env = { ...base, TEMPORAL_CONFIG_FILE: file('temporal.toml', toml) };
    expect(load(env).temporal).toMatchObject({ address: 'from-profile:7233', namespace: 'profile-namespace' });
    expect(load({ ...env, TEMPORAL_ADDRESS: 'variable:7233' }).temporal).toMatchObject({
      address: 'variable:7233',
      namespace: 'profile-namespace',
    });
    const cloud = load({ ...env, TEMPORAL_PROFILE: 'cloud' }).temporal;
    expect(cloud.connection.reveal()).toMatchObject({ address: 'cloud:7233', apiKey: 'key-in-the-profile', tls: true });
  });

  it("takes Headroom's file above the profile and its flag above the variable", () => {
    const env = { ...base, TEMPORAL_CONFIG_FILE: file('temporal.toml', toml), TEMPORAL_NAMESPACE: 'variable' };
    const config = file('headroom.yaml', 'temporal: { address: "file:7233", namespace: file }\n');
    expect(load(env, '--config', config).temporal).toMatchObject({ address: 'file:7233', namespace: 'variable' });
    expect(load(env, '--temporal-namespace', 'flag').temporal.namespace).toBe('flag');
  });

  it('connects with TLS when asked, and with the certificates that are named', () => {
    const cert = file('client.pem', 'CERT');
    const key = file('client.key', 'KEY');
    const env = {
      ...base,
      TEMPORAL_TLS: 'TRUE',
      TEMPORAL_TLS_CLIENT_CERT_PATH: cert,
      TEMPORAL_TLS_CLIENT_KEY_PATH: key,
    };
    const { tls } = load(env).temporal.connection.reveal();
    expect(tls).toMatchObject({
      clientCertPair: { crt: new TextEncoder().encode('CERT'), key: new TextEncoder().encode('KEY') },
    });
    expect(load({ ...base, TEMPORAL_TLS: 'false' }).temporal.connection.reveal().tls).toBe(false);
  });

  it('rejects what would silently connect in another way than asked', () => {
    expect(refusal({ ...base, TEMPORAL_CONFIG_FILE: join(folder(), 'none.toml') })).toContain(
      'TEMPORAL_CONFIG_FILE: cannot read',
    );
    expect(refusal({ ...base, TEMPORAL_CONFIG_FILE: file('t.toml', toml), TEMPORAL_PROFILE: 'prod' })).toContain(
      "'prod' not found",
    );
    expect(refusal({ ...base, TEMPORAL_TLS_CLIENT_CERT_DATA: 'CERT' })).toContain(
      'a client certificate needs its private key',
    );
    expect(refusal({ ...base, TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'true' })).toContain('is not supported');
    expect(
      refusal({ ...base, TEMPORAL_TLS_SERVER_CA_CERT_DATA: 'CA', TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('ca', 'CA') }),
    ).toContain('keep one of them');
  });

  it('does not show the content of a broken profile', () => {
    const broken = file('temporal.toml', '[profile.default]\napi_key = "top-secret-key\n');
    const message = refusal({ ...base, TEMPORAL_CONFIG_FILE: broken });
    expect(message).toContain("Temporal's configuration");
    expect(message).not.toContain('top-secret-key');
  });
});
