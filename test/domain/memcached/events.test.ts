import { describe, expect, it } from 'vitest';
import { writeEvent, writeResult } from '../../../domain/memcached/plan/events.ts';

describe('a write of an object', () => {
  const version = (resourceVersion: string) => ({ metadata: { resourceVersion } });

  it('creates it where there was none, and updates it where its version is another one', () => {
    expect(writeResult(null, version('1'))).toBe('created');
    expect(writeResult(version('1'), version('2'))).toBe('updated');
    expect(writeResult(version('1'), version('1'))).toBe('unchanged');
  });

  it('has an Event, unless nothing was changed', () => {
    const normal = { type: 'Normal' };
    expect(writeEvent('created', 'Service', 'web')).toEqual({
      ...normal,
      reason: 'Created',
      message: 'Created Service web',
    });
    expect(writeEvent('updated', 'Service', 'web')).toEqual({
      ...normal,
      reason: 'Updated',
      message: 'Updated Service web',
    });
    expect(writeEvent('unchanged', 'Service', 'web')).toBeNull();
  });
});
