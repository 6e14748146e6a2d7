import { ApiException } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { apiMessage } from '../../../activities/kubernetes/failure.ts';

it.each([
  ['the message of a Status', JSON.stringify({ kind: 'Status', message: 'pods is forbidden' }), 'pods is forbidden'],
  ['the text of a proxy in between, in one line', '<html>\n  Bad Gateway\n</html>', '<html> Bad Gateway </html>'],
  ['nothing of an empty answer', '', undefined],
  ['nothing of a Status without a message', '{"kind":"Status"}', undefined],
])('what the API server said is %s', (_, body, message) => {
  expect(apiMessage(new ApiException(403, 'Forbidden', body, {}))).toBe(message);
});
