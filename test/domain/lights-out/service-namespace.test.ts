import { expect, it } from 'vitest';
import { serviceNamespace } from '../../../domain/lights-out/service-namespace.ts';

it.each([
  ['frontend.temporal-prod.svc.cluster.local:7233', 'temporal-prod'],
  ['frontend.temporal-prod.svc.cluster.local.:7233', 'temporal-prod'],
  ['frontend.temporal-prod.svc:7233', 'temporal-prod'],
  ['frontend.temporal-prod:7233', 'temporal-prod'],
  ['frontend.temporal-prod', 'temporal-prod'],
  ['localhost:7233', null],
  ['127.0.0.1:7233', null],
  ['[::1]:7233', null],
  ['acme.a1b2c.tmprl.cloud:7233', null],
])('the address %s names a Service in the namespace %s', (address, namespace) => {
  expect(serviceNamespace(address)).toBe(namespace);
});
