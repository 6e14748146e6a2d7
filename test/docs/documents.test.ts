/** What people read must be what the code does: the words of the product, and links that lead somewhere. */
import { existsSync, globSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controllerNames } from '../../domain/kernel/controllers.ts';
import { parseDuration } from '../../domain/kernel/duration.ts';
import { platformSettings } from '../../platform/config/settings.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import { completionScripts } from '../../starter/cli/completion-scripts.ts';
import { createCommandLine } from '../../starter/cli/command-line.ts';
import { constantEntries } from '../../starter/config.ts';
import { documents, entriesOf, leadsSomewhere, longCells, read, ROOT, sectionOf, withoutCode } from './reading.ts';

it('the table of workflows has every type that a worker runs', () => {
  const types = [...read('workflows/index.ts').matchAll(/^export \{ (\w+) \}/gm)].map(([, type = '']) => type);
  const section = sectionOf(read('docs/architecture.md'), '## The workflows and their task queues');
  expect(entriesOf(section.slice(0, section.indexOf('\n| task queue '))).toSorted()).toEqual(types.toSorted());
});

it('the list of where to change what names only files and folders that there are', () => {
  const section = sectionOf(read('docs/architecture.md'), '## Where to change what');
  const paths = [...section.matchAll(/`([a-z]+\/[\w./-]+)`/gi)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(30);
  const names = [...controllerNames, 'kernel'];
  const isThere = (path: string): boolean =>
    names.some((name) => existsSync(join(ROOT, path.replace('CONTROLLER', name))));
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

describe('the table of decisions', () => {
  it('has every record once, in the order of their numbers', () => {
    const listed = [...read('docs/architecture.md').matchAll(/^\| \[\d+\]\((adr\/[^)]+)\)/gm)].map(
      ([, path]) => `docs/${path}`,
    );
    expect(listed).toEqual(documents.filter((name) => name.startsWith('docs/adr/')).toSorted());
  });
});

describe('the page of the command line', () => {
  const page = read('docs/command-line.md');

  it('has every exit code once, with those of a signal that comes twice', () => {
    const codes = [...sectionOf(page, '## Exit codes').matchAll(/^\| (\d[\d, ]*?) +\|/gm)].map(([, code]) => code);
    const ofSignals = (['SIGINT', 'SIGTERM'] as const).map((name) => 128 + constants.signals[name]);
    expect(codes).toEqual([...Object.values(exitCodes).map(String), ofSignals.join(', ')]);
    const grace = parseDuration(platformSettings.process.shutdownGrace.default) / 1_000;
    expect(page).toContain(`did not end within ${grace} s`);
  });

  it('is the only one with a table of them', () => {
    const others = documents.filter((name) => /\| 130/.test(read(name)));
    expect(others).toEqual(['docs/command-line.md']);
  });

  it('has a line for each shell that there is a completion for', () => {
    const cells = [...sectionOf(page, '## Completion').matchAll(/^\| (\w+) +\| `/gm)].map(([, shell]) => shell);
    expect(cells).toEqual([...Object.keys(completionScripts), 'kubectl']);
  });
});

it('the page of policy has every annotation', () => {
  const page = read('docs/policy.md');
  const [, list = ''] = /PLAIN_SETTINGS = \[([^\]]+)\]/.exec(read('domain/quota-resize/policy/annotations.ts')) ?? [];
  const plain = [...list.matchAll(/'([\w-]+)'/g)].map(([, name = '']) => name);
  const sections = ['## How much', '## Whether and when', '## Where the quota is in Git'];
  const documented = sections.flatMap((heading) => entriesOf(sectionOf(page, heading)));
  const perResource = ['threshold', 'increment', 'min', 'max'].map((name) => `<resource>-${name}`);
  expect(documented.toSorted()).toEqual([...plain, ...perResource].toSorted());
});

describe('the README', () => {
  const readme = read('README.md');

  it('has 12 KB at most', () => {
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(12 * 1024);
  });

  it('has a paragraph for every controller that people switch on, with its page', () => {
    const paragraphs = sectionOf(readme, '## Five controllers').trim().split('\n\n');
    const named = paragraphs.map(
      (paragraph) => /^\*\*\[[^\]]+\]\(docs\/[\w-]+\.md\)\*\* \(`([\w-]+)`/.exec(paragraph)?.[1] ?? '',
    );
    // Those two have nothing that anybody would switch on.
    expect(named.toSorted()).toEqual(
      controllerNames.filter((name) => !['lease-gc', 'github-budget'].includes(name)).toSorted(),
    );
  });

  it('has only commands and options of the command line that there are', () => {
    const stream = { write: () => true };
    const { program } = createCommandLine({ env: {}, stdout: stream, stderr: stream, readStdin: () => '' });
    const used = [...readme.matchAll(/(?:`headroom|headroom --|-- headroom) ([a-z][a-z-]+)((?: +[^\s`]+)*)/g)];
    expect(used.map(([, name]) => name)).toEqual(
      expect.arrayContaining(['sources', 'explain', 'status', 'lights-out', 'usage']),
    );
    const unknown = used.flatMap(([line, name, rest = '']) => {
      const command = program.commands.find((candidate) => candidate.name() === name);
      const options = command?.options.map(({ long }) => long) ?? [];
      const isKnown = command !== undefined && (rest.match(/--[a-z-]+/g) ?? []).every((word) => options.includes(word));
      return isKnown ? [] : [line];
    });
    expect(unknown).toEqual([]);
  });

  it('starts every story that the demo has', () => {
    const [, stories = ''] = /readSwitches\(\[([^\]]+)\]\)/.exec(read('test/demo/main.ts')) ?? [];
    const existing = [...stories.matchAll(/'(\w[\w-]*)'/g)].map(([, name = '']) => name);
    const told = [...readme.matchAll(/`make demo ARGS='([\w-]+) --exit'`/g)].map(([, name = '']) => name);
    expect(told.toSorted()).toEqual(existing.toSorted());
  });
});

it('the documents name only make targets and npm scripts that there are', () => {
  const makefile = read('Makefile');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const document of documents.filter((name) => !/^docs\/adr\/|^CHANGELOG/.test(name))) {
    const text = read(document);
    for (const [, target = ''] of text.matchAll(/(?:`|^\$ )make (\w+)/gm)) expect(makefile).toContain(`\n${target}: `);
    for (const [, script = ''] of text.matchAll(/npm run (?:--silent )?(\w[\w:-]*)/g)) {
      expect(Object.keys(scripts)).toContain(script);
    }
  }
});

it('the documents name only files of deploy/ that there are', () => {
  const missing = documents.flatMap((document) =>
    [...read(document).matchAll(/(?<![\w/])deploy\/[\w./-]*\w/g)].flatMap(([path]) =>
      existsSync(join(ROOT, path)) ? [] : [`${document}: ${path}`],
    ),
  );
  expect(missing).toEqual([]);
});

it('no document has the variable of a constant, which is refused, but for the list of those that are gone', () => {
  const variables = constantEntries.map(({ setting }) => setting.env);
  const named = documents.flatMap((document) => {
    const text =
      document === 'CHANGELOG.md' ? read(document).replace(/^### Removed$[^]*?(?=^### )/m, '') : read(document);
    const words = new Set(text.match(/\b[A-Z][A-Z_]+\b/g));
    return variables.filter((name) => words.has(name)).map((name) => `${document}: ${name}`);
  });
  expect(named).toEqual([]);
});

it('every relative link of the documents leads to a file, and to a heading of it', () => {
  const broken = documents.flatMap((document) =>
    [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link) && !leadsSomewhere(document, link))
      .map((link) => `${document}: ${link}`),
  );
  expect(broken).toEqual([]);
});

it('no cell of a table is longer than a line: what is longer is a list or a paragraph', () => {
  expect(documents.flatMap((document) => longCells(read(document)).map((cell) => `${document}: ${cell}`))).toEqual([]);
});

it('the programs and the chart name only documents, headings of them, and metrics that there are', () => {
  const files = globSync('{activities,domain,platform,starter,worker,workflows}/**/*.ts', { cwd: ROOT });
  const sources = [...files, 'deploy/chart/values.yaml', 'deploy/chart/templates/NOTES.txt'];
  const page = read('docs/metrics.md');
  const missing = sources.flatMap((file) => {
    const text = read(file);
    const links = (text.match(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g) ?? []).filter(
      (link) => !leadsSomewhere('README.md', link),
    );
    const metrics = [...text.matchAll(/the metric (headroom_\w+)/g)].map(([, metric = '']) => metric);
    return [...links, ...metrics.filter((metric) => !page.includes(`\`${metric}\``))].map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

it('every page is three links from the README at most', () => {
  const steps = new Map([['README.md', 0]]);
  for (const [document, step] of steps) {
    for (const [, path = ''] of withoutCode(read(document)).matchAll(/\]\(([^)#:\s]+\.md)(?:#[^)]*)?\)/g)) {
      const target = normalize(join(dirname(document), path));
      if (!steps.has(target)) steps.set(target, step + 1);
    }
  }
  const pages = documents.filter((name) => /^docs\/(?!adr\/)/.test(name));
  expect(pages.filter((page) => (steps.get(page) ?? Infinity) > 3)).toEqual([]);
});
