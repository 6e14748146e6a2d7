import { parser } from '@prometheus-io/lezer-promql';

/** A selector in a query, and the labels that it names. */
interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

export interface ReadQuery {
  readonly selectors: readonly Selector[];
  /** Labels by which the query groups or joins. */
  readonly grouping: readonly string[];
}

/** @throws Error where the text is no PromQL. */
export function readQuery(expr: string): ReadQuery {
  const selectors: { metric: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  const tree = parser.parse(expr);
  tree.iterate({
    enter: ({ name, type, from, to, node }) => {
      if (type.isError) throw new Error(`no PromQL at ${expr.slice(from, from + 20)}: ${expr}`);
      const text = expr.slice(from, to);
      if (name === 'VectorSelector') selectors.push({ metric: /^\w*/.exec(text)?.[0] ?? '', labels: [] });
      if (name === 'LabelName' && node.parent?.name === 'UnquotedLabelMatcher') selectors.at(-1)?.labels.push(text);
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') grouping.push(text);
    },
  });
  return { selectors, grouping };
}
