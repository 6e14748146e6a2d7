import { readFileSync, writeFileSync } from 'node:fs';
import { metricsPage, operationsPages, withAlerts } from './page.ts';

/** Writes the page of metrics, and the alerts of the operations pages: `npm run docs:metrics`. */
const fileOf = (page: string): URL => new URL(`../../${page}`, import.meta.url);
writeFileSync(fileOf('docs/metrics.md'), metricsPage());
for (const page of operationsPages) writeFileSync(fileOf(page), withAlerts(page, readFileSync(fileOf(page), 'utf8')));
