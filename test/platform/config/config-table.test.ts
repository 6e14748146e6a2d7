import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configurationHelp, withConfigurationTable } from '../../../platform/config/config-table.ts';
import { controllerSettings } from '../../../domain/registry.ts';
import { settingEntries } from '../../../starter/config.ts';

const root = new URL('../../../', import.meta.url);

describe('the documentation of the settings', () => {
  it.each(['docs/configuration.md', 'README.md'])('%s has the table of today (npm run docs:configuration)', (name) => {
    const document = new URL(name, root);
    // The README is written last; from then on it is held true.
    if (!existsSync(document)) return;
    const text = readFileSync(document, 'utf8');
    expect(text).toBe(withConfigurationTable(text, controllerSettings));
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
    for (const { setting } of settingEntries) {
      for (const text of [setting.default, setting.podDefault]) {
        if (text !== undefined) expect(setting.type.safeParse(text).success, `${setting.env}=${text}`).toBe(true);
      }
    }
  });

  it('no variable, flag or path stands for two settings, and no secret has a flag', () => {
    for (const name of ['env', 'flag'] as const) {
      const names = settingEntries.map(({ setting }) => setting[name]).filter((value) => value !== undefined);
      expect(new Set(names).size).toBe(names.length);
    }
    expect(settingEntries.filter(({ setting }) => setting.secret === true && setting.flag !== undefined)).toEqual([]);
  });

  it('a document without the markers is rejected', () => {
    expect(() => withConfigurationTable('# Nothing', controllerSettings)).toThrow('configuration:start');
  });
});
