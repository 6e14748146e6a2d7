import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { readAuthorities } from '../../../platform/network/authorities.ts';
import { watchAuthorities } from '../../../platform/network/authorities-watch.ts';
import { issueAuthority } from '../../../starter/admission/issue.ts';

let ONE: string;
let OTHER: string;
const file = { where: 'HEADROOM_CA_FILE', path: '/etc/headroom/authorities/ca.crt' };
let content: string;
const readFile = (): string => {
  if (content === 'gone') throw new Error('ENOENT');
  return content;
};

beforeAll(async () => {
  const issued = [await issueAuthority(Date.now()), await issueAuthority(Date.now())];
  [ONE, OTHER] = issued.map(({ certificate }) => certificate.trim()) as [string, string];
});
beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => vi.useRealTimers());

function watched() {
  content = `${ONE}\n`;
  const authorities = readAuthorities(file, readFile, []) ?? [];
  const heard: string[] = [];
  const controller = new AbortController();
  watchAuthorities({ ...file, authorities }, readFile, {
    signal: controller.signal,
    onChanged: () => heard.push('changed'),
    onUnusable: (problem) => heard.push(problem),
    looksEveryMs: 10,
  });
  return { heard, abort: () => controller.abort() };
}

it('hears once of other authorities in the file', () => {
  const { heard } = watched();
  vi.advanceTimersByTime(100);
  // The same, written anew.
  content = `# corporate\n${ONE}\n${ONE}\n`;
  vi.advanceTimersByTime(100);
  expect(heard).toEqual([]);
  content = `${ONE}\n${OTHER}\n`;
  vi.advanceTimersByTime(100);
  expect(heard).toEqual(['changed']);
});

it('hears once of each wrong content, and of the right one after it', () => {
  const { heard } = watched();
  content = 'gone';
  vi.advanceTimersByTime(30);
  content = '-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n';
  vi.advanceTimersByTime(30);
  expect(heard).toEqual([
    expect.stringMatching(/^HEADROOM_CA_FILE: cannot read "\/etc\/headroom\/authorities\/ca\.crt": ENOENT/),
    expect.stringMatching(/^HEADROOM_CA_FILE: certificate 1 of .* cannot be read/),
  ]);
  content = OTHER;
  vi.advanceTimersByTime(30);
  expect(heard).toHaveLength(3);
});

it('looks no more once the process stops', () => {
  const { heard, abort } = watched();
  abort();
  content = OTHER;
  vi.advanceTimersByTime(100);
  expect(heard).toEqual([]);
});
