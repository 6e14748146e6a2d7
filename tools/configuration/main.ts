import { readFileSync, writeFileSync } from 'node:fs';
import { controllerSettings } from '../../domain/registry.ts';
import { withConfigurationTable } from '../../platform/config/config-table.ts';

/** Writes the table of settings into the document that shows it: `npm run docs:configuration`. */
const document = new URL('../../docs/configuration.md', import.meta.url);
writeFileSync(document, withConfigurationTable(readFileSync(document, 'utf8'), controllerSettings));
