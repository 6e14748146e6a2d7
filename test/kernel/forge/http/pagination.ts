import type { Call } from './route.ts';

/** Which part of a list is asked for. GitHub gives 30 a page, 100 at most. */
export function pageOf({ query }: Call): { page: number; perPage: number } {
  const number = (name: string, fallback: number): number => {
    const value = Number(query.get(name) ?? fallback);
    return Number.isInteger(value) && value > 0 ? value : fallback;
  };
  return { page: number('page', 1), perPage: Math.min(number('per_page', 30), 100) };
}

/** One page of a list and the Link header that leads to the others. */
export function paginate<T>(call: Call, items: readonly T[]): { items: readonly T[]; headers: Record<string, string> } {
  const { page, perPage } = pageOf(call);
  const pages = Math.max(1, Math.ceil(items.length / perPage));
  return { items: items.slice((page - 1) * perPage, page * perPage), headers: linkHeader(call, page, pages) };
}

function linkHeader({ url }: Call, page: number, pages: number): Record<string, string> {
  const links: string[] = [];
  const link = (rel: string, to: number): void => {
    const target = new URL(url);
    target.searchParams.set('page', String(to));
    links.push(`<${target.href}>; rel="${rel}"`);
  };
  if (page > 1) link('prev', Math.min(page - 1, pages));
  if (page < pages) {
    link('next', page + 1);
    link('last', pages);
  }
  if (page > 1) link('first', 1);
  return links.length > 0 ? { link: links.join(', ') } : {};
}
