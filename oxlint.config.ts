import { controllerNames, type ControllerName } from './domain/kernel/controllers.ts';

/** As ESLint's rule no-restricted-imports has them; `group` is read as gitignore is, so that a later `!` allows again. */
interface Pattern {
  readonly group: readonly string[];
  readonly allowTypeImports?: boolean;
  readonly message: string;
}

const starter: readonly Pattern[] = [
  {
    // `headroom doctor` asks for the rights of both accounts.
    group: ['**/worker/*.ts', '**/worker/*/**', '!**/worker/access.ts', '!**/worker/*/access.ts'],
    message: 'the starter does not know the worker.',
  },
  { group: ['**/test/**'], message: 'the product does not import its tests.' },
];

/** What no file of a layer may import. */
const layers: Readonly<Record<string, readonly Pattern[]>> = {
  domain: [
    {
      group: [
        '**/activities/**',
        '**/workflows/**',
        '**/platform/**',
        '**/worker/**',
        '**/starter/**',
        '**/test/**',
        '@temporalio/*',
        '@kubernetes/*',
        '@octokit/*',
        'pino',
        'node:*',
        'node:*/**',
      ],
      message: 'domain is pure: no I/O, no clock, no Temporal, and no outer layer.',
    },
  ],
  activities: [
    {
      group: [
        '**/workflows/**',
        '**/platform/**',
        '**/worker/**',
        '**/starter/**',
        '**/test/**',
        '@temporalio/workflow',
        '@temporalio/worker',
      ],
      message: 'activities import the domain and their ports.',
    },
  ],
  workflows: [
    { group: ['**/activities/**'], allowTypeImports: true, message: 'workflows import activities as types only.' },
    {
      group: [
        '**/platform/**',
        '**/worker/**',
        '**/starter/**',
        '**/test/**',
        '@temporalio/worker',
        '@temporalio/client',
        '@temporalio/activity',
        '@kubernetes/*',
        '@octokit/*',
        'pino',
        'node:*',
        'node:*/**',
      ],
      message: 'workflows are deterministic: domain and the workflow API only.',
    },
  ],
  platform: [
    {
      group: [
        '**/domain/*/**',
        '!**/domain/kernel/**',
        '**/activities/**',
        '**/workflows/**',
        '**/worker/**',
        // The SDK's package, which is no folder of ours.
        '!@temporalio/worker/**',
        '**/starter/**',
        '**/test/**',
      ],
      message: 'the platform knows no controller: of the product it imports domain/kernel only.',
    },
  ],
  worker: [{ group: ['**/starter/**', '**/test/**'], message: 'the worker does not know the starter.' }],
  starter,
  'starter/cli': starter,
};

/**
 * What a controller may use of another one, by the layer that uses it; docs/architecture.md says why. Within a layer an import
 * names only the other controller, and from another layer that layer as well.
 */
const uses: Readonly<Record<string, Partial<Record<ControllerName, readonly string[]>>>> = {
  domain: { 'quota-resize': ['quota-usage'], 'lease-gc': ['quota-resize'] },
  activities: {
    'quota-resize': ['domain/quota-usage', 'domain/github-budget'],
    'lease-gc': ['domain/quota-resize'],
  },
  workflows: { 'quota-resize': ['activities/quota-usage'] },
  'starter/cli': {
    'quota-resize': ['quota-usage'],
    'quota-usage': ['activities/quota-resize', 'domain/quota-resize'],
  },
};

/** Folders that several controllers share, with what each may know of a controller. */
const shared: Readonly<Record<string, readonly string[]>> = {
  'domain/kernel': [],
  'activities/kernel': [],
  'activities/kubernetes': [],
  'activities/forge': ['domain/github-budget'],
  'workflows/kernel': [],
  'starter/kernel': [],
  'starter/admission': [],
  'starter/overview': [],
};

function anythingOf(others: readonly ControllerName[], but: readonly string[], message: string): Pattern {
  return { group: [...others.map((other) => `**/${other}/**`), ...but.map((path) => `!**/${path}/**`)], message };
}

function restricted(folder: string, patterns: readonly Pattern[]): object {
  return { files: [`${folder}/**`], rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

/** A rule of a later entry replaces that of an earlier one, so each has all that holds for its folder. */
function importDirection(): readonly object[] {
  const layered = Object.entries(layers);
  return [
    ...layered.map(([layer, patterns]) => restricted(layer, patterns)),
    ...layered.flatMap(([layer, patterns]) =>
      layer === 'platform'
        ? []
        : controllerNames.map((controller) => {
            const others = controllerNames.filter((name) => name !== controller);
            const apart = anythingOf(
              others,
              uses[layer]?.[controller] ?? [],
              `${controller} uses another controller only where docs/architecture.md says so.`,
            );
            return restricted(`${layer}/${controller}`, [...patterns, apart]);
          }),
    ),
    ...Object.entries(shared).map(([folder, but]) => {
      const [layer = ''] = folder.split('/');
      const none = anythingOf(controllerNames, but, 'what controllers share knows none of them.');
      return restricted(folder, [...(layers[layer] ?? []), none]);
    }),
  ];
}

export default {
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-import-type-side-effects': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/no-unnecessary-type-assertion': 'error',
    'import/no-cycle': 'error',
    'import/no-unassigned-import': 'off',
    'unicorn/prefer-node-protocol': 'error',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'consistent-return': 'off',
    'typescript/consistent-return': 'off',
    'promise/always-return': 'off',
    'import/no-named-as-default-member': 'off',
    'no-await-in-loop': 'off',
    'no-shadow': 'off',
    'no-underscore-dangle': 'off',
    'no-console': 'error',
    'no-restricted-imports': 'off',
    'vitest/no-standalone-expect': 'off',
    'vitest/no-conditional-tests': 'error',
    'vitest/no-focused-tests': 'error',
    'vitest/no-disabled-tests': 'error',
    'vitest/expect-expect': 'off',
    'vitest/no-conditional-expect': 'off',
    'vitest/require-mock-type-parameters': 'off',
  },
  overrides: [
    ...importDirection(),
    {
      // Product code that is longer has more than one idea in it. Tests are tables and sentences, and may be long.
      files: ['domain/**', 'activities/**', 'workflows/**', 'platform/**', 'worker/**', 'starter/**'],
      rules: {
        'max-lines': ['error', { max: 400 }],
        'max-lines-per-function': ['error', { max: 80 }],
      },
    },
    {
      files: ['domain/**'],
      rules: {
        'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'fetch', 'process'],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: 'time is an argument' },
          { object: 'Math', property: 'random', message: 'no chance in the domain' },
        ],
      },
    },
    {
      files: ['test/**', 'starter/cli.ts', 'starter/cli/**', 'bench/**', 'tools/**'],
      rules: { 'no-console': 'off' },
    },
  ],
  ignorePatterns: ['node_modules', 'test/cases', 'test/replay/histories'],
};
