import { writeFileSync } from 'node:fs';
import { metricsPage } from './page.ts';

/** Writes the page of metrics, dashboards and alerts: `npm run docs:metrics`. */
writeFileSync(new URL('../../docs/metrics.md', import.meta.url), metricsPage());
