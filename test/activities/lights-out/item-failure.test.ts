import { ApiException } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { itemFailure } from '../../../activities/lights-out/item-failure.ts';
import { SetBack } from '../../../activities/lights-out/write-object.ts';

function rejection(code: number, message: string): ApiException<unknown> {
  return new ApiException<unknown>(code, 'refused', JSON.stringify({ kind: 'Status', code, message }), {});
}

describe('an error while one workload is written', () => {
  it.each([
    [403, 'deployments.apps "web" is forbidden: User "worker" cannot patch resource'],
    [422, 'Deployment.apps "web" is invalid: spec.replicas'],
    [500, 'Internal error occurred: failed calling webhook "guard.example.com": no endpoints available'],
    [504, 'Timeout: request did not complete within the allotted timeout'],
    [429, 'admission webhook "guard.example.com" denied the request: not more than one at a time'],
    [503, 'admission webhook "guard.example.com" denied the request: in maintenance'],
  ])('with %i is a matter of that workload where the server says "%s"', (code, message) => {
    expect(itemFailure(rejection(code, message))).toBe(message);
  });

  it.each([
    [401, 'Unauthorized'],
    [429, 'too many requests, please try again later'],
    [503, 'the server is currently unable to handle the request'],
  ])('with %i is a matter of the whole server where it says "%s"', (code, message) => {
    expect(itemFailure(rejection(code, message))).toBeNull();
  });

  it('that is a write which was taken and changed is a matter of that workload', () => {
    expect(itemFailure(new SetBack('spec.replicas', 3, false))).toContain('back to 3');
  });

  it('that is no answer at all is a matter of the whole server, and one that took too long is not', () => {
    expect(itemFailure(new TypeError('fetch failed'))).toBeNull();
    expect(itemFailure(new DOMException('signal timed out', 'TimeoutError'))).toBe(
      'the Kubernetes API did not answer in time',
    );
    expect(itemFailure(new ApiException(500, 'refused', '', {}))).toBe(
      'the Kubernetes API answered 500 without a message',
    );
  });
});
