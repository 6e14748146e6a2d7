import { describe, expect, it } from 'vitest';
import { ManifestEditError } from '../../../../../domain/quota-resize/git/yaml/error.ts';
import {
  addToMapping,
  addToSequence,
  blockScalarAt,
  documentsOf,
  type Pointer,
  replaceInBlockScalar,
  replaceScalar,
  replaceScalars,
  scalarAt,
} from './edit-text.ts';

/** The message of a refused edit; fails the test when it is not refused. */
function rejection(edit: () => string): string {
  try {
    const text = edit();
    throw new Error(`was edited: ${text}`);
  } catch (error) {
    expect(error).toBeInstanceOf(ManifestEditError);
    return (error as ManifestEditError).message;
  }
}

const values = `# limits of all teams
defaults: &defaults
  requests.cpu: "4" # cores
  pods: 20
limit: &limit "8Gi"
teams:
  team-a:
    requests.cpu: "2" # for the nightly job
    pods: 10
    limits.memory: *limit   # as agreed
    requests.memory: 4Gi
  team-b:
    <<: *defaults
    services: 3
  team-c: *defaults
  team-d: {requests.cpu: '1', pods: 5}
`;

describe('documentsOf', () => {
  it('reads every document with its number and the line where its content begins', () => {
    const text = '# first\na: 1\n---\n---\n\n# third\nb:\n  - *x\n---\nc: "2\n---\n- 3\n';
    expect(documentsOf(text).map(({ index, line, value }) => ({ index, line, value }))).toEqual([
      { index: 0, line: 2, value: { a: 1 } },
      { index: 1, line: 3, value: null },
      { index: 2, line: 7, value: undefined },
      { index: 3, line: 10, value: undefined },
      { index: 4, line: 12, value: [3] },
    ]);
    expect(documentsOf(text).map(({ errors }) => errors.map(({ line }) => line))).toEqual([[], [], [8], [10], []]);
  });

  it('resolves aliases and merge keys, the first of several merges first, an own key before all', () => {
    const text = 'a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], z: 3}\nd: *a\n"<<": 4\n';
    expect(documentsOf(text)[0]?.value).toEqual({
      a: { x: 1, y: 1 },
      b: { y: 2, z: 2 },
      c: { x: 1, y: 1, z: 3 },
      d: { x: 1, y: 1 },
      '<<': 4,
    });
  });

  it('resolves an alias to the last anchor of the name before it', () => {
    expect(documentsOf('a: &x 1\nb: *x\nc: &x 2\nd: *x\n')[0]?.value).toEqual({ a: 1, b: 1, c: 2, d: 2 });
  });

  it('says of what has no value where and why', () => {
    const text = 'a: &a\n  b: *a\nc:\n  <<: 3\nd: *none\n{x: 1}: 2\n';
    expect(documentsOf(text)[0]?.errors).toEqual([
      { line: 2, message: 'an alias stands for something that it is a part of' },
      { line: 4, message: '<< stands before something that is no mapping' },
      { line: 5, message: '*none has no anchor &none before it' },
      { line: 6, message: 'a key of a mapping is no single value' },
    ]);
  });

  it('reads JSON with tabs, a byte order mark and CRLF', () => {
    const text = '\uFEFF{\r\n\t"a":\t{\r\n\t\t"b": [1,\t"x"]\r\n\t}\r\n}\r\n';
    expect(documentsOf(text)).toEqual([{ index: 0, line: 1, value: { a: { b: [1, 'x'] } }, errors: [] }]);
  });

  it('takes no time over a file full of aliases, or of merges', () => {
    const level = (index: number, inner: string) => `l${index}: &l${index} ${inner}\n`;
    const lists = Array.from({ length: 25 }, (_, index) =>
      level(
        index,
        index === 0
          ? '[x]'
          : `[${Array(10)
              .fill(`*l${index - 1}`)
              .join(', ')}]`,
      ),
    ).join('');
    const merges = Array.from({ length: 25 }, (_, index) =>
      level(
        index,
        index === 0
          ? '{x: 1}'
          : `{<<: [${Array(10)
              .fill(`*l${index - 1}`)
              .join(', ')}], y${index}: 1}`,
      ),
    ).join('');
    expect(documentsOf(lists)[0]?.errors).toEqual([]);
    expect(Object.keys(documentsOf(merges)[0]?.value ?? {})).toHaveLength(25);
    expect(replaceScalar(`${lists}z: 1\n`, 0, ['z'], '2')).toBe(`${lists}z: 2\n`);
  });

  it('has no document in a text without content', () => {
    expect(documentsOf('')).toEqual([]);
    expect(documentsOf('# nothing\n')).toEqual([]);
  });
});

describe('scalarAt', () => {
  it.each<[Pointer, object | undefined]>([
    [['teams', 'team-a', 'requests.cpu'], { line: 8, value: '2', quoted: true, aliased: false }],
    [['teams', 'team-a', 'pods'], { line: 9, value: '10', quoted: false, aliased: false }],
    [['teams', 'team-a', 'limits.memory'], { line: 10, value: '8Gi', quoted: true, aliased: true }],
    [['teams', 'team-b', 'requests.cpu'], { line: 13, value: '4', quoted: true, aliased: true }],
    [['teams', 'team-c', 'pods'], { line: 15, value: '20', quoted: false, aliased: true }],
    [['teams', 'team-d', 'requests.cpu'], { line: 16, value: '1', quoted: true, aliased: false }],
    [['teams'], undefined],
    [['teams', 'team-e', 'pods'], undefined],
    [['teams', 0], undefined],
  ])('finds %j', (pointer, scalar) => {
    expect(scalarAt(values, 0, pointer)).toEqual(scalar);
  });

  it('gives numbers as they are written', () => {
    const text = 'a: 010\nb: 1_000\nc: 0x10\nd: 1.50\ne: 123456789012345678\nf:\n';
    const written = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => scalarAt(text, 0, [key])?.value);
    expect(written).toEqual(['010', '1_000', '0x10', '1.50', '123456789012345678', '']);
  });

  it('counts documents and lines over the whole file', () => {
    const text = '# a\n---\nx: 1\n...\n---\nx: 2\n---\r\nlist:\r\n  - x: 3\r\n';
    expect([0, 1, 2].map((index) => scalarAt(text, index, index === 2 ? ['list', 0, 'x'] : ['x']))).toMatchObject([
      { line: 3, value: '1' },
      { line: 6, value: '2' },
      { line: 9, value: '3' },
    ]);
    expect(scalarAt(text, 3, ['x'])).toBeUndefined();
  });

  it('finds nothing in a document that is not YAML', () => {
    expect(scalarAt('a: {{ .Values.a }}\nb: 1\n', 0, ['b'])).toBeUndefined();
  });
});

describe('replaceScalar', () => {
  it.each<[Pointer, string, string, string]>([
    [['teams', 'team-a', 'requests.cpu'], '3', '"2" # for', '"3" # for'],
    [['teams', 'team-a', 'pods'], '12', 'pods: 10', 'pods: 12'],
    [['teams', 'team-a', 'pods'], '12k', 'pods: 10', 'pods: 12k'],
    [['teams', 'team-a', 'requests.memory'], '12', 'requests.memory: 4Gi', 'requests.memory: "12"'],
    [['teams', 'team-a', 'requests.memory'], '1e9', 'requests.memory: 4Gi', 'requests.memory: "1e9"'],
    [['teams', 'team-a', 'limits.memory'], '9Gi', '*limit   #', '"9Gi"   #'],
    [['teams', 'team-b', 'requests.cpu'], '6', '<<: *defaults\n', '<<: *defaults\n    requests.cpu: "6"\n'],
    [['teams', 'team-d', 'requests.cpu'], '6', "'1'", "'6'"],
    [['teams', 'team-d', 'pods'], '6', 'pods: 5}', 'pods: 6}'],
  ])('%j becomes %s and every other byte stays', (pointer, value, from, to) => {
    const changed = values.replace(from, () => to);
    expect(changed).not.toBe(values);
    expect(replaceScalar(values, 0, pointer, value)).toBe(changed);
  });

  it('says which lines use a value that carries an anchor', () => {
    const text = 'a: &x "2"\nb: *x\nc:\n  - *x\n';
    expect(rejection(() => replaceScalar(text, 0, ['a'], '3'))).toBe(
      'a belongs to the YAML anchor &x, which lines 2, 4 use too; write the value out there, or give this place its own',
    );
    expect(replaceScalar('a: &x "2" # c\nb: 1\n', 0, ['a'], '3')).toBe('a: &x "3" # c\nb: 1\n');
  });

  it('a name that is anchored again counts for the aliases after it only', () => {
    const text = 'a: &x 2\nb: *x\nc: &x 3\n';
    expect(replaceScalar(text, 0, ['c'], '4')).toBe('a: &x 2\nb: *x\nc: &x 4\n');
    expect(rejection(() => replaceScalar(text, 0, ['a'], '4'))).toContain('line 2');
  });

  it('changes nothing through an alias of a whole mapping, nor in one that others use', () => {
    expect(rejection(() => replaceScalar(values, 0, ['teams', 'team-c', 'pods'], '6'))).toBe(
      'teams.team-c.pods comes from the alias *defaults at line 15, which stands for a whole collection; write it out there to change one value of it',
    );
    expect(rejection(() => replaceScalar(values, 0, ['defaults', 'pods'], '6'))).toContain('lines 13, 15 use too');
  });

  it('changes nothing deep in what a merge brings', () => {
    const text = 'x: &x {hard: {pods: 1}}\nspec:\n  <<: *x\n';
    expect(rejection(() => replaceScalar(text, 0, ['spec', 'hard', 'pods'], '2'))).toBe(
      'spec.hard.pods is a part of what the merge key << at line 3 brings; write spec.hard out there to change one value of it',
    );
  });

  it('an own key goes below the last of several merges, and into a mapping of one line', () => {
    const two = 'x: &x {pods: 1}\ny: &y {cpu: 1}\nhard:\n  <<: *x\n  <<: *y\n  z: 1\n';
    expect(replaceScalar(two, 0, ['hard', 'pods'], '2')).toBe(two.replace('  z', '  pods: 2\n  z'));
    const flow = 'x: &x {pods: 1}\nhard: {<<: *x, z: 1}\n';
    expect(replaceScalar(flow, 0, ['hard', 'pods'], '2')).toBe('x: &x {pods: 1}\nhard: {<<: *x, pods: 2, z: 1}\n');
  });

  it('rejects a key that stands before a merge which brings it too', () => {
    const text = 'x: &x {pods: 1}\nhard:\n  pods: 3\n  <<: *x\n';
    expect(rejection(() => replaceScalar(text, 0, ['hard', 'pods'], '2'))).toContain(
      'also brought by the merge key << at line 4',
    );
    expect(replaceScalar('x: &x {pods: 1}\nhard:\n  <<: *x\n  pods: 3\n', 0, ['hard', 'pods'], '2')).toContain(
      'pods: 2',
    );
  });

  it('keeps JSON strings strings, numbers numbers where they are whole, tabs and line ends', () => {
    const json = '{\r\n\t"a": "2",\r\n\t"b": 3,\r\n\t"c": [4]\r\n}\r\n';
    expect(replaceScalar(json, 0, ['a'], '12')).toBe(json.replace('"2"', '"12"'));
    expect(replaceScalar(json, 0, ['b'], '12')).toBe(json.replace('3', '12'));
    expect(replaceScalar(json, 0, ['b'], '12500m')).toBe(json.replace('3', '"12500m"'));
    expect(replaceScalar(json, 0, ['c', 0], '1.5')).toBe(json.replace('4', '"1.5"'));
    expect(replaceScalar(json, 0, ['a'], 'quote " and tab \t')).toBe(json.replace('"2"', '"quote \\" and tab \\t"'));
  });

  it.each([
    '010',
    '1_000',
    '0x1F',
    '0o17',
    '1e3',
    'yes',
    'n',
    'null',
    '~',
    '',
    ' a',
    'a: b',
    'a #b',
    '- a',
    '2026-01-01',
    '190:20',
  ])('quotes %j where it would be read as something else', (value) => {
    expect(replaceScalar('a: words # c\n', 0, ['a'], value)).toBe(`a: ${JSON.stringify(value)} # c\n`);
  });

  it('writes a value where there is none yet', () => {
    expect(replaceScalar('a:\n  b: # none\n  c:\n', 0, ['a', 'b'], '2')).toBe('a:\n  b: 2 # none\n  c:\n');
    expect(replaceScalar('a:', 0, ['a'], '2')).toBe('a: 2');
    expect(replaceScalar('{a: , b: 1}', 0, ['a'], '2')).toBe('{a: 2 , b: 1}');
  });

  it.each<[string, Pointer, RegExp]>([
    ['a: 1\n', ['b'], /^b is not in the document$/],
    ['a: {b: 1}\n', ['a'], /^a at line 1 is no single value$/],
    ['a: |\n  x\n', ['a'], /^a at line 1 goes over several lines/],
    ['a: "x\n  y"\n', ['a'], /goes over several lines/],
    ['a: x\n  y\n', ['a'], /goes over several lines/],
    ['a: !!int "1"\n', ['a'], /has the tag tag:yaml.org,2002:int; take the tag away$/],
    ['a: {{ .Values.a }}\nb: 1\n', ['b'], /^line 1: not YAML: the template expression/],
    ['a: "1\nb: 1\n', ['b'], /^line \d: not YAML: /],
  ])('rejects %j at %j', (text, pointer, message) => {
    expect(rejection(() => replaceScalar(text, 0, pointer, '2'))).toMatch(message);
  });

  it('rejects a document that is not there', () => {
    expect(rejection(() => replaceScalar('a: 1\n', 1, ['a'], '2'))).toBe('the file has no document 2');
  });
});

describe('replaceScalars', () => {
  it('writes all of the values or none', () => {
    const text = `${values}---\nx: 1\n`;
    const changes = [
      { documentIndex: 1, pointer: ['x'], value: '2' },
      { documentIndex: 0, pointer: ['teams', 'team-b', 'pods'], value: '30' },
      { documentIndex: 0, pointer: ['teams', 'team-b', 'requests.cpu'], value: '5' },
    ];
    expect(replaceScalars(text, changes)).toBe(
      text.replace('x: 1', 'x: 2').replace('<<: *defaults\n', '<<: *defaults\n    pods: 30\n    requests.cpu: "5"\n'),
    );
    expect(rejection(() => replaceScalars(text, [...changes, { documentIndex: 1, pointer: ['y'], value: '2' }]))).toBe(
      'y is not in the document',
    );
  });

  it('rejects to write one value twice', () => {
    const twice = ['2', '3'].map((value) => ({ documentIndex: 0, pointer: ['a'], value }));
    expect(rejection(() => replaceScalars('a: 1\n', twice))).toBe('a would be changed twice; change it once');
  });
});

describe('addToMapping', () => {
  it.each<[string, string, Pointer, string, string]>([
    [
      'a block',
      'a:\n  x: "1" # c\n  y: "2"\n\n# end\nb: 1\n',
      ['a'],
      '3',
      'a:\n  x: "1" # c\n  y: "2"\n  k.v: "3"\n\n# end\nb: 1\n',
    ],
    ['numbers', 'a:\n    x: 1\n', ['a'], '3', 'a:\n    x: 1\n    k.v: 3\n'],
    ['plain strings', 'a:\n  x: 1Gi\n', ['a'], '3', 'a:\n  x: 1Gi\n  k.v: "3"\n'],
    ['quoted keys', "'x': '1'\n", [], '3', "'x': '1'\n'k.v': '3'\n"],
    ['a block in a sequence', '- x: 1\n- z: 1\n', [0], '3', '- x: 1\n  k.v: 3\n- z: 1\n'],
    [
      'a deeper last value',
      'a:\n  x:\n    y:\n    - 1\nb: 1\n',
      ['a'],
      '3',
      'a:\n  x:\n    y:\n    - 1\n  k.v: 3\nb: 1\n',
    ],
    [
      'a last value in a literal block',
      'a:\n  x: |\n    1\n\nb: 1\n',
      ['a'],
      '3',
      'a:\n  x: |\n    1\n  k.v: "3"\n\nb: 1\n',
    ],
    ['a last key without a value', 'a:\n  x: # c\n# d\nb: 1\n', ['a'], '3', 'a:\n  x: # c\n  k.v: 3\n# d\nb: 1\n'],
    ['one line', 'a: {x: "1", y: 2} # c\n', ['a'], '3', 'a: {x: "1", y: 2, k.v: "3"} # c\n'],
    ['one line with a comma at its end', 'a: {x: 1,}\n', ['a'], '3', 'a: {x: 1, k.v: 3,}\n'],
    ['nothing yet', 'a: {}\nb: 1\n', ['a'], '3', 'a: {k.v: 3}\nb: 1\n'],
    ['a key without a value', 'b:\n   x: 1\na: # c\nc: 1\n', ['a'], '3', 'b:\n   x: 1\na: # c\n   k.v: 3\nc: 1\n'],
    ['CRLF', 'a:\r\n  x: 1\r\n', ['a'], '3', 'a:\r\n  x: 1\r\n  k.v: 3\r\n'],
    ['no newline at the end', 'a:\n  x: 1\n  y: 2', ['a'], '3', 'a:\n  x: 1\n  k.v: 3\n  y: 2'],
    ['no newline at the end and one key', 'a:\n  x: 1', ['a'], '3', 'a:\n  x: 1\n  k.v: 3'],
    ['JSON in lines', '{\n\t"x": 1,\n\t"y": "2"\n}\n', [], '3', '{\n\t"x": 1,\n\t"k.v": "3",\n\t"y": "2"\n}\n'],
    [
      'JSON in lines with one key',
      '{\n  "a": {\n    "x": 1\n  }\n}\n',
      ['a'],
      '3',
      '{\n  "a": {\n    "k.v": 3,\n    "x": 1\n  }\n}\n',
    ],
    ['JSON in one line', '{"a":{"x":"1"}}', ['a'], '3', '{"a":{"x":"1","k.v":"3"}}'],
    ['empty JSON', '{"a": {}}', ['a'], '3', '{"a": {"k.v": "3"}}'],
  ])('adds to %s', (_name, before, pointer, value, after) => {
    expect(addToMapping(before, 0, pointer, 'k.v', value)).toBe(after);
  });

  it('quotes a key that would be no string', () => {
    expect(addToMapping('x: 1\n', 0, [], 'yes', '2')).toBe('x: 1\n"yes": 2\n');
    expect(addToMapping('x: 1\n', 0, [], 'a: b', '2')).toBe('x: 1\n"a: b": 2\n');
  });

  it('adds a key that a merge brings below the merge, written as it is there', () => {
    expect(addToMapping(values, 0, ['teams', 'team-b'], 'requests.cpu', '6')).toBe(
      values.replace('<<: *defaults\n', '<<: *defaults\n    requests.cpu: "6"\n'),
    );
  });

  it.each<[string, Pointer, string, RegExp]>([
    ['a: {x: 1}\n', ['a'], 'x', /^a.x is there already, at line 1$/],
    ['a: 1\n', ['a'], 'x', /^a at line 1 is no mapping$/],
    ['a: [1]\n', ['a'], 'x', /^a at line 1 is no mapping$/],
    ['a: []\n', ['a'], 'x', /^a is a sequence, not a mapping$/],
    ['a: 1\n', ['b'], 'x', /^b is not in the document$/],
    ['a: &a {y: 1}\nb: *a\n', ['a'], 'x', /^a belongs to the YAML anchor &a, which line 2 uses too/],
    ['a: &a {y: 1}\nb: *a\n', ['b'], 'x', /^b comes from the alias \*a at line 2/],
    ['a: &a {y: {z: 1}}\nb: {<<: *a}\n', ['b', 'y'], 'x', /^b.y comes from a merge key/],
    ['a: &a {y: {z: 1}}\nb: {y: {z: 2}, <<: *a}\n', ['b', 'y'], 'x', /^b.y is also brought by the merge key <</],
  ])('rejects %j at %j', (text, pointer, key, message) => {
    expect(rejection(() => addToMapping(text, 0, pointer, key, '3'))).toMatch(message);
  });
});

describe('addToSequence', () => {
  const item = 'path: quota.yaml\ntarget:\n  kind: ResourceQuota\n';
  it.each<[string, string, string]>([
    [
      'a block sequence',
      'patches:\n  - path: a.yaml # c\n\n# end\nx: 1\n',
      'patches:\n  - path: a.yaml # c\n  - path: quota.yaml\n    target:\n      kind: ResourceQuota\n\n# end\nx: 1\n',
    ],
    [
      'one that is not indented, after a literal block',
      'patches:\n- patch: |-\n    a: 1\nx: 1\n',
      'patches:\n- patch: |-\n    a: 1\n- path: quota.yaml\n  target:\n    kind: ResourceQuota\nx: 1\n',
    ],
    [
      'a file without one, indented as its others are',
      'resources:\n  - a.yaml\n',
      'resources:\n  - a.yaml\npatches:\n  - path: quota.yaml\n    target:\n      kind: ResourceQuota\n',
    ],
    [
      'a file without one, in CRLF',
      'resources:\r\n- a.yaml\r\n',
      'resources:\r\n- a.yaml\r\npatches:\r\n- path: quota.yaml\r\n  target:\r\n    kind: ResourceQuota\r\n',
    ],
    [
      'a key without a value',
      'patches:\nresources: [a.yaml]\n',
      'patches:\n- path: quota.yaml\n  target:\n    kind: ResourceQuota\nresources: [a.yaml]\n',
    ],
    [
      'an empty one',
      'patches: [] # none\n',
      'patches: [{"path":"quota.yaml","target":{"kind":"ResourceQuota"}}] # none\n',
    ],
    [
      'one in a line',
      'patches: [{path: a.yaml}]\n',
      'patches: [{path: a.yaml}, {"path":"quota.yaml","target":{"kind":"ResourceQuota"}}]\n',
    ],
    [
      'one in JSON lines',
      '{\n  "patches": [\n    {"path": "a.yaml"}\n  ]\n}\n',
      '{\n  "patches": [\n    {"path": "a.yaml"},\n    {"path":"quota.yaml","target":{"kind":"ResourceQuota"}}\n  ]\n}\n',
    ],
    [
      'JSON without one',
      '{\n  "resources": ["a.yaml"],\n  "x": 1\n}\n',
      '{\n  "resources": ["a.yaml"],\n  "patches": [{"path":"quota.yaml","target":{"kind":"ResourceQuota"}}],\n  "x": 1\n}\n',
    ],
  ])('adds to %s', (_name, before, after) => {
    expect(addToSequence(before, 0, ['patches'], item)).toBe(after);
  });

  it('adds an item of one line, whatever its style', () => {
    expect(addToSequence('resources:\n- a\n', 0, ['resources'], 'b.yaml')).toBe('resources:\n- a\n- b.yaml\n');
    expect(addToSequence('patches:\n- path: a\n', 0, ['patches'], '{path: b}')).toBe(
      'patches:\n- path: a\n- {path: b}\n',
    );
  });

  it('adds an item with a literal block in it', () => {
    const patch = 'patch: |-\n  - op: replace\n\n    value: "3"\ntarget: {kind: ResourceQuota}\n';
    const after = addToSequence('a: 1\n', 0, ['patches'], patch);
    expect(after).toBe(
      'a: 1\npatches:\n- patch: |-\n    - op: replace\n\n      value: "3"\n  target: {kind: ResourceQuota}\n',
    );
    expect(blockScalarAt(after, 0, ['patches', 0, 'patch'])?.inner).toBe('- op: replace\n\n  value: "3"');
  });

  it.each<[string, RegExp]>([
    ['patches: {a: 1}\n', /^patches at line 1 is no sequence$/],
    ['patches: x\n', /^patches at line 1 is no sequence$/],
    ['a: &p [1]\npatches: *p\n', /^patches comes from the alias \*p at line 2/],
    ['patches: &p [1]\na: *p\n', /^patches belongs to the YAML anchor &p/],
  ])('rejects %j', (text, message) => {
    expect(rejection(() => addToSequence(text, 0, ['patches'], 'x'))).toMatch(message);
  });
});

describe('replaceInBlockScalar', () => {
  const at: Pointer = ['patches', 0, 'patch'];
  const patch = `patches:
- patch: |-   # a JSON patch
      - op: replace
        path: /spec/hard/pods

        value: "3"   # pods

  target: {kind: ResourceQuota}
`;

  it('reads what the block says and where it begins', () => {
    expect(blockScalarAt(patch, 0, at)).toEqual({
      line: 3,
      inner: '- op: replace\n  path: /spec/hard/pods\n\n  value: "3"   # pods',
    });
    expect(blockScalarAt(patch, 0, ['patches', 0, 'target', 'kind'])).toBeUndefined();
  });

  it.each([
    ['LF', patch],
    ['CRLF', patch.replaceAll('\n', '\r\n')],
    ['keeping blank lines', patch.replace('|-', '|+')],
    ['clipping them', patch.replace('|-', '|')],
    ['an indentation that is said', patch.replace('|-', '|6-').replaceAll('\n      ', '\n        ')],
  ])('changes one value of an inline patch, with %s, and no other byte', (_name, text) => {
    const edited = replaceInBlockScalar(text, 0, at, (inner) => replaceScalar(inner, 0, [0, 'value'], '12'));
    expect(edited).toBe(text.replace('"3"', '"12"'));
  });

  it('changes a block at the end of a file without a newline', () => {
    expect(replaceInBlockScalar('a: |\n  x: 1', 0, ['a'], (inner) => replaceScalar(inner, 0, ['x'], '2'))).toBe(
      'a: |\n  x: 2',
    );
  });

  it('takes more lines and fewer', () => {
    const edited = replaceInBlockScalar(patch, 0, at, (inner) => `${inner}\n\n- op: test`);
    expect(edited).toBe(patch.replace('# pods\n', '# pods\n\n      - op: test\n'));
    expect(replaceInBlockScalar('a: |\n  x\n  y\n  z\n', 0, ['a'], () => 'x\nz\n')).toBe('a: |\n  x\n  z\n');
  });

  it('rejects what is no literal block, one that others use, and an edit that cannot stand in it', () => {
    const same = (inner: string): string => inner;
    expect(rejection(() => replaceInBlockScalar('a: >\n  x\n', 0, ['a'], same))).toMatch(/^a is no literal block/);
    expect(rejection(() => replaceInBlockScalar('a: "x\n  y"\n', 0, ['a'], same))).toMatch(/^a is no literal block/);
    expect(rejection(() => replaceInBlockScalar('a: &a |\n  x\nb: *a\n', 0, ['b'], same))).toMatch(
      /^b is no literal block/,
    );
    expect(rejection(() => replaceInBlockScalar('a: &a |\n  x\nb: *a\n', 0, ['a'], same))).toMatch(
      /anchor &a, which line 3/,
    );
    expect(rejection(() => replaceInBlockScalar('a: |\n  x\n', 0, ['a'], () => '  x\n'))).toMatch(
      /nothing was written$/,
    );
    expect(rejection(() => replaceInBlockScalar('a: |-\n  x\n', 0, ['a'], () => 'x\n'))).toMatch(
      /nothing was written$/,
    );
  });
});
