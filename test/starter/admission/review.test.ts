import { describe, expect, it } from 'vitest';
import { MalformedReview, readReview } from '../../../starter/admission/review.ts';

describe('the body of a request', () => {
  it.each([
    [undefined, /^expected an AdmissionReview of admission\.k8s\.io\/v1: /],
    ['text', /^expected an AdmissionReview/],
    [{ apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', request: {} }, / at apiVersion: /],
    [{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, / at request: /],
    [
      { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: '', operation: 'CREATE' } },
      / at request\.uid: /,
    ],
    [
      { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'a', operation: 'PATCH' } },
      / at request\.operation: /,
    ],
  ])('that is no review says where it is not: %j', (body, expected) => {
    expect(() => readReview(body)).toThrow(MalformedReview);
    expect(() => readReview(body)).toThrow(expected);
  });
});
