const WIDTH = 124;

/** Text as a comment in YAML, broken between words; lines that are indented stay as they are. */
export function comment(text: string, indent = ''): string {
  const lines = text
    .split('\n')
    .flatMap((line) => (line.startsWith(' ') ? [line] : broken(line, WIDTH - indent.length)));
  return lines.map((line) => `${indent}# ${line}`.trimEnd()).join('\n') + '\n';
}

function broken(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
