import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configurationHelp, withConfigurationTable } from '../../../platform/config/config-table.ts';
import { controllerSettings } from '../../../domain/registry.ts';
import { constantEntries, settingEntries } from '../../../starter/config.ts';

describe('the documentation of the settings', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

  it('docs/configuration.md has the table of today (npm run docs:configuration)', () => {
    expect(page).toBe(withConfigurationTable(page, controllerSettings));
  });

  it('docs/configuration.md has a row for every setting, with its flag and its place in the file', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    for (const { setting, path } of settingEntries) {
      const [row = '', ...more] = rows.filter((line) => line.startsWith(`| \`${setting.env}\` `));
      expect(more).toEqual([]);
      expect(row).toContain(setting.description.replaceAll('|', '\\|'));
      if (setting.flag !== undefined) expect(row).toContain(`\`${setting.flag}\``);
      if (setting.secret !== true) expect(row).toContain(`\`${path}\``);
      if (setting.default !== undefined) expect(row).toContain(`\`${setting.default}\``);
    }
  });

  it('docs/configuration.md has a row for every constant, with its value and why nobody would turn it', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    for (const { setting, path } of constantEntries) {
      const [row = '', ...more] = rows.filter((line) => line.startsWith(`| \`${path}\` `));
      expect(more).toEqual([]);
      const { why = '', value } = setting.constant ?? {};
      for (const text of [setting.default ?? value ?? '?', setting.description, why]) expect(row).toContain(text);
    }
  });

  it('--help names every setting with its flag, variable, path and default', () => {
    const help = configurationHelp('worker', controllerSettings);
    for (const { setting, path } of settingEntries) {
      expect(help).toContain(setting.env);
      expect(help).toContain(setting.description);
      if (setting.flag !== undefined) expect(help).toContain(`${setting.flag}, ${setting.env}, ${path} in the file`);
      if (setting.default !== undefined) expect(help).toContain(`Default: ${setting.default}`);
    }
    expect(help).toContain('Usage: worker');
  });

  it('every default is a value that its own setting takes', () => {
    for (const { setting } of [...settingEntries, ...constantEntries]) {
      for (const text of [setting.default, setting.podDefault]) {
        if (text !== undefined) expect(setting.type.safeParse(text).success, `${setting.env}=${text}`).toBe(true);
      }
    }
  });

  it('no variable, flag or path stands for two settings, and no secret has a flag', () => {
    for (const name of ['env', 'flag'] as const) {
      const names = [...settingEntries, ...constantEntries]
        .map(({ setting }) => setting[name])
        .filter((value) => value !== undefined);
      expect(new Set(names).size).toBe(names.length);
    }
    expect(settingEntries.filter(({ setting }) => setting.secret === true && setting.flag !== undefined)).toEqual([]);
  });

  it('a document without the markers is rejected', () => {
    expect(() => withConfigurationTable('# Nothing', controllerSettings)).toThrow('configuration:start');
  });
});
