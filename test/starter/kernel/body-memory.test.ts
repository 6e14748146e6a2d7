import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BodyMemory, BodyRefused } from '../../../starter/kernel/body-memory.ts';
import { timelyChunks } from '../../../starter/kernel/timely-chunks.ts';

const KIB = 1024;
const chunk = (kib: number, text = 'x'): Buffer => Buffer.alloc(kib * KIB, text);

describe('the memory for bodies', () => {
  it('gives a body back as it came, whatever its chunks', () => {
    const memory = new BodyMemory(1024 * KIB);
    const text = `${'ä€𝄞'.repeat(40_000)}.`;
    const bytes = Buffer.from(text);
    const body = memory.open();
    for (let at = 0; at < bytes.length; at += 1_001) body.append(bytes.subarray(at, at + 1_001));
    expect(body.text() === text).toBe(true);
    body.release();
    const next = memory.open();
    next.append(Buffer.from('{}'));
    expect(next.text()).toBe('{}');
  });

  it('has one large body at a time, and small ones beside it', () => {
    const memory = new BodyMemory(256 * KIB, () => 0);
    const [large, small, other] = [memory.open(), memory.open(), memory.open()];
    large.append(chunk(200));
    other.append(chunk(64));
    expect(() => other.append(chunk(1))).toThrow(BodyRefused);
    other.release();
    small.append(chunk(64, 'y'));
    expect(small.text()).toBe('y'.repeat(64 * KIB));
    large.append(chunk(56));
    expect(() => large.append(chunk(1))).toThrow(BodyRefused);
    expect(large.text()).toBe('x'.repeat(256 * KIB));
    large.release();
    const next = memory.open();
    next.append(chunk(256, 'z'));
    expect(next.text()).toBe('z'.repeat(256 * KIB));
  });

  it('is taken from a large body after a second, if another wants it', () => {
    let now = 0;
    const memory = new BodyMemory(256 * KIB, () => now);
    const [first, second] = [memory.open(), memory.open()];
    first.append(chunk(100));
    now = 999;
    expect(() => second.append(chunk(100))).toThrow(BodyRefused);
    now = 1_000;
    first.append(chunk(1));
    second.append(chunk(100, 'y'));
    expect(() => first.append(chunk(1))).toThrow(BodyRefused);
    expect(() => first.text()).toThrow(BodyRefused);
    first.release();
    expect(second.text()).toBe('y'.repeat(100 * KIB));
  });
});

describe('the chunks of a body', () => {
  it('end when nothing comes for a while', async () => {
    const stream = new PassThrough();
    onTestFinished(() => void stream.destroy());
    stream.write('a');
    const read: string[] = [];
    const reading = async () => {
      for await (const part of timelyChunks(stream, { idleMs: 20, longestMs: 60_000 })) read.push(part.toString());
    };
    await expect(reading()).rejects.toMatchObject({ reason: 'slow', statusCode: 408 });
    expect(read).toEqual(['a']);
    expect(stream.destroyed).toBe(false);
  });

  it('end after a while although some come all the time', async () => {
    const stream = new PassThrough();
    const writing = setInterval(() => stream.write('a'), 1);
    onTestFinished(() => {
      clearInterval(writing);
      stream.destroy();
    });
    const reading = async () => {
      for await (const part of timelyChunks(stream, { idleMs: 60_000, longestMs: 50 })) expect(part.length).toBe(1);
    };
    await expect(reading()).rejects.toMatchObject({ reason: 'slow' });
  });
});
