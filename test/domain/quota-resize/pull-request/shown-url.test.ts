import { describe, expect, it } from 'vitest';
import { shownUrl, withoutUrlSecrets } from '../../../../domain/quota-resize/pull-request/shown-url.ts';

describe('an address that people see', () => {
  it.each([
    ['https://bot:SECRET@gitlab.corp/acme/gitops.git', 'https://…@gitlab.corp/acme/gitops.git'],
    ['https://SECRET@gitlab.corp/acme/gitops', 'https://…@gitlab.corp/acme/gitops'],
    [' HTTPS://bot:SECRET@gitlab.corp/acme/gitops\n', 'HTTPS://…@gitlab.corp/acme/gitops'],
    ['https://bot:SEC@RET@gitlab.corp/acme/gitops', 'https://…@gitlab.corp/acme/gitops'],
    ['https://bot:SEC/RET@gitlab.corp/acme/gitops', 'https://…@gitlab.corp/acme/gitops'],
    ['https://bot:SEC?RET#@gitlab.corp/acme/gitops', 'https://…@gitlab.corp/acme/gitops'],
    ['https://gitlab.corp/acme/gitops?private_token=SECRET', 'https://gitlab.corp/acme/gitops?…'],
    ['https://gitlab.corp/acme/gitops#SECRET', 'https://gitlab.corp/acme/gitops#…'],
    ['bot:SECRET@gitlab.corp:acme/gitops', '…@gitlab.corp:acme/gitops'],
    ['ssh://SECRET@gitlab.corp:22/acme/gitops', 'ssh://…@gitlab.corp:22/acme/gitops'],
    ['the https://bot:SECRET@gitlab.corp/acme/gitops', '…@gitlab.corp/acme/gitops'],
  ])('%j is %j', (written, shown) => {
    expect(shownUrl(written)).toBe(shown);
    expect(withoutUrlSecrets(written)).toBe(shown);
  });

  it.each([
    'https://gitlab.corp/acme/gitops',
    'git@gitlab.corp:acme/gitops.git',
    'ssh://git@gitlab.corp/a/b',
    'acme/x',
  ])('%j stays as it is', (written) => {
    expect(shownUrl(written)).toBe(written);
  });

  it('is not looked for in other texts', () => {
    for (const text of ['@alice, @platform/owners', '2026-12-27T18:00:00', 'quotas[?(@)]', 'main^']) {
      expect(withoutUrlSecrets(text)).toBe(text);
    }
  });
});
