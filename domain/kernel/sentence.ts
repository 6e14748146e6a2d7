/**
 * A text as a sentence of its own: with a capital letter and a full stop. A name that is written as it is (`requests.cpu`,
 * `web-1`) and a resource with its number (`pods 10`) keep their small letter.
 */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const [first = ''] = trimmed.split(' ', 1);
  const isWord = /^[a-z]+[,:]?$/.test(first) && !/^[a-z]+ \d/.test(trimmed);
  const begun = isWord ? `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}` : trimmed;
  return begun === '' || /[.!?:…]$/.test(begun) ? begun : `${begun}.`;
}
