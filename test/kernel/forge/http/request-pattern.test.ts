import { describe, expect, it } from 'vitest';
import { RequestMatcher, type RequestPattern } from './request-pattern.ts';

const request = { method: 'PUT', path: '/repos/acme/gitops/contents/a%2Fb.yaml', body: '{"branch":"one"}' };
const meets = (pattern: RequestPattern): boolean => new RequestMatcher(pattern).meets(request);

describe('a request pattern', () => {
  it('takes the path with or without the repository, encoded or not', () => {
    expect(meets({ path: '/repos/acme/gitops/contents/a/b.yaml' })).toBe(true);
    expect(meets({ path: '/contents/a/b.yaml' })).toBe(true);
    expect(meets({ path: '/contents/*' })).toBe(false);
    expect(meets({ path: '/contents/**' })).toBe(true);
    expect(meets({ path: /\/contents\/.*\.yaml$/ })).toBe(true);
    expect(meets({ path: '/contents/a/bxyaml' })).toBe(false);
  });

  it('takes method and body together with it', () => {
    expect(meets({ method: 'put', body: '"one"' })).toBe(true);
    expect(meets({ method: 'POST' })).toBe(false);
    expect(meets({ body: '"two"' })).toBe(false);
  });

  it('means the first matching request only, unless it says otherwise', () => {
    const four = (pattern: RequestPattern): boolean[] => {
      const matcher = new RequestMatcher(pattern);
      return [1, 2, 3, 4].map(() => matcher.meets(request));
    };
    expect(four({})).toEqual([true, false, false, false]);
    expect(four({ nth: 2, times: 2 })).toEqual([false, true, true, false]);
    expect(four({ nth: 3, times: 'always' })).toEqual([false, false, true, true]);
  });
});
