import { expect, it } from 'vitest';
import { readAnswer } from '../../../../../activities/node-group/provider/vpsie/answer.ts';

it.each(['true', '{"data":true}', '{"error":false}'])('%s is a success that names no machine', (text) => {
  expect(readAnswer(200, null, text)).toEqual({ kind: 'done', data: null });
});

it('a success gives its data', () => {
  expect(readAnswer(200, null, '{"error":false,"data":{"id":7}}')).toEqual({ kind: 'done', data: { id: 7 } });
});

it('status 200 with an error is no success, and may have taken effect', () => {
  expect(readAnswer(200, null, '{"error":true,"message":"try later"}')).toEqual({
    kind: 'unknown',
    message: 'try later',
  });
});

it.each([200, 400, 500])('a quota is terminal with status %d', (status) => {
  expect(readAnswer(status, null, '{"error":true,"message":"Quota exceeded"}').kind).toBe('terminal');
});

it('a rate limit is never terminal, whatever it says', () => {
  const text = '{"error":true,"message":"Rate limit reached"}';
  expect(readAnswer(429, '7', text)).toEqual({ kind: 'limited', retryAfterMs: 7000 });
  expect(readAnswer(429, null, text)).toEqual({ kind: 'limited', retryAfterMs: null });
});

it('what is not there is gone, and an expired token is told apart', () => {
  expect(readAnswer(404, null, '')).toEqual({ kind: 'gone' });
  expect(readAnswer(401, null, '')).toEqual({ kind: 'unauthorized' });
});

it.each([200, 502])('the page of a proxy with status %d says nothing about the request', (status) => {
  expect(readAnswer(status, null, '<html>')).toEqual({
    kind: 'unknown',
    message: `VPSie answered ${status} without a message`,
  });
});
