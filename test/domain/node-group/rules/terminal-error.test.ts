import { expect, it } from 'vitest';
import { isTerminalError } from '../../../../domain/node-group/rules/terminal-error.ts';

it.each([
  'Number of nodes exceeds the allowed limit',
  'Quota exceeded for this account',
  'Your plan does not allow more nodes',
  'Maximum number of servers',
  'LIMIT REACHED',
  'the subscription does not allow it',
])('"%s" is not answered by asking again', (message) => {
  expect(isTerminalError(message)).toBe(true);
});

it.each(['', 'rate limit exceeded', 'Internal Server Error', 'gateway timeout'])('"%s" may pass', (message) => {
  expect(isTerminalError(message)).toBe(false);
});
