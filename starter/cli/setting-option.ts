import { Option } from 'commander';
import { z } from 'zod';
import type { Setting } from '../../domain/kernel/settings/setting.ts';

/** The option by which a command takes a setting with this flag. */
export function settingOption(flag: string, { isSwitch, description, type }: Setting): Option {
  const option = new Option(isSwitch === true ? flag : `${flag} <value>`, description);
  // For completion and help; what is wrong is said as for every other setting, by whoever reads them.
  if (type instanceof z.ZodEnum) option.argChoices = type.options.map(String);
  return option;
}
