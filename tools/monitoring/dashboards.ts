/** Dashboards of Grafana, made from what the controllers measure. */
import type { Panel } from '../../domain/kernel/monitoring/monitoring.ts';
import { sharedMetrics } from '../../domain/kernel/monitoring/shared-metrics.ts';
import { forDashboard } from '../../domain/kernel/monitoring/query.ts';
import { type Section, sections } from './sections.ts';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Of the grid that Grafana has. */
const COLUMNS = 24;
const HEIGHT = 8;
const WIDTHS = { stat: 6, table: 12, timeseries: 12 } as const satisfies Record<Panel['kind'], number>;

/** Each dashboard by the name of its section. */
export function dashboards(): ReadonlyMap<string, object> {
  return new Map(sections.map((section) => [section.name, dashboard(section)]));
}

function dashboard({ name, monitoring: { title, panels } }: Section): object {
  return {
    uid: `headroom-${name}`,
    title: name === 'overview' ? 'Headroom' : `Headroom / ${title}`,
    tags: ['headroom'],
    schemaVersion: 39,
    editable: true,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    links: [{ type: 'dashboards', title: 'Headroom', tags: ['headroom'], asDropdown: true, keepTime: true }],
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        {
          name: 'cluster',
          label: 'Cluster',
          type: 'query',
          datasource: DATASOURCE,
          query: `label_values(${sharedMetrics.requestsWaiting.name}, cluster)`,
          refresh: 2,
          multi: true,
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels: placed(panels).map(({ panel, x, y }, index) => panelJson(panel, { id: index + 1, x, y })),
  };
}

/** From left to right, and below where the row is full. */
function placed(
  panels: readonly Panel[],
): readonly { readonly panel: Panel; readonly x: number; readonly y: number }[] {
  let [x, y] = [0, 0];
  return panels.map((panel) => {
    const width = WIDTHS[panel.kind];
    if (x + width > COLUMNS) [x, y] = [0, y + HEIGHT];
    const place = { panel, x, y };
    x += width;
    return place;
  });
}

function panelJson(
  { title, about, unit, kind, queries }: Panel,
  { id, x, y }: { readonly id: number; readonly x: number; readonly y: number },
): object {
  const isNow = kind !== 'timeseries';
  return {
    id,
    type: kind,
    title,
    description: about,
    datasource: DATASOURCE,
    gridPos: { x, y, w: WIDTHS[kind], h: HEIGHT },
    fieldConfig: { defaults: { unit, ...(kind === 'timeseries' && { min: 0 }) }, overrides: [] },
    ...(kind === 'stat' && { options: { reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'auto' } }),
    ...(kind === 'timeseries' && { options: { legend: { displayMode: 'list' }, tooltip: { mode: 'multi' } } }),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr: forDashboard(expr),
      legendFormat: legend,
      instant: isNow,
      range: !isNow,
      ...(kind === 'table' && { format: 'table' }),
    })),
  };
}
