import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { controllerSettings } from '../../domain/registry.ts';
import { withConfigurationTable } from '../../platform/config/config-table.ts';

/** Writes the table of settings into the documents that show it: `npm run docs:configuration`. */
const root = new URL('../../', import.meta.url);
for (const name of ['docs/configuration.md', 'README.md']) {
  const document = new URL(name, root);
  if (existsSync(document))
    writeFileSync(document, withConfigurationTable(readFileSync(document, 'utf8'), controllerSettings));
}
