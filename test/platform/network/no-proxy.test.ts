import { expect, it } from 'vitest';
import { NoProxy } from '../../../platform/network/no-proxy.ts';

it.each([
  ['example.com', 'example.com', 443, true],
  ['example.com', 'EXAMPLE.com.', 443, true],
  ['example.com', 'api.example.com', 443, true],
  ['example.com', 'notexample.com', 443, false],
  ['.example.com', 'api.example.com', 443, true],
  ['.example.com', 'example.com', 443, false],
  ['*.example.com', 'a.b.example.com', 443, true],
  ['*.example.com', 'example.com', 443, false],
  ['.svc', 'temporal-frontend.temporal.svc', 7233, true],
  ['.svc,.cluster.local', 'temporal-frontend.temporal.svc.cluster.local', 7233, true],
  [' one.example ,\ttwo.example\n', 'two.example', 443, true],
  ['one.example two.example', 'two.example', 443, true],
  ['example.com:8443', 'example.com', 8443, true],
  ['example.com:8443', 'example.com', 443, false],
  ['*', 'anything.example', 443, true],
  ['*:7233', 'anything.example', 7233, true],
  ['*:7233', 'anything.example', 443, false],
  ['10.0.0.7', '10.0.0.7', 443, true],
  ['10.0.0.7', '10.0.0.77', 443, false],
  ['10.0.0.7:6443', '10.0.0.7', 443, false],
  ['10.0.0.0/8', '10.255.0.1', 443, true],
  ['10.0.0.0/8', '11.0.0.1', 443, false],
  // A name is not resolved, and a range is no end of a name.
  ['10.0.0.0/8', '10.example.com', 443, false],
  ['10.0.0.0/8:6443', '10.0.0.1', 6443, true],
  ['fd00::/8', '[fd12::1]', 443, true],
  ['fd00::/8', '[fe80::1]', 443, false],
  ['2001:db8::1', '[2001:db8:0::1]', 443, true],
  ['[2001:db8::1]:6443', '[2001:db8::1]', 6443, true],
  ['[2001:db8::1]:6443', '[2001:db8::1]', 443, false],
  ['', 'example.com', 443, false],
  [',,', 'example.com', 443, false],
  // Never, whatever the list says.
  ['', 'localhost', 7233, true],
  ['', '127.0.0.2', 443, true],
  ['', '[::1]', 443, true],
])('NO_PROXY=%j for %s port %d: direct is %s', (list, host, port, isDirect) => {
  const direct = new NoProxy(list);
  expect(direct.covers(host, port)).toBe(isDirect);
  expect(direct.unreadable).toEqual([]);
});

it('says which entries match nothing, and takes the others', () => {
  const direct = new NoProxy('http://a.example, 10.0.0.0/33, 10.0.0.0/8/8, b.example:70000, 10.0.0.0/x, c.example');
  expect(direct.unreadable).toEqual([
    'http://a.example',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    'b.example:70000',
    '10.0.0.0/x',
  ]);
  expect(direct.covers('c.example', 443)).toBe(true);
  expect(direct.covers('10.0.0.1', 443)).toBe(false);
});
