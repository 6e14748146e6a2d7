import { describe, expect, it } from 'vitest';
import { escapeMarkdown } from '../../../../domain/quota-resize/pull-request/markdown.ts';

describe('text from the cluster in Markdown', () => {
  it.each([
    'https://x.test',
    '_https://x.test',
    '1https://x.test',
    'äHTTPS://x.test',
    '(ftp://x.test',
    'www.x.test',
    '_www.x.test',
    '9www.x.test',
    'GH-1',
    '_GH-1',
  ])('%s is no link, wherever it stands', (text) => {
    for (const written of [text, `a ${text}`, `${text} ${text}`]) {
      expect(escapeMarkdown(written)).not.toMatch(/(?:https?|ftp):\/\/|www\.|GH-\d/i);
    }
  });

  it('commands nothing where it begins with a slash', () => {
    expect(escapeMarkdown('/approve')).toBe('\\/approve');
    expect(escapeMarkdown('one\n/approve')).toBe('one /approve');
  });
});
