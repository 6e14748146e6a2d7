import { expect, it } from 'vitest';
import { sentence } from '../../../domain/kernel/sentence.ts';

it.each([
  ['cooling down until 2026-11-20T11:15:00Z', 'Cooling down until 2026-11-20T11:15:00Z.'],
  ['pull request [#7](https://example.com/7) waits', 'Pull request [#7](https://example.com/7) waits.'],
  ['two facts. It ends here.', 'Two facts. It ends here.'],
  ['requests.cpu 2 → 3: Usage is 2 of 2 CPU.', 'requests.cpu 2 → 3: Usage is 2 of 2 CPU.'],
  ['pods 10 → 12 is recommended already', 'pods 10 → 12 is recommended already.'],
  ['web-1 is new', 'web-1 is new.'],
  ['Already one.', 'Already one.'],
  ['is one running?', 'Is one running?'],
  ['', ''],
])('%s', (text, expected) => {
  expect(sentence(text)).toBe(expected);
});
