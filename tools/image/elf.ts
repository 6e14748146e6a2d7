/** What the header of an ELF file says about how it is loaded: enough to know which libraries it needs. */
interface NativeFile {
  /** The machine's number in ELF. */
  readonly machine: number;
  /** The loader that the kernel starts for a program; null for a library. */
  readonly interpreter: string | null;
  /** The names of libraries that the loader looks for. */
  readonly needed: readonly string[];
}

/** Numbers of the ELF specification. */
const PROGRAM_HEADER_SIZE = 56;
const [PT_LOAD, PT_DYNAMIC, PT_INTERP] = [1, 2, 3];
const [DT_NULL, DT_NEEDED, DT_STRTAB] = [0n, 1n, 5n];

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: bigint;
  readonly size: number;
}

/** Null for what is no ELF file of 64 bits, little-endian, which is what both architectures have. */
export function readNativeFile(content: Buffer): NativeFile | null {
  if (content.length < 64 || content.readUInt32BE(0) !== 0x7f454c46 || content[4] !== 2 || content[5] !== 1)
    return null;
  const segments = segmentsOf(content);
  const interpreter = segments.find(({ type }) => type === PT_INTERP);
  return {
    machine: content.readUInt16LE(18),
    interpreter: interpreter === undefined ? null : textAt(content, interpreter.offset),
    needed: neededBy(content, segments),
  };
}

function segmentsOf(content: Buffer): readonly Segment[] {
  const table = Number(content.readBigUInt64LE(32));
  return Array.from({ length: content.readUInt16LE(56) }, (_, index) => {
    const at = table + index * PROGRAM_HEADER_SIZE;
    return {
      type: content.readUInt32LE(at),
      offset: Number(content.readBigUInt64LE(at + 8)),
      address: content.readBigUInt64LE(at + 16),
      size: Number(content.readBigUInt64LE(at + 32)),
    };
  });
}

function neededBy(content: Buffer, segments: readonly Segment[]): readonly string[] {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return [];
  const names: bigint[] = [];
  let strings = 0n;
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    const [tag, value] = [content.readBigInt64LE(at), content.readBigUInt64LE(at + 8)];
    if (tag === DT_NULL) break;
    if (tag === DT_NEEDED) names.push(value);
    if (tag === DT_STRTAB) strings = value;
  }
  // The table of names is said by where it is in memory.
  const loaded = segments.find(
    ({ type, address, size }) => type === PT_LOAD && strings >= address && strings < address + BigInt(size),
  );
  if (loaded === undefined) return [];
  return names.map((name) => textAt(content, loaded.offset + Number(strings - loaded.address + name)));
}

function textAt(content: Buffer, offset: number): string {
  return content.toString('latin1', offset, content.indexOf(0, offset));
}
